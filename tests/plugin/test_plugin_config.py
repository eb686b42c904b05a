"""The trusted configuration under pytest: of the option, the variable, the ini file, or the working directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., pytest.RunResult]
UNLISTED = "*the suite may not read the variable SHOP_TEXT*"


@pytest.fixture
def reading(suite: Callable[..., Path], pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite in a folder of its own that reads SHOP_TEXT, beside a relevance.toml that lists it."""
    path = suite('thresholds: ["mean nDCG@10 >= 0.5"]', name="suites/shop.relevance.yaml")
    path.write_text(path.read_text().replace("text: red shoes", 'text: "${SHOP_TEXT}"'), encoding="utf-8")
    monkeypatch.setenv("SHOP_TEXT", "red shoes")
    for name in ("suites/relevance.toml", "trusted.toml"):
        (pytester.path / name).write_text('variables = ["SHOP_TEXT"]\n', encoding="utf-8")


@pytest.mark.usefixtures("reading")
def test_a_list_beside_a_suite_does_not_count(run: Run) -> None:
    result = run()
    result.stdout.fnmatch_lines(UNLISTED)
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.usefixtures("reading")
def test_the_option_the_variable_and_the_ini_file_name_the_configuration(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("--relevance-config", "trusted.toml").ret == pytest.ExitCode.OK
    assert run("--relevance-variable", "SHOP_TEXT").ret == pytest.ExitCode.OK
    assert run("-o", "relevance_variable=SHOP_TEXT").ret == pytest.ExitCode.OK
    assert run("-o", "relevance_config=trusted.toml").ret == pytest.ExitCode.OK
    (pytester.path / "empty.toml").write_text("", encoding="utf-8")
    monkeypatch.setenv("RELEVANCE_CONFIG", "empty.toml")
    run("-o", "relevance_config=trusted.toml").stdout.fnmatch_lines(UNLISTED)
    assert run("--relevance-config", "trusted.toml").ret == pytest.ExitCode.OK


@pytest.mark.usefixtures("reading")
def test_the_working_directory_counts_and_not_the_root_of_the_tests(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pytester.path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.chdir(pytester.path / "suites")
    assert run().ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--relevance-config", "nowhere.toml", "*--relevance-config: there is no file *nowhere.toml"),
        ("--relevance-variable", "a b", "*--relevance-variable: found 'a b', expected the name of an environment*"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(run: Run, option: str, value: str, told: str) -> None:
    result = run(option, value)
    result.stderr.fnmatch_lines(told)
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_a_test_that_changes_the_working_directory_runs_with_the_configuration_of_the_session(
    suite: Callable[..., Path], run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = suite()
    path.write_text(path.read_text().replace("text: red shoes", 'text: "${SHOP_TEXT}"'), encoding="utf-8")
    monkeypatch.setenv("SHOP_TEXT", "red shoes")
    (pytester.path / "relevance.toml").write_text('variables = ["SHOP_TEXT"]\n', encoding="utf-8")
    pytester.makepyfile(
        test_elsewhere="""
        def test_elsewhere(relevance, tmp_path, monkeypatch):
            monkeypatch.chdir(tmp_path)
            assert relevance.run("shop.relevance.yaml").mean("nDCG@10") > 0.8
            compared = relevance.compare("request:request", "index:other", suite="shop.relevance.yaml")
            assert compared.report.queries
        """
    )
    assert run("test_elsewhere.py").ret == pytest.ExitCode.OK


def test_a_configuration_of_the_former_name_ends_the_session(suite: Callable[..., Path], run: Run, pytester) -> None:
    suite('thresholds: ["mean nDCG@10 >= 0.5"]')
    pytester.makefile(".toml", harness='addresses = "listed"')
    result = run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines("*harness.toml: found harness.toml, expected relevance.toml; rename it: *")
    result.stdout.no_fnmatch_line("*harness/config/*")
