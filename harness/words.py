"""Parts of sentences: counts, groups and lists of names, shortened texts, suggestions for misspelled names."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

NAMES_SHOWN = 3

_Key = TypeVar("_Key")
Member = TypeVar("Member")


def count(size: int, noun: str) -> str:
    """
    A number of things.

    >>> count(1, "query"), count(2000, "query"), count(3, "document")
    ('1 query', '2,000 queries', '3 documents')
    """
    if size == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{size:,} {plural}"


def format_exactly(number: float) -> str:
    """
    The shortest text that is read back as the same number; a whole number has no decimal point.

    The format ``g`` would round to six digits.

    >>> format_exactly(3.0), format_exactly(1234567.0), format_exactly(0.12345678)
    ('3', '1234567', '0.12345678')
    """
    # From 1e16 on, the digits of a whole number say more than the float knows.
    if abs(number) < 1e16 and number == int(number):
        return str(int(number))
    return repr(float(number))


def simplify_number(number: float) -> float:
    """*number* as an int if it is a whole number, so that it is written without a decimal point."""
    return int(number) if number == int(number) else number


def format_rounded_up(number: float) -> str:
    """
    *number*, above 0, with two digits: what is found from there on is found from the number itself on too.

    >>> format_rounded_up(0.1801), format_rounded_up(2.0)
    ('0.19', '2')
    """
    from decimal import ROUND_CEILING, Context

    two_digits_up = Context(prec=2, rounding=ROUND_CEILING)
    return f"{float(two_digits_up.create_decimal_from_float(number)):.12g}"


def one_of(names: Iterable[str]) -> str:
    """
    All of *names*, one of which is expected.

    >>> one_of(["html", "json", "markdown"]), one_of(["csv"])
    ('html, json or markdown', 'csv')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def listed(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """
    The first *most* of *names*, and how many more there are.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def counted(names: Sequence[str], noun: str) -> str:
    """
    How many *names* there are, and the first of them.

    >>> counted(["shoes", "boots"], "query")
    '2 queries (shoes, boots)'
    """
    return f"{count(len(names), noun)} ({listed(names)})"


def grouped(pairs: Iterable[tuple[_Key, Member]]) -> dict[_Key, list[Member]]:
    """
    What *pairs* have for each key, in their order.

    >>> grouped([("timeout", "shoes"), ("refused", "hats"), ("timeout", "boots")])
    {'timeout': ['shoes', 'boots'], 'refused': ['hats']}
    """
    groups: dict[_Key, list[Member]] = {}
    for key, member in pairs:
        groups.setdefault(key, []).append(member)
    return groups


def shorten(text: str, length: int = 60) -> str:
    """
    *text*, cut to *length* characters.

    >>> shorten("red running shoes", 10)
    'red runni…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def list_repeated(names: Iterable[str]) -> list[str]:
    """
    Those of *names* that occur more than once, in their order.

    >>> list_repeated(["id", "text", "id"])
    ['id']
    """
    return [name for name, number in Counter(names).items() if number > 1]


def choose_unused(wanted: str, taken: set[str], separator: str = "-") -> str:
    """
    *wanted*, or the first of wanted-2, wanted-3 … that is not *taken*; it is added to these.

    >>> taken = {"text"}
    >>> choose_unused("text", taken, "_"), choose_unused("text", taken, "_"), choose_unused("brand", taken)
    ('text_2', 'text_3', 'brand')
    """
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}{separator}{number}"
    taken.add(name)
    return name


_JOINERS = "\u200c\u200d"
"""Persian, Indic scripts and emoji are written with these."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Controls, formats such as bidirectional ones, half pairs, line and paragraph separators."""


def is_seen(character: str) -> bool:
    """Whether *character* shows as itself: a control or a separator of lines does not."""
    return character in _JOINERS or unicodedata.category(character) not in _UNSEEN


def fold_spelling(text: str) -> str:
    r"""
    *text* without differences in letter case, Unicode form, blanks and characters that do not show; words stay apart.

    >>> fold_spelling(" Red\t Shoes"), fold_spelling("\uff32\uff25\uff24\u3000shoes\u200b")
    ('red shoes', 'red shoes')
    """
    # A compatibility form may hold capital letters and blanks.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # A tab is a blank, and does not show: blanks are made single before the latter are left out.
    seen = "".join(filter(is_seen, " ".join(folded.split())))
    return " ".join(seen.split())


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """
    The nearest of *known* to *name*, ignoring case; None where none is near.

    >>> find_nearest("treshold", ["threshold", "measure"])
    'threshold'
    """
    import difflib

    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def unknown_key(key: str, known: Iterable[str]) -> str:
    """
    The problem of an unknown *key* in a table whose keys are *known*.

    >>> unknown_key("tresholds", ["thresholds", "queries"])
    "unknown key 'tresholds', expected thresholds, queries; did you mean 'thresholds'?"
    """
    known = tuple(known)
    return f"unknown key {key!r}, expected {', '.join(known)}{did_you_mean(key, known)}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """
    The end of a sentence about an unknown *name*: ``; did you mean 'x'?`` or nothing.

    >>> did_you_mean("Mean", ["mean", "median"])
    "; did you mean 'mean'?"
    """
    match = find_nearest(name, known)
    return f"; did you mean {match!r}?" if match is not None else ""
