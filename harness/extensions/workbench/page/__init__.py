"""The page on which a request is tried, with its styles and scripts."""

from harness.local_server import SHARED_ASSETS, Asset

_SCRIPTS = (
    "try.js",
    "bar.js",
    "dialogs.js",
    "dials.js",
    "figures.js",
    "keys.js",
    "listbox.js",
    "loop.js",
    "queries.js",
    "ranking.js",
    "text.js",
    "tries.js",
)
"""The first one loads the others."""

ASSETS: dict[str, Asset] = {
    **SHARED_ASSETS,
    "/": ("text/html", __name__, "try.html"),
    "/try.css": ("text/css", __name__, "try.css"),
    **{f"/{name}": ("text/javascript", __name__, name) for name in _SCRIPTS},
}
"""By path; the page itself is at ``/``."""
