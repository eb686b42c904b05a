"""Spellings that are one query, and queries that are left out."""

import pytest

from harness.extensions.sampling.tally import QueryTally, Reason


def count(*lines, **options):
    tally = QueryTally(**options)
    for text, traffic in lines:
        tally.add(text, traffic)
    return tally.count()


def test_spellings_are_one_query():
    """Spellings are one query, shown by the most frequent."""
    counted = count(("red shoes", 3), ("Red  Shoes", 4), (" RED\tSHOES ", 1), ("ＲＥＤ shoes", 1), ("redshoes", 2))
    assert {(query.text, query.traffic) for query in counted.queries} == {("Red Shoes", 4 + 3 + 1 + 1), ("redshoes", 2)}
    assert counted.spellings == 5


def test_accents_and_unicode_forms():
    """An accent makes another query, and its Unicode form does not."""
    counted = count(("café", 2), ("cafe\u0301", 1), ("cafe", 1))
    assert sorted(query.traffic for query in counted.queries) == [1, 3]


def test_equally_frequent_spellings():
    """Of equally frequent spellings the first in order is shown."""
    assert count(("tent", 1), ("Tent", 1)).queries == count(("Tent", 1), ("tent", 1)).queries
    assert count(("tent", 1), ("Tent", 1)).queries[0].text == "Tent"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("anna.meier@example.com", Reason.EMAIL),
        ("mail to anna%40example.com", Reason.EMAIL),
        ("anna＠example.com", Reason.EMAIL),
        ("+49 (151) 234-567 89", Reason.LONG_NUMBER),
        ("4111 1111 1111 1111", Reason.LONG_NUMBER),
        ("4111-1111-1111-1111", Reason.LONG_NUMBER),
        ("order 1234567", Reason.LONG_NUMBER),
        ("ORD１２３４５６７", Reason.LONG_NUMBER),
        ("٠١٢٣٤٥٦", Reason.LONG_NUMBER),
        ("192.168.100.200", Reason.LONG_NUMBER),
        ("4111\u20131111\u20131111\u20131111", Reason.LONG_NUMBER),
        ("0170\u00b7123\u200b45_67", Reason.LONG_NUMBER),
        ("2560\u00d71440 16:9", None),
        (" \u200b ", Reason.BLANK),
        ("\ud800", Reason.BLANK),
        ("iphone 15 pro", None),
        ("123456", None),
        ("concert 31.12.2026", None),
        ("1080 x 1920", None),
        ("@home", None),
    ],
)
def test_emails_and_long_numbers(text, reason):
    """Emails and long numbers are left out, and shown masked."""
    counted = count((text, 2), ("tent", 1))
    if reason is None:
        assert len(counted.queries) == 2
        assert counted.left_out == ()
        return
    assert [query.text for query in counted.queries] == ["tent"]
    [left_out] = counted.left_out
    assert (left_out.reason, left_out.queries, left_out.traffic) == (reason, 1, 2)
    for shape in left_out.shapes:
        assert not any(character.isdigit() and character != "0" for character in shape)
        assert not any(character.isalpha() and character != "x" for character in shape)


def test_a_name_beside_a_number_is_masked_too():
    [left_out] = count(("anna meier 015123456789", 1)).left_out
    assert left_out.shapes == ("xxxx xxxxx 000000000000",)


def test_the_most_frequent_shapes_are_shown():
    lines = [(f"order {number}", 1) for number in range(1000000, 1000005)]
    lines += [("a@b.com", 1), ("nr 12345678", 1), ("tel 123456789", 1), ("fax 1234567890", 1)]
    email, numbers = count(*lines).left_out
    assert (email.queries, numbers.queries, numbers.traffic) == (1, 8, 8)
    assert numbers.shapes == ("xxxxx 0000000", "xx 00000000", "xxx 000000000")


def test_part_numbers_can_stay():
    assert len(count(("4006381333931", 1), keep_numbers=True).queries) == 1
    assert count(("anna@example.com", 1), keep_numbers=True).queries == ()


def test_a_very_long_text_takes_no_time():
    texts = ["a" * 10**6, "1 2" * 5, "a@" * 10**5, "%40" * 10**5]
    assert count(*((text, 1) for text in texts)).traffic >= 1


@pytest.mark.parametrize(
    "text",
    [
        "(not set)",
        "(Other)",
        "[Not Provided]",
        "( data not available )",
        "<empty>",
        "{search_term_string}",
        "{{query}}",
    ],
)
def test_placeholders_of_reports(text):
    """Placeholders of reports are left out, and shown."""
    counted = count((text, 12), ("tent", 3))
    assert [query.text for query in counted.queries] == ["tent"]
    [left_out] = counted.left_out
    assert (left_out.reason, left_out.queries, left_out.traffic) == (Reason.PLACEHOLDER, 1, 12)
    assert left_out.shapes == (text.lower(),)


@pytest.mark.parametrize("text", ["other", "null", "unknown (2011)", "(500) days of summer", "set", "not set in stone"])
def test_words_of_people_are_no_placeholders(text):
    assert [query.text for query in count((text, 1)).queries] == [text]
