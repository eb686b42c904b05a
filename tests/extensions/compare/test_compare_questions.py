"""Two requests of a suite ask the same, whatever each of them uses of a query."""

from functools import partial

import pytest

from builders.executions import run_suite
from builders.questions import ANSWERS, load_questions, run_of, save
from harness.extensions.compare.assembly import remove_changed_queries
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.sides import make_baseline_side, make_report_side, make_run_side
from harness.options import RunOptions
from harness.search.testing import FakeSearch


@pytest.fixture
def load(tmp_path):
    return partial(load_questions, tmp_path)


def sides_of(suite, request):
    run = run_of(suite, request).run
    report = run_suite(suite, FakeSearch(ANSWERS), RunOptions(request=request, locate=False))
    return {
        "run": make_run_side(f"request:{request}", SideKind.REQUEST, suite, run),
        "baseline": make_baseline_side("baseline", save(suite, request), request),
        "report": make_report_side(report, "report", created="2026-05-01"),
    }


@pytest.mark.parametrize("kind", ["run", "baseline", "report"])
@pytest.mark.parametrize("pair", [("lexical", "vector"), ("vector", "lexical"), ("branded", "vector")])
def test_two_requests_of_a_suite_ask_the_same_whatever_each_of_them_uses(load, kind, pair):
    suite = load()
    first, second = (sides_of(suite, request) for request in pair)
    assert remove_changed_queries((first[kind], second["run"]), suite)[1] == ()
    assert remove_changed_queries((first["report"], second[kind]), None)[1] == ()
    changed = load(near=[7.5, 7.5])
    notes = remove_changed_queries((first[kind], sides_of(changed, pair[1])["run"]), changed)[1]
    assert bool(notes) is (pair[0] == "vector"), "the vectors of the other request are not its own"
    other = load(TEXT="family tent")
    if pair[0] != "vector":
        assert remove_changed_queries((first[kind], sides_of(other, pair[1])["run"]), other)[1]
