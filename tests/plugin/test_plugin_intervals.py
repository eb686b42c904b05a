"""The interval of a mean in pytest and in the command: where it is printed, and what turns it off."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.cli import main

Run = Callable[..., pytest.RunResult]

SUITE = """\
suite: shop
target: {index: products}
request:
  query: {match: {title: "{{text}}"}}
measures: ["RR@5"]
thresholds: ["mean RR@5 >= 0.95 for head", "every RR@5 >= 0.4"]
queries:
"""
INTERVAL = "0.4165 to 1.0000"
"""0.7778, 2.5706 times 0.1405 less, and at most 1."""


@pytest.fixture
def shop(pytester: pytest.Pytester, engine: ScriptedEngine) -> Path:
    """Six queries with the tag `head`: RR@5 of two of them is 0.3333, that of the others 1."""
    lines = [SUITE]
    for number in range(6):
        lines.append(f"  - {{id: q{number}, text: text {number}, tags: [head], judgments: {{a: 1}}}}\n")
        engine.rankings[f"text {number}"] = ["a"] if number > 1 else ["x", "y", "a"]
    path = pytester.path / "shop.relevance.yaml"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.usefixtures("shop")
def test_a_mean_that_fails_has_its_interval(run: Run) -> None:
    result = run()
    result.assert_outcomes(failed=2)
    printed = result.stdout.str()
    assert printed.count("95 % interval") == 1, "the threshold on every query has another figure"
    result.stdout.fnmatch_lines(
        ["-*mean RR@5 >= 0.95 for head*", f"95 % interval of this mean: {INTERVAL}, over 6 queries"]
    )


@pytest.mark.usefixtures("shop")
def test_an_option_or_the_configuration_turns_intervals_off(run: Run, pytester: pytest.Pytester) -> None:
    assert INTERVAL not in run("--relevance-no-intervals").stdout.str()
    pytester.makeini("[pytest]\nrelevance_no_intervals = true\n")
    assert INTERVAL not in run().stdout.str()
    pytester.makeini("[pytest]\n")
    assert INTERVAL in run().stdout.str()
    pytester.path.joinpath("relevance.toml").write_text("intervals = false\n")
    assert INTERVAL not in run().stdout.str()


def test_every_output_of_the_command_has_it(
    shop: Path, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", shop.name, "--url", engine.url, "--output", "json=r.json", "--output", "html=r.html"]
    command += ["--output", "markdown=r.md"]
    assert main(command) == 1
    [suite] = json.loads(Path("r.json").read_text(encoding="utf-8"))["suites"]
    [summary] = suite["summaries"]
    assert summary["interval"] == pytest.approx([0.4165, 1.0], abs=1e-4)
    assert suite["tags"][0]["summaries"] == [summary]
    for text in (capsys.readouterr().out, Path("r.html").read_text(encoding="utf-8"), Path("r.md").read_text()):
        assert text.count(INTERVAL) == 3, "of the measure, of all tags, and of the tag"

    assert main([*command, "--no-intervals"]) == 1
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["suites"][0]["summaries"][0]["interval"] is None
    for text in (capsys.readouterr().out, Path("r.html").read_text(encoding="utf-8"), Path("r.md").read_text()):
        assert "% interval" not in text

    Path("relevance.toml").write_text("intervals = false\n")
    assert main(command) == 1
    assert "% interval" not in capsys.readouterr().out
