""".pre-commit-hooks.yaml: which files set a hook off, and what its command says of the files that it is given."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from builders.first_suite import write_first_suite
from harness.cli import main
from harness.suites.discovery import find_suites
from harness.suites.names import SUITE_SUFFIX

ROOT = Path(__file__).parents[2]
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
WHOLE, CHANGED = HOOKS["relevance-validate"], HOOKS["relevance-validate-changed"]


def run(hook: dict, files: list[str]) -> int:
    """The exit status of *hook*'s command, given *files* where the hook takes any, as pre-commit gives them."""
    program, *words = [*shlex.split(hook["entry"]), *hook.get("args", [])]
    assert program == "relevance"
    return main([*words, *(files if hook.get("pass_filenames", True) else [])])


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with two suites."""
    write_first_suite(tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("more").mkdir()
    write_first_suite(Path("more"))
    Path("more", "products.relevance.yaml").rename(Path("more", "second.relevance.yaml"))
    Path("more", "relevance.toml").unlink()
    return ["more/second.relevance.yaml", "products.relevance.yaml"]


def spoil(path: str, before: str, after: str) -> None:
    file = Path(path)
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_the_hook_is_installed_with_the_package(hook):
    assert hook["language"] == "python"
    assert shlex.split(hook["entry"])[:2] == ["relevance", "validate"]


def test_the_pattern_finds_every_suite_and_nothing_else():
    suites = [str(path.relative_to(ROOT)) for path in find_suites([ROOT / "suites"]).suites]
    assert suites
    assert all(re.search(CHANGED["files"], path) for path in suites)
    assert re.search(CHANGED["files"], f"a b/c{SUITE_SUFFIX}")
    others = [
        "suites/failing/products.failing.yaml",
        "relevance.yaml",
        "a.relevance.yml",
        "a.relevance.yaml.orig",
        "xrelevance.yaml",
    ]
    assert not [path for path in others if re.search(CHANGED["files"], path)]


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_right_suites_pass_without_a_word(hook, repository, capsys):
    assert run(hook, repository) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_wrong_suite_among_several_fails_with_its_line(hook, repository, capsys):
    spoil("more/second.relevance.yaml", "measures:", "mesures:")
    assert run(hook, repository) == 2
    printed = capsys.readouterr().err
    assert re.search(r"^more/second\.relevance\.yaml:\d+:1: ", printed, re.MULTILINE)
    assert not re.search(r"^products\.relevance", printed, re.MULTILINE)


def test_a_change_of_judgments_alone_is_checked_with_the_suites_that_name_them(repository, capsys):
    assert "files" not in WHOLE, "judgments may have any name"
    with Path("products.qrels").open("a", encoding="utf-8") as file:
        file.write("lamp 0 p15\n")
    assert run(WHOLE, ["products.qrels"]) == 2
    assert "products.qrels:" in capsys.readouterr().err


def test_suites_of_one_folder_can_be_chosen_alone(repository, capsys):
    spoil("more/second.relevance.yaml", "measures:", "mesures:")
    assert run(WHOLE | {"args": ["products.relevance.yaml"]}, []) == 0
    assert run(WHOLE | {"args": ["more"]}, []) == 2
