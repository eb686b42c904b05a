"""A body that turns to a later page is refused where it is written: its hits would be scored as the best."""

from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
request:
  LINE
  query: {match: {title: "{{text}}"}}
queries:
  - {id: q, text: shoes, judgments: {a: 1}}
"""


def load(folder: Path, line: str, **environ: str) -> None:
    path = folder / "shop.relevance.yaml"
    path.write_text(SUITE.replace("LINE", line), encoding="utf-8")
    load_suite(path, environ)


@pytest.mark.parametrize(
    ("line", "column", "key"),
    [
        ("from: 10", 9, "from"),
        ('from: "10"', 9, "from"),
        ("from: ${RELEVANCE_PAGE:-20}", 9, "from"),
        ("search_after: [1.5, a]", 17, "search_after"),
    ],
)
def test_a_later_page_is_refused(tmp_path: Path, line: str, column: int, key: str) -> None:
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, line)

    [problem] = caught.value.problems
    assert (problem.line, problem.column) == (4, column)
    assert problem.message == f"a ranking begins at its first hit; remove `{key}`, which skips hits"


@pytest.mark.parametrize("line", ["from: 0", "from: null", "from: ${RELEVANCE_PAGE:-0}", "search_after: null"])
def test_the_first_page_may_be_written_out(tmp_path: Path, line: str) -> None:
    load(tmp_path, line)
