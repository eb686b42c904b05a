"""
Sends a question to a language model, or a batch of them, through the client of OpenAI, whose API most servers have.

The client's own retries are off: it would wait and ask again without the limits, the budget and the pauses here. Its
answers are read here too, since it makes an object of anything that a server sends.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from harness.errors import UsageError
from harness.extensions.judging.machine.prompt import Message, OfferedGrade
from harness.extensions.judging.machine.reading import MALFORMED, Completion, Tokens
from harness.masking import Masker
from harness.model.judging import MachineJudge
from harness.model.suite import Json
from harness.search.answers import read_retry_after
from harness.words import shorten

_LARGEST_ANSWER = 2**20
"""Bytes of an answer that are read; one of a few hundred tokens has less than a hundredth of that."""

MOST_TOKENS = 10**9
"""Of one call. A server that counts more counts something else, and no sum could be computed of any number."""

_BUSY = frozenset({408, 409, 425, 429})
"""Statuses after which a call is sent again, with all from 500 on."""

FATAL = frozenset({401, 402, 403, 404, 405})
"""Statuses that each other call would have too: the key, the address or the model is wrong."""

OUT_OF_MONEY = "insufficient_quota"
"""The code of an answer with status 429 that no pause helps against."""

FILTERED = "content_filter"
"""The code of an answer with status 400 to a document that a filter of the server refuses; also how an answer ends."""

NO_KEY = "none"
"""Sent where there is no key: without one, the client takes that of OpenAI from the environment for any server."""


@dataclass(frozen=True, slots=True)
class Busy:
    """The server did not answer now, and may later."""

    why: str
    pause: float | None = None
    """The seconds that the server asks to wait."""
    may_cost: bool = False
    """Whether the model may have answered, though nothing came."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The server does not answer this call."""

    why: str
    is_fatal: bool
    """Whether it would answer none."""
    status: int = 0
    """That of HTTP; 0 where there was none."""


CallResult: TypeAlias = Completion | Busy | Refused

T = TypeVar("T")


class _TooSlow(Exception):
    """The answer is not complete in time."""


class _BrokeOff(Exception):
    """The answer ended early, or is too long."""


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """An answer with a *status* that is an error, or sends the request on to another address."""

    status: int
    """That of HTTP."""
    headers: Mapping[str, str]
    body: str
    """Its text, which may be JSON."""


class _ErrorStatus(Exception):
    """Brings an *answer* with an error out of the client of OpenAI."""

    def __init__(self, answer: ErrorAnswer) -> None:
        """
        Args:
            answer: The answer.
        """
        super().__init__(f"status {answer.status}")
        self.answer = answer


SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
    }
)
"""The headers that a server is sent, beside the judge's own key."""

CLIENT_HEADERS = "x-stainless-"
"""How the names of those begin in which the client says what it is."""


