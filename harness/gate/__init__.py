"""
The one place that decides: scores and thresholds become verdicts, verdicts become an exit status.

`decide` gives every threshold its verdict, `compute_exit_status` the number that a process ends with. What is missing
never passes.
"""

from harness.gate.decide import compute_comparison_status, compute_exit_status, decide

__all__ = ["compute_comparison_status", "compute_exit_status", "decide"]
