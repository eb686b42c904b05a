"""Hooks of a conftest.py, of a plugin and of installed packages, for suites that are collected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.workers import IN_A_WORKER
from harness.hooks import HOOK_ENTRY_POINTS, find_hook_entry_points
from harness.metrics import registry
from harness.metrics.registry import Registry

MEAN = 'thresholds: ["mean nDCG@10 >= 0.9"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]

BOOTS_FOR_ALL = """
def pytest_relevance_request(request, query):
    request.body["query"]["match"]["title"] = "rubber boots" if "head" in query.tags else query.text
"""

OWN_CLIENT = """
from builders.engine import ROOT, item_of

class Client:
    def __init__(self, cluster):
        self.cluster = cluster

    def info(self):
        return ROOT

    def msearch(self, body):
        print("asked for", self.cluster.url)
        return {"took": 1, "responses": [item_of(["a", "b", "d"], size=10) for _ in body[1::2]]}

def pytest_relevance_client(cluster):
    return Client(cluster)
"""

REVERSED = """
from dataclasses import replace

def pytest_relevance_response(response, query):
    return replace(response, hits=response.hits[::-1]) if query.id == "boots" else None
"""


def reported(pytester: pytest.Pytester) -> dict[str, object]:
    [suite] = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))["suites"]
    return suite


def test_a_hook_changes_requests(suite: Suite, run: Run, engine: object, pytester: pytest.Pytester) -> None:
    suite(MEAN)
    pytester.makeconftest(BOOTS_FOR_ALL)

    result = run("--relevance-report", "report.json")

    result.assert_outcomes(failed=1)
    assert engine.asked == {"rubber boots": 2}
    assert reported(pytester)["notes"][0] == "hooks: pytest_relevance_request (conftest.py)"
    assert [hit["id"] for hit in reported(pytester)["queries"][0]["ranking"]] == ["e", "d"]


def test_a_hook_may_return_a_request_with_another_body(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makeconftest(
        """
        from dataclasses import replace

        def pytest_relevance_request(request):
            return replace(request, body={"query": {"match": {"title": "red shoes"}}})
        """
    )
    run().assert_outcomes(failed=1)

    assert set(engine.asked) == {"red shoes"}


def test_a_hook_makes_the_client(suite: Suite, run: Run, engine: object, pytester: pytest.Pytester) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.7"]')
    pytester.makeconftest(OWN_CLIENT)

    result = run("-s")

    result.assert_outcomes(passed=1)
    assert f"asked for {engine.url}" in result.stdout.str()
    assert not engine.asked


def test_a_hook_changes_responses(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN)
    pytester.makeconftest(REVERSED)

    run().assert_outcomes(passed=1)


def test_the_hooks_of_a_folder_are_for_its_suites(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN, name="one/shop.relevance.yaml")
    suite(MEAN, name="two/store.relevance.yaml")
    (pytester.path / "one" / "conftest.py").write_text(BOOTS_FOR_ALL, encoding="utf-8")

    run().assert_outcomes(failed=2)

    assert engine.asked == {"rubber boots": 3, "red shoes": 1}


def test_the_fixture_uses_them_too(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite("")
    pytester.makeconftest(REVERSED)
    pytester.makepyfile("def test_it(relevance): assert relevance.run('shop.relevance.yaml').mean('nDCG@10') == 1")

    run().assert_outcomes(passed=1)


def test_hooks_work_in_workers(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0", "median nDCG@10 >= 0"]')
    pytester.makeconftest("\n".join([BOOTS_FOR_ALL, OWN_CLIENT, REVERSED]))

    result = run(*IN_A_WORKER, "--relevance-report", "report.json")

    result.assert_outcomes(passed=2)
    hooks = ", ".join(f"pytest_relevance_{name} (conftest.py)" for name in ("client", "request", "response"))
    assert reported(pytester)["notes"][0] == f"hooks: {hooks}"


FAILING = {
    "request": (
        "def pytest_relevance_request(request):\n    return request.body['qery']",
        "failed in line 2: KeyError",
    ),
    "client": (
        "def pytest_relevance_client(cluster):\n    raise RuntimeError('no login')",
        "failed in line 2: Runtime",
    ),
    "response": ("def pytest_relevance_response(response):\n    return response.hit", "failed in line 2: AttributeErr"),
    "a list": ("def pytest_relevance_request(request):\n    return [request]", "returned a value of type list, expect"),
    "a text": (
        "def pytest_relevance_response(response):\n    return 'ok'",
        "returned a value of type str, expected a R",
    ),
    "no client": (
        "def pytest_relevance_client(cluster):\n    return cluster",
        "returned what is no client: a client of",
    ),
    "another index": (
        "from dataclasses import replace\n"
        "def pytest_relevance_request(request):\n    return replace(request, index='elsewhere')",
        "changed the query or the index of the request for query 'shoes'",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_hook_that_fails_is_an_error_of_the_items(
    suite: Suite, run: Run, pytester: pytest.Pytester, name: str
) -> None:
    hook, said = FAILING[name]
    suite(MEAN)
    pytester.makeconftest(hook)

    result = run()

    result.assert_outcomes(errors=1)
    text = " ".join(result.stdout.str().split())
    assert re.search(rf"the hook pytest_relevance_\w+ \(conftest.py\) {re.escape(said)}", text)
    assert "Traceback" not in text
    assert "_callers.py" not in text


OUTCOMES = {
    "skip": ("import pytest", "pytest.skip('not today')", "Skipped: not today"),
    "xfail": ("import pytest", "pytest.xfail('not yet')", "XFailed: not yet"),
    "importorskip": ("import pytest", "pytest.importorskip('no_such_package')", "Skipped: could not import"),
    "fail": ("import pytest", "pytest.fail('no')", "Failed: no"),
    "SkipTest": ("import unittest", "raise unittest.SkipTest('no')", "SkipTest: no"),
    "exit": ("import sys", "sys.exit(0)", "SystemExit: 0"),
    "cancelled": ("import asyncio", "raise asyncio.CancelledError", "CancelledError"),
}


@pytest.mark.parametrize("name", ["request", "response"])
@pytest.mark.parametrize(("imports", "statement", "said"), OUTCOMES.values(), ids=list(OUTCOMES))
def test_an_outcome_of_pytest_that_a_hook_raises_is_an_error_of_its_query(
    suite: Suite, run: Run, pytester: pytest.Pytester, name: str, imports: str, statement: str, said: str
) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.1"]', shoes='expect: ["b in top 1"]', boots='expect: ["d in top 3"]')
    pytester.makeconftest(
        f"{imports}\ndef pytest_relevance_{name}(query):\n    if query.id == 'boots':\n        {statement}"
    )

    result = run("--relevance-report", "report.json")

    result.assert_outcomes(failed=1, errors=2)  # the expectation of shoes fails as it does without the hook
    assert result.ret == 1
    assert reported(pytester)["queries"][1]["outcome"] == "error"
    assert (
        f"the hook pytest_relevance_{name} (conftest.py) failed in line 4: {said}"
        in reported(pytester)["queries"][1]["reason"]
    )


SKIP = "    import pytest\n    pytest.skip('not today')\n"

SKIPPING = {
    "client": f"def pytest_relevance_client(cluster):\n{SKIP}",
    "request": f"def pytest_relevance_request(request):\n{SKIP}",
    "response": f"def pytest_relevance_response(response):\n{SKIP}",
    "formula": "from harness.metrics import Definition, Needs, register_measure\n"
    f"def formula(ranking, settings):\n{SKIP}"
    "register_measure(Definition('Mine', formula, needs=Needs.NOTHING))\n",
    "msearch": f"class Client:\n  def msearch(self, body):\n{SKIP}"
    "def pytest_relevance_client(cluster):\n    return Client()\n",
}


@pytest.mark.parametrize("workers", [[], IN_A_WORKER], ids=["here", "in a worker"])
@pytest.mark.parametrize("code", SKIPPING.values(), ids=list(SKIPPING))
def test_code_of_a_user_s_cannot_skip_the_items_of_a_suite(
    suite: Suite, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, code: str, workers: list[str]
) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", Registry(registry.DEFINITIONS))
    suite(f'thresholds: ["mean {"Mine" if "Mine" in code else "nDCG"}@10 >= 0.1"]')
    pytester.makeconftest(code)

    result = run(*workers)

    result.assert_outcomes(errors=1)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)  # the second while it is collected


@pytest.mark.parametrize("group", ["hooks", "measures"])
def test_a_package_that_cannot_be_imported_here_skips_no_suite(
    suite: Suite, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.setattr(registry, "_REGISTRY", Registry(registry.DEFINITIONS))
    # Found anew, as the package comes to a process that found the others before.
    monkeypatch.setattr("harness.hooks.find_hook_entry_points", find_hook_entry_points.__wrapped__)
    suite('thresholds: ["mean Mine@10 >= 0.1"]' if group == "measures" else MEAN)
    pytester.makepyfile(acme="import pytest\npytest.importorskip('no_such_package')")
    package = pytester.mkdir("acme-1.0.dist-info")
    package.joinpath("METADATA").write_text("Name: acme\nVersion: 1.0\n")
    package.joinpath("entry_points.txt").write_text(f"[relevance_harness.{group}]\nacme = acme\n")
    pytester.syspathinsert()

    result = run()

    result.assert_outcomes(errors=1)
    assert result.ret in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)
    result.stdout.fnmatch_lines(
        ["*entry point acme of * cannot be loaded: Skipped: could not import 'no_such_package'*"]
    )


@pytest.mark.parametrize("raised", ["pytest.exit('enough', returncode=7)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("name", ["client", "request", "response"])
def test_what_ends_a_session_ends_it_from_a_hook_too(
    suite: Suite, engine: ScriptedEngine, pytester: pytest.Pytester, name: str, raised: str
) -> None:
    suite(MEAN)
    pytester.makeconftest(f"import pytest\ndef pytest_relevance_{name}():\n    {raised}")
    pytester.makepyfile("def test_it(): pass")

    result = pytester.runpytest_inprocess("--relevance-url", engine.url, no_reraise_ctrlc=True)

    assert result.ret == (7 if "exit" in raised else pytest.ExitCode.INTERRUPTED)
    assert result.parseoutcomes().get("errors") is None
    result.stdout.fnmatch_lines(["*Exit: enough*" if "exit" in raised else "*KeyboardInterrupt*"])


def test_hooks_of_installed_packages_work_too(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite(MEAN)
    pytester.makepyfile(acme=BOOTS_FOR_ALL)
    pytester.syspathinsert()
    offered = EntryPoint("acme", "acme", HOOK_ENTRY_POINTS)
    monkeypatch.setattr("harness.hooks.find_hook_entry_points", lambda: (offered,))

    run().assert_outcomes(failed=1)
    run("-p", "acme").assert_outcomes(failed=1)

    assert engine.asked == {"rubber boots": 4}
