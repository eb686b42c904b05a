"""
The state files of background nodes, one a version, and what is checked before one is believed.

They are in the runtime folder of the user and not in the cache folder: a cache may come from others, from a CI system
or with a checkout, and what it says of a process, a folder or a URL must not be followed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import sys
import warnings
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.embedded.jars import cache_folder, require_extra
from harness.embedded.process import HOME_PREFIX, EmbeddedNode
from harness.errors import EngineStartError
from harness.files.writing import write_whole

if TYPE_CHECKING:
    import psutil

ANSWER_LIMIT = 5.0
"""Seconds in which a node says its name."""

_MOST_BYTES = 65_536
"""Of that answer; a node sends about 500."""

SAME_START = 1.0
"""Seconds by which the system may tell the start of one process differently."""

_URL = re.compile(r"http://127\.0\.0\.1:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class NodeState:
    """A background node as its state file describes it."""

    node: EmbeddedNode
    started: float
    """When its process started, in seconds since 1970: another process may have its id by now."""


def find_state_folder() -> Path:
    """
    The folder of the state files; it may not exist yet.

    Each cache folder has one of its own, so that `RELEVANCE_CACHE_DIR` also separates the nodes of two projects.
    """
    from platformdirs import user_runtime_path

    digest = hashlib.sha256(os.fsencode(cache_folder())).hexdigest()[:16]
    with warnings.catch_warnings():
        # Where XDG_RUNTIME_DIR is not set, as in a container, it warns that it takes a folder of /tmp; that is checked.
        warnings.simplefilter("ignore")
        return user_runtime_path("relevance-harness", appauthor=False) / digest


def make_state_folder() -> Path:
    """
    The folder of the state files, which only this user can write to.

    Raises:
        EngineStartError: It cannot be made, or somebody else made it.
    """
    folder = find_state_folder()
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EngineStartError(
            f"the folder {folder} for the state of the node cannot be made: {error.strerror}; "
            "name another runtime folder in XDG_RUNTIME_DIR"
        ) from error
    if not is_private_folder(folder):
        raise EngineStartError(
            f"the folder {folder} for the state of the node, or the one above it, belongs to another user, is a link, "
            "or others can write to it; remove it, or name another runtime folder in XDG_RUNTIME_DIR"
        )
    return folder


def is_private_folder(folder: Path) -> bool:
    """Whether *folder* and the one above it belong to this user and nobody else can write to them."""
    if sys.platform == "win32":
        return True
    for path in (folder.parent, folder):
        try:
            status = path.lstat()
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
            return False
    return True


def get_state_file(version: str) -> Path:
    """The state file of the node of *version*."""
    return find_state_folder() / f"{version}.json"


def write_state(node: EmbeddedNode) -> None:
    """Write the state of *node*, which has just started."""
    import psutil

    content = {**asdict(node), "started": psutil.Process(node.pid).create_time()}
    write_whole(get_state_file(node.version), json.dumps(content, default=str))


def read_state(version: str) -> NodeState | None:
    """What the state file says; None if there is none, an invalid one, or one that others could write."""
    path = get_state_file(version)
    try:
        if not is_private_folder(path.parent) or not stat.S_ISREG(path.lstat().st_mode):
            return None
        content = json.loads(path.read_text(encoding="utf-8"))
        node = EmbeddedNode(content["url"], version, int(content["pid"]), Path(content["home"]), str(content["name"]))
        is_local = _URL.fullmatch(node.url) is not None
        if not is_local or node.pid <= 0 or not node.name or content["version"] != version:
            return None
        return NodeState(node, float(content["started"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remove_state(version: str) -> None:
    """Remove the state file, and the folder of a node that no longer runs."""
    state = read_state(version)
    if state is not None:
        _remove_home(state.node)
    if is_private_folder(find_state_folder()):
        get_state_file(version).unlink(missing_ok=True)


def _remove_home(node: EmbeddedNode) -> None:
    """Remove the folder of *node*, if it is one that `launch` made for this node, and no other folder."""
    try:
        is_folder = stat.S_ISDIR(node.home.lstat().st_mode)
        config = json.loads((node.home / "node.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    is_of_node = isinstance(config, dict) and config.get("name") == node.name
    if is_folder and is_of_node and node.home.name.startswith(HOME_PREFIX):
        shutil.rmtree(node.home, ignore_errors=True)


def find_process(state: NodeState) -> psutil.Process | None:
    """The process of *state*, if it still runs: one of this user, that started then, with the node's folder."""
    require_extra()
    import psutil

    try:
        process = psutil.Process(state.node.pid)
        is_alive = process.status() != psutil.STATUS_ZOMBIE
        is_same = abs(process.create_time() - state.started) <= SAME_START
        is_own = process.username() == psutil.Process().username()
        has_home = str(state.node.home) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None
    if is_alive and is_same and is_own and has_home:
        return process
    return None


def is_answering(node: EmbeddedNode) -> bool:
    """Whether what answers at the URL of *node* has its name, which no other node has."""
    # Without proxies and redirects: the answer is that of this address.
    connection = HTTPConnection("127.0.0.1", urlsplit(node.url).port, timeout=ANSWER_LIMIT)
    try:
        connection.request("GET", "/")
        answer = json.loads(connection.getresponse().read(_MOST_BYTES))
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(answer, dict) and answer.get("name") == node.name
