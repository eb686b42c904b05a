"""
One suite over one connection::

    options -> cells -> execution (searching -> conclusion) -> finished suite

`connections` opens what suites share, `fixture_builds` makes their indexes. `harness.pipeline` composes it.
"""
