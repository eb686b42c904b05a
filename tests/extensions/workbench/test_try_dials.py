"""The numbers of a request: where they stand, what takes their place, and a change in words."""

import pytest

from harness.extensions.workbench.dials import MOST_DIALS, describe_change, find_dials, put_numbers

TEXT = """\
query:
  bool:
    must: {multi_match: {query: "{{text}}", fields: [title^3, "brand^1.5", tags], tie_breaker: 0.2}}
    should:
      - {match: {colour: {query: "{{text}}", boost: 2}}}
      - match_phrase: {title: {query: "{{text}}", slop: 2}} # slop 7
size: 10
http: {params: {qf: "title^3 brand^2 tags"}}
"""
QUERY = "/query/bool"


def test_a_weight_above_all_floats_is_no_dial():
    assert find_dials(f"fields: [title^{'9' * 400}]") == []


def test_what_aliases_stand_for_is_one_dial():
    layers = "".join(f"x{number}: &x{number} [*x{number - 1}, *x{number - 1}]\n" for number in range(1, 30))
    assert [dial.pointer for dial in find_dials(f"x0: &x0 [1]\n{layers}")] == ["/x0/0"]


def test_of_many_numbers_the_first_are_dials():
    text = "".join(f"k{number}: {number}\n" for number in range(1000))
    assert [dial.pointer for dial in find_dials(text)] == [f"/k{number}" for number in range(MOST_DIALS)]


def test_the_numbers_of_a_very_long_text_are_data():
    text = "title: 3\n" + "# comment\n" * 10_000
    assert find_dials(text) == []
    assert describe_change("title: 2\n", text, {}, {}) == ""


def test_each_number_is_a_dial_and_the_size_is_none():
    assert {dial.pointer: dial.value for dial in find_dials(TEXT)} == {
        f"{QUERY}/must/multi_match/fields/0^title": 3.0,
        f"{QUERY}/must/multi_match/fields/1^brand": 1.5,
        f"{QUERY}/must/multi_match/tie_breaker": 0.2,
        f"{QUERY}/should/0/match/colour/boost": 2,
        f"{QUERY}/should/1/match_phrase/title/slop": 2,
        "/http/params/qf^title": 3.0,
        "/http/params/qf^brand": 2.0,
    }


@pytest.mark.parametrize(("number", "written"), [(5, "5"), (0.25, "0.25"), (0.1 + 0.2, "0.3"), (1e-7, "1e-07")])
@pytest.mark.parametrize("pointer", [dial.pointer for dial in find_dials(TEXT)])
def test_a_number_takes_the_place_of_one_and_nothing_else_changes(pointer, number, written):
    [dial] = [dial for dial in find_dials(TEXT) if dial.pointer == pointer]
    begin, end = dial.place
    assert put_numbers(TEXT, {pointer: number}) == TEXT[:begin] + written + TEXT[end:]


def test_a_pointer_that_leads_nowhere_is_an_error():
    with pytest.raises(KeyError):
        put_numbers(TEXT, {"/nowhere": 1})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title^3, ", "title^5, ", "title^3 → ^5"),
        ("tie_breaker: 0.2", "tie_breaker: 0.3", "multi_match tie_breaker 0.2 → 0.3"),
        ("title^3 brand^2 tags", "title^4 brand^1 tags", "title^3 → ^4, brand^2 → ^1"),
        (", tie_breaker: 0.2", "", "− multi_match tie_breaker"),
        ("slop: 2", "slop: 2, boost: 4", "+ title boost 4"),
        ("# slop 7", "# slop 8", ""),
        ("[title^3, ", "[title^3, name, ", "+ name"),
    ],
)
def test_a_change_in_words(old, new, words):
    assert describe_change(TEXT, TEXT.replace(old, new), {}, {}) == words


def test_values_of_parameters_come_first_and_many_changes_are_counted():
    changed = TEXT.replace("0.2", "0.4").replace("slop: 2", "slop: 3").replace("boost: 2", "boost: 5")
    assert describe_change(TEXT, changed, {"tie": 1}, {"tie": 2}) == (
        "tie 1 → 2, multi_match tie_breaker 0.2 → 0.4, colour boost 2 → 5 and 1 more"
    )
