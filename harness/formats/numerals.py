"""
Decimal numbers in bulk, each the very float that Python's own `float` makes of it.

Digits are read eight at a time (Lemire 2021, section 2, has the same steps for one number). A number of at most 2^53
without its point, divided by a power of ten of at most 10^22, is rounded once and so correctly (Clinger 1990); all
others, and what is no number, go to `float` one by one. Imports numpy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from harness.metrics.bulk.texts import KEPT, WORD, Bits, Numbers, Texts, as_bits

__all__ = ["floats_of"]


_MOST_PLACES = 2 * WORD
_MOST_DIGITS = 19
"""So many digits always fit into 64 bits."""

_EXACT = as_bits(2**53)
_ONE = as_bits(1)
_ONES = as_bits(0x0101010101010101)
_HIGHS = as_bits(0x8080808080808080)
_POINTS = as_bits(0x2E2E2E2E2E2E2E2E)
_ZEROS = as_bits(0x3030303030303030)
_ABOVE_NINE = as_bits(0x0606060606060606)
_NO_DIGIT = as_bits(0xF0F0F0F0F0F0F0F0)
_TO_INDEX = as_bits(56)
_STEPS = tuple(
    (as_bits(mask), as_bits(factor), as_bits(shift))
    for mask, factor, shift in (
        (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
        (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
        (0x0000FFFF0000FFFF, 10_000 * 2**32 + 1, 32),
    )
)
_POWERS = np.array([10**places for places in range(_MOST_PLACES + 1)], np.uint64)


def floats_of(texts: Texts) -> NDArray[np.float64]:
    """
    The numbers that *texts* write, infinities too.

    Raises:
        ValueError: one writes no number, or NaN.
    """
    negative = np.frombuffer(texts.content, np.uint8)[texts.starts] == ord("-")
    starts, lengths = texts.starts + negative, texts.lengths - negative
    ends = starts + lengths
    before = _before_point(texts, starts, lengths)
    places = np.maximum(lengths - before - 1, 0)
    whole, sure = _digits(texts, starts + before, before)
    fraction, too = _fraction(texts, ends, places)
    digits = before + places
    sure &= too & (before <= WORD) & (places <= _MOST_PLACES) & (digits > 0) & (digits <= _MOST_DIGITS)
    scale = _POWERS[np.minimum(places, _MOST_PLACES)]
    mantissa = whole * scale + fraction
    sure &= mantissa <= _EXACT
    numbers: NDArray[np.float64] = mantissa.astype(np.float64) / scale.astype(np.float64)
    np.negative(numbers, out=numbers, where=negative)
    for row in np.flatnonzero(~sure).tolist():
        numbers[row] = _one(texts[row])
    return numbers


def _one(text: bytes) -> float:
    number = float(text)
    if math.isnan(number) or b"_" in text:
        raise ValueError(text)
    return number


def _before_point(texts: Texts, starts: Numbers, lengths: Numbers) -> Numbers:
    """How many bytes stand before the point, which is looked for in the first eight; all where there is none."""
    word = texts.words_at(starts) & KEPT.take(lengths, mode="clip")
    word ^= _POINTS
    marks = (word - _ONES) & ~word & _HIGHS
    index = ((((marks - _ONE) & _ONES) * _ONES) >> _TO_INDEX).astype(np.int64) - 1  # bytes below the lowest mark
    return np.where(marks == 0, lengths, index)


def _fraction(texts: Texts, ends: Numbers, places: Numbers) -> tuple[Bits, NDArray[np.bool_]]:
    value, sure = _digits(texts, ends, places)
    many = np.flatnonzero(places > WORD)
    if len(many):
        higher, also = _digits(texts, ends[many] - WORD, np.minimum(places[many] - WORD, WORD))
        value[many] += higher * _POWERS[WORD]
        sure[many] &= also
    return value, sure


def _digits(texts: Texts, ends: Numbers, counts: Numbers) -> tuple[Bits, NDArray[np.bool_]]:
    """The numbers that at most eight bytes before each of *ends* write, and whether all of these are digits."""
    word = texts.words_at(ends - WORD) ^ _ZEROS
    word &= ~KEPT[WORD - np.minimum(counts, WORD)]
    sure = ((word | (word + _ABOVE_NINE)) & _NO_DIGIT) == 0
    for mask, factor, shift in _STEPS:
        word = ((word & mask) * factor) >> shift
    return word, sure
