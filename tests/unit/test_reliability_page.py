"""docs/evidence/reliability.md: the tests that it names are there, and its numbers are those of the code."""

import re
from pathlib import Path

import pytest

from harness.search import answers, batches, connection, engine, server_health

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evidence" / "reliability.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n?)*)", PAGE, re.MULTILINE))
TESTS = ROOT / "tests"


@pytest.mark.parametrize(
    ("part", "file", "pattern"),
    [
        ("Tests", "unit/test_search_engine.py", r"`(Test\w+(?:::\w+)?)`"),
        ("Nodes", "cluster/test_faults_nodes.py", r"`(test_\w+)`"),
    ],
)
def test_tests_that_are_named_without_their_file_are_in_the_one_that_the_part_names(part, file, pattern):
    source = (TESTS / file).read_text(encoding="utf-8")
    assert f"`tests/{file}`" in PAGE
    names = re.findall(pattern, PARTS[part])
    assert len(names) >= 9
    for name in names:
        for word in name.split("::"):
            assert re.search(rf"^ *(?:def|class) {word}\b", source, re.MULTILINE), name


@pytest.mark.parametrize("name", ["reliability.md", "security.md"])
def test_each_promise_of_a_page_has_its_tests(name):
    page = (ROOT / "docs" / "evidence" / name).read_text(encoding="utf-8")
    promises, _, tests = page.partition("\n## Tests\n")
    numbers = re.findall(r"\| \[(\w+)\]\(#tests\) \|$", promises, re.MULTILINE)
    assert len(numbers) > 10
    assert re.findall(r"^\| (\w+) \| `.*` \|$", tests, re.MULTILINE) == numbers


@pytest.mark.parametrize(
    ("row", "numbers"),
    [
        (
            "a huge answer, also one that is small",
            [
                f"{answers.LARGEST_BATCH_ANSWER // 2**20} MB",
                f"{answers.MOST_VALUES // 10**6} million values",
                f"{answers.BYTES_OF_HIT // 2**10} KB",
                f"{answers.VALUES_OF_HIT:,} values",
                f"at most {connection.LARGEST_ANSWER // 2**20} MB",
                f"more than {batches.HUGE_ANSWER // 2**20} MB",
            ],
        ),
        ("a huge answer to every request", [f"after {server_health.MOST_REFUSALS} in a row"]),
        ("500 or 400 for every request", [f"after {server_health.MOST_REFUSALS} requests in a row"]),
        ("no answer in time", [f"after {server_health.MOST_SILENCES} in a row", "two minutes"]),
        ("no name server answers", ["half a minute"]),
        ("the server was given up", ["in the next minute", "within a second"]),
    ],
)
def test_the_numbers_of_a_row_are_those_of_the_code(row, numbers):
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| {row}")]
    assert [number for number in numbers if number not in line] == []


def test_the_words_for_numbers_are_right():
    assert server_health.SECONDS_TO_RESOLVE == 30
    assert (engine.SECONDS_GONE, engine.SECONDS_TO_COME_BACK) == (60, 1)
    assert server_health.MOST_SILENCES == 12, "`twelve times`"
