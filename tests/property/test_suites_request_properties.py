"""Filling a request is structural: the shape of the template stays, whatever the values are."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.suites.placeholders import fill

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PLAIN_TEXT = st.text().filter(lambda text: "{{" not in text)
TEMPLATES = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN_TEXT | st.just("{{text}}") | st.just("{{value}}"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN_TEXT, inner, max_size=4),
    max_leaves=12,
)


def replaced(template, values):
    """The same filling, told another way."""
    if isinstance(template, dict):
        return {key: replaced(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [replaced(item, values) for item in template]
    return values.get(template[2:-2], template) if isinstance(template, str) and template[:2] == "{{" else template


@given(TEMPLATES, st.text(), VALUES)
def test_only_placeholders_change_and_they_become_their_values(template, text, value):
    values = {"text": text, "value": value}
    assert fill(template, values) == replaced(template, values)


@given(st.text())
def test_a_filled_body_is_valid_json_with_the_text_in_it(text):
    body = json.loads(json.dumps(fill({"query": {"match": {"title": "{{text}}"}}}, {"text": text})))
    assert body == {"query": {"match": {"title": text}}}


@given(PLAIN_TEXT, st.text(), PLAIN_TEXT)
def test_inside_a_string_the_text_stands_between_what_was_around_it(before, text, after):
    if before.endswith("{") or after.startswith("}"):
        return
    assert fill(before + "{{text}}" + after, {"text": text}) == before + text + after
