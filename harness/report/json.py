"""A report as JSON, and back: `harness.report.json_form` says how."""

from harness.model import Report
from harness.report.json_form import JsonForm

_FORM = JsonForm(Report, "report", version=1)

dumps = _FORM.dumps
loads = _FORM.loads
report_schema = _FORM.schema
