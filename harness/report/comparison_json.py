"""A comparison as JSON, and back: `harness.report.json_form` says how."""

from harness.model import ComparisonReport
from harness.report.json_form import JsonForm

_COMPARISON_FORM = JsonForm(ComparisonReport, "comparison", version=1)

dumps_comparison = _COMPARISON_FORM.dumps
loads_comparison = _COMPARISON_FORM.loads
comparison_schema = _COMPARISON_FORM.schema
