"""Texts that want to command a terminal or a browser, and what is left of them."""

import unicodedata

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from builders.html import Page
from harness.model.run import Status, Verdict

texts = st.text(st.characters(), max_size=12) | st.sampled_from(
    ["<script>", "[bold]", "\x1b[2J", "{{ x }}", "</style>", "'\"&"]
)
verdicts = st.builds(
    Verdict,
    st.just("id"),
    texts,
    st.sampled_from(Status),
    texts,
    st.none() | st.floats(),
    st.none() | st.floats(),
    st.none() | st.just("nDCG@10"),
    st.none() | texts,
    st.none() | texts,
    st.lists(texts, max_size=3).map(tuple),
)
thorough = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def commands(text):
    """The characters of *text* that a terminal would obey."""
    return {character for character in text if unicodedata.category(character) in ("Cc", "Cs")} - {"\n"}


def assert_page_is_ours(text):
    """No element and no handler but those of the templates, and nothing that UTF-8 lacks."""
    text.encode("utf-8")
    assert commands(text) == set()
    page = Page(text)
    tags = [tag for tag, _ in page.elements]
    assert (tags.count("script"), tags.count("style"), tags.count("img"), tags.count("bold")) == (1, 1, 0, 0)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
