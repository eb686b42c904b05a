"""Ids that moved: those of judged documents before and after an index was built anew, and the files that have them."""
