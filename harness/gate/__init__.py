"""
The one place that decides: scores and thresholds become verdicts, verdicts become an exit status.

`decide` in the module of that name gives every threshold its verdict, `compute_exit_status` there the number that a
process ends with. What is missing never passes. The package itself imports nothing: who reads a suite needs its grammar
alone.
"""
