"""
A page on which a request is tried: what a change of it does to each query is shown while it is typed.

`page` has the page itself.
"""

from harness.extensions import Extension

EXTENSION = Extension()
