"""What a server is, and what an index is, as far as the login may read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.config import engine_problem
from harness.errors import LoginRefused, SearchError, UsageError
from harness.model import Engine
from harness.search.answers import json_of, refusal_text
from harness.search.asking import ask_one
from harness.search.connection import Answer, Connection
from harness.search.reasons import excerpt, printable
from harness.search.retries import Retries

__all__ = ["ask_who", "login_refused", "stated_engine"]


STATE_IT = 'say what it is in the target, for example `engine: "elasticsearch 9.4.3"`'


def stated_engine(text: str) -> Engine:
    """
    The engine that *text*, such as "opensearch 2.19", says.

    Raises:
        UsageError: It names none that is known.

    >>> str(stated_engine("opensearch 2.19"))
    'opensearch 2.19'
    """
    sentence = engine_problem(text)
    if sentence:
        raise UsageError(f"the engine cannot be what it is stated to be: {sentence}")
    kind, _, version = text.strip().partition(" ")
    return Engine(kind, version.strip(), stated=True)


def ask_who(connection: Connection, retries: Retries) -> Engine:
    """
    The engine at the other end, from `GET /`; each node is asked before nobody is there, and a busy one again.

    Raises:
        LoginRefused: The login is wrong, or may not ask.
        EngineUnreachable: No node answers.
        SearchError: What answers is no engine that is known.
    """
    answer = ask_one(connection, retries, "GET", "/")
    if answer.status in (401, 403):
        raise login_refused(answer, connection)
    content = json_of(answer)
    version = content.get("version") if isinstance(content, Mapping) else None
    if answer.status != 200 or not isinstance(content, Mapping) or not isinstance(version, Mapping):
        raise SearchError(connection.mask(_no_engine(answer)))
    return _engine(version, content)


def _engine(version: Mapping[str, Any], content: Mapping[str, Any]) -> Engine:
    number = printable(str(version.get("number", "")))
    if version.get("distribution") == "opensearch":
        return Engine("opensearch", number)
    if content.get("tagline") == "You Know, for Search" or "build_flavor" in version:
        return Engine("elasticsearch", number)
    raise SearchError(f"what answers calls itself version {number or '?'} of neither engine that is known; {STATE_IT}")


def _no_engine(answer: Answer) -> str:
    if answer.status != 200:
        reason = refusal_text(answer)
    else:
        reason = f'it says "{excerpt(answer.body[:400].decode("utf-8", "replace"), 120)}"'
    return f"`GET /` is not answered as an engine does: {reason}; is the URL right? If it is, {STATE_IT}"


def login_refused(answer: Answer, connection: Connection) -> LoginRefused:
    """The error for a 401 or 403, with what can be done about it."""
    reason = refusal_text(answer)
    if answer.status == 401:
        remedy = "are the variables of the cluster's login set, and right?"
    else:
        remedy = f"the login is known but may not do this; if it may only read the index, {STATE_IT}"
    return LoginRefused(connection.mask(f"the engine refuses the login ({reason}): {remedy}"))
