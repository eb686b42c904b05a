"""Quotes: what of them a text holds, and the scores of rankings by them."""

import pytest

from harness.errors import MeasureError, UndefinedScore
from harness.metrics import parse_measure
from harness.metrics.quotes import cover_quotes, find_quotes, find_share, fold_text, look_for_quotes, make_quote
from harness.metrics.score import score_quotes
from harness.metrics.ties import find_tie_range_of_quotes
from harness.model.run import FoundQuotes, Hit, Ranking
from harness.model.suite import Profile, Query

VALVE = "the valve opens at 3 bar"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The Valve  opens\tat\n3 bar", VALVE),
        ("the valve opens at 3\u00a0bar", VALVE),
        ("\uff34\uff28\uff25 valve opens at \uff13 bar", VALVE),
        ("caf\u00e9", "cafe\u0301"),
        ("STRASSE", "stra\u00dfe"),
        ("\ufb01nd", "FIND"),
        ("\u0345\u0301", "\u0301\u0345"),
        ("5 \u212b", "5 \u00e5"),
        # What nobody sees: a soft hyphen, blanks without width, a mark at the beginning of a file.
        ("\ufeffthe val\u00adve o\u200bpens\u2060 at 3 bar", VALVE),
        ("cafe\u00ad\u0301", "caf\u00e9"),
    ],
)
def test_forms_of_one_text_are_alike(text, other):
    assert fold_text(text) == fold_text(other)
    assert make_quote(text).key == make_quote(other).key


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (f"{VALVE}.", 1.0),
        (f'it says "{VALVE}": no more', 1.0),
        # The border of the text cuts the quote.
        ("and so the valve opens at", 18 / 24),
        ("opens at 3 bar. it closes", 14 / 24),
        ("valve opens at 3", 16 / 24),
        # A chunker cut within a word.
        ("and so the valve ope", 13 / 24),
        ("pens at 3 bar. it closes", 13 / 24),
        # Less than half.
        ("and so the valve", 0.0),
        ("at 3 bar. it closes", 0.0),
        # No border: it says something else.
        ("the valve opens at 4 bar", 0.0),
        ("so the valve opens at 30 bar", 0.0),
        ("the valve opens at 3 barrels", 0.0),
        ("breathe valve opens at 3 bar", 0.0),
        ("the valve opens at 3 barrels, and the valve opens at 3 bar", 1.0),
        ("", 0.0),
    ],
)
def test_the_share_of_a_quote_that_a_text_holds(text, share):
    assert find_share(VALVE, text) == pytest.approx(share)


def test_a_quote_that_begins_within_a_word_is_not_held():
    assert find_share("3 bar", "it opens at 13 bar") == 0
    assert find_share("3 bar", "it opens at 13 bar or at 3 bar") == 1


@pytest.mark.parametrize(
    ("quote", "text", "share"),
    [
        ("3 bar", "it opens at 1.3 bar", 0),
        ("it opens at 3", "it opens at 3.5 bar", 0),
        ("it costs 3,000", "it costs 3,000,000", 0),
        ("it opens at 3", "it opens at 3, then", 1),
        ("it opens at 3", "it opens at 3.", 1),
        ("3 bar", "1. 3 bar", 1),
    ],
)
def test_a_part_of_a_number_with_a_decimal_point_is_no_quote(quote, text, share):
    assert find_share(quote, text) == share


def test_a_long_quote_is_looked_for_once_and_not_once_a_length():
    # A slice of half of it for each of a million lengths would take minutes.
    quote = " ".join(map(str, range(150_000)))
    assert find_share(quote, "x" * len(quote)) == 0
    assert find_share(quote, f"x {quote[:-20]}") == pytest.approx(1, abs=0.001)
    assert find_share(quote, f"{quote[20:]} x") == pytest.approx(1, abs=0.001)


def test_scripts_without_blanks_are_searched_anywhere():
    assert (
        find_share(
            "\u5f01\u306f3\u6c17\u5727\u3067\u958b\u304f",
            "\u3053\u306e\u5f01\u306f3\u6c17\u5727\u3067\u958b\u304f\u3002",
        )
        == 1
    )


def test_nothing_holds_an_empty_quote():
    assert find_share("", "a text") == 0
    assert look_for_quotes([make_quote("  ")], {"a": ["a text"]}).shares == {}


def test_of_several_texts_of_a_hit_the_best_counts():
    quote = make_quote(VALVE)
    found = look_for_quotes([quote], {"a": ["and so the valve opens at", f"{VALVE}, it says"], "b": ["else"]})
    assert found == FoundQuotes((quote.key,), {"a": {quote.key: 1.0}})


def score(text, chunks, quotes, **options):
    """The score of chunks, each a list of texts of quotes that it holds, or of pairs with a share."""
    shares = {}
    for rank, chunk in enumerate(chunks):
        held = [pair if isinstance(pair, tuple) else (pair, 1.0) for pair in chunk]
        shares[str(rank)] = {make_quote(quote).key: share for quote, share in held}
    found = FoundQuotes(tuple(quote.key for quote in quotes), shares)
    return score_quotes(parse_measure(text), list(shares), quotes, found, **options)


ONE, TWO = make_quote("one", 1, "d"), make_quote("two", 1, "e")


