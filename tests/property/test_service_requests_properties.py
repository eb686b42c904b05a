"""However a refused name is spelled, it is refused: encoded once or more often, between blanks, in any case."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.model.suite import HttpRequest
from harness.search.presets import PRESETS
from harness.search.service_requests import explain_write, find_problem

BLANKS = st.text(st.sampled_from(" \t\n\r\x00\x01\x1f\x0b\xa0\u3000"), max_size=2)


@st.composite
def spellings(draw: st.DrawFn, name: str) -> str:
    """The *name*, as it may stand in the query of a path."""
    written = []
    for character in draw(BLANKS) + name + draw(BLANKS):
        letter = draw(st.sampled_from([character.lower(), character.upper(), _widen(character)]))
        # A blank in a path is always encoded.
        depth = draw(st.integers(min_value=0 if letter.isalnum() or letter in "._" else 1, max_value=3))
        written.append(_encode(letter, depth))
    return "".join(written)


def _widen(character: str) -> str:
    """The full-width form of *character*, which some servers read as the plain one."""
    return chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character


def _encode(letter: str, depth: int) -> str:
    if depth == 0:
        return letter
    encoded = "".join(f"%{byte:02x}" for byte in letter.encode())
    return encoded.replace("%", "%" + "25" * (depth - 1))


REPLACING = st.sampled_from(["_method", "X-HTTP-Method-Override", "httpMethod"]).flatmap(spellings)
LEAVING = st.sampled_from(["qt", "rows.qt", "stream.body", "shards", "json", "json.queries", "sync"]).flatmap(spellings)
COMMANDING = st.sampled_from(["action", "command", "stream.body", "stream.url", "json.params"]).flatmap(spellings)
HANDLERS = st.sampled_from(["admin", "replication", "dataimport"]).flatmap(spellings)


@given(REPLACING)
def test_a_parameter_in_place_of_the_method_is_refused_in_any_spelling(name: str) -> None:
    assert "may replace the method" in find_problem(HttpRequest("GET", f"/search?{name}=DELETE", "$.ids"))
    assert "may replace the method" in find_problem(HttpRequest("GET", "/search", "$.ids", params={name: "DELETE"}))


@given(LEAVING)
def test_a_parameter_that_leaves_the_search_of_solr_is_refused_in_any_spelling(name: str) -> None:
    requests = [
        HttpRequest("GET", f"/shop/select?{name}=a:1/b", "$.id"),
        HttpRequest("GET", "/shop/select", "$.id", params={name: "a:1/b"}),
        HttpRequest("POST", "/shop/select", "$.id", json={"params": {name: "a:1/b"}}),
        HttpRequest("POST", "/shop/select", "$.id", json={"queries": {name: "a:1/b"}}),
    ]
    for http in requests:
        assert PRESETS["solr"].find_problem(http).startswith("the parameter "), http


@given(HANDLERS, COMMANDING, st.sampled_from(["", ";x", ";x=1", "%3by"]))
def test_a_command_to_solr_may_change_data_in_any_spelling(handler: str, name: str, rest: str) -> None:
    path = f"/solr/{handler}{rest}/cores"
    assert explain_write(HttpRequest("GET", f"{path}?{name}=UNLOAD", "$.ids"))
    assert explain_write(HttpRequest("GET", path, "$.ids", params={name: "UNLOAD"}))


@given(st.sampled_from(["_delete_by_query", "_close"]).flatmap(spellings), st.sampled_from(["", ";x", "%3by"]))
def test_an_interface_of_an_engine_may_change_data_in_any_spelling(name: str, rest: str) -> None:
    assert explain_write(HttpRequest("GET", f"/shop/{name}{rest}", "$.ids"))
