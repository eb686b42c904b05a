"""How many hits a suite asks for, where its requests say so themselves."""

from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
requests: REQUESTS
measures: [nDCG@5]
queries:
  - {id: q, text: shoes, judgments: {a: 1}}
"""


QUERY = 'query: {match: {title: "{{text}}"}}'


def depth(folder: Path, requests: str) -> int:
    path = folder / "shop.relevance.yaml"
    path.write_text(SUITE.replace("REQUESTS", requests.replace("Q", QUERY)), encoding="utf-8")
    return load_suite(path, {}).depth


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ("{one: {Q}}", 10),
        ("{one: {Q, size: 5}}", 5),
        ("{one: {Q, size: 7}, other: {Q, size: 6}}", 7),
        ("{one: {Q, size: 5}, other: {Q}}", 10),
        ('{one: {Q, size: "{{depth}}"}}', 10),
    ],
)
def test_it_is_no_more_than_the_requests_ask_for(tmp_path: Path, requests: str, expected: int) -> None:
    assert depth(tmp_path, requests) == expected


def test_a_size_of_one_hit_less_than_the_cutoff_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="the request 'one' has size 4, but 'nDCG@5' needs 5 hits"):
        depth(tmp_path, "{one: {Q, size: 4}}")
