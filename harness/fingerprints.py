"""A short text that changes when a value does."""

from __future__ import annotations

import hashlib
import json

from harness.masking import Masker
from harness.model import Json, Query, Question

__all__ = ["LARGEST_KEPT", "fingerprint", "if_small", "question_fingerprint", "question_of"]


LARGEST_KEPT = 65_536
"""Characters of canonical JSON beyond which only the fingerprint of a value is kept."""


def fingerprint(value: Json) -> str:
    """
    Sixteen hexadecimal digits that change when *value* does; the order of keys does not matter.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(_canonical(value).encode("ascii")).hexdigest()[:16]


def if_small(value: Json) -> Json:
    """*value*, to be kept beside its fingerprint; None where it is larger than `LARGEST_KEPT`."""
    return value if len(_canonical(value)) <= LARGEST_KEPT else None


def question_fingerprint(query: Query) -> str:
    """Changes when the text of *query*, or one of its own params, does, and not when a secret in them does."""
    return fingerprint(_asked(query))


def question_of(query: Query, masker: Masker) -> Question:
    """What *query* asks, to be kept: *masker* hides what a secret may have brought into it besides."""
    asked = masker.mask_json(_asked(query))
    return Question(question_fingerprint(query), asked["text"], if_small(asked["params"]))


def _asked(query: Query) -> Json:
    return {"text": query.text, "params": query.params} if query.masked is None else query.masked


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
