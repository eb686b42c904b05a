"""An engine's error in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from harness.search.answers import add_window_hint, explain_error, walk_causes
from harness.search.hits import make_excerpt


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("no handler found for uri [/x]", "no handler found for uri [/x]"),
        (None, "the engine gave no reason"),
        ({}, "the engine gave no reason"),
        (" ", "the engine gave no reason"),
        ({"root_cause": [{"type": "\x85"}]}, "the engine gave no reason"),
        ({"type": "security_exception", "reason": None}, "security_exception"),
        ({"reason": "all is lost"}, "all is lost"),
        (
            {"type": "outer", "reason": "outside", "root_cause": [{"type": "inner", "reason": "inside"}]},
            "inner: inside",
        ),
        (
            {
                "type": "a",
                "reason": "b",
                "caused_by": {"type": "c", "reason": "d", "caused_by": {"type": "e", "reason": "f"}},
            },
            "a: b, because of f",
        ),
        ({"type": "a", "reason": "b: f", "caused_by": {"type": "e", "reason": "f"}}, "a: b: f"),
        ({"type": "a", "reason": "b", "root_cause": ["odd"]}, "a: b"),
        (
            {"type": "es_rejected_execution_exception", "reason": "rejected"},
            "es_rejected_execution_exception: rejected, its search queue is full",
        ),
    ],
)
def test_root_cause_and_what_is_below(error: Any, expected: str) -> None:
    assert explain_error(error) == expected


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ({"type": "index_closed_exception", "reason": "closed"}, "POST /<index>/_open"),
        ({"type": "cluster_block_exception", "reason": "blocked by: [FORBIDDEN/4/index closed];"}, "_open"),
        ({"type": "cluster_block_exception", "reason": "blocked by: [FORBIDDEN/8/index write (api)];"}, "remove this"),
        (
            {
                "type": "cluster_block_exception",
                "reason": "blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark; see https://x];",
            },
            "free space, then set `index.blocks.read_only_allow_delete` to null",
        ),
        (
            {
                "type": "cluster_block_exception",
                "reason": "blocked by: [FORBIDDEN/13/cluster read-only / allow delete];",
            },
            "`cluster.blocks.read_only_allow_delete`",
        ),
        (
            {"type": "cluster_block_exception", "reason": "blocked by: [SERVICE_UNAVAILABLE/2/no master];"},
            "wait until it has a master",
        ),
    ],
)
def test_an_index_or_cluster_that_does_not_serve_has_its_remedy(error: Any, remedy: str) -> None:
    assert explain_error(error).startswith(f"{error['type']}: ")
    assert ";," not in explain_error(error)
    assert remedy in explain_error(error)


def test_who_chose_a_size_that_the_index_refuses_is_told() -> None:
    reason = "less than or equal to: [10] but was [70]. The limit is the [index.max_result_window] setting."
    assert add_window_hint(reason) == (
        f"{reason[:-1]}; the harness chose that number of hits, which this setting of the index limits"
    )
    assert add_window_hint("no such index.") == "no such index."


def test_a_long_reason_is_cut() -> None:
    assert len(explain_error({"type": "a", "reason": "x" * 5000})) == 600


def test_a_chain_without_end_ends() -> None:
    error: dict[str, Any] = {"type": "a", "reason": "b"}
    error["caused_by"] = error

    assert explain_error(error) == "a: b"
    assert len(list(walk_causes(error))) < 20


def test_every_cause_is_walked() -> None:
    error = {
        "type": "1",
        "root_cause": [{"type": "2"}],
        "failed_shards": [{"reason": {"type": "3", "caused_by": {"type": "4"}}}],
    }

    assert {cause.get("type") for cause in walk_causes(error)} >= {"1", "2", "3", "4"}


def test_an_excerpt_is_one_line() -> None:
    assert make_excerpt("a\n  b\tc") == "a b c"
    assert make_excerpt("abcdef", 4) == "abc…"
