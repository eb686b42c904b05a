"""
Variants of a text by rule: typing errors, plural, capitals, accents, order of words. Pure.

What is made depends on the text, the rule and `_SEED` only, so that it is the same in each run and on each machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from unicodedata import category, normalize

_SEED = 1
"""Chooses among the typing errors that are possible; fixed, so that no run has other variants than the one before."""


@dataclass(frozen=True, slots=True)
class VariantRules:
    """Which variants are made."""

    typos: int = 0
    """How many have a typing error."""
    plural: bool = False
    case: bool = False
    accents: bool = False
    order: bool = False


@dataclass(frozen=True, slots=True)
class MadeVariant:
    """A variant and the rule that made it."""

    text: str
    rule: str


def make_variants(text: str, rules: VariantRules) -> list[MadeVariant]:
    """
    The variants of *text*, each other than *text* and than the others; none where a rule finds nothing to change.

    >>> [made.text for made in make_variants("red running shoes", VariantRules(plural=True, case=True, order=True))]
    ['red running shoe', 'RED RUNNING SHOES', 'shoes running red', 'shoes red running']
    """
    seen = {text}
    made = []
    for rule, texts in _iterate_texts(text, rules):
        for variant in texts:
            if variant not in seen:
                seen.add(variant)
                made.append(MadeVariant(variant, rule))
    return made


def _iterate_texts(text: str, rules: VariantRules) -> Iterator[tuple[str, list[str]]]:
    if rules.typos:
        yield "typo", list_typos(text)[: rules.typos]
    if rules.plural:
        yield "plural", list(change_number(text))
    if rules.case:
        yield "case", [text.upper() if text != text.upper() else text.lower()]
    if rules.accents:
        yield "accents", list(change_accents(text))
    if rules.order:
        yield "order", list(change_order(text))


# Typing errors.

FEWEST_LETTERS = 4
"""Letters of a word that gets a typing error: one letter of a shorter word changed is another word."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


@cache
def _find_neighbors() -> dict[str, str]:
    """The letters beside each letter on an American keyboard, in its row."""
    neighbors = {}
    for row in _ROWS:
        for place, letter in enumerate(row):
            neighbors[letter] = row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    return neighbors


def list_typos(text: str) -> list[str]:
    """
    *text* with one typing error, in the order in which they are taken. Each kind has its turn: a letter is left out,
    two are in the wrong order, one is doubled, or the key beside it was hit.

    The first letter of a word stays: people rarely get it wrong, and engines may require it (`prefix_length`). Words of
    less than `FEWEST_LETTERS` letters, or with anything but letters, such as article numbers, stay too.

    >>> list_typos("running shoes")[:4]
    ['runinng shoes', 'running shhoes', 'running soes', 'rynning shoes']
    """
    by_kind: dict[str, dict[str, None]] = {"drop": {}, "swap": {}, "double": {}, "neighbor": {}}
    for start, word in _find_words(text):
        for place in range(1, len(word)):
            for kind, changed in _change_letter(word, place):
                variant = text[:start] + changed + text[start + len(word) :]
                if variant != text:
                    by_kind[kind][variant] = None
    kinds = sorted(by_kind, key=lambda kind: _draw(f"{kind} {text}"))
    ordered = [sorted(by_kind[kind], key=lambda variant: _draw(f"{variant} {text}")) for kind in kinds]
    in_turn = chain.from_iterable(zip_longest(*ordered))
    return list(dict.fromkeys(variant for variant in in_turn if variant is not None))


def _find_words(text: str) -> Iterator[tuple[int, str]]:
    """The words that may get a typing error, each with its place."""
    place = 0
    for word in text.split():
        place = text.index(word, place)
        if len(word) >= FEWEST_LETTERS and word.isalpha():
            yield place, word
        place += len(word)


def _change_letter(word: str, place: int) -> Iterator[tuple[str, str]]:
    """*word* with the letter at *place* changed, each with the kind of the error."""
    before, letter, after = word[:place], word[place], word[place + 1 :]
    yield "drop", before + after
    yield "double", before + letter + letter + after
    if after:
        yield "swap", before + after[0] + letter + after[1:]
    for neighbor in _find_neighbors().get(letter.lower(), ""):
        yield "neighbor", before + (neighbor.upper() if letter.isupper() else neighbor) + after


def _draw(name: str) -> bytes:
    """What orders things by chance, in the same way each time."""
    return hashlib.sha256(f"{_SEED} {name}".encode("utf-8", "surrogatepass")).digest()


