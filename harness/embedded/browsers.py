"""
What keeps web pages from the embedded node, which has no login.

A browser on the same machine reaches the node. A page of any site may post to it without reading the answer, which is
enough to delete all documents of an index. A site may also have its own name resolved to 127.0.0.1 (DNS rebinding):
its pages then read and write as if the node were that site. A browser sends the site in ``Host`` or in ``Origin``,
and a page cannot change either.
"""

from __future__ import annotations

import re
from typing import Any

DISPATCHER = "org.opensearch.http.HttpServerTransport$Dispatcher"
DISPATCHER_OWNER = "org.opensearch.http.AbstractHttpServerTransport"

_LOOPBACK_HOST = re.compile(r"(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)


def find_refusal(host: str | None, origin: str | None) -> str | None:
    """
    Why a request may come from a web page, or None if it cannot.

    Any port is allowed in *host*: a name of this machine is not that of a site, and a forwarded port is another.

    >>> find_refusal("127.0.0.1:9200", None)
    >>> find_refusal("rebound.example:9200", None)
    'the header Host is rebound.example:9200; expected localhost, 127.0.0.1 or [::1]'
    >>> find_refusal("127.0.0.1:9200", "https://site.example")
    'the header Origin is https://site.example; web pages may not use this node'
    """
    if host is None or _LOOPBACK_HOST.fullmatch(host) is None:
        return f"the header Host is {host or 'missing'}; expected localhost, 127.0.0.1 or [::1]"
    if origin is not None and origin != f"http://{host}":
        return f"the header Origin is {origin}; web pages may not use this node"
    return None


def refuse_web_pages(transport: Any) -> None:
    """Check the requests to *transport*, the `HttpServerTransport` of a node, before OpenSearch handles them."""
    import jpype

    response_class = jpype.JClass("org.opensearch.rest.BytesRestResponse")
    forbidden = jpype.JClass("org.opensearch.core.rest.RestStatus").FORBIDDEN
    # A plugin could check requests too, but it has to be a Java class, and this runtime has no compiler.
    field = jpype.JClass(DISPATCHER_OWNER).class_.getDeclaredField("dispatcher")
    field.setAccessible(True)
    dispatcher = field.get(transport)

    @jpype.JImplements(DISPATCHER)
    class CheckedDispatcher:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def dispatchRequest(self, request: Any, channel: Any, context: Any) -> None:  # noqa: N802
            refusal = find_refusal(request.header("Host"), request.header("Origin"))
            if refusal is None:
                dispatcher.dispatchRequest(request, channel, context)
            else:
                channel.sendResponse(response_class(forbidden, refusal))

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def dispatchBadRequest(self, channel: Any, context: Any, cause: Any) -> None:  # noqa: N802
            dispatcher.dispatchBadRequest(channel, context, cause)

    field.set(transport, CheckedDispatcher())
