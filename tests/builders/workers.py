"""
Workers of pytest-xdist without processes: `run(*IN_A_WORKER)` starts them in the process of their controller.

A process of a worker takes seconds, most of it for imports, and what crosses its border is the same here. The
controller collects nothing, and calls the hooks for a new node and for one that has ended; a worker is a session of its
own with the arguments of the controller, and what it sends are the plain values that execnet can send. Workers run one
after another, each its share of the items. The sessions of tests/plugin/test_plugin_xdist.py have processes, and show
what needs them.

PYTEST_DONT_REWRITE: tests import this module before it is a plugin.
"""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import redirect_stdout
from itertools import zip_longest
from types import SimpleNamespace
from typing import Any

import execnet
import pytest
import xdist.newhooks

import harness.plugin

__all__ = ["IN_A_WORKER", "IN_TWO_WORKERS"]

IN_A_WORKER = ("-p", "builders.workers")
IN_TWO_WORKERS = (*IN_A_WORKER, "--workers-here", "2")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(xdist.newhooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers-here", type=int, default=1)


def pytest_configure(config: pytest.Config) -> None:
    # As with pytest-xdist, the controller itself collects where items are only shown.
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(Controller(config))


def send(value: Any) -> Any:
    """*value* as the other side receives it; raises execnet.DumpError for what cannot be sent."""
    return execnet.loads(execnet.dumps(value))


class Node:
    """A worker as hooks of the controller see it."""

    def __init__(self, number: int, config: pytest.Config) -> None:
        self.number = number
        self.config = config
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.workerinput: dict[str, Any] = {}
        self.workeroutput: dict[str, Any] = {}
        self.workerinfo = {
            "id": self.gateway.id,
            "sysplatform": sys.platform,
            "version_info": sys.version_info[:3],
            "executable": sys.executable,
        }


class Controller:
    """The hooks with which a session leaves collecting and running to workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.nodes: list[Node] = []
        self.failed_collections: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session
        for number in range(self.config.option.workers_here):
            node = Node(number, self.config)
            self.config.hook.pytest_configure_node(node=node)
            self.nodes.append(node)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for node in self.nodes:
            worker = Worker(self, node)
            printed = io.StringIO()
            with redirect_stdout(printed):
                status = pytest.main(list(self.config.invocation_params.args), plugins=[worker, harness.plugin])
            assert status not in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR), printed.getvalue()
            self.config.hook.pytest_testnodedown(node=node, error=None)
            if worker.stop:
                raise session.Interrupted(str(worker.stop))
        return True

    def receive_report(self, node: Node, data: dict[str, Any]) -> None:
        """Take the report on an item, or on what a worker could not collect; the latter once for all workers."""
        report = self.config.hook.pytest_report_from_serializable(config=self.config, data=data)
        if isinstance(report, pytest.TestReport):
            report.node = node  # type: ignore[attr-defined]
            self.config.hook.pytest_runtest_logreport(report=report)
        elif report.longreprtext not in self.failed_collections:
            self.failed_collections.append(report.longreprtext)
            self.config.hook.pytest_collectreport(report=report)


class Worker:
    """The plugin that makes a session the worker of a node, which runs its share of the items."""

    def __init__(self, controller: Controller, node: Node) -> None:
        self.controller = controller
        self.node = node
        self.stop: object = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self.config = config
        config.workerinput = send(self.node.workerinput)  # type: ignore[attr-defined]
        config.workeroutput = {}  # type: ignore[attr-defined]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._send_report(report)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.controller.session.testscollected = len(session.items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = session.items[self.node.number :: len(self.controller.nodes)]
        for item, following in zip_longest(items, items[1:]):
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.stop = session.shouldfail or session.shouldstop
            if self.stop:
                break
        return True

    def pytest_runtest_logstart(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.controller.config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._send_report(report)

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        self.controller.config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: str,
        nodeid: str,
        location: tuple[str, int, str] | None,
    ) -> None:
        told = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        self.controller.config.hook.pytest_warning_recorded.call_historic(kwargs=told)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Any:
        yield
        self.node.workeroutput = send(session.config.workeroutput)  # type: ignore[attr-defined]

    def _send_report(self, report: pytest.CollectReport | pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.controller.receive_report(self.node, send(data))
