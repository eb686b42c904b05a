"""What is called almost as suites are, leads nowhere, or lies where nobody looks: pytest and the command agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from builders.extension_cases import list_cases
from builders.workers import IN_A_WORKER
from harness.cli import main
from harness.suites.discovery import LEFT_OUT, find_suites

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def collected(result: pytest.RunResult) -> list[str]:
    """The suites of which ``--collect-only -q`` printed an item."""
    return sorted({line.split("::")[0] for line in result.outlines if "::" in line})


def commands(engine: ScriptedEngine) -> list[list[str]]:
    """Every command that takes suites."""
    return [
        ["run", "--url", engine.url],
        ["validate"],
        ["baseline", "save", "--url", engine.url],
        ["baseline", "show"],
        *([engine.url if word == "URL" else word for word in words] for words in list_cases("FOUND")),
    ]


@pytest.fixture
def tree(suite: Suite, pytester: pytest.Pytester) -> None:
    """Suites where they are looked for, and where they are not."""
    for name in LEFT_OUT:
        suite(MEAN, name=f"{name}/left.relevance.yaml")
        suite(MEAN, name=f"web/{name}/deep/left.relevance.yaml")
    for name in ("shop.relevance.yaml", "web/shop.relevance.yaml", "builds/shop.relevance.yaml"):
        suite(MEAN, name=name)
    suite(MEAN, name="env/lib/left.relevance.yaml")
    (pytester.path / "env" / "pyvenv.cfg").touch()
    suite(MEAN, name="elsewhere/build/shop.relevance.yaml").rename(pytester.path / "elsewhere" / "s.relevance.yaml")
    (pytester.path / "linked").symlink_to("elsewhere")


def test_command_and_pytest_read_the_same_suites(tree: None, run: Run, pytester: pytest.Pytester) -> None:
    result = run("--collect-only", "-q", ".")

    found = find_suites([Path()])
    assert [path.as_posix() for path in found.suites] == [
        "builds/shop.relevance.yaml",
        "elsewhere/s.relevance.yaml",
        "shop.relevance.yaml",
        "web/shop.relevance.yaml",
    ]
    by_a_link = "linked/s.relevance.yaml"  # the same suite again, which runs once
    assert collected(result) == sorted([*(path.as_posix() for path in found.suites), by_a_link])


def test_command_and_pytest_name_the_same_folders(
    tree: None, run: Run, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run("--collect-only", "-q", ".")
    capsys.readouterr()
    assert main(["validate", "."]) == 0

    [line] = [line for line in capsys.readouterr().err.splitlines() if "skipped" in line]
    [same] = [line for line in result.outlines if line.startswith("skipped: ")]
    folders = line.removeprefix("relevance: skipped: ").partition(";")[0]
    assert folders == same.removeprefix("skipped: ").partition(";")[0]
    named = {part.partition(" (")[0] for part in folders.split(", ")}
    assert named == {*LEFT_OUT, *(f"web/{name}" for name in LEFT_OUT)}


@pytest.mark.parametrize("name", [*LEFT_OUT, "env"])
def test_what_is_named_outright_is_read(tree: None, run: Run, pytester: pytest.Pytester, name: str) -> None:
    inside = "env/lib/left.relevance.yaml" if name == "env" else f"{name}/left.relevance.yaml"

    for path in (name, inside):
        result = run("--collect-only", "-q", path)
        assert collected(result) == [inside] == [found.as_posix() for found in find_suites([Path(path)]).suites]
        result.stdout.no_fnmatch_line("*skipped: *")


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 8 reads of '. build' the last, with no plugin too")
@pytest.mark.parametrize(
    ("named", "options"),
    [
        ("build", ()),
        ("build", IN_A_WORKER),
        ("build/left.relevance.yaml", ()),
        ("node_modules/deep", ()),
        ("web/c.relevance.yml", ()),
        ("web/other.yaml", ()),
        ("web/../build", IN_A_WORKER),
    ],
)
def test_what_is_named_beside_a_folder_that_holds_it_is_read(
    suite: Suite, run: Run, named: str, options: tuple[str, ...]
) -> None:
    """pytest 9 keeps of overlapping arguments only the first."""
    suite(MEAN)
    for name in ("build/left", "node_modules/deep/left", "dist/left"):
        suite(MEAN, name=f"{name}.relevance.yaml")
    for name in ("web/c.relevance.yml", "web/other.yaml"):
        suite(MEAN, name=name)

    result = run(*options, "-W", "default", ".", named)

    assert result.parseoutcomes()["passed"] == 2
    [line] = [line for line in result.outlines if line.startswith("skipped: ")]
    assert ("build" in line) is ("build" not in named)
    assert ("node_modules" in line) is ("node_modules" not in named)
    assert "dist (1 suite)" in line


@pytest.mark.parametrize("name", ["Shop.Relevance.YAML", "other.YML", "other.yaml"])
def test_a_file_that_is_named_is_read_whatever_its_suffix_looks_like(suite: Suite, run: Run, name: str) -> None:
    suite(MEAN, name=name)

    run(name).assert_outcomes(passed=1)


def test_of_tests_in_python_pytest_collects_what_it_would(run: Run, pytester: pytest.Pytester) -> None:
    for name in ("build", "tests"):
        pytester.mkdir(name).joinpath(f"test_{name}.py").write_text("def test_it(): pass")

    options = ("--collect-only", "-q", ".", "build")
    without_the_plugin = pytester.runpytest(*options)
    assert collected(run(*options)) == collected(without_the_plugin) != []


@pytest.mark.parametrize("options", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_what_a_project_leaves_out_itself_is_named_too(
    suite: Suite, run: Run, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    suite(MEAN)
    for name in ("build", "legacy", "old", "older"):
        suite(MEAN, name=f"{name}/left.relevance.yaml")
    suite(MEAN, name="older.relevance.yaml")
    pytester.makeini("[pytest]\nnorecursedirs = legacy\n")
    pytester.makeconftest("collect_ignore = ['old']\ncollect_ignore_glob = ['older*']\n")

    result = run(*options, "--ignore", "build/left.relevance.yaml")

    result.assert_outcomes(passed=1)
    parts = ("build/left.relevance.yaml", "legacy", "old", "older", "older.relevance.yaml")
    sentence = ", ".join(f"{part} (1 suite)" for part in parts)
    assert [line for line in result.outlines if line.startswith("skipped: ")] == [
        f"skipped: {sentence}; pass a path to run its suites"
    ]


def test_of_what_was_not_asked_for_nothing_is_said(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN, name="one/shop.relevance.yaml")
    suite(MEAN, name="one/build/left.relevance.yaml")
    suite(MEAN, name="two/shop.relevance.yaml")
    suite(MEAN, name="build/left.relevance.yaml")
    for folder in (pytester.path, pytester.path / "one"):
        (folder / "gone.relevance.yaml").symlink_to("nowhere")
        suite(MEAN, name=str(folder / "shop.relevance.yml"))

    for asked in ("two", "one/shop.relevance.yaml", "one/shop.relevance.yaml::mean-nDCG-10-ge-0.8"):
        result = run(asked)
        result.assert_outcomes(passed=1)
        result.stdout.no_fnmatch_line("*skipped: *")


def test_without_a_suite_the_folders_that_hold_some_are_named(suite: Suite, run: Run) -> None:
    suite(MEAN, name="build/left.relevance.yaml")

    result = run()

    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["skipped: build (1 suite); pass a path to run its suites"])


@pytest.mark.parametrize("has_config", [True, False])
def test_beside_tests_in_python_they_are_named_in_a_project_that_has_a_relevance_toml(
    suite: Suite, run: Run, pytester: pytest.Pytester, has_config: bool
) -> None:
    suite(MEAN, name="build/left.relevance.yaml")
    pytester.makepyfile("def test_it(): pass")
    if has_config:
        (pytester.path / "relevance.toml").touch()

    result = run()

    result.assert_outcomes(passed=1)
    assert any(line.startswith("skipped: build") for line in result.outlines) is has_config


# ------------------------------------------------------------------------------------------------ links and names


@pytest.mark.parametrize("target", ["nowhere", "b.relevance.yaml"])
def test_a_link_to_a_suite_that_leads_nowhere_is_an_error(
    suite: Suite,
    run: Run,
    engine: ScriptedEngine,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
    target: str,
) -> None:
    suite(MEAN)
    (pytester.path / "b.relevance.yaml").symlink_to(target)
    sentence = {
        "nowhere": "b.relevance.yaml: this is a link to nowhere, which does not exist",
        "b.relevance.yaml": "b.relevance.yaml: the file cannot be read: Too many levels of symbolic links",
    }[target]

    result = run()
    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*{sentence}*"])
    capsys.readouterr()
    for command in commands(engine):
        assert main([*command, "."]) == 2, command
        assert sentence in capsys.readouterr().err, command
    assert engine.asked == {}
    result = run(*IN_A_WORKER)
    result.assert_outcomes(errors=1, passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines([f"*{sentence}*"])


@pytest.mark.parametrize("options", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_a_name_that_ends_in_yml_is_a_warning_that_names_it(
    suite: Suite, run: Run, pytester: pytest.Pytester, options: tuple[str, ...]
) -> None:
    suite(MEAN)
    suite(MEAN, name="deep/c.relevance.yml")

    result = run(*options, "-W", "default")

    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes()["passed"] == 1
    result.stdout.fnmatch_lines(
        ["*RelevanceWarning: deep/c.relevance.yml is not read: the name of a suite ends in .relevance.yaml; rename it*"]
    )
    strict = run(*options, "-W", "error")
    assert strict.parseoutcomes()["errors"] == 1
    assert strict.ret != pytest.ExitCode.OK
    strict.stdout.no_fnmatch_line("*Traceback*")
    strict.stdout.no_fnmatch_line("*session.py*")


def test_the_command_warns_of_such_a_name_and_reads_it_where_it_is_named(
    suite: Suite, engine: ScriptedEngine, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    suite(MEAN)
    suite(MEAN, name="deep/c.relevance.yml")
    warning = "relevance: warning: deep/c.relevance.yml is not read: the name of a suite ends in .relevance.yaml; "

    for command in commands(engine):
        assert main([*command, "."]) == 0, command
        assert warning in capsys.readouterr().err, command
    assert main(["validate", ".", "deep/c.relevance.yml"]) == 0
    said = capsys.readouterr()
    assert "2 suites checked" in said.out
    assert said.err == ""


def test_the_command_names_what_it_left_out_at_the_end_of_what_it_says(
    suite: Suite, engine: ScriptedEngine, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    suite(MEAN)
    suite(MEAN, name="build/left.relevance.yaml")
    line = "relevance: skipped: build (1 suite); pass a folder to read its suites"

    for command in commands(engine):
        assert main([*command, "."]) == 0, command
        assert capsys.readouterr().err.splitlines()[-1] == line, command
    assert main(["run", "--url", engine.url, "--quiet", "."]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [(), IN_A_WORKER], ids=["one process", "a worker"])
def test_a_suite_without_items_is_named_unless_a_test_runs_it(
    options: tuple[str, ...], suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite("", name="bare.relevance.yaml")
    suite("", name="used.relevance.yaml")
    suite(MEAN)
    used = "def test_used(relevance): assert relevance.run('used.relevance.yaml').mean('nDCG@10') >= 0"
    pytester.makepyfile(test_used=used)

    with ScriptedEngine() as engine:
        result = run("--relevance-url", engine.url, ".", *options)

    named = [line for line in result.outlines if "so no items" in line]
    assert len(named) == 1, result.stdout.str()
    assert named[0].startswith("bare.relevance.yaml: it has no thresholds and expectations")
    assert run("bare.relevance.yaml", "--relevance-each-query", "--collect-only").stdout.str().count("so no items") == 0
