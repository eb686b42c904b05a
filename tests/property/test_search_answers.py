"""Whatever a server answers, each search gets a response, and nothing else is raised."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.model.run import Failure, Ranking
from harness.model.suite import HttpRequest
from harness.search.answers import explain_error, read_answer, read_item
from harness.search.connection import Answer
from harness.search.hits import MalformedAnswer, are_texts, is_text
from harness.search.msearch import Entry
from harness.search.service_answers import read_service_answer

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
)


def shaped(**members: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of *members*, each as it should be or anything at all."""
    optional = {name: strategy | JSON for name, strategy in members.items()}
    return st.fixed_dictionaries({}, optional=optional)


HIT = shaped(_id=st.text(max_size=3), _score=st.floats() | st.none(), _source=shaped(title=st.text()), fields=JSON)
ERROR = shaped(
    type=st.sampled_from(["parsing_exception", "search_phase_execution_exception", "search_timeout_exception"]),
    reason=st.sampled_from(["Partial shards failure", "all shards failed", "Time exceeded"]),
    root_cause=st.lists(shaped(type=st.text(), reason=st.text(), line=st.integers(), col=st.integers()), max_size=2),
    failed_shards=st.lists(shaped(index=st.text(), shard=st.integers(), reason=shaped(caused_by=JSON)), max_size=2),
    caused_by=shaped(reason=st.text(), caused_by=JSON),
)
ITEM = shaped(
    took=st.integers(),
    timed_out=st.booleans(),
    status=st.sampled_from([200, 400, 403, 429, 503]),
    error=ERROR,
    hits=shaped(
        total=shaped(value=st.integers(), relation=st.sampled_from(["eq", "gte"])), hits=st.lists(HIT, max_size=4)
    ),
    _shards=shaped(
        total=st.integers(), successful=st.integers(), failed=st.integers(), failures=st.lists(JSON, max_size=1)
    ),
    _clusters=shaped(total=st.integers(), skipped=st.integers()),
)


@given(item=ITEM | JSON, title=st.none() | st.just("title") | st.text())
def test_every_item_is_a_ranking_or_a_failure_with_a_reason(item: Any, title: str | None) -> None:
    response = read_item(item, Entry(0, b"", title_field=title))

    if isinstance(response, Failure):
        assert response.reason
    else:
        assert isinstance(response, Ranking)
        ids = [hit.id for hit in response.hits]
        assert len(set(ids)) == len(ids)
        assert set(response.duplicates) <= set(ids)


@given(item=ITEM)
def test_what_is_an_error_or_incomplete_is_never_a_ranking(item: dict[str, Any]) -> None:
    shards = item.get("_shards")
    incomplete = isinstance(shards, dict) and isinstance(shards.get("failed"), int) and shards["failed"] > 0
    if item.get("error") or item.get("timed_out") is True or incomplete:
        assert isinstance(read_item(item, Entry(0, b"")), Failure)


@given(
    items=st.lists(ITEM | JSON, max_size=4) | JSON,
    asked=st.integers(1, 4),
    status=st.sampled_from([200, 201, 206, 302, 400, 401, 429, 500, 503]),
)
def test_every_search_of_a_request_gets_one_reply(items: Any, asked: int, status: int) -> None:
    answer = Answer(status, json.dumps({"responses": items}).encode())

    replies = read_answer(answer, [Entry(place, b"") for place in range(asked)])

    assert len(replies) == asked
    if status != 200 and status != 201:
        assert all(isinstance(reply.response, Failure) for reply in replies)


@given(body=st.binary(max_size=60), status=st.integers(200, 599))
def test_bytes_of_any_kind_are_read(body: bytes, status: int) -> None:
    [reply] = read_answer(Answer(status, body), [Entry(0, b"")])

    assert isinstance(reply.response, Failure)
    assert reply.response.reason


@given(error=ERROR | JSON)
def test_every_error_has_a_sentence_on_one_line(error: Any) -> None:
    sentence = explain_error(error)

    assert sentence
    assert "\n" not in sentence
    assert len(sentence) <= 600


@given(
    content=JSON
    | shaped(r=st.lists(shaped(id=st.text(max_size=3) | st.integers(), s=st.floats(), t=st.text()), max_size=4)),
    ids=st.sampled_from(["$.r[*].id", "$.r", "$..id", "$.r[?@.s > 1].id", "$[*]", "$.r[0:2].id", "$.*.*"]),
    scores=st.none() | st.sampled_from(["$.r[*].s", "$..s"]),
)
def test_every_answer_of_a_service_is_a_ranking_or_malformed(content: Any, ids: str, scores: str | None) -> None:
    try:
        ranking = read_service_answer(content, HttpRequest("GET", "/", ids, scores=scores, titles="$.r[*].t"))
    except MalformedAnswer:
        return
    assert all(hit.id for hit in ranking.hits)


# ------------------------------------------------------------------------------------------------- one thing is changed

SOUND_ITEM = {
    "took": 3,
    "timed_out": False,
    "terminated_early": False,
    "_shards": {"total": 3, "successful": 3, "skipped": 1, "failed": 0},
    "_clusters": {"total": 2, "successful": 2, "skipped": 0, "details": {"remote": {"status": "successful"}}},
    "hits": {
        "total": {"value": 3, "relation": "eq"},
        "max_score": 2.0,
        "hits": [
            {"_index": "products", "_id": "a", "_score": 2.0, "_source": {"title": "A"}},
            {"_index": "products", "_id": "b", "_score": 1.0, "fields": {"title": ["B"]}, "sort": [1]},
            {"_index": "archive", "_id": "c", "_score": None, "_routing": "x"},
        ],
    },
    "status": 200,
}
SOUND_CONTENT = {"count": 2, "results": [{"id": "a", "score": 2.0, "title": "A"}, {"id": 7, "score": None}]}
SERVICE = HttpRequest(
    "GET", "/", "$.results[*].id", scores="$.results[*].score", titles="$.results[*].title", total="$.count"
)
DROPPED = object()
ODD = st.sampled_from(
    [DROPPED, -1, 10**400, 1e308, float("nan"), float("inf"), "", "\ud800", "a", {}, [], True, 206, 503]
)


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside *value*."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*before, key)
        yield from places(one, (*before, key))