class ChatClient:
    """A connection to the server of *judge*."""

    def __init__(self, judge: MachineJudge, grades: Sequence[OfferedGrade], environ: Mapping[str, str]) -> None:
        """
        Open no connection yet; `ask` does.

        Args:
            judge: Says where the model is, and how it is asked.
            grades: Those that an answer may have, where the server is sent a schema of it.
            environ: Has the key, in the variable that *judge* names.

        Raises:
            UsageError: The package is not installed, or the variable with the key is not set.
        """
        require_installed()
        import openai

        # The package wants a key also where the server wants none.
        key = read_key(judge, environ) or NO_KEY
        self.judge = judge
        self.masker = make_key_masker(judge, environ)
        self.schema = build_schema(grades) if judge.answers == "schema" else None
        self._authorization = f"Bearer {key}"
        self._client = openai.OpenAI(
            base_url=judge.base_url,
            api_key=key,
            # `Asking` sends again, at its own pace.
            max_retries=0,
            timeout=judge.timeout,
            # Documents are sent to the server of relevance.toml, and not to one that it names.
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False,
                event_hooks={"request": [self._remove_other_headers], "response": [self._check_status]},
            ),
        )
        # The client takes them from the environment too, and sends them to any server.
        for name in ("organization", "project", "admin_api_key"):
            if hasattr(self._client, name):
                setattr(self._client, name, None)

    def close(self) -> None:
        """Close its connections."""
        self._client.close()

    def ask(self, messages: Sequence[Message]) -> CallResult:
        """Send *messages* once; the texts of what it returns are masked."""
        call = build_call(self.judge, self.schema, messages)
        end = time.monotonic() + self.judge.timeout

        def send(client: Any) -> str:
            with client.chat.completions.with_streaming_response.create(**call) as response:
                return read_all(response.iter_bytes(), end).decode(errors="replace")

        result = self.exchange(send)
        if isinstance(result, ErrorAnswer):
            return self.read_answer(result.status, result.body, result.headers)
        return self.read_answer(200, result) if isinstance(result, str) else result

    def exchange(self, send: Callable[[Any], T]) -> T | ErrorAnswer | Busy | Refused:
        """What *send* returns, which is given the client of OpenAI; or what came in place of an answer."""
        import openai

        try:
            return send(self._client)
        except (openai.APITimeoutError, _TooSlow):
            return Busy(f"no answer in {self.judge.timeout:g} s", may_cost=True)
        except _BrokeOff as error:
            return Busy(self.masker.mask(f"the answer broke off: {_describe_cause(error)}"), may_cost=True)
        except _ErrorStatus as error:
            return error.answer
        except openai.APIConnectionError as error:
            # Older versions of the client wrap what its hooks raise.
            if isinstance(error.__cause__, _ErrorStatus):
                return error.__cause__.answer
            return Busy(self.masker.mask(f"no connection: {_describe_cause(error)}"))
        except openai.OpenAIError as error:
            return Refused(self.masker.mask(_describe_cause(error)), is_fatal=True)

    def _remove_other_headers(self, request: Any) -> None:
        """
        Remove each header that the harness does not send.

        The client takes headers from the environment (OPENAI_CUSTOM_HEADERS), which may be a login for another server,
        and take the place of the judge's own key. Another version may take others.
        """
        for name in list(request.headers):
            if name.lower() not in SENT_HEADERS and not name.lower().startswith(CLIENT_HEADERS):
                del request.headers[name]
        request.headers["authorization"] = self._authorization

    def _check_status(self, response: Any) -> None:
        """
        Raise _ErrorStatus for an answer that is none of the model.

        The client would read its body whatever its length, wait for its end, and fail where it broke off.
        """
        if response.is_success:
            return
        try:
            body = read_all(response.iter_bytes(), time.monotonic() + self.judge.timeout)
        except (_TooSlow, _BrokeOff):
            body = b""
        raise _ErrorStatus(ErrorAnswer(response.status_code, response.headers, body.decode(errors="replace")))

    def read_answer(self, status: int, body: str, headers: Mapping[str, str] = MappingProxyType({})) -> CallResult:
        """What the *body* of an answer to a question means; the texts of what it returns are masked."""
        if status < 300:
            return read_body(self.masker.mask(body))
        content = _read_error_content(body)
        if status == 400 and _find_code(content) == FILTERED:
            return Completion(self.masker.mask(_find_message(content, body)), FILTERED, tokens=Tokens())
        return self.read_error(ErrorAnswer(status, headers, body))

    def read_error(self, error: ErrorAnswer) -> Busy | Refused:
        """What the answer *error* means, whatever was sent."""
        status, content = error.status, _read_error_content(error.body)
        if 300 <= status < 400:
            location = _read_text(error.headers.get("Location")) or "another address"
            message = f"the server sends requests on to {location}, which is not followed; correct base_url"
        else:
            message = _find_message(content, error.body)
        why = self.masker.mask(f"status {status}: {shorten(message, 300)}")
        if status == 429 and _find_code(content) == OUT_OF_MONEY:
            return Refused(why, is_fatal=True, status=status)
        if status in _BUSY or status >= 500:
            return Busy(why, read_retry_after(error.headers))
        return Refused(why, is_fatal=status in FATAL or status < 400, status=status)


def read_all(pieces: Iterator[bytes], end: float, most: int = _LARGEST_ANSWER) -> bytes:
    """
    All *pieces* of an answer.

    Raises:
        _TooSlow: They are not complete at *end*. The client's own limit holds for each of them.
        _BrokeOff: They ended early, or have more than *most* bytes.
    """
    content = bytearray()
    while True:
        try:
            piece = next(pieces, b"")
        # Errors of the library below, which the client does not make its own here.
        except Exception as error:
            if "Timeout" in type(error).__name__:
                raise _TooSlow from None
            raise _BrokeOff from error
        content += piece
        if not piece:
            return bytes(content)
        if time.monotonic() > end:
            raise _TooSlow
        if len(content) > most:
            raise _BrokeOff(f"it has more than {most:,} bytes")


def require_installed() -> None:
    """
    Check that the extra is installed.

    Raises:
        UsageError: It is not.
    """
    if find_spec("openai") is None:
        raise UsageError("relevance judge machine needs the package openai: pip install 'relevance-harness[llm]'")


def read_key(judge: MachineJudge, environ: Mapping[str, str]) -> str | None:
    """
    The key of *judge*, None if it needs none.

    Raises:
        UsageError: Its variable is not set.
    """
    if judge.api_key_env is None:
        return None
    key = environ.get(judge.api_key_env, "")
    if not key:
        raise UsageError(f"the variable {judge.api_key_env}, the key of the judge {judge.name!r}, is not set")
    if not (key.isascii() and key.isprintable()) or key != key.strip():
        raise UsageError(f"the variable {judge.api_key_env} holds no key: expected one line of ASCII characters")
    return key


