"""No value from the environment is left in a text, in whatever form it stands there."""

import base64
import json
import re
from html import escape
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.gate.ties import is_tie
from harness.masking import Masker, _write_pattern
from harness.model.run import Engine, Hit, IndexState, Ranking, Run
from harness.redaction import redact


def test_each_value_becomes_the_name_of_its_variable():
    masker = Masker({"TOKEN": "s3cret", "USER": "kim"})
    assert masker.mask("kim:s3cret, s3cret") == "${USER}:${TOKEN}, ${TOKEN}"


def test_a_value_that_holds_another_goes_first():
    masker = Masker({"SHORT": "abc", "LONG": "abcdef"})
    assert masker.mask("abcdef abc") == "${LONG} ${SHORT}"


def test_what_was_put_in_is_not_masked_again():
    assert Masker({"A": "B", "B": "A"}).mask("A B") == "${B} ${A}"


def test_what_is_masked_already_stays():
    masker = Masker({"A": "B", "B": "A", "TOKEN": "TOKEN"})
    once = masker.mask("A B TOKEN")
    assert masker.mask(once) == once == "${B} ${A} ${TOKEN}"


@pytest.mark.parametrize("values", [{}, {"EMPTY": ""}])
def test_nothing_to_hide_changes_nothing(values):
    assert Masker(values).mask("as it was") == "as it was"


@pytest.mark.parametrize("write", [json.dumps, repr, quote, quote_plus, lambda value: quote(value, safe="")])
@pytest.mark.parametrize("value", ['pa"ss\\word', "pass word/ü", "line\nbreak", "a'b\"c", "p@ss:w%rd"])
def test_a_value_is_found_in_the_forms_that_it_takes_when_it_is_written(write, value):
    masked = Masker({"SECRET": value}).mask(f"<{write(value)}>")
    assert masked.strip("<>\"'") == "${SECRET}"


def html_safe_json(value):
    """As Go and Gson write JSON."""
    return (
        json.dumps(value)
        .replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("'", "\\u0027")
    )


@pytest.mark.parametrize(
    "write",
    [
        escape,
        html_safe_json,
        lambda value: quote(value, safe="").lower(),
        str.lower,
        lambda value: " ".join(value.split()),
    ],
)
@pytest.mark.parametrize("value", ["P&ss <w>rd", "two  words\there", "a/b=c+d/E", "Tom's"])
def test_a_value_is_found_in_the_forms_that_servers_and_pages_give_it(write, value):
    assert Masker({"SECRET": value}).mask(f"<{write(value)}>").strip("<>\"'") == "${SECRET}"


def slashed_json(value):
    """As PHP writes JSON."""
    return json.dumps(value).replace("/", "\\/")


def dotnet_json(value):
    """As .NET writes JSON."""
    text = json.dumps(value)[1:-1].replace('\\"', '"')
    return "".join(f"\\u{ord(letter):04X}" if letter in "&<>'+`\"" else letter for letter in text)


@pytest.mark.parametrize(
    "write",
    [
        str.upper,
        slashed_json,
        dotnet_json,
        lambda value: json.dumps(value.upper()),
        lambda value: json.dumps(json.dumps(value)[1:-1]),
        lambda value: slashed_json(slashed_json(value)[1:-1]),
        lambda value: json.dumps(html_safe_json(value)[1:-1]),
    ],
)
@pytest.mark.parametrize("value", ["s3cr3t-token", "a/b=c+d/E", "Tom's <&> key", "über/geheim"])
def test_a_value_is_found_in_upper_case_and_in_json_of_any_library_and_depth(write, value):
    assert Masker({"SECRET": value}).mask(f"<{write(value)}>").strip("<>\"'") == "${SECRET}"


ENCODED = base64.b64encode(b"key-id:k3y-secret").decode()
BASIC = base64.b64encode(b"shopuser:pa55-word").decode()


@pytest.mark.parametrize(
    ("login", "parts"),
    [
        ("Bearer s3cr3t", ["s3cr3t"]),
        ("bearer   s3cr3t  ", ["s3cr3t"]),
        ("Token s3cr3t/with+signs==", ["s3cr3t/with+signs=="]),
        ('Token token="s3cr3t"', ["s3cr3t"]),
        ("session=8f3a1c", ["8f3a1c"]),
        ("lang=de; sid=8f3a1c; csrf=tok.en-1", ["8f3a1c", "tok.en-1"]),
        ('Digest username="kimkim", response="0a1b2c3d"', ["kimkim", "0a1b2c3d"]),
        ("AWS4-HMAC-SHA256 Credential=AKIA/eu, Signature=0a1b2c3d", ["AKIA/eu", "0a1b2c3d"]),
        ("key-id:k3y-secret", ["key-id", "k3y-secret"]),
        ("ApiKey key-id:k3y-secret", ["key-id", "k3y-secret"]),
        (ENCODED, ["key-id", "k3y-secret"]),
        (f"ApiKey {ENCODED}", [ENCODED, "key-id", "k3y-secret"]),
        (ENCODED.rstrip("="), ["key-id", "k3y-secret"]),
        (base64.urlsafe_b64encode(b"key-id:k3y>>>?").decode(), ["key-id", "k3y>>>?"]),
        ("sid=8f%2F3a1c", ["8f%2F3a1c", "8f/3a1c"]),
        (f"Basic {BASIC}", [BASIC, "pa55-word"]),
    ],
)
def test_what_a_server_repeats_of_a_login_is_masked_in_all_forms(login, parts):
    masker = Masker({}, logins={"ANY_NAME": login})
    assert masker.mask(f"invalid: {login}!") == "invalid: ${ANY_NAME}!"
    for part in parts:
        for written in (
            part,
            part.lower(),
            part.upper(),
            json.dumps(part)[1:-1],
            slashed_json(part)[1:-1],
            quote(part),
        ):
            assert masker.mask(f"invalid token: {written}!") == "invalid token: ${ANY_NAME}!"


