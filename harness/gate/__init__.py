"""
The one place that decides: scores and thresholds become verdicts, verdicts become an exit status.

`decide` gives every threshold its verdict, `exit_status` the number a process ends with. What is missing never passes.
"""

from harness.gate.decide import comparison_status, decide, exit_status

__all__ = ["comparison_status", "decide", "exit_status"]
