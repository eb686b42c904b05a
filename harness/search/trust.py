"""What of a cluster's address can be checked before anything is sent."""

from __future__ import annotations

import re
from pathlib import Path

from harness.config import url_problem
from harness.model import Cluster

__all__ = ["ca_file_of", "checked_url", "fingerprint_of"]


def checked_url(url: str) -> str:
    """
    *url*, if it is one and holds no login.

    Raises:
        ValueError: It is not; the text says what to do, and does not show a login.
    """
    sentence = url_problem(url)
    if sentence:
        raise ValueError(sentence)
    return url


def fingerprint_of(cluster: Cluster, url: str) -> str | None:
    """
    The SHA-256 of the server's certificate as 64 hexadecimal digits, None where the cluster has none.

    Raises:
        ValueError: It is no SHA-256, or there is no TLS.
    """
    _needs_tls(cluster, url)
    if not cluster.fingerprint:
        return None
    digits = cluster.fingerprint.replace(":", "").strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", digits):
        raise ValueError("its `fingerprint` should be a SHA-256: 64 hexadecimal digits, with or without colons")
    return digits


def ca_file_of(cluster: Cluster, url: str) -> str | None:
    """
    The path of the CA file, None where the cluster has none.

    Raises:
        ValueError: The file is not there, or there is no TLS.
    """
    _needs_tls(cluster, url)
    if cluster.ca_certs and not Path(cluster.ca_certs).is_file():
        raise ValueError(f'its CA file "{cluster.ca_certs}" is not there')
    return cluster.ca_certs


def _needs_tls(cluster: Cluster, url: str) -> None:
    if (cluster.fingerprint or cluster.ca_certs) and not url.startswith("https://"):
        raise ValueError("a CA file or a fingerprint needs a URL that begins with https://")