@pytest.mark.parametrize("value", ["Bearer s3cr3t", "bearer s3cr3t", "ApiKey s3cr3t"])
def test_a_value_with_the_scheme_of_a_login_is_one_whatever_its_name(value):
    assert Masker({"RELEVANCE_SHOP": value}).mask("no s3cr3t") == "no ${RELEVANCE_SHOP}"


def test_a_variable_named_like_a_login_is_one():
    assert Masker({"SHOP_AUTHORIZATION": "Bearer s3cr3t"}).mask("no s3cr3t") == "no ${SHOP_AUTHORIZATION}"


@pytest.mark.parametrize(
    ("values", "logins", "text"),
    [
        ({"TEXT": "red shoes"}, {}, "shoes, not red"),
        ({"URL": "https://shop.example/find?q=shoes"}, {}, "https and shoes"),
        ({}, {"LOGIN": "tenant=abc; secure=true; debug=False"}, "abc is true, not false"),
        ({}, {"LOGIN": "Bearer abc"}, "abc"),
        ({}, {"LOGIN": "https://shop.example"}, "https"),
        ({}, {"LOGIN": f"Basic {BASIC}"}, "shopuser"),
        ({}, {"LOGIN": f"BASIC\t{BASIC}"}, "shopuser"),
    ],
)
def test_words_that_are_no_secret_stay(values, logins, text):
    assert Masker(values, logins).mask(text) == text


def test_a_part_that_is_a_value_of_its_own_has_the_name_of_that():
    assert Masker({"OTHER": "s3cr3t"}, logins={"LOGIN": "Bearer s3cr3t"}).mask("s3cr3t") == "${OTHER}"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("found s3cret-tok…", "found ${TOKEN}…"),
        ('"found s3cr…" and s3cret-tok…', '"found ${TOKEN}…" and ${TOKEN}…'),
        ("found s3c…", "found s3c…"),
        ("s3cret and … more", "s3cret and … more"),
        ("s3cret-token…", "${TOKEN}…"),
        ("…", "…"),
    ],
)
def test_the_beginning_of_a_value_is_masked_where_a_text_was_cut(text, masked):
    assert Masker({"TOKEN": "s3cret-token"}).mask(text) == masked


@given(st.lists(st.text("ab/.", min_size=1, max_size=6), min_size=1, max_size=8), st.text("ab/.c", max_size=40))
def test_the_longest_form_is_found_where_several_begin(forms, text):
    plain = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    assert re.findall(_write_pattern(forms), text) == re.findall(plain, text)


def test_characters_of_regular_expressions_are_just_characters():
    assert Masker({"DOT": "a.c"}).mask("abc a.c") == "abc ${DOT}"


def test_sort_values_with_a_secret_are_left_out_of_runs_and_tie_with_nothing():
    """Masked they could be equal, and were not: a mask finds a value in lower case too."""
    hits = Hit("a", sort=("the s3cret one", 1)), Hit("b", sort=("another", 1)), Hit("c")
    run = Run({"q": Ranking(hits, tail=hits[:1])}, Engine("fake"))
    found = redact(run, Masker({"TOKEN": "s3cret"}).mask).responses["q"]
    assert found.hits == (Hit("a", sort=()), *hits[1:])
    assert found.tail == found.hits[:1]
    assert not is_tie(*found.tail, *found.tail, exact=False)


def test_the_names_of_indexes_are_masked_in_every_fact_of_a_state():
    state = IndexState(uuids={"s3cret-1": "u"}, filters={"s3cret-1": "f"}, copies={"s3cret-1[0]": ()})
    assert "s3cret" not in str(redact(state, Masker({"TOKEN": "s3cret"}).mask))


def test_json_is_masked_in_texts_and_keys_and_numbers_stay():
    masker = Masker({"TOKEN": "123"})
    value = {"k-123": ["x 123", 123, 1.5, None, True], "inner": {"deep": ("123",)}}
    assert masker.mask_json(value) == {
        "k-${TOKEN}": ["x ${TOKEN}", 123, 1.5, None, True],
        "inner": {"deep": ["${TOKEN}"]},
    }
