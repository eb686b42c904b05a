"""
Who may judge, of several: a secret token for each judge, which is part of the judge's personal link.

The file `.SUITE.judges.json` has the digests of the tokens, so that links can be kept and revoked. Nobody can make a
link from it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import FormatError, UsageError
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.files.writing import PRIVATE
from harness.local_server.access import make_token
from harness.words import did_you_mean

_MOST_BYTES = 2**20
"""Bytes of the file, which has a line for each judge."""

_REMEDY = "remove this file, and give the judges new links"


def build_access_path(suite: Path, folder: Path | None = None) -> Path:
    """
    The file with the digests, beside the suite or in *folder*.

    >>> str(build_access_path(Path("shop.relevance.yaml")))
    '.shop.judges.json'
    """
    return (folder or suite.parent) / f".{cut_suffix(suite)}.judges.json"


@dataclass(slots=True)
class AccessFile:
    """The access of several judges: the *file* with the digest of each judge's token."""

    file: BesideFile
    digests: dict[str, str]
    """By judge."""
    _state: tuple[int, int, int] | None = None
    """Of the file when it was read: another command may revoke a link meanwhile."""

    @classmethod
    def read(cls, file: BesideFile) -> AccessFile:
        """
        Read the file; empty where there is none.

        Raises:
            FormatError: It holds something else, or somebody else could have written it.
        """
        access = cls(file, {})
        access._read_again()
        return access

    @classmethod
    def start_anew(cls, file: BesideFile) -> AccessFile:
        """An empty one. The file is removed: whoever wrote it, the links that it knows end."""
        try:
            file.remove()
        except OSError as error:
            raise UsageError(f"{file.path}: this file cannot be removed: {error.strerror or error}") from None
        return cls(file, {})

    def grant(self, judges: Sequence[str]) -> dict[str, str]:
        """
        Make a token for each of *judges* who has none; returns the new ones by judge.

        Raises:
            UsageError: The file cannot be written.
        """
        tokens = {}
        for judge in judges:
            if judge not in self.digests:
                tokens[judge] = make_token()
        self._write(self.digests | {judge: _compute_digest(token) for judge, token in tokens.items()})
        return tokens

    def revoke(self, judge: str) -> None:
        """
        End the link of *judge*.

        Raises:
            UsageError: The judge has none, or the file cannot be written.
        """
        if judge not in self.digests:
            raise UsageError(f"{self.file.path}: {judge} has no link{did_you_mean(judge, list(self.digests))}")
        self._write({name: digest for name, digest in self.digests.items() if name != judge})

    def find_user(self, token: str) -> str | None:
        """The judge whose token it is; a file that cannot be read any more lets nobody in."""
        try:
            if self._read_state() != self._state:
                self._read_again()
        except FormatError:
            return None
        digest = _compute_digest(token)
        for judge, judge_digest in self.digests.items():
            if hmac.compare_digest(digest, judge_digest):
                return judge
        return None

    def _read_state(self) -> tuple[int, int, int] | None:
        try:
            return _summarize_state(self.file.path.lstat())
        except OSError:
            return None

    def _read_again(self) -> None:
        self.digests, self._state = {}, None
        try:
            with self.file.open_to_read(_MOST_BYTES) as file:
                state = os.fstat(file.fileno())
                _refuse_unless_private(self.file.path, state)
                content = file.read(_MOST_BYTES)
        except FileNotFoundError:
            return
        except OSError as error:
            reason = f"the links of judges cannot be read: {error.strerror or error}; {_REMEDY}"
            raise FormatError.at(self.file.path, 0, 0, reason) from None
        self.digests, self._state = _parse_digests(self.file.path, content), _summarize_state(state)

    def _write(self, digests: dict[str, str]) -> None:
        try:
            self.file.write(json.dumps(digests, indent=2) + "\n", PRIVATE)
        except OSError as error:
            remedy = "choose another folder with --progress"
            raise UsageError(
                f"{self.file.path}: links cannot be kept here: {error.strerror or error}; {remedy}"
            ) from None
        self.digests, self._state = digests, self._read_state()


def _compute_digest(token: str) -> str:
    # A token has 192 random bits, so that it needs neither a salt nor a slow digest.
    return hashlib.sha256(token.encode()).hexdigest()


def _summarize_state(state: os.stat_result) -> tuple[int, int, int]:
    return state.st_ino, state.st_mtime_ns, state.st_size


def _refuse_unless_private(path: Path, state: os.stat_result) -> None:
    """
    Refuse a file that somebody else may have written, such as one of a stranger's repository: who wrote a digest into
    it knows the token.

    Raises:
        FormatError: It belongs to another user, or others may read or write it.
    """
    if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o077):
        mode = f"{state.st_mode & 0o777:o}"
        found = f"found the links of judges in a file of user {state.st_uid} with the rights {mode}"
        raise FormatError.at(path, 0, 0, f"{found}, expected one of your own with the rights 600; {_REMEDY}")


def _parse_digests(path: Path, content: bytes) -> dict[str, str]:
    """The digests by judge in the *content* of *path*; raises FormatError for anything else."""
    try:
        entries: Mapping[str, str] = json.loads(content)
        # Compared as texts later, which fails for anything that is not ASCII.
        return {str(judge): bytes.fromhex(digest).hex() for judge, digest in entries.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        expected = f'expected an object such as {{"anna": "DIGEST"}}; {_REMEDY}'
        raise FormatError.at(path, 1, 1, f"these are no links of judges, {expected}") from None
