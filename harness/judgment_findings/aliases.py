"""Ids that look like two names of one document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator

from harness.judgment_findings.findings import FindingKind, JudgmentFinding, PlacedJudgment

__all__ = ["alias_findings", "difference", "folded_id", "other_names", "other_spellings"]


_SCHEME = re.compile(r"https?://(?:www\.)?")
_DEFAULT_PORT = re.compile(r"^([^/:]+):(?:80|443)(?=/|$)")
_ESCAPES = re.compile(r"(?:%[0-9a-f]{2})+")


def folded_id(identifier: str) -> str:
    """
    What is left of an id without letter case, blanks, Unicode forms, and the forms of a URL.

    >>> folded_id("https://www.Shop.example:443/a%20b/#top"), folded_id("http://shop.example/A B")
    ('shop.example/ab', 'shop.example/ab')
    """
    return _without_url_form(_folded(identifier))


def other_names(missing: Collection[str], known: Iterable[str]) -> dict[str, str]:
    """For each of *missing* the first of *known*, by the alphabet, that differs in its form only, if any does."""
    by_form: dict[str, str] = {}
    for one in sorted(known, reverse=True) if missing else ():
        by_form[folded_id(one)] = one
    return {one: by_form[form] for one in missing if (form := folded_id(one)) in by_form}


def other_spellings(identifier: str) -> frozenset[str]:
    """
    The likely other forms of an id, to be looked for in an index, which does not tell its ids by their form.

    >>> sorted(other_spellings("SKU-1 "))
    ['SKU-1', 'SKU-1 ', 'sku-1', 'sku-1 ']
    """
    forms = {identifier, identifier.strip(), "".join(identifier.split())}
    forms |= {unicodedata.normalize(form, one) for one in forms for form in ("NFC", "NFD", "NFKC")}
    forms |= {one.lower() for one in forms} | {one.upper() for one in forms}
    for one in [one for one in forms if "://" in one]:
        scheme, _, place = one.partition("://")
        other = {"http": "https", "https": "http"}.get(scheme.lower(), scheme)
        plain = place.partition("#")[0].rstrip("/")
        forms |= {f"{start}://{end}" for start in (scheme, other) for end in (place, plain, f"{plain}/")}
    return frozenset(forms - {""})


def difference(one: str, other: str) -> str:
    """In what two ids differ that fold to the same."""
    steps: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("letter case", str.casefold),
        ("blanks", _without_blanks),
        ("Unicode normalisation", _compatible),
        ("letter case, blanks or Unicode normalisation", _folded),
    )
    return next((name for name, fold in steps if fold(one) == fold(other)), "the form of a URL")


def alias_findings(judged: Iterable[PlacedJudgment], existing: Collection[str] | None) -> Iterator[JudgmentFinding]:
    """
    Ids that differ in their form only, each at its first place, beside the one that came first.

    Args:
        judged: All judgments of a suite.
        existing: The ids that the index holds; None where that is not known. Two that both exist are two documents,
            and one that does not is told as missing.
    """
    if existing is not None:
        return
    documents: dict[str, PlacedJudgment] = {}
    for one in judged:
        documents.setdefault(one.document, one)
    first: dict[str, PlacedJudgment] = {}
    for document, one in documents.items():
        known = first.setdefault(folded_id(document), one)
        if known is not one:
            yield JudgmentFinding(one.mark, FindingKind.ALIAS, _sentence(one, known))


def _sentence(one: PlacedJudgment, known: PlacedJudgment) -> str:
    what = difference(one.document, known.document)
    return (
        f"document {one.document!r} differs from {known.document!r}, judged at {known.mark}, only in {what}; "
        "are they one document? Then write its id as the index has it"
    )


def _folded(text: str) -> str:
    """Without case and blanks; a compatibility form may hold either, and what stood beside a blank may now compose."""
    return _compatible(_without_blanks(_compatible(_compatible(text).casefold())))


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _without_url_form(text: str) -> str:
    address = _SCHEME.match(text)
    if address is None:
        return text
    place = text[address.end() :].partition("#")[0].rstrip("/")
    return _without_blanks(_ESCAPES.sub(_unescaped, _DEFAULT_PORT.sub(r"\1", place))).casefold()


def _unescaped(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")
