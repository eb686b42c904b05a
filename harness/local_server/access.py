"""Who may use a page: a secret token for each user, which is part of the user's personal link."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Protocol

TOKEN_BYTES = 24


class Access(Protocol):
    """Tells who a token belongs to."""

    def find_user(self, token: str) -> str | None:
        """The user whose token it is; None where it is nobody's."""


def make_token() -> str:
    """A new token, which nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(frozen=True, slots=True)
class OneUser:
    """The access of one user on this machine, until the command ends."""

    user: str
    token: str = field(default_factory=make_token)

    def find_user(self, token: str) -> str | None:
        """The user, if the token is right."""
        is_right = hmac.compare_digest(token.encode(), self.token.encode())
        return self.user if is_right else None
