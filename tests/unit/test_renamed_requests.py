"""A request that has another name by now keeps its baseline and its history, as far as it is known which it is."""

from dataclasses import replace
from pathlib import Path

import pytest

from builders.gating import threshold
from builders.histories import entry_of, make_kept_suite, ranking_of, run_of
from harness.metrics.run_scores import score_run
from harness.model.kept import BaselineFile
from harness.model.suite import RequestTemplate
from harness.options import RunOptions
from harness.run.keeping import find_history
from harness.store.baseline import SaveOptions, find_reference, keep_run, make_baseline
from harness.store.baseline_files import read_baselines, write_baselines
from harness.store.history import rename_entries
from harness.store.history_files import write_entry

TITLE = {"query": {"match": {"title": "{{text}}"}}}
BRAND = {"query": {"match": {"brand": "{{text}}"}}}
ALL = {"query": {"multi_match": {"query": "{{text}}", "fields": ["title", "brand"]}}}


def suite_with(folder=Path("suites"), **requests):
    templates = {name: RequestTemplate(name, body) for name, body in requests.items()}
    return replace(
        make_kept_suite(), path=str(folder / "shop.relevance.yaml"), requests=templates, roots=(str(folder),)
    )


def run_with(suite, request):
    return replace(run_of(suite, shoes=ranking_of("b", "a", "x")), request=request)


RENAMED = [
    ({"request": TITLE}, {"current": TITLE}, "current", "request"),
    ({"request": TITLE}, {"current": BRAND}, "current", "request"),  # the only one, whatever else changed
    ({"request": TITLE}, {"candidate": BRAND, "current": TITLE}, "current", "request"),
    ({"old": TITLE, "other": BRAND}, {"new": TITLE, "other": BRAND}, "new", "old"),
    ({"old": TITLE, "other": BRAND}, {"second": BRAND, "first": TITLE}, "second", "other"),
    ({"request": TITLE}, {"candidate": BRAND, "current": TITLE}, "candidate", None),
    ({"request": TITLE}, {"candidate": BRAND, "current": ALL}, "current", None),
    ({"request": TITLE}, {"candidate": TITLE, "current": TITLE}, "current", None),  # which of the two?
    ({"old": TITLE, "older": TITLE}, {"new": TITLE}, "new", None),
    ({"request": TITLE, "current": BRAND}, {"current": BRAND}, "current", "current"),
]


@pytest.mark.parametrize(("before", "now", "request_name", "found"), RENAMED)
def test_the_baseline_of_a_request_is_found(tmp_path, before, now, request_name, found):
    earlier = suite_with(tmp_path, **before)
    entries = {}
    for number, name in enumerate(before):
        run = run_with(earlier, name)
        entries[name] = make_baseline(
            earlier, run, score_run(earlier, run), created=f"2026-05-0{number + 1}", harness="1"
        )
    write_baselines(tmp_path / "shop.baseline.json", BaselineFile("shop", entries))
    suite = suite_with(tmp_path, **now)
    reference = find_reference(suite, run_with(suite, request_name), None)
    if found is None:
        assert f"there is no baseline of the request {request_name!r}" in reference.problem
        return
    assert (reference.problem, reference.created) == ("", entries[found].created)
    told = f"the request {request_name!r} was {found!r}" in " ".join(reference.changes)
    assert told == (found != request_name)
    assert reference.same_request == (before[found] == now[request_name])


def test_a_baseline_that_is_saved_again_has_the_new_name_alone(tmp_path):
    earlier, suite = suite_with(tmp_path, request=TITLE), suite_with(tmp_path, current=TITLE, candidate=BRAND)
    for of_day, name in ((earlier, "request"), (suite, "current")):
        run = run_with(of_day, name)
        keep_run(of_day, run, score_run(of_day, run), SaveOptions("2026-05-01", partial=False)).write()
    assert list(read_baselines(tmp_path / "shop.baseline.json").requests) == ["current"]


@pytest.mark.parametrize(("before", "now", "request_name", "found"), RENAMED)
def test_the_history_of_a_request_is_found(before, now, request_name, found):
    earlier, suite = suite_with(**before), suite_with(**now)
    entries = [entry_of(earlier, run_with(earlier, name), day=day) for day in range(2) for name in before]
    renamed = rename_entries(entries, suite)
    own = [entry.request for entry, other in zip(entries, renamed, strict=True) if other.request == request_name]
    assert own == ([] if found is None else [found, found])
    # Runs under the new name are the same line.
    more = [*entries, entry_of(suite, run_with(suite, request_name), day=9)]
    own = [
        entry.request
        for entry, other in zip(more, rename_entries(more, suite), strict=True)
        if other.request == request_name
    ]
    if found is not None:
        assert own == [found, found, request_name]


def test_a_request_that_ran_beside_another_is_not_the_other():
    earlier, suite = suite_with(old=TITLE, new=TITLE), suite_with(new=TITLE)
    entries = [entry_of(earlier, run_with(earlier, name), day=day) for day in range(2) for name in ("old", "new")]
    assert rename_entries(entries, suite) == entries


def test_thresholds_since_some_runs_count_those_of_the_earlier_name(tmp_path):
    limit = threshold("drop nDCG@3 <= 0.1 since 2 runs")
    earlier = replace(suite_with(tmp_path, request=TITLE), thresholds=(limit,))
    suite = replace(suite_with(tmp_path, current=TITLE), thresholds=(limit,))
    for day in range(2):
        write_entry(tmp_path / "history", entry_of(earlier, run_with(earlier, "request"), day=day))
    history = find_history(suite, run_with(suite, "current"), RunOptions(history=tmp_path / "history"), "abc")
    assert len(history.entries) == 2
