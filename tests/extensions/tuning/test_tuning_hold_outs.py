"""The hold-out of a suite: drawn once, alike in tags and weights, kept with each look at it."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from harness.errors import FormatError, UsageError
from harness.extensions.tuning.hold_outs import (
    add_look,
    build_hold_out_path,
    draw_hold_out,
    group_same_queries,
    keep_hold_out,
    load_hold_out,
    read_hold_out,
)
from harness.extensions.tuning.model import HoldOutLook
from harness.model.suite import SAME_AS, Query, Variant

QUERIES = [Query(f"q{number}", "", tags=("head",) if number < 20 else ("tail",)) for number in range(60)]
LOOK = HoldOutLook("2026-11-25T00:00:00+00:00", "nDCG@10", "request", "abc", 0.1, 0.03)


def test_each_tag_has_its_share():
    held_out = set(draw_hold_out(QUERIES, 0.3, 1).queries)
    assert Counter(query.tags[0] for query in QUERIES if query.id in held_out) == {"head": 6, "tail": 12}


def test_weights_are_shared_alike():
    queries = [replace(query, tags=(), weight=float(place + 1)) for place, query in enumerate(QUERIES)]
    whole = sum(query.weight for query in queries)
    for seed in range(20):
        held_out = set(draw_hold_out(queries, 0.5, seed).queries)
        assert sum(query.weight for query in queries if query.id in held_out) / whole == pytest.approx(0.5, abs=0.03)


def test_a_seed_draws_the_same_and_another_others():
    first, again, other = (set(draw_hold_out(QUERIES, 0.4, seed).queries) for seed in (1, 1, 2))
    assert first == again != other


def test_one_is_left_and_one_is_drawn():
    assert len(draw_hold_out(QUERIES[:2], 0.01, 1).queries) == 1
    assert len(draw_hold_out(QUERIES[:2], 0.99, 1).queries) == 1
    with pytest.raises(UsageError, match="found 1 different query, expected at least 2"):
        draw_hold_out(QUERIES[:1], 0.5, 1)


def test_queries_that_are_the_same_are_drawn_together():
    same = Variant("q1", "boots", SAME_AS)
    queries = [
        replace(query, text=f"text {place // 2}", variants=(same,) if query.id == "q50" else ())
        for place, query in enumerate(QUERIES)
    ]
    assert [query.id for query in group_same_queries(queries)[0]] == ["q0", "q1", "q50", "q51"]
    for seed in range(10):
        held_out = draw_hold_out(queries, 0.4, seed).queries
        for family in group_same_queries(queries):
            assert len({query.id in held_out for query in family}) == 1


def test_it_is_kept_with_its_looks(tmp_path):
    path = build_hold_out_path(tmp_path / "shop.relevance.yaml")
    drawn = load_hold_out(path, QUERIES, 7)
    assert not path.exists()
    keep_hold_out(path, drawn)
    assert load_hold_out(path, QUERIES, 8) == drawn
    looked = add_look(path, drawn, LOOK)
    assert read_hold_out(path) == looked
    assert looked.looks == (LOOK,)
    assert add_look(path, looked, replace(LOOK, created="later")) == looked


def test_hold_out_of_another_tuning_stays(tmp_path):
    """A hold-out that another tuning wrote meanwhile is not replaced."""
    path = tmp_path / "shop.holdout.json"
    keep_hold_out(path, load_hold_out(path, QUERIES, 1))
    before = path.read_bytes()
    with pytest.raises(UsageError, match="was written by another tuning meanwhile"):
        keep_hold_out(path, draw_hold_out(QUERIES, 0.4, 2))
    assert path.read_bytes() == before


def test_a_hold_out_of_other_queries_is_refused(tmp_path):
    path = tmp_path / "shop.holdout.json"
    keep_hold_out(path, load_hold_out(path, QUERIES, 1))
    with pytest.raises(UsageError, match="was drawn from other queries than those that the suite has now"):
        load_hold_out(path, QUERIES[1:], 1)


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"seed": 1}), "{", json.dumps({"looks": [{}]})])
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "shop.holdout.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"not a hold-out: |this is not JSON"):
        read_hold_out(path)
