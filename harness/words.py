"""Parts of sentences: counts, groups and lists of names, shortened texts, suggestions for misspelled names."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import ROUND_CEILING, Context
from typing import TypeVar

NAMES_SHOWN = 3

_TWO_DIGITS_UP = Context(prec=2, rounding=ROUND_CEILING)

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
    return f"{float(_TWO_DIGITS_UP.create_decimal_from_float(number)):.12g}"


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


# Ids of documents that differ in their form only.


_SCHEME = re.compile(r"https?://(?:www\.)?")
_DEFAULT_PORT = re.compile(r"^([^/:]+):(?:80|443)(?=/|$)")
_ESCAPES = re.compile(r"(?:%[0-9a-f]{2})+")
_LEADING_ZEROS = re.compile(r"(?<![0-9.,])0+(?=[0-9])")
_DECIMALS = re.compile(r"(-?[0-9]+)\.0+")
"""A whole number as a table of floats writes it."""
_PASSAGE = re.compile(
    r"(.*?[^\W_])(?:[#:/@._~|-]+(?:passage|chunk|part|para|split|seg|sec|psg|p|c|s)?[._-]?[0-9]+|\[[0-9]+\])$", re.I
)
_LONGEST_ID = 500
"""Characters of an id up to which a suffix is looked for."""
_SUFFIXES = 2
"""The suffixes of a passage, such as its number and its first character."""


def fold_id(identifier: str) -> str:
    """
    An id without differences in letter case, blanks, Unicode form, and the form of a URL.

    >>> fold_id("https://www.Shop.example:443/a%20b/#top"), fold_id("http://shop.example/A B")
    ('shop.example/ab', 'shop.example/ab')
    """
    return _remove_url_form(_fold(identifier))


def find_other_names(missing: Collection[str], known: Iterable[str]) -> dict[str, str]:
    """For each of *missing* the first of *known*, sorted, that differs in its form only, if any does."""
    if not missing:
        return {}
    # Sorted from the last to the first, so that the first stays.
    by_form = {fold_id(identifier): identifier for identifier in sorted(known, reverse=True)}
    names = {}
    for identifier in missing:
        form = fold_id(identifier)
        if form in by_form:
            names[identifier] = by_form[form]
    return names


def find_near_documents(missing: Collection[str], known: Iterable[str]) -> dict[str, str]:
    """
    As `find_other_names`, also where ids differ only in leading zeros, or one is that of a passage of the other.

    Two passages of one document are two documents.

    >>> find_near_documents(["007", "doc_12_p4", "a", "b#1"], ["7", "doc_12", "a#2", "b#2"])
    {'007': '7', 'doc_12_p4': 'doc_12', 'a': 'a#2'}
    """
    known = sorted(known)
    names = find_other_names(missing, known)
    by_form: dict[str, str] = {}
    by_whole: dict[str, str] = {}
    for identifier in known:
        form = _fold_zeros(identifier)
        by_form.setdefault(form, identifier)
        for whole in _list_wholes(form):
            by_whole.setdefault(whole, identifier)
    for identifier in missing:
        if identifier in names:
            continue
        form = _fold_zeros(identifier)
        wholes = [whole for whole in _list_wholes(form) if whole in by_form]
        if form in by_form:
            names[identifier] = by_form[form]
        elif wholes:
            names[identifier] = by_form[wholes[0]]
        elif form in by_whole:
            names[identifier] = by_whole[form]
    return names


def _list_wholes(form: str) -> list[str]:
    """The folded ids of the documents of which *form* may be a passage; ``d-1#2`` may be one of ``d-1`` or of ``d``."""
    wholes: list[str] = []
    if len(form) > _LONGEST_ID:
        return wholes
    for _ in range(_SUFFIXES):
        match = _PASSAGE.match(form)
        if match is None:
            break
        form = match[1]
        wholes.append(form)
    return wholes


def _fold_zeros(identifier: str) -> str:
    form = _fold_path(identifier)
    decimals = _DECIMALS.fullmatch(form)
    if decimals is not None:
        form = decimals[1]
    return _LEADING_ZEROS.sub("", form)


