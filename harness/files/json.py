"""Files of JSON, and JSON whose objects have each key once; `json.loads` takes the last value of a repeated key."""

from __future__ import annotations

import errno
import json
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

MOST_READ = 2**30
"""Bytes of a file of JSON: the report of a hundred thousand queries has half of that, and a device may have no end."""


def read_json_text(path: Path) -> str:
    """
    The text of the file of JSON at *path*.

    Raises:
        OSError: It cannot be read, or is larger than `MOST_READ`.
        UnicodeDecodeError: It is not UTF-8.
    """
    decoder, text, size = getincrementaldecoder("utf-8")(), StringIO(), 0
    with path.open("rb") as file:
        for chunk in iter(partial(file.read, 2**20), b""):
            size += len(chunk)
            if size > MOST_READ:
                raise OSError(errno.EFBIG, f"it is larger than {MOST_READ // 2**20} MiB, the limit")
            text.write(decoder.decode(chunk))
    text.write(decoder.decode(b"", final=True))
    return text.getvalue()


class WrongJson(ValueError):
    """A line that is not JSON, or has an object with a *key* twice; *column* is the place in it."""

    def __init__(self, message: str, column: int = 1, key: str = "") -> None:
        super().__init__(message)
        self.column, self.key = column, key


def parse_json(line: str) -> Any:
    """
    The value of a line of JSON.

    Raises:
        WrongJson: The line is not JSON, is nested too deeply, or has an object with a key twice.
    """
    try:
        return _DECODER.decode(line)
    except WrongJson:
        raise
    except RecursionError:
        raise WrongJson("the JSON is nested too deeply") from None
    except ValueError as error:
        column = getattr(error, "colno", 1)
        raise WrongJson(f"this is not JSON: {getattr(error, 'msg', error)}", column) from None


def refuse_repeated_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """
    The object with these *pairs*, for the `object_pairs_hook` of a decoder.

    Raises:
        WrongJson: A key comes twice.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key, times in counts.items() if times > 1)
        raise WrongJson(f"the object has the key {repeated!r} twice", key=repeated)
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=refuse_repeated_keys)
"""One for all lines: `json.loads` with a hook makes one for each, which takes as long as the line."""
