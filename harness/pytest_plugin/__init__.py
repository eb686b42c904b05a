"""
What stands behind the hooks of `harness.plugin`: suites become items, and each suite runs once for all of them.

`options` reads the command line and the ini file, `plan` says which items a suite has, `items` are those items,
`outcomes` says what a verdict is to pytest, `runs` runs each suite once over all processes of a session, `summary`
writes the lines at the end.
"""