def make_key_masker(judge: MachineJudge, environ: Mapping[str, str]) -> Masker:
    """Masks the key of *judge* in what is printed and kept."""
    secrets = {}
    if judge.api_key_env is not None and environ.get(judge.api_key_env):
        secrets[judge.api_key_env] = environ[judge.api_key_env]
    return Masker({}, secrets)


def build_schema(grades: Sequence[OfferedGrade]) -> Json:
    """The JSON schema of an answer with one of *grades*; the reason comes first, so that the grade follows from it."""
    numbers = [int(grade.grade) if grade.grade.is_integer() else grade.grade for grade in grades]
    return {
        "type": "object",
        "properties": {"reason": {"type": "string"}, "grade": {"type": "number", "enum": numbers}},
        "required": ["reason", "grade"],
        "additionalProperties": False,
    }


def build_call(judge: MachineJudge, schema: Json, messages: Sequence[Message]) -> dict[str, Any]:
    """The body of a request that asks *messages*, as arguments of the client."""
    sent = [{"role": message.role, "content": message.content} for message in messages]
    return {"messages": sent, **build_options(judge, schema)}


def build_options(judge: MachineJudge, schema: Json) -> dict[str, Any]:
    """What is sent with each message, as arguments of the client."""
    options: dict[str, Any] = {"model": judge.model}
    if judge.reasoning is None:
        options |= {"temperature": judge.temperature, "max_tokens": judge.most_output_tokens}
    else:
        options |= {"reasoning_effort": judge.reasoning, "max_completion_tokens": judge.most_output_tokens}
    if judge.seed is not None:
        options["seed"] = judge.seed
    if schema is not None:
        json_schema = {"name": "grade", "strict": True, "schema": schema}
        options["response_format"] = {"type": "json_schema", "json_schema": json_schema}
    return options


# Answers.


def read_body(body: str) -> Completion:
    """
    What the *body* of an answer holds. One that is no answer of a chat has no text that could be a grade.

    >>> read_body('{"choices": [{"message": {"content": "hm"}, "finish_reason": "stop"}], "model": "m"}').text
    'hm'
    >>> read_body("<html>").ended
    'malformed'
    """
    try:
        content = json.loads(body)
        choice = content["choices"][0]
        message = choice["message"]
        return Completion(
            text=_read_text(message.get("content")),
            ended=_read_text(choice.get("finish_reason")),
            refusal=_read_text(message.get("refusal")),
            model=read_model_name(_read_text(content.get("model"))),
            version=_read_text(content.get("system_fingerprint")),
            tokens=_read_tokens(content.get("usage")),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return Completion(shorten(body, 300), MALFORMED)


def _read_text(value: Any) -> str:
    """*value*, which is a text or missing; TypeError if it is something else."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    # JSON can hold lone surrogates, which no file can.
    return value.encode(errors="replace").decode()


def read_model_name(name: str) -> str:
    """
    The name of a model, without the folders of its file: llama.cpp names the file on the disk.

    >>> read_model_name("/srv/models/SmolLM2.gguf"), read_model_name("openai/gpt-5")
    ('SmolLM2.gguf', 'openai/gpt-5')
    """
    is_path = name.startswith("/") or name[1:3] == ":\\"
    return name.replace("\\", "/").rpartition("/")[2] if is_path else name


def _read_tokens(usage: Any) -> Tokens | None:
    try:
        tokens = Tokens(int(usage["prompt_tokens"]), int(usage["completion_tokens"]))
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    is_possible = min(tokens.input, tokens.output) >= 0 and max(tokens.input, tokens.output) <= MOST_TOKENS
    return tokens if is_possible else None


def _read_error_content(body: str) -> Mapping[str, Any]:
    """The object that says what is wrong, of the *body* of an answer; empty where there is none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(content, Mapping):
        content = content.get("error", content)
    return content if isinstance(content, Mapping) else {}


def _find_message(content: Mapping[str, Any], body: str) -> str:
    """The sentence of the server in *content*, the object of an error, or the whole *body*."""
    message = content.get("message")
    text = _read_text(message) if isinstance(message, str) else body
    return " ".join(text.split()) or "no reason was given"


def _find_code(content: Mapping[str, Any]) -> str:
    return str(content.get("code"))


def _describe_cause(error: BaseException) -> str:
    """What led to *error*: the client's own sentence is "Connection error."."""
    cause = error.__cause__ or error
    return shorten(str(cause) or type(cause).__name__, 200)
