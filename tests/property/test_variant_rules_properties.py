"""Variants of any text by rule: what changes, what stays, and that nothing is made twice."""

from hypothesis import given
from hypothesis import strategies as st

from harness.suites.variant_rules import (
    FEWEST_LETTERS,
    VariantRules,
    change_accents,
    change_number,
    change_order,
    list_typos,
    make_variants,
)

TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(["running", "Shoes", "für", "müller", "café", "xl", "iphone15", "T-shirt"]), max_size=5
    ).map(" ".join),
)
RULES = st.builds(
    VariantRules,
    typos=st.integers(0, 6),
    plural=st.booleans(),
    case=st.booleans(),
    accents=st.booleans(),
    order=st.booleans(),
)


@given(TEXTS, RULES)
def test_no_variant_is_the_text_or_another_variant(text, rules):
    texts = [made.text for made in make_variants(text, rules)]
    assert text not in texts
    assert len(set(texts)) == len(texts)


@given(TEXTS, RULES)
def test_the_same_text_and_rules_make_the_same_variants(text, rules):
    assert make_variants(text, rules) == make_variants(text, rules)


@given(TEXTS, st.integers(1, 5))
def test_more_typos_begin_with_the_same(text, typos):
    fewer = make_variants(text, VariantRules(typos=typos))
    more = make_variants(text, VariantRules(typos=typos + 1))
    assert more[: len(fewer)] == fewer
    assert len(fewer) <= typos


@given(TEXTS)
def test_a_typo_changes_one_letter_of_one_long_word_and_not_its_first(text):
    for variant in list_typos(text):
        before, after = text.split(), variant.split()
        assert len(before) == len(after)
        [(old, new)] = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
        assert len(old) >= FEWEST_LETTERS
        assert old.isalpha()
        assert new[0] == old[0]
        assert count_edits(old, new) == 1


@given(TEXTS)
def test_the_plural_changes_the_last_word_only(text):
    for variant in change_number(text):
        assert variant.split()[:-1] == text.split()[:-1]


@given(TEXTS)
def test_an_order_has_the_same_words(text):
    for variant in change_order(text):
        assert sorted(variant.split()) == sorted(text.split())


@given(st.text(st.characters(categories=["Ll", "Lu", "Zs"], max_codepoint=0x7F), max_size=30))
def test_a_text_without_accents_gains_them_only_in_known_words(text):
    for variant in change_accents(text):
        assert not variant.isascii()


def count_edits(old, new):
    """Damerau's edits between two words: a letter left out, added, changed, or two swapped."""
    rows = [list(range(len(new) + 1))]
    for i, letter in enumerate(old, start=1):
        row = [i]
        for j, other in enumerate(new, start=1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == new[j - 2] and old[i - 2] == other:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
