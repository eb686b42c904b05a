"""
The measures: their text, their registry, their formulas, and the scores of rankings by judgments.

Pure: no file, no clock, no network. numpy is imported below `bulk` only.
"""
