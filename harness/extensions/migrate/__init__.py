"""Suites from an index, and from files of other systems and back; scores beside those of `_rank_eval`."""
