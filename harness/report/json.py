"""
Whatever is written as JSON and read back: reports, comparisons, the scores of run files, and what a
wrong file is told.
"""

from harness.model import Report
from harness.report.json_form import JsonForm

_REPORT_FORM = JsonForm(Report, "report", version=1)

dumps_report = _REPORT_FORM.dumps
loads_report = _REPORT_FORM.loads
report_schema = _REPORT_FORM.schema
