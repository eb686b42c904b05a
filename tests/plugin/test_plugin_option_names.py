"""What a sentence says of an option has the name that the option has where the user asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import harness.search.fixtures
from builders.engine import ScriptedEngine
from harness.api import Relevance
from harness.cli import main
from harness.errors import EntryPoint, FixtureError, Option, UsageError
from harness.options import RunOptions

Suite = Callable[..., Path]

FIXTURE = """\
suite: shop
target: {index: products}
fixture: {documents: products.jsonl, mappings: {}}
request: {query: {match: {title: "{{text}}"}}}
thresholds: ["mean nDCG@10 >= 0.1"]
queries: [{id: shoes, text: shoes, judgments: {a: 1}}]
"""


def test_of_an_unknown_cluster(
    suite: Suite, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    path = suite('thresholds: ["mean nDCG@10 >= 0.8"]')
    path.write_text(path.read_text().replace("index: products", "cluster: staging, index: products"))

    assert main(["run", path.name]) == 2
    assert "; give --url or --embedded, or define it in" in capsys.readouterr().err
    with pytest.raises(UsageError, match="; give url or embedded, or define it in"):
        Relevance().run(path.name)
    result = pytester.runpytest("-p", "relevance")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines("*; give --relevance-url or --relevance-embedded, or define it in*")
    result.stdout.no_fnmatch_line("* --url*")


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (EntryPoint.COMMAND, "--allow-write"),
        (EntryPoint.PYTEST, "--relevance-allow-write"),
        (EntryPoint.PYTHON, "allow_write"),
    ],
)
def test_of_a_fixture_that_may_not_be_built_in_the_report_too(
    engine: ScriptedEngine, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, entry: EntryPoint, name: str
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise FixtureError("the harness writes only where it is told to: say ", Option("allow-write"))

    monkeypatch.setattr(harness.search.fixtures, "ensure_index", refuse)
    (pytester.path / "products.jsonl").write_text('{"id": "a", "title": "shoes"}\n')
    (pytester.path / "shop.relevance.yaml").write_text(FIXTURE)

    with Relevance(options=RunOptions(url=engine.url, entry=entry)) as relevance:
        report = relevance.run("shop.relevance.yaml").report

    sentence = f"the harness writes only where it is told to: say {name}"
    assert report.queries[0].reason == f"engine error: {sentence}"
    assert report.verdicts[0].reason.endswith(f"({report.queries[0].reason})")
