"""What an index is: fingerprints that another name or another build does not change, and what could not be read."""

import json

import pytest

from harness.errors import EngineUnreachable
from harness.model.run import IndexFacts
from harness.search.connection import Answer
from harness.search.engine_state import read_facts
from harness.search.protocol import NOTHING_KNOWN
from harness.search.server_health import Clock, Retries

MAPPING = {"properties": {"title": {"type": "text"}}}
SETTINGS = {"number_of_shards": "1", "uuid": "u1", "creation_date": "17", "version": {"created": "9"}}


def counted(count, **shards):
    return {"count": count, "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0, **shards}}


def index_of(name="products", mapping=MAPPING, settings=SETTINGS, count=3):
    return {
        f"/{name}/_mapping": {name: {"mappings": mapping}},
        f"/{name}/_settings": {name: {"settings": {"index": {**settings, "provided_name": name}}}},
        f"/{name}/_count": counted(count),
    }


class Fake:
    """Answers paths with content, or with a status where it is a number."""

    nodes = 1

    def __init__(self, answers):
        self.answers = answers

    def perform(self, method, path, **_):
        assert method == "GET"
        found = self.answers[path]
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            return Answer(found, b'{"error": {"type": "security_exception", "reason": "no"}}')
        return Answer(200, found if isinstance(found, bytes) else json.dumps(found).encode())


def facts(name="products", **changes):
    return read_facts(Fake(index_of(name, **changes)), name, Retries())


def test_the_facts_of_an_index():
    found = facts()
    assert (found.documents, found.missing) == (3, ())
    assert found.mapping != found.settings


def test_the_same_index_under_another_name_and_built_anew_has_the_same_fingerprints():
    anew = {**SETTINGS, "uuid": "u2", "creation_date": "18"}
    assert facts("products-2", settings=anew, mapping={**MAPPING, "_meta": {"built": "today"}}) == facts()


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"mapping": {"properties": {}}}, "mapping"),
        ({"settings": {**SETTINGS, "number_of_shards": "2"}}, "settings"),
        ({"count": 4}, "documents"),
    ],
)
def test_a_change_shows_in_its_own_fact(changes, changed):
    before, after = facts(), facts(**changes)
    for name in ("mapping", "settings", "documents"):
        assert (getattr(before, name) != getattr(after, name)) == (name == changed)


def test_the_indexes_of_a_pattern_count_together_whatever_their_names():
    def both(*names):
        mappings = {names[0]: {"mappings": MAPPING}, names[1]: {"mappings": {}}}
        settings = {name: {"settings": {"index": SETTINGS}} for name in names}
        answers = {"/shop-*/_mapping": mappings, "/shop-*/_settings": settings, "/shop-*/_count": counted(5)}
        return read_facts(Fake(answers), "shop-*", Retries())

    assert both("shop-a", "shop-b") == both("shop-z", "shop-c")


@pytest.mark.parametrize("answer", [403, 404, 500, b"<html>", b"[]", {}, EngineUnreachable("gone")])
def test_what_is_refused_or_no_answer_is_named_and_the_rest_is_read(answer):
    found = read_facts(Fake({**index_of(), "/products/_settings": answer}), "products", Retries())
    assert (found.settings, found.missing, found.documents) == (None, ("settings",), 3)
    assert found.mapping == facts().mapping


@pytest.mark.parametrize(
    "answer",
    [
        counted("3"),
        counted(True),
        counted(-1),
        counted(2, successful=1, failed=1),
        {"count": 3},
        counted(0, total=0, successful=0),
    ],
)
def test_a_count_that_is_none_or_of_a_part_of_the_index_is_missing(answer):
    found = read_facts(Fake({**index_of(), "/products/_count": answer}), "products", Retries())
    assert (found.documents, found.missing) == (None, ("documents",))


@pytest.mark.parametrize("odd", ["\ud800", {"\ud800": 1}, float("nan"), 10**400])
def test_what_no_file_can_hold_is_missing(odd):
    found = facts(mapping={"properties": {"title": odd}})
    assert found.missing == (() if odd == 10**400 else ("mapping",))


def test_a_busy_engine_is_asked_again():
    slept = []
    retries = Retries(clock=Clock(now=lambda: 0.0, sleep=slept.append, chance=lambda: 1.0))
    answers = Fake(index_of())
    busy = iter([503, 429])
    whole = answers.perform
    answers.perform = lambda *call, **_: Answer(status, b"") if (status := next(busy, None)) else whole(*call)
    assert read_facts(answers, "products", retries) == facts()
    assert slept == [0.5, 1.0]


def test_without_an_index_nothing_is_known():
    assert (
        read_facts(Fake({}), None, Retries())
        == NOTHING_KNOWN
        == IndexFacts(missing=("mapping", "settings", "documents"))
    )
