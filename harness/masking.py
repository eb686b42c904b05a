"""
Values from the environment, replaced by the name of their variable in whatever is printed, stored or raised; whole
reports too; and fingerprints of what is masked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from harness.model import Json


class Masker:
    """
    Replaces each value by ``${NAME}``.

    Also in the forms that a value takes in JSON, in a URL and in Python's own notation of text. Longer values go first,
    so that one that holds another is masked whole.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        """*values* by the name of the variable; empty ones hide nothing."""
        self._names: dict[str, str] = {}
        for name, value in values.items():
            for form in _forms(value):
                self._names.setdefault(form, name)
        forms = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, forms))) if forms else None

    def mask(self, text: str) -> str:
        """
        *text* without the values.

        >>> Masker({"TOKEN": "s3cret"}).mask("Bearer s3cret")
        'Bearer ${TOKEN}'
        """
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda match: "${" + self._names[match.group()] + "}", text)

    def mask_json(self, value: Json) -> Json:
        """A JSON value with every string in it masked, keys too; numbers stay what they are."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(key)): self.mask_json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.mask_json(item) for item in value]
        return value


def _forms(value: str) -> Iterator[str]:
    """What a value may look like where it is printed."""
    if value:
        yield value
        yield json.dumps(value)[1:-1]
        yield json.dumps(value, ensure_ascii=False)[1:-1]
        yield repr(value)[1:-1]
        yield quote(value, safe="")
        yield quote(value)
        yield quote_plus(value)