@pytest.mark.parametrize(
    ("measure", "chunks", "expected"),
    [
        ("StRecall@2", [["one"], ["two"]], 1.0),
        ("StRecall@1", [["one"], ["two"]], 0.5),
        # The second chunk of a quote adds nothing.
        ("StRecall@2", [["one"], ["one"]], 0.5),
        ("St_nDCG@2", [["one"], ["one"]], 1 / (1 + 0.6309297535714575)),
        ("alpha_nDCG@2", [["one"], ["one"]], 1 / (1 + 0.6309297535714575)),
        ("St_nDCG@2", [["one"], ["two"]], 1.0),
        ("St_nDCG@2", [[], []], 0.0),
        # A part counts by its share, and the rest of it where a later hit holds more.
        ("StRecall@2", [[("one", 0.75)], []], 0.375),
        ("StRecall@2", [[("one", 0.75)], ["one"]], 0.5),
        ("St_nDCG@2", [[("one", 0.75)], ["one"]], (0.75 + 0.25 * 0.6309297535714575) / (1 + 0.6309297535714575)),
        ("ERR_IA@2", [["one"], ["one"]], pytest.approx(1 / 2.5)),
        # A text that two documents share is not worth more than the best of them.
        ("St_nDCG@1", [["one", "two"]], 1.0),
        ("alpha_nDCG@1", [["one", "two"]], 1.0),
    ],
)
def test_a_quote_counts_once_at_the_first_hit_that_holds_it(measure, chunks, expected):
    assert score(measure, chunks, [ONE, TWO]) == pytest.approx(expected)


def test_the_grade_of_a_quote_is_its_gain_and_the_ideal_has_whole_documents():
    quotes = [make_quote("one", 3, "d"), make_quote("two", 1, "d"), make_quote("three", 1, "e")]
    assert score("St_nDCG@2", [["one", "two"], ["three"]], quotes) == pytest.approx(1)
    expected = (1 + 7 * 0.6309297535714575) / (8 + 0.6309297535714575)
    assert score("St_nDCG@2", [["two"], ["one"]], quotes) == pytest.approx(expected)
    assert score("St_nDCG(gain=linear)@1", [["two"]], quotes) == pytest.approx(1 / 4)


def test_quotes_without_a_document_may_be_in_different_ones():
    assert score("St_nDCG@2", [["one"], ["two"]], [make_quote("one"), make_quote("two")]) == pytest.approx(1)


def test_the_level_of_a_measure_decides_which_quotes_are_relevant():
    quotes = [make_quote("one", 2, "d"), make_quote("two", 1, "e"), make_quote("no", 0, "f")]
    assert score("StRecall", [["two"], ["no"]], quotes) == 0.5
    assert score("StRecall(rel=2)", [["two"]], quotes) == 0
    with pytest.raises(UndefinedScore, match="no quote is relevant"):
        score("StRecall(rel=3)", [["two"]], quotes)
    with pytest.raises(UndefinedScore, match="the query has no quotes"):
        score("StRecall", [["two"]], [])
    assert score("StRecall", [["two"]], [], profile=Profile.TREC) == 0


def test_a_measure_of_grades_takes_no_quotes():
    with pytest.raises(MeasureError, match="nDCG@10 does not use quotes"):
        score("nDCG@10", [["one"]], [ONE])


def test_overlapping_quotes_count_each():
    quotes = [make_quote(VALVE, 1, "d"), make_quote("opens at 3 bar", 1, "d")]
    found = look_for_quotes(quotes, {"a": ["at 2 bar it opens at 3 bar"], "b": [f"here {VALVE} too"]})
    assert [len(found.shares[hit]) for hit in ("a", "b")] == [1, 2]
    diverse = cover_quotes(["a", "b"], quotes, found, 1, None)
    assert [set(hit) for hit in diverse.hits] == [{quotes[1].key}, {quotes[0].key}]


def hit(name, *texts):
    return Hit(name, values={"body": texts} if texts else {})


def test_quotes_are_found_in_the_named_field_of_hits_and_tail():
    query = Query("q", "q", quotes=(ONE,))
    ranking = Ranking((hit("a", "none"), hit("b")), tail=(hit("c", "One"),))
    assert find_quotes(query, ranking, "body", with_tail=True).shares == {"c": {ONE.key: 1.0}}
    ranking = Ranking((hit("a", "one"),), tail=(Hit("c"),))
    assert find_quotes(query, ranking, "body").shares == {"a": {ONE.key: 1.0}}


@pytest.mark.parametrize(
    ("ranking", "reason"),
    [
        (Ranking((Hit("a"),)), "the text of the hit 'a' is not known"),
        (Ranking((hit("a"), hit("b"))), "no hit has a text in 'body', where `display.text` says"),
        (Ranking((Hit("a"),), found_quotes=FoundQuotes((TWO.key,))), "the hits were kept before the quote 'one'"),
    ],
)
def test_without_texts_nothing_is_known_of_quotes(ranking, reason):
    with pytest.raises(MeasureError, match=reason):
        find_quotes(Query("q", "q", quotes=(ONE,)), ranking, "body")


def test_no_hits_hold_no_quotes():
    assert find_quotes(Query("q", "q", quotes=(ONE,)), Ranking(), "body").shares == {}


def test_the_order_of_tied_chunks_gives_a_range():
    query = Query("q", "q", quotes=(ONE, TWO))
    found = FoundQuotes((), {"a": {ONE.key: 1.0}, "c": {ONE.key: 1.0}})
    band = find_tie_range_of_quotes(parse_measure("St_nDCG@2"), [["a", "b", "c"]], query, found, depth=2)
    both = 1 + 0.6309297535714575
    assert (band.least, band.greatest) == pytest.approx((0.6309297535714575 / both, 1 / both))
