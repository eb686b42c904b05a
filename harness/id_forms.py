"""Ids of documents that differ in their form only: letter case, blanks, Unicode form, URLs, zeros, passages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from harness.words import is_seen

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
