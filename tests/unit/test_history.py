"""Histories: what is kept of a run, the files that it stands in, and how they are scored again."""

import json
from dataclasses import replace

import pytest

from builders.histories import QUERIES, entry_of, make_kept_suite, ranking_of, run_of
from harness.errors import HistoryError
from harness.masking import fingerprint
from harness.metrics import parse_measure
from harness.model.kept import HistoryFigure
from harness.model.run import Hit, Ranking
from harness.model.scores import Outcome, index_scores
from harness.model.suite import Query
from harness.store.history import rescore
from harness.store.history_files import (
    dump_line,
    list_suites,
    load_entry,
    read_file,
    read_history,
    write_entry,
)
from harness.store.kept import restore_ranking

SUITE = make_kept_suite()


def test_an_entry_keeps_the_scores_and_the_first_hits_of_each_query_and_no_score_of_the_engine():
    run = run_of(SUITE, shoes=ranking_of("b", "a", "x", "y"))
    entry = entry_of(SUITE, run)
    shoes = entry.queries["shoes"]
    assert shoes.ranking == ("b", "a", "x")
    assert (shoes.outcome, shoes.judged, shoes.scores["RR@3"]) == (Outcome.SCORED, 2, 1.0)
    assert entry.measures["RR@3"] == HistoryFigure(1.0, 2)
    assert entry.tags["head"]["nDCG@3"].mean == shoes.scores["nDCG@3"]
    assert "10.0" not in dump_line(entry)


def test_an_entry_says_of_what_it_is():
    entry = entry_of(SUITE, run_of(SUITE))
    assert (entry.suite, entry.request, entry.index, entry.cluster) == ("shop", "current", "products", "local")
    assert (entry.created, entry.engine) == ("2026-11-01T03:00:00.000000+00:00", "opensearch 3.8.0")
    assert (entry.state.mapping, entry.state.settings, entry.state.documents) == ("m1", "s1", 10)


@pytest.mark.parametrize(
    ("changed", "query"),
    [
        ("judgments", replace(QUERIES[1], judgments={"a": 2})),
        ("suite", replace(QUERIES[1], text="blue shoes")),
        ("suite", replace(QUERIES[1], weight=2.0)),
        ("suite", replace(QUERIES[1], tags=("tail",))),
    ],
)
def test_a_fingerprint_changes_with_what_it_is_of_alone(changed, query):
    other = make_kept_suite(QUERIES[0], query)
    before, after = entry_of(SUITE, run_of(SUITE)), entry_of(other, run_of(other))
    names = [
        name for name in ("suite", "judgments", "request") if getattr(before.state, name) != getattr(after.state, name)
    ]
    assert names == [changed]


def test_the_ties_of_a_query_are_kept_and_no_band():
    tied = ranking_of(("x", 2.0), ("a", 1.0), ("b", 1.0))
    entry = entry_of(SUITE, run_of(SUITE, shoes=tied))
    shoes = entry.queries["shoes"]
    assert (shoes.ties, shoes.bands) == (((2, 3),), {})
    assert "band" not in dump_line(entry)


