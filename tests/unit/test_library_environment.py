"""What client libraries read from the environment stands on the page on security."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "evidence" / "security.md"

READ = re.compile(r"""(?:environ(?:\.get\(|\.pop\(|\[)|getenv\()\s*["']([A-Za-z_][A-Za-z0-9_]*)["']""")
NAMED = re.compile(r"""_ENV_VAR = "([A-Z_]+)["']""")

PACKAGES = ["elasticsearch", "elastic_transport", "urllib3", "requests", "openai", "httpx2", "httpx"]

HARMLESS = {"CONTENT_LENGTH", "DEFER_PYDANTIC_BUILD", "DISABLE_WARN_STACKLEVEL"}
"""Of a WSGI request; how classes are built; where warnings point."""


def find_variables(package):
    spec = find_spec(package)
    if spec is None:
        pytest.skip(f"{package} is not installed")
    names = set()
    for folder in spec.submodule_search_locations:
        for path in Path(folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            names.update(READ.findall(text), NAMED.findall(text))
    return names - HARMLESS


@pytest.mark.parametrize("package", PACKAGES)
def test_each_variable_that_a_library_reads_is_on_the_page(package):
    text = PAGE.read_text(encoding="utf-8")
    families = tuple(re.findall(r"`([A-Z]+_)…`", text))
    missing = {name for name in find_variables(package) if f"`{name}`" not in text and not name.startswith(families)}
    assert not missing
