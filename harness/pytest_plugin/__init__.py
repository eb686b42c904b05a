"""
What stands behind the hooks of `harness.plugin`: suites become items, and each suite runs once for all of them.

`options` reads the command line and the ini file, `session` holds what the hooks share, `unseen` collects what pytest
passes over. Every run of pytest imports these, and they import nothing heavy. The others come with the first suite:
`plan` says which items a suite has, `items` are those items, `outcomes` says what a verdict is to pytest, `runs` runs
each suite once over all processes of a session, `summary` writes the lines at the end.
"""
