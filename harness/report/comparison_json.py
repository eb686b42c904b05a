"""A comparison as JSON, and back: `harness.report.json_form` says how."""

from harness.model import ComparisonReport
from harness.report.json_form import JsonForm

_FORM = JsonForm(ComparisonReport, "comparison", version=1)

dumps = _FORM.dumps
loads = _FORM.loads
comparison_schema = _FORM.schema