# Plural and singular, in English.

_IRREGULAR = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth",
    "mouse": "mice", "goose": "geese", "knife": "knives", "shelf": "shelves", "leaf": "leaves", "scarf": "scarves",
    "half": "halves", "wolf": "wolves", "potato": "potatoes", "tomato": "tomatoes", "movie": "movies", "shoe": "shoes",
    "cookie": "cookies", "tie": "ties", "lens": "lenses", "gas": "gases", "canvas": "canvases", "atlas": "atlases",
    "thermos": "thermoses", "bus": "buses",
}  # fmt: skip
_ONE_NUMBER = frozenset({"series", "species", "news", "jeans", "pants", "clothes", "christmas", "sheep", "fish"})
_IRREGULAR_PLURALS = {plural: singular for singular, plural in _IRREGULAR.items()}


def change_number(text: str) -> Iterator[str]:
    """
    *text* with its last word, which is the noun in most English queries, in the plural if it is in the singular, and
    the other way round. Nothing where the word has other letters than a to z, or may be either.

    >>> [list(change_number(text)) for text in ("trail shoe", "WATCHES", "baby", "feet", "glass", "tennis", "usb 3")]
    [['trail shoes'], ['WATCH'], ['babies'], ['foot'], ['glasses'], [], []]
    """
    words = text.split()
    if not words:
        return
    word = words[-1]
    other = _change_number_of_word(word.lower()) if word.isascii() and word.isalpha() and len(word) > 2 else ""
    if other:
        if word.isupper():
            other = other.upper()
        elif word[0].isupper():
            other = other.capitalize()
        place = text.rindex(word)
        yield text[:place] + other + text[place + len(word) :]


def _change_number_of_word(word: str) -> str:
    """The other number of *word*, in small letters; empty if it is not known."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if word in _ONE_NUMBER or word.endswith(("us", "is")):
        return ""
    if word.endswith(("ss", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("ies") and len(word) > len("ties"):
        return f"{word.removesuffix('ies')}y"
    if word.endswith(("ches", "shes", "xes", "sses", "zzes")):
        return word.removesuffix("es")
    if word.endswith("s"):
        return word.removesuffix("s")
    if word.endswith("y") and word[-2] not in "aeiou":
        return f"{word.removesuffix('y')}ies"
    return f"{word}s"


# Accents.

_WITHOUT_ACCENT = {
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE",
}  # fmt: skip
_TWO_LETTERS = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
_WITH_ACCENT = {
    "cafe": "café", "creme": "crème", "brulee": "brûlée", "jalapeno": "jalapeño", "pinata": "piñata", "saute": "sauté",
    "puree": "purée", "applique": "appliqué", "cliche": "cliché", "naive": "naïve", "facade": "façade",
}  # fmt: skip
"""Words of English that are written with an accent too."""


def change_accents(text: str) -> Iterator[str]:
    """
    *text* without the accents of its Latin letters; with `ae` for `ä` and the like, where it has such; and with the
    accents of English words that are written with and without.

    >>> [list(change_accents(text)) for text in ("Müller café", "creme brulee", "shoes")]
    [['Muller cafe', 'Mueller café'], ['crème brûlée'], []]
    """
    text = normalize("NFC", text)
    without = "".join(map(_remove_accent, text))
    two_letters = "".join(_TWO_LETTERS.get(character, character) for character in text)
    with_accents = " ".join(_WITH_ACCENT.get(word, word) for word in text.split(" "))
    for variant in (without, two_letters, with_accents):
        if variant != text:
            yield variant


def _remove_accent(character: str) -> str:
    """*character* without its accent, if it is a Latin letter: in other scripts a mark makes another letter."""
    if character in _WITHOUT_ACCENT:
        return _WITHOUT_ACCENT[character]
    decomposed = normalize("NFD", character)
    base, marks = decomposed[0], decomposed[1:]
    is_latin = base.isascii() and base.isalpha()
    return base if is_latin and marks and all(category(mark) == "Mn" for mark in marks) else character


# The order of words.


def change_order(text: str) -> Iterator[str]:
    """
    The words of *text* from the last to the first, and with the last one first.

    >>> list(change_order("shoes for men")), list(change_order("red shoes"))
    (['men for shoes', 'men shoes for'], ['shoes red'])
    """
    words = text.split()
    if len(words) < 2:
        return
    orders = [words[::-1]]
    if len(words) > 2:
        orders.append([words[-1], *words[:-1]])
    for ordered in orders:
        if ordered != words:
            yield " ".join(ordered)
