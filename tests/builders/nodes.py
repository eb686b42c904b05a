"""
The embedded nodes that all tests share, one of each version, started when the first test asks for it.

Their state files are where `relevance engine up` writes them, so that a command with `--embedded` uses such a node, as
that of a user does whose node is up, and starts none of its own.
"""

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from harness.embedded import DEFAULT_VERSION, EmbeddedNode, find_running, start, versions
from harness.embedded.jars import cache_folder
from harness.embedded.state import find_state_folder, make_state_folder, write_state
from harness.pytest_plugin.node import NodeHost, RemoteNode


class StatedNode:
    """A node of this process that the commands of other processes find."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._resources = ExitStack()

    def obtain_url(self) -> str:
        node = self._resources.enter_context(start(self._version))
        make_state_folder()
        write_state(node)
        return node.url

    def close(self) -> None:
        self._resources.close()


def host_nodes(config: pytest.Config) -> None:
    """Let all workers ask for a node of each version; the nodes end with this process, however that ends."""
    config.add_cleanup(lambda: shutil.rmtree(find_state_folder(), ignore_errors=True))
    for version in versions():
        folder = _find_folder(version)
        folder.mkdir()
        config.add_cleanup(NodeHost(StatedNode(version), folder).close)


def obtain_node(version: str = DEFAULT_VERSION) -> EmbeddedNode:
    """
    The node of *version* that all tests share.

    Raises:
        EngineStartError: it could not be started.
    """
    RemoteNode(_find_folder(version)).obtain_url()
    node = find_running(version)
    assert node is not None, f"the node of {version} that the tests share does not answer"
    return node


def _find_folder(version: str) -> Path:
    """Where workers ask for the node of *version*."""
    return cache_folder() / f"node-{version}"