def _fold_path(identifier: str) -> str:
    """As `fold_id`, also of paths without a scheme, and without characters that do not show."""
    form = fold_id(_remove_unseen(identifier))
    if "%" in form:
        form = _fold(_ESCAPES.sub(_unescape, form))
    return form.rstrip("/") or form


def _remove_unseen(text: str) -> str:
    return text if text.isprintable() else "".join(filter(is_seen, text))


def list_spellings(identifier: str) -> frozenset[str]:
    """
    The likely other forms of an id, to look up in an index, which finds exact ids only.

    >>> sorted(list_spellings("SKU-1 "))
    ['SKU-1', 'SKU-1 ', 'sku-1', 'sku-1 ']
    """
    forms = {identifier, identifier.strip(), "".join(identifier.split())}
    written = frozenset(forms)
    for normalization in ("NFC", "NFD", "NFKC"):
        forms |= {unicodedata.normalize(normalization, form) for form in written}
    forms |= {form.lower() for form in forms} | {form.upper() for form in forms}
    urls = [form for form in forms if "://" in form]
    for url in urls:
        scheme, _, place = url.partition("://")
        other_scheme = {"http": "https", "https": "http"}.get(scheme.lower(), scheme)
        plain = place.partition("#")[0].rstrip("/")
        for ending in (place, plain, f"{plain}/"):
            forms |= {f"{scheme}://{ending}", f"{other_scheme}://{ending}"}
    return frozenset(forms - {""})


def describe_difference(identifier: str, other: str) -> str:
    """How two ids differ of which `find_near_documents` finds the one for the other."""
    if identifier.casefold() == other.casefold():
        return "letter case"
    if _remove_blanks(identifier) == _remove_blanks(other):
        return "blanks"
    if _normalize(identifier) == _normalize(other):
        return "Unicode normalization"
    if _fold(identifier) == _fold(other):
        return "letter case, spaces or Unicode normalization"
    if fold_id(identifier) == fold_id(other):
        return "the form of a URL"
    return _describe_looser_difference(identifier, other)


def _describe_looser_difference(identifier: str, other: str) -> str:
    """How two ids differ that `fold_id` does not make equal."""
    if fold_id(_remove_unseen(identifier)) == fold_id(_remove_unseen(other)):
        return "characters that do not show"
    if _fold_path(identifier) == _fold_path(other):
        return "the form of a URL"
    if _fold_zeros(identifier) != _fold_zeros(other):
        return "the suffix of a passage"
    decimals = [_DECIMALS.fullmatch(name) is not None for name in (identifier, other)]
    return "decimals" if any(decimals) else "leading zeros"


def describe_invisible(document: str, target: str | None, other: str | None) -> str:
    """
    A sentence that *document* is not visible through *target*, with the *other* id that differs in its form only, if
    any.

    >>> describe_invisible("SKU-1", "products", "sku-1")
    "SKU-1 is not visible through products; 'sku-1' is, which differs only in letter case"
    """
    return f"{document} is not visible through {target or 'the target'}{suggest_instead(document, other)}"


def suggest_instead(document: str, other: str | None) -> str:
    """The end of a sentence on a missing *document*: the *other*, existing id, if any."""
    return "" if other is None else f"; {other!r} is, which differs only in {describe_difference(document, other)}"


def _fold(text: str) -> str:
    """*text* without case and blanks."""
    if text.isascii():
        return _remove_blanks(text.casefold())
    # A compatibility form may hold either, and what stood beside a blank may now compose.
    folded = _normalize(_normalize(text).casefold())
    return _normalize(_remove_blanks(folded))


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _remove_blanks(text: str) -> str:
    return "".join(text.split())


def _remove_url_form(text: str) -> str:
    address = _SCHEME.match(text)
    if address is None:
        return text
    place = text[address.end() :].partition("#")[0].rstrip("/")
    place = _DEFAULT_PORT.sub(r"\1", place)
    return _remove_blanks(_ESCAPES.sub(_unescape, place)).casefold()


def _unescape(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")
