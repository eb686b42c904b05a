"""
The entry point of the pytest plugin. It is no part of the package `harness`, so that it can say what is wrong where
another `harness` is imported in its place: `python -m pytest` puts the working directory first, and a project may have
a folder of that name.

The other direction cannot be told from here. Where this package's `harness` is imported first, as `pytest` does without
`python -m`, the project's own `import harness.something` ends with a ModuleNotFoundError.
"""

from importlib.util import find_spec

import pytest


def _is_ours() -> bool:
    """Whether `import harness` finds the package that has the plugin."""
    try:
        return find_spec("harness.pytest_plugin") is not None
    except ModuleNotFoundError:
        # Their `harness` is one file, or there is none.
        return False


if not _is_ours():
    import harness

    raise pytest.UsageError(
        f"relevance-harness: `import harness` finds {harness.__file__ or next(iter(harness.__path__))}, expected the "
        "package of the plugin; rename the one of the project, start `pytest` instead of `python -m pytest`, or "
        "disable the plugin with `-p no:relevance`"
    )

pytest_plugins = ["harness.plugin"]
