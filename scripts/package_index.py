"""A package index of a folder of packages, on this machine alone, as PEP 503 describes it."""

import hashlib
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGE = "<!DOCTYPE html>\n<html><body>\n{}\n</body></html>\n"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_words: object) -> None:
        """Print nothing for a request."""


def lay_out(project: str, packages: list[Path], folder: Path) -> None:
    """Write an index below *folder* that has one *project*, with copies of its *packages* and their digests."""
    pages = folder / "simple"
    files = pages / project
    files.mkdir(parents=True)
    links = []
    for package in packages:
        shutil.copy(package, files)
        digest = hashlib.sha256(package.read_bytes()).hexdigest()
        links.append(f'<a href="{package.name}#sha256={digest}">{package.name}</a>')
    (files / "index.html").write_text(PAGE.format("<br>\n".join(links)), encoding="utf-8")
    (pages / "index.html").write_text(PAGE.format(f'<a href="{project}/">{project}</a>'), encoding="utf-8")


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve an index that `lay_out` wrote on a free port of loopback; its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()
            thread.join()
