"""
The implementation of the hooks in `harness.plugin`: suites become items, and each suite runs once for all of them.

`plugin_options` reads the command line and the ini file, `session` holds the state that the hooks share. Every run of
pytest imports these, and they import nothing heavy. The other modules are imported with the first suite: `plan` decides
which items a suite has, `items` are those items, `outcomes` maps verdicts to pytest's outcomes, `run_cache` runs each
suite once over all processes of a session, `decisions` applies what items decided to the reports, `runs` puts these
together, `summary` writes the lines at the end.
"""
