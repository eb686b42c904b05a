"""
A conftest.py that searches Amazon OpenSearch Service with requests signed by AWS Signature Version 4.

The variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, with temporary credentials, AWS_SESSION_TOKEN
hold what it needs. clients.md describes the hook.
"""

import hmac
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import parse_qsl, quote, urlsplit

from opensearchpy import OpenSearch

from harness.model.request import Cluster


def pytest_relevance_client(cluster: Cluster) -> OpenSearch | None:
    """A client that signs each request; the harness connects by itself where there are no credentials."""
    if "AWS_ACCESS_KEY_ID" not in os.environ:
        return None
    return OpenSearch([cluster.url], http_auth=signed)


def signed(method: str, url: str, body: str | bytes | None) -> dict[str, str]:
    """The headers that sign a request, as `http_auth` of opensearch-py gives them for each one."""
    body = body.encode() if isinstance(body, str) else body or b""
    headers = {
        "host": urlsplit(url).netloc,
        "x-amz-content-sha256": sha256(body).hexdigest(),
        "x-amz-date": datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
    }
    if "AWS_SESSION_TOKEN" in os.environ:
        headers["x-amz-security-token"] = os.environ["AWS_SESSION_TOKEN"]
    scope = (os.environ["AWS_REGION"], "es")  # "aoss" for a serverless collection
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    return headers | {"authorization": authorization(method, url, headers, body, scope, key, secret)}


def authorization(
    method: str, url: str, headers: Mapping[str, str], body: bytes, scope: tuple[str, str], key: str, secret: str
) -> str:
    """
    The header that signs a request.

    Args:
        method: In capitals.
        url: As it is sent.
        headers: Those that are signed, in lower case; with host and x-amz-date.
        body: As it is sent.
        scope: The region and the service.
        key: The access key's id.
        secret: The access key.

    Source: "Create a signed AWS API request" in the AWS Identity and Access Management User Guide.
    """
    names = sorted(headers)
    address, time = urlsplit(url), headers["x-amz-date"]
    parameters = sorted((quote(name, "~"), quote(value, "~")) for name, value in parse_qsl(address.query, True))
    lines = [
        method,
        quote(address.path or "/", "/~"),
        "&".join(f"{name}={value}" for name, value in parameters),
        *(f"{name}:{' '.join(headers[name].split())}" for name in names),
        "",
        ";".join(names),
        sha256(body).hexdigest(),
    ]
    parts = [time[:8], *scope, "aws4_request"]
    request = sha256("\n".join(lines).encode()).hexdigest()
    signed = "\n".join(["AWS4-HMAC-SHA256", time, "/".join(parts), request])
    signing = f"AWS4{secret}".encode()
    for part in parts:
        signing = hmac.digest(signing, part.encode(), "sha256")
    signature = hmac.digest(signing, signed.encode(), "sha256").hex()
    credential = f"{key}/{'/'.join(parts)}"
    return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={';'.join(names)}, Signature={signature}"
