"""
Committed baselines: what a suite's requests returned when somebody said that it was good.

Rankings are kept, not only scores. So a baseline becomes a `Run` again and is scored anew with the judgments, the gain
and the measures of today, and a change of those is never taken for a change of the search.

`making` turns a run into an entry, `files` is one JSON file beside the suite, `changes` says what is no longer as it
was, `references` makes of a file what the gate compares with.
"""