@pytest.mark.parametrize(
    "ranking",
    [
        ranking_of("a", "b", "c"),
        ranking_of(("a", 2.0), ("b", 1.0), ("c", 1.0)),
        ranking_of(("a", 1.0), ("b", 1.0), tail=(Hit("c", 1.0),), closed=True),
        ranking_of(("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)),
        Ranking((Hit("a"), Hit("b"))),
        Ranking(),
    ],
)
def test_a_kept_ranking_is_restored_with_its_ties(ranking):
    kept = entry_of(SUITE, run_of(SUITE, shoes=ranking)).queries["shoes"]
    restored = restore_ranking(kept)
    assert [hit.id for hit in restored.hits] == [hit.id for hit in ranking.hits][:3]
    again = entry_of(SUITE, run_of(SUITE, shoes=restored)).queries["shoes"]
    assert again == kept


# Files.


def test_an_entry_is_read_as_it_was_written(tmp_path):
    run = run_of(SUITE, shoes=ranking_of(("a", 1.0), ("b", 1.0), ("c", 1.0)))
    entry = entry_of(SUITE, run)
    path = write_entry(tmp_path, entry)
    assert path.relative_to(tmp_path).as_posix().startswith("shop/2026-11-01T030000Z-current-")
    assert read_file(path) == [entry]
    assert read_history(tmp_path, "shop") == [entry]
    assert list_suites(tmp_path) == [tmp_path / "shop"]


SCHEMA_1 = """\
{
 "branch": "main",
 "chosen_index": null,
 "cluster": "local",
 "commit": "0123abc",
 "created": "2026-11-01T03:00:00.000000+00:00",
 "depth": 3,
 "engine": "opensearch 3.8.0",
 "file": null,
 "gain": "exponential",
 "harness": "1.0.0rc1",
 "index": "products",
 "kept": null,
 "measures": {"nDCG@3": {"band": [0.7706701468217607, 0.8221434631015414], "interval": null, "mean": 0.8221434631015414, "queries": 2}},
 "profile": "standard",
 "queries": {
  "boots": {"closed": false, "judged": 1, "judgments": "1b33f1538eecab0c", "outcome": "scored", "question": "text:1f9115de4e013bc0", "ranking": ["d"], "scores": {"nDCG@3": 1.0}, "tags": ["tail"], "text": "rubber boots"},
  "shoes": {"bands": {"nDCG@3": [0.5413402936435214, 0.6442869262030828]}, "closed": false, "judged": 2, "judgments": "3dfc1e54e9cedd23", "outcome": "scored", "question": "text:577b003f42b32448", "ranking": ["x", "a", "b"], "scores": {"nDCG@3": 0.6442869262030828}, "tags": ["head"], "text": "red shoes", "ties": [[2, 3]]}
 },
 "request": "current",
 "schema": 1,
 "state": {"content": null, "documents": 10, "judgments": "b56ad2d65b71ba3e", "mapping": "m1", "request": "2053541babde282c", "settings": "s1", "suite": "490908066b2dd905"},
 "suite": "shop",
 "tags": {"head": {"nDCG@3": {"band": [0.5413402936435214, 0.6442869262030828], "interval": null, "mean": 0.6442869262030828, "queries": 1}}}
}
"""  # noqa: E501
"""An entry of the first version, which had the bands of ties."""


def test_an_entry_of_schema_1_is_read_as_one_of_today(tmp_path):
    measures = (parse_measure("nDCG@3"),)
    suite = make_kept_suite(measures=measures)
    run = run_of(suite, shoes=ranking_of(("x", 2.0), ("a", 1.0), ("b", 1.0)))
    today = entry_of(suite, run, harness="1.0.0rc1")
    expected = replace(today, tags={"head": today.tags["head"]})
    assert load_entry(SCHEMA_1, "old.json") == expected
    old_file = tmp_path / "shop" / f"old-{fingerprint(json.dumps(json.loads(SCHEMA_1), sort_keys=True))[:8]}.json"
    old_file.parent.mkdir()
    old_file.write_text(SCHEMA_1)
    # The same run in a file of today, as after packing, counts once.
    write_entry(tmp_path, expected)
    assert read_history(tmp_path, "shop") == [expected]


def test_a_file_has_a_line_for_each_query(tmp_path):
    lines = write_entry(tmp_path, entry_of(SUITE, run_of(SUITE))).read_text(encoding="utf-8").splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("  ")] == ['  "boots"', '  "shoes"']
    keys = [line.split('"')[1] for line in lines if line.startswith(' "')]
    assert keys == sorted(keys)


def test_two_runs_of_the_same_second_have_a_file_each(tmp_path):
    first = entry_of(SUITE, run_of(SUITE))
    second = replace(first, created=first.created.replace("00.000000", "00.000001"))
    assert write_entry(tmp_path, first) != write_entry(tmp_path, second)
    assert read_history(tmp_path, "shop") == [first, second]


def test_entries_come_oldest_first_and_those_of_other_suites_are_left_out(tmp_path):
    entries = [entry_of(SUITE, run_of(SUITE), day=day) for day in (2, 0, 1)]
    other = replace(entries[0], suite="shop/")
    for entry in (*entries, other):
        write_entry(tmp_path, entry)
    assert [entry.created[8:10] for entry in read_history(tmp_path, "shop")] == ["01", "02", "03"]
    assert read_history(tmp_path, "shop/") == [other]
    assert read_history(tmp_path / "missing", "shop") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda plain: plain.update(schema=3), "found schema version 3, expected 1 or 2"),
        (lambda plain: plain.pop("schema"), "found no schema version, expected 1 or 2"),
        (lambda plain: plain.update(created="zzz"), "at created: found 'zzz', expected a time in UTC such as"),
        (lambda plain: plain.update(created="2026-11-25T23:19:46"), "expected a time in UTC"),
        (lambda plain: plain.update(created="2026-11-25T23:19:46.000000+02:00"), "expected a time in UTC"),
        (lambda plain: plain.update(depth="many"), "not a history entry: depth: Input should be a valid integer"),
        (
            lambda plain: plain["queries"]["shoes"].update(ties=[[2, 9]]),
            r"at queries.shoes.ties: found \[2, 9\], expected ranks of its ranking",
        ),
        (
            lambda plain: plain["queries"]["shoes"].update(ranking=["a", "a"]),
            "at queries.shoes.ranking: a document is in it twice",
        ),
    ],
)
def test_a_file_that_is_no_entry_is_refused(tmp_path, change, message):
    path = write_entry(tmp_path, entry_of(SUITE, run_of(SUITE)))
    plain = json.loads(path.read_text())
    change(plain)
    path.write_text(json.dumps(plain))
    with pytest.raises(HistoryError, match=message) as caught:
        read_history(tmp_path, "shop")
    assert path.as_posix() in str(caught.value)
    assert caught.value.exit_status == 2


