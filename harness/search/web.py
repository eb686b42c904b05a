"""The connection to an HTTP service, by requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from harness.errors import EngineUnreachable, UsageError
from harness.model import Cluster
from harness.search.connection import Answer, ConnectionClosed, NoAnswerInTime, within
from harness.search.logins import Login
from harness.search.remedies import was_closed, why_unreachable
from harness.search.trust import ca_file_of, checked_url, fingerprint_of

__all__ = ["WebConnection"]


NOT_SENDABLE = (
    requests.exceptions.InvalidHeader,
    requests.exceptions.InvalidJSONError,
    requests.exceptions.InvalidURL,
)


class WebConnection:
    """Sends requests from several threads; redirects are not followed, since headers that hold a login would be too."""

    def __init__(self, cluster: Cluster, login: Login) -> None:
        """
        Raises:
            UsageError: The URL, the CA file or the fingerprint is not one.
        """
        try:
            self._url = checked_url(cluster.url or "").rstrip("/")
            self._fingerprint = fingerprint_of(cluster, self._url)
            ca_certs = ca_file_of(cluster, self._url)
        except ValueError as error:
            raise UsageError(f'cluster "{cluster.name}" cannot be connected to: {error}') from error
        # given with each request, as a variable such as REQUESTS_CA_BUNDLE takes the place of a session's
        self._trusted: bool | str = not self._fingerprint and (ca_certs or True)
        self.mask = login.masker()
        self._headers = dict(login.headers)
        self._sessions: list[requests.Session] = []
        self._own = threading.local()

    def perform(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any],
        headers: Mapping[str, str],
        json: Any,
        timeout: float,
    ) -> Answer:
        """
        Send one request and wait for its answer.

        Raises:
            NoAnswerInTime: The whole answer was not there within *timeout*.
            ConnectionClosed: The connection ended before the answer did.
            EngineUnreachable: No connection, an unknown host or a TLS failure.
            UsageError: What there is to send cannot be sent.
        """
        url = f"{self._url}/{path.lstrip('/')}"
        session = self._session()
        try:
            response = within(
                timeout,
                lambda: session.request(
                    method,
                    url,
                    params={name: _plain(value) for name, value in params.items()},
                    headers={**self._headers, **headers},
                    json=json,
                    timeout=timeout,
                    verify=self._trusted,
                    allow_redirects=False,
                ),
            )
        except (requests.Timeout, TimeoutError) as error:
            self._own.session = None  # it may be in use still
            raise NoAnswerInTime(f"no answer from {self._url} within {timeout:g} s") from error
        except NOT_SENDABLE as error:
            raise UsageError(self.mask(f"the request to {self._url} cannot be sent: {error}")) from error
        except requests.RequestException as error:
            kind = ConnectionClosed if was_closed(error) else EngineUnreachable
            raise kind(self.mask(f"cannot reach {self._url}: {why_unreachable(error)}")) from error
        return Answer(response.status_code, response.content, {k.lower(): v for k, v in response.headers.items()})

    def _session(self) -> requests.Session:
        """The session of the calling thread: requests does not say that one may be shared."""
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = requests.Session()
            session.auth = _no_other_login
            if self._fingerprint:
                session.mount("https://", _PinnedAdapter(self._fingerprint))
            self._own.session = session
            self._sessions.append(session)
        return session

    def close(self) -> None:
        """Close the sessions of all threads."""
        for session in self._sessions:
            session.close()


class _PinnedAdapter(HTTPAdapter):
    """Believes the one certificate whose SHA-256 is known, whoever signed it."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options, assert_fingerprint=self._fingerprint)


def _no_other_login(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Without this, a login in ~/.netrc would take the place of the one that the cluster names."""
    return request


def _plain(value: Any) -> Any:
    """A parameter as a service expects it: JSON's true, not Python's True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return [_plain(one) for one in value] if isinstance(value, list) else value
