"""
Who may judge: a secret token for each judge, which is part of the judge's personal link.

The file `.SUITE.judges.json` has the digests of the tokens, so that links can be kept and revoked. Nobody can make a
link from it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.errors import FormatError, UsageError
from harness.files.paths import cut_suffix
from harness.files.writing import PRIVATE, write_whole
from harness.words import did_you_mean

TOKEN_BYTES = 24


class Access(Protocol):
    """Tells who a token belongs to."""

    def find_judge(self, token: str) -> str | None:
        """The judge whose token it is; None where it is nobody's."""


@dataclass(frozen=True, slots=True)
class OneJudge:
    """The access of one judge on this machine, until the command ends."""

    judge: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))

    def find_judge(self, token: str) -> str | None:
        """The judge, if the token is right."""
        is_right = hmac.compare_digest(token.encode(), self.token.encode())
        return self.judge if is_right else None


def build_access_path(suite: Path, folder: Path | None = None) -> Path:
    """
    The file with the digests, beside the suite or in *folder*.

    >>> str(build_access_path(Path("shop.relevance.yaml")))
    '.shop.judges.json'
    """
    return (folder or suite.parent) / f".{cut_suffix(suite)}.judges.json"


@dataclass(slots=True)
class AccessFile:
    """The access of several judges: the file *path* with the digest of each judge's token."""

    path: Path
    digests: dict[str, str]
    """By judge."""
    _state: tuple[int, int, int] | None = None
    """Of the file when it was read: another command may revoke a link meanwhile."""

    @classmethod
    def read(cls, path: Path) -> AccessFile:
        """
        Read the file; empty where there is none.

        Raises:
            FormatError: It holds something else, or somebody else could have written it.
        """
        access = cls(path, {})
        access._read_again()
        return access

    @classmethod
    def start_anew(cls, path: Path) -> AccessFile:
        """An empty one. The file is removed: whoever wrote it, the links that it knows end."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{path}: this file cannot be removed: {error.strerror or error}") from None
        return cls(path, {})

    def grant(self, judges: Sequence[str]) -> dict[str, str]:
        """
        Make a token for each of *judges* who has none; returns the new ones by judge.

        Raises:
            UsageError: The file cannot be written.
        """
        tokens = {}
        for judge in judges:
            if judge not in self.digests:
                tokens[judge] = secrets.token_urlsafe(TOKEN_BYTES)
        self._write(self.digests | {judge: _compute_digest(token) for judge, token in tokens.items()})
        return tokens

    def revoke(self, judge: str) -> None:
        """
        End the link of *judge*.

        Raises:
            UsageError: The judge has none, or the file cannot be written.
        """
        if judge not in self.digests:
            raise UsageError(f"{self.path}: {judge} has no link{did_you_mean(judge, list(self.digests))}")
        self._write({name: digest for name, digest in self.digests.items() if name != judge})

    def find_judge(self, token: str) -> str | None:
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
            state = self.path.lstat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns, state.st_size

    def _read_again(self) -> None:
        state = self._read_state()
        digests = {}
        if state is not None:
            _refuse_unless_private(self.path)
            digests = _parse_digests(self.path)
        self.digests, self._state = digests, state

    def _write(self, digests: dict[str, str]) -> None:
        try:
            write_whole(self.path, json.dumps(digests, indent=2) + "\n", rights=PRIVATE)
        except OSError as error:
            remedy = "choose another folder with --progress"
            raise UsageError(f"{self.path}: links cannot be kept here: {error.strerror or error}; {remedy}") from None
        self.digests, self._state = digests, self._read_state()


def _compute_digest(token: str) -> str:
    # A token has 192 random bits, so that it needs neither a salt nor a slow digest.
    return hashlib.sha256(token.encode()).hexdigest()


def _refuse_unless_private(path: Path) -> None:
    """
    Refuse a file that somebody else may have written, such as one of a stranger's repository: who wrote a digest into
    it knows the token.

    Raises:
        FormatError: It is a link, belongs to another user, or others may read or write it.
    """
    state = path.lstat()
    remedy = "remove this file, and give the judges new links"
    if not stat.S_ISREG(state.st_mode):
        raise FormatError.at(path, 0, 0, f"this is no regular file, expected the links of judges; {remedy}")
    if hasattr(os, "getuid") and (state.st_uid != os.getuid() or state.st_mode & 0o077):
        mode = f"{state.st_mode & 0o777:o}"
        found = f"found the links of judges in a file of user {state.st_uid} with the rights {mode}"
        raise FormatError.at(path, 0, 0, f"{found}, expected one of your own with the rights 600; {remedy}")


def _parse_digests(path: Path) -> dict[str, str]:
    """The digests by judge; raises FormatError for anything else."""
    try:
        entries: Mapping[str, str] = json.loads(path.read_bytes())
        # Compared as texts later, which fails for anything that is not ASCII.
        return {str(judge): bytes.fromhex(digest).hex() for judge, digest in entries.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        expected = 'expected an object such as {"anna": "DIGEST"}; remove this file, and give the judges new links'
        raise FormatError.at(path, 1, 1, f"these are no links of judges, {expected}") from None