def test_an_edited_file_is_refused(tmp_path):
    path = write_entry(tmp_path, entry_of(SUITE, run_of(SUITE)))
    text = path.read_text()
    # Line ends, as git may change them, and the layout are no content.
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert len(read_history(tmp_path, "shop")) == 1
    path.write_text(text.replace('["a", "b"]', '["b", "a"]'))
    with pytest.raises(HistoryError, match=r"\.json cannot be read: its name does not end with the fingerprint"):
        read_history(tmp_path, "shop")


def test_the_marks_of_a_conflict_are_named(tmp_path):
    path = write_entry(tmp_path, entry_of(SUITE, run_of(SUITE)))
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}")
    with pytest.raises(HistoryError, match=r":1:1: this is not JSON: .*; git left the marks of a conflict"):
        read_file(path)


def test_a_line_of_a_packed_file_is_named(tmp_path):
    entry = entry_of(SUITE, run_of(SUITE))
    path = tmp_path / "packed-1.jsonl"
    path.write_text(f"{dump_line(entry)}\n\n{{")
    with pytest.raises(HistoryError, match=r"packed-1.jsonl:3:\d+: this is not JSON"):
        read_file(path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "shop").write_text("")
    with pytest.raises(HistoryError, match=r"shop/2026.* cannot be written: "):
        write_entry(tmp_path, entry_of(SUITE, run_of(SUITE)))


def test_an_odd_text_survives(tmp_path):
    odd = Query("\u2028", "é\n\u2028", judgments={"\U0001f45f": 1})
    suite = make_kept_suite(odd)
    entry = entry_of(suite, run_of(suite))
    path = write_entry(tmp_path, entry)
    assert read_file(path) == [entry]
    assert path.name.isascii()
    assert load_entry(dump_line(entry), "x.jsonl") == entry
    assert len(dump_line(entry).splitlines()) == 1


# Scored again.


def scores_by_query(rescored, measure):
    return {
        query: scores[measure].value for query, scores in index_scores(rescored.scores).items() if measure in scores
    }


def test_kept_rankings_are_scored_with_the_judgments_of_today():
    entry = entry_of(SUITE, run_of(SUITE, shoes=ranking_of("x", "b", "a")))
    assert entry.queries["shoes"].scores["RR@3"] == 0.5
    judged_later = make_kept_suite(QUERIES[0], replace(QUERIES[1], judgments={"a": 3, "b": 1, "x": 2}))
    [rescored] = rescore([entry], judged_later)
    assert scores_by_query(rescored, "RR@3") == {"boots": 1.0, "shoes": 1.0}
    assert rescored.entry is entry


def test_whether_the_request_is_the_same_is_known():
    entry = entry_of(SUITE, run_of(SUITE))
    template = replace(SUITE.requests["current"], body={"query": {"match": {"name": "{{text}}"}}})
    changed = replace(SUITE, requests={"current": template})
    assert [rescore([entry], suite)[0].same_request for suite in (SUITE, changed)] == [True, False]


def test_a_query_of_another_text_and_one_that_is_gone_are_left_out():
    entry = entry_of(SUITE, run_of(SUITE))
    [rescored] = rescore([entry], make_kept_suite(replace(QUERIES[1], text="blue shoes"), Query("new", "new")))
    assert rescored.changed == ("shoes",)
    assert rescored.run.responses == {}
    assert rescored.scores == ()


def test_a_measure_that_reads_more_hits_than_are_kept_has_no_score():
    entry = entry_of(SUITE, run_of(SUITE))
    measures = (*SUITE.measures, parse_measure("P@5"), parse_measure("AP"))
    [rescored] = rescore([entry], make_kept_suite(measures=measures, depth=5))
    assert {score.measure for score in rescored.scores} == {"nDCG@3", "RR@3"}


def test_a_new_measure_is_scored_where_the_kept_hits_suffice():
    entry = entry_of(SUITE, run_of(SUITE))
    [rescored] = rescore([entry], make_kept_suite(measures=(parse_measure("P@2"),)))
    assert scores_by_query(rescored, "P@2") == {"boots": 0.5, "shoes": 1.0}
