"""
Kept runs: what a later run is compared with, and what a killed one left.

A kept run has rankings, not only scores. So it becomes a `Run` again and is scored anew with the judgments, the gain
and the measures of today, and a change of those is never taken for a change of the search.

`kept` keeps rankings and restores them, and `what_changed` tells what was asked, and of which target, then and now.
`baseline` is the file that is committed beside a suite, and `history` the folder with a file for each run.
"""
