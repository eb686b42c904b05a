"""A proxy with TLS, as one stands before a server that has none."""

import http.client
import ssl
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import trustme


@contextmanager
def run_proxy(path="", log=None):
    """
    Serves what is below *path* until the block ends; the block receives the server, which has `url` and `target`.

    *target* is the host and port to which requests go, with the `Host` that the browser sent. Each request that the
    proxy sees is added to *log*, with its headers.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if log is not None:
                log.append(f"{self.requestline} {dict(self.headers)}")
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with closing(http.client.HTTPConnection(self.server.target, timeout=10)) as connection:
                connection.request(self.command, self.path.removeprefix(path), body, dict(self.headers))
                answer = connection.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "connection", "date", "server"):
                        self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    # In the thread of the request: a browser opens connections on which it asks nothing yet.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.url = f"https://localhost:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
