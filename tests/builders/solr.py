"""
A real Solr that all tests share, with the catalogue of suites/products in its core `products`.

The first test that asks starts it, in whichever worker, and it ends with the process that owns the tests. A test takes
the fixture `solr_url`, and never changes the core `products`; `solr_core` makes others with the same schema.
``PYTHONPATH=tests python -m builders.solr`` starts one for work by hand, until Ctrl-C.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.embedded.jars import ensure_jars, require_extra
from harness.embedded.lock import parse_lock
from harness.embedded.process import UNWANTED_VARIABLES
from harness.errors import EngineStartError, HarnessError
from harness.files.folders import Folder
from harness.files.locks import hold_lock
from harness.files.writing import write_whole

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "scripts" / "locks" / "solr.lock.toml"
CONFIGURATION = ROOT / "tests" / "cluster" / "solr" / "conf"
CATALOGUE = ROOT / "suites" / "products" / "documents.jsonl"
CORE = "products"
OWNER_VARIABLE = "RELEVANCE_TEST_OWNER"
"""The id of the process that owns all tests, a worker's controller; see `tests/conftest.py`."""
START_LIMIT = 120.0  # seconds; five is usual
END_LIMIT = 10.0
POLL = 0.05
LOG_TAIL = 30
# Requests to 127.0.0.1 never go through a proxy that the environment names.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def obtain_solr(folder: Path) -> str:
    """
    The URL of the Solr of the tests, whose files are in *folder*; the first call starts it.

    Raises:
        EngineStartError: it could not be fetched or started, now or by the call that tried.
    """
    answer = folder / "solr.json"
    with hold_lock(Folder(folder), "solr.lock", waits=True):
        if not answer.exists():
            write_whole(answer, json.dumps(_try_to_start(folder)))
    content = json.loads(answer.read_text(encoding="utf-8"))
    if "error" in content:
        raise EngineStartError(content["error"])
    return str(content["url"])


def stop_solr(folder: Path) -> None:
    """Stop the Solr of the tests, if one of them started it."""
    answer = folder / "solr.json"
    if not answer.exists():
        return
    content = json.loads(answer.read_text(encoding="utf-8"))
    if "pid" not in content:
        return
    import psutil

    try:
        process = psutil.Process(content["pid"])
        process.terminate()
        process.wait(END_LIMIT)
    except psutil.NoSuchProcess:
        pass
    shutil.rmtree(folder / "solr", ignore_errors=True)


def fetch_jars() -> list[Path]:
    """
    The class path of Solr, downloaded the first time.

    Raises:
        EngineStartError: it cannot be downloaded, or the extra `embedded` is not installed.
    """
    require_extra()
    return ensure_jars(parse_lock(LOCK.read_text(encoding="utf-8"), name=LOCK.name))


def make_core(url: str, name: str, documents: Iterable[Mapping[str, Any]]) -> None:
    """Make a core with the schema of the catalogue and these documents."""
    send(url, f"/solr/admin/cores?action=CREATE&name={name}&configSet=shop")
    index(url, name, "".join(json.dumps(document) + "\n" for document in documents))


def remove_core(url: str, name: str) -> None:
    """Remove a core with its files."""
    send(url, f"/solr/admin/cores?action=UNLOAD&core={name}&deleteInstanceDir=true")


def index(url: str, core: str, lines: str) -> None:
    """Add documents, one a line as JSON, and make them visible."""
    send(url, f"/solr/{core}/update/json/docs?commit=true", lines)


def ask(url: str, core: str = CORE, **parameters: Any) -> Any:
    """Solr's own answer to a search, which a test compares with that of the harness."""
    return send(url, f"/solr/{core}/select?{urllib.parse.urlencode(parameters)}")


def send(url: str, path: str, body: str | None = None) -> Any:
    """Send anything to Solr: GET, or POST where there is a body."""
    data = None if body is None else body.encode()
    request = urllib.request.Request(url + path, data, {"Content-Type": "application/json"})
    with OPENER.open(request) as response:
        return json.load(response)


def _try_to_start(folder: Path) -> dict[str, Any]:
    """Where Solr runs, or why it does not: every worker asks, and a start that fails takes long."""
    try:
        return _start(folder)
    except HarnessError as error:
        return {"error": str(error)}


def _start(folder: Path) -> dict[str, Any]:
    home = _make_home(folder / "solr", fetch_jars())
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED_VARIABLES}
    environment["PYTHONPATH"] = str(ROOT / "tests")
    owner = os.environ.get(OWNER_VARIABLE, str(os.getpid()))
    with (home / "solr.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "builders.solr_process", str(home), owner],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches the owner only
        )
    try:
        url = _wait_until_ready(process, home)
        index(url, CORE, CATALOGUE.read_text(encoding="utf-8"))
    except BaseException:
        process.kill()
        process.wait()
        raise
    pid = process.pid
    with warnings.catch_warnings():
        # Python warns of a process that still runs when its object is deleted; this one runs on for other workers.
        warnings.simplefilter("ignore", ResourceWarning)
        del process
    return {"url": url, "pid": pid}


def _make_home(home: Path, jars: Iterable[Path]) -> Path:
    """Solr's folder: the schema as a set that cores are made of, and the core of the catalogue."""
    (home / "tmp").mkdir(parents=True)
    (home / CORE).mkdir()
    shutil.copytree(CONFIGURATION, home / "configsets" / "shop" / "conf")
    (home / "solr.xml").write_text("<solr/>\n", encoding="utf-8")
    (home / CORE / "core.properties").write_text(f"name={CORE}\nconfigSet=shop\n", encoding="utf-8")
    (home / "classpath.json").write_text(json.dumps([str(jar) for jar in jars]), encoding="utf-8")
    return home


def _wait_until_ready(process: subprocess.Popen[bytes], home: Path) -> str:
    ready = home / "ready.json"
    deadline = time.monotonic() + START_LIMIT
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            lines = (home / "solr.log").read_text(encoding="utf-8", errors="replace").splitlines()
            raise EngineStartError("\n".join(["Solr did not start. The end of its log:", *lines[-LOG_TAIL:]]))
        time.sleep(POLL)
    return str(json.loads(ready.read_text(encoding="utf-8"))["url"])


def main() -> None:
    """Run a Solr until Ctrl-C or SIGTERM."""
    with tempfile.TemporaryDirectory(prefix="relevance-solr-", ignore_cleanup_errors=True) as name:
        print(obtain_solr(Path(name)), flush=True)
        # Not before: the process of Solr would inherit that they are blocked.
        endings = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, endings)
        signal.sigwait(endings)
        stop_solr(Path(name))


if __name__ == "__main__":
    main()
