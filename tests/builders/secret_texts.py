"""Values of which every text is a secret, and where it stays when they are masked."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from harness.model.run import Failure, Ranking
from harness.redaction import redact

SECRET = "hunter2"


def mask(text):
    """What masking makes of *text*."""
    return text.replace(SECRET, "${PASSWORD}")


def find_staying(*kinds):
    """By class, the fields of values of *kinds* whose texts stay."""
    found = {}
    for kind in kinds:
        for response in (Ranking, Failure):
            find_secrets(redact(filled(kind, response), mask), found)
    return found


def filled(kind, response):
    """A value of a type of the model in which every text is the secret; *response* is that of each query."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind, vars(sys.modules[kind.__module__]) | {"Mapping": Mapping})
        # A run has those of other requests, which have none again.
        hints = {name: hint for name, hint in hints.items() if kind not in get_args(hint)}
        return kind(**{one.name: filled(hints[one.name], response) for one in fields(kind) if one.name in hints})
    if origin in (Union, UnionType):
        others = [one for one in parts if one is not NoneType]
        return filled(response if response in others else str if str in others else others[0], response)
    if origin is tuple:
        return tuple(filled(one, response) for one in parts if one is not Ellipsis)
    if origin in (Mapping, dict):
        return {filled(parts[0], response): filled(parts[1], response)}
    if origin in (Sequence, Collection):
        return (filled(parts[0], response),)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if kind in (bool, int, float, date):
        return {bool: True, int: 1, float: 1.0, date: date(2029, 12, 31)}[kind]
    return f"of {SECRET}"


def find_secrets(value, found):
    """Add to *found*, by class, the fields of *value* and below that hold the secret."""
    if is_dataclass(value):
        for one in fields(value):
            if find_secrets(getattr(value, one.name), found):
                found.setdefault(type(value).__name__, set()).add(one.name)
        return False
    if isinstance(value, Mapping):
        return max((find_secrets(one, found) for pair in value.items() for one in pair), default=False)
    if isinstance(value, (tuple, list)):
        return max((find_secrets(one, found) for one in value), default=False)
    return isinstance(value, str) and SECRET in value
