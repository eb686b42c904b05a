"""JSONPaths of a suite."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.search.jsonpaths import compile_path


@pytest.mark.parametrize(
    "text", ["results", "$.results[", "$.a | $.b", "", "$[1e999]", "$[?@.a > 1e999]", f"$[{'9' * 5000}]"]
)
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="JSONPath"):
        compile_path(text)
