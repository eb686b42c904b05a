"""
Histories: one small file a run and suite, in a folder that grows and that git merges without conflict.

`entries` makes an entry of a run, `rescoring` scores kept rankings with the judgments of today, `repeats` chooses those
that a run is compared with, `files` reads and writes the folder, `ordering` puts a run behind those before it,
`suite_files` tells the runs of two files apart, `commits` finds the commit and the branch.
"""

from __future__ import annotations

from harness.history.entries import make_entry
from harness.history.files import check_writable, list_suites, read_history, write_entry
from harness.history.rescoring import rescore

__all__ = ["check_writable", "list_suites", "make_entry", "read_history", "rescore", "write_entry"]