def changed(sound: Any, place: tuple[Any, ...], value: Any) -> Any:
    content = copy.deepcopy(sound)
    *way, last = place
    holder = content
    for key in way:
        holder = holder[key]
    if value is DROPPED:
        del holder[last]
    else:
        holder[last] = value
    return content


@given(place=st.sampled_from(list(places(SOUND_ITEM))), value=ODD | JSON)
def test_a_change_of_a_sound_answer_is_an_outcome_and_ranks_nothing_else(place: tuple[Any, ...], value: Any) -> None:
    body = json.dumps({"responses": [changed(SOUND_ITEM, place, value)]}).encode()

    [reply] = read_answer(Answer(200, body), [Entry(0, b"", title_field="title")])

    holds_ids = place in (("hits",), ("hits", "hits")) or (
        place[:2] == ("hits", "hits") and place[3:] in ((), ("_id",))
    )
    if isinstance(reply.response, Failure):
        assert reply.response.reason
    else:
        assert holds_ids or [hit.id for hit in reply.response.hits] == ["a", "b", "c"]
        assert reply.response.took is None or reply.response.took >= 0
        assert reply.response.total is None or reply.response.total >= 0


@given(place=st.sampled_from(list(places(SOUND_ITEM))), value=ODD | JSON)
def test_hits_are_the_same_whether_fields_are_read_too_or_not(place: tuple[Any, ...], value: Any) -> None:
    item = json.loads(json.dumps(changed(SOUND_ITEM, place, value)))

    assert repr(read_item(item, Entry(0, b"", title_field="not there"))) == repr(read_item(item, Entry(0, b"")))


@given(place=st.sampled_from(list(places(SOUND_CONTENT))), value=ODD | JSON)
def test_a_change_of_a_services_answer_ranks_nothing_else(place: tuple[Any, ...], value: Any) -> None:
    try:
        ranking = read_service_answer(changed(SOUND_CONTENT, place, value), SERVICE)
    except MalformedAnswer:
        return
    holds_ids = place[0] == "results" and place[2:] in ((), ("id",))
    assert holds_ids or [hit.id for hit in ranking.hits] == ["a", "7"]


SOUND_SERVICE = {
    "header": {"ms": 3, "partial": False, "errors": []},
    "found": {"n": 2, "exact": True, "docs": [{"id": "a", "score": 2.0, "t": "A"}, {"id": 7, "score": None, "v": [1]}]},
}
HIT_BY_HIT = HttpRequest(
    "GET",
    "/",
    "$.id",
    hits="$.found.docs[*]",
    scores="$.score",
    titles="$.t",
    sort=("$.score",),
    fields={"v": "$.v"},
    total="$.found.n",
    total_exact="$.found.exact",
    took="$.header.ms",
    partial="$.header.partial",
    error="$.header.errors[*]",
)


@given(place=st.sampled_from(list(places(SOUND_SERVICE))), value=ODD | JSON)
def test_a_change_of_one_hit_leaves_the_others_as_they_are(place: tuple[Any, ...], value: Any) -> None:
    content = changed(SOUND_SERVICE, place, value)
    try:
        response = read_service_answer(content, HIT_BY_HIT)
    except MalformedAnswer:
        return
    if isinstance(response, Failure):
        assert response.reason
        return
    assert response.took is None or response.took >= 0
    assert response.total is None or response.total >= 0
    [sound_first, sound_second] = read_service_answer(SOUND_SERVICE, HIT_BY_HIT).hits
    assert response == read_service_answer(copy.deepcopy(content), HIT_BY_HIT)
    if place[:2] != ("found", "docs"):
        assert place == ("found",) or response.hits == (sound_first, sound_second)
    elif place[2:3] == (0,) and len(place) > 3 and place[3] != "id":
        assert response.hits[1:] == (sound_second,)
    elif place[2:3] == (1,) and len(place) > 3 and place[3] != "id":
        assert response.hits[:1] == (sound_first,)


@given(
    place=st.sampled_from(["value", "relation", "_score", "_id", "took", "failed", "status"]),
    digits=st.integers(4200, 9000),
    sign=st.sampled_from(["", "-"]),
)
def test_a_number_of_any_length_is_wrong_where_it_stands_and_nowhere_else(place: str, digits: int, sign: str) -> None:
    sound = json.dumps(SOUND_ITEM)
    before, name, after = sound.partition(f'"{place}": ')
    rest = after[min(after.index(end) for end in ",}" if end in after) :]
    body = f'{{"responses": [{before}{name}{sign}{"9" * digits}{rest}, {sound}]}}'

    replies = read_answer(Answer(200, body.encode()), [Entry(0, b""), Entry(1, b"")])

    assert isinstance(replies[1].response, Ranking)
    assert isinstance(replies[0].response, Ranking) == (place in ("value", "relation", "took"))


@given(st.sets(st.text(alphabet="a\u00fc\ud800", max_size=2) | st.none() | st.integers(), max_size=4))
def test_texts_are_the_same_one_by_one_and_at_once(values: set[Any]) -> None:
    assert are_texts(values) is all(map(is_text, values))
