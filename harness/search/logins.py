"""The login of a cluster, from the variables that hold it to the headers that carry it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.model import Cluster

__all__ = ["Login", "read_login"]


@dataclass(frozen=True, slots=True)
class Login:
    """
    Headers to be sent with each request.

    *secrets* are the values that must not be seen, by the name of the variable that holds each, and *encoded* the
    same as the headers carry them.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    encoded: Mapping[str, str] = field(default_factory=dict, repr=False)

    def masker(self) -> Callable[[str], str]:
        """A function that replaces each secret in a text by the name of its variable."""
        from harness.masking import Masker

        outer, inner = Masker(self.encoded), Masker(self.secrets)
        return lambda text: inner.mask(outer.mask(text))


def read_login(cluster: Cluster, environ: Mapping[str, str]) -> Login:
    """
    The login of *cluster* as *environ* holds it.

    An API key is given as the engine encoded it, or as `id:key`.

    Raises:
        UsageError: Variables are named that are not set, all of them in one sentence; or two logins are.
    """
    _one_login(cluster)
    named = [cluster.api_key_env, cluster.username_env, cluster.password_env, *cluster.headers_env.values()]
    unset = sorted({name for name in named if name and not environ.get(name)})
    if unset:
        verb = "is" if len(unset) == 1 else "are"
        raise UsageError(f'cluster "{cluster.name}" takes its login from {", ".join(unset)}, which {verb} not set')
    secrets = {name: environ[name] for name in named if name and name != cluster.username_env}
    headers = {header.lower(): environ[name] for header, name in cluster.headers_env.items()}
    if cluster.api_key_env:
        token, name = _encoded(environ[cluster.api_key_env]), cluster.api_key_env
        return Login({**headers, "authorization": f"ApiKey {token}"}, secrets, {name: token})
    if cluster.username_env and cluster.password_env:
        token = _basic(environ[cluster.username_env], environ[cluster.password_env])
        return Login({**headers, "authorization": f"Basic {token}"}, secrets, {cluster.password_env: token})
    return Login(headers, secrets)


def _one_login(cluster: Cluster) -> None:
    if bool(cluster.username_env) != bool(cluster.password_env):
        raise UsageError(f'cluster "{cluster.name}" needs both `username_env` and `password_env`, or neither')
    if cluster.api_key_env and cluster.username_env:
        raise UsageError(f'cluster "{cluster.name}" has an API key and a user name; it takes one login')


def _encoded(key: str) -> str:
    """Base64 holds no colon, so a key that has one is the plain form."""
    return base64.b64encode(key.encode()).decode() if ":" in key else key


def _basic(username: str, password: str) -> str:
    return base64.b64encode(f"{username}:{password}".encode()).decode()
