"""Each command that opens a file beside a suite refuses links out of the root, pipes, devices and what has no end."""

import os
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="this system has no pipes in folders")

from builders.extension_cases import map_cases, needs_extension
from harness.cli import main

SECRET = "hunter2xyz"

SUITE = """\
suite: shop
target: {index: products}
tune:
  parameters:
    field: {choices: [a, b], today: a}
request: {query: {match: {title: "{{text}} {{param:field}}"}}}
measures: ["RR@5"]
queries:
"""
COMMANDS = {
    "shop.baseline.json": ["baseline", "show", "shop.relevance.yaml"],
    **map_cases("BESIDE"),
}
"""The files by name, with a command that opens each before anything is sent."""

APPENDED_WITHOUT_LIMIT = {"shop.tune.journal.lock"}
"""Nothing of a lock is read but its first bytes."""


@pytest.fixture
def suites(tmp_path, monkeypatch):
    """A root with a folder of suites, which the working directory is; beside the root are files of somebody else."""
    suites, out = tmp_path / "root" / "suites", tmp_path / "out"
    suites.mkdir(parents=True)
    out.mkdir()
    (tmp_path / "root" / "relevance.toml").touch()
    lines = [f"  - {{id: q{number}, text: text {number}, judgments: {{a: 1}}}}\n" for number in range(40)]
    (suites / "shop.relevance.yaml").write_text(SUITE + "".join(lines))
    (out / "victim").write_text(f'{SECRET}\n{{"op_code": 1}}\n')
    monkeypatch.chdir(suites)
    return suites


def read_tree(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def link_outside(path, out):
    path.symlink_to(out / "victim")


def link_missing(path, out):
    path.symlink_to(out / "missing")


def link_device(path, out):
    path.symlink_to("/dev/zero")


def link_pipe(path, out):
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def make_pipe(path, out):
    os.mkfifo(path)


def make_large(path, out):
    """A sparse file takes no room."""
    with path.open("wb") as file:
        file.truncate(2**30 + 1)
    path.chmod(0o600)


@pytest.mark.parametrize("make", [link_outside, link_missing, link_device, link_pipe, make_pipe, make_large])
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_file_of_the_root_is_refused(suites, tmp_path, capsys, name, make):
    if make is make_large and name in APPENDED_WITHOUT_LIMIT:
        pytest.skip("nothing of it is read")
    if name.startswith("shop.tune"):
        pytest.importorskip("optuna")
        pytest.importorskip("cmaes")
    out = tmp_path / "out"
    before = read_tree(out)
    make(suites / name, out)
    # `baseline show` ends as a run whose baseline cannot be read does.
    assert main(COMMANDS[name]) == (1 if name == "shop.baseline.json" else 2)
    printed = capsys.readouterr()
    assert name.removesuffix(".lock") in printed.err + printed.out
    assert SECRET not in printed.err + printed.out
    assert read_tree(out) == before
    assert os.path.lexists(suites / name)


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_opened_in_a_folder_that_is_a_link_out_of_the_root(suites, tmp_path, monkeypatch, capsys, name):
    """The folder that a link leads to has a root of its own: it is not found, and only who names the link opens it."""
    monkeypatch.chdir(tmp_path / "root")
    outside = suites.rename(tmp_path / "out" / "suites")
    Path("suites").symlink_to(outside)
    (outside / name).write_text(SECRET)
    before = read_tree(outside)
    command = ["." if word == "shop.relevance.yaml" else word for word in COMMANDS[name]]
    assert main(command) == 2
    printed = capsys.readouterr()
    assert SECRET not in printed.err + printed.out
    assert read_tree(outside) == before


@needs_extension("history")
@pytest.mark.parametrize("command", [["show", "shop.relevance.yaml"], ["pack", "--keep", "0"]])
@pytest.mark.parametrize("linked", ["folder", "file"])
def test_a_history_leads_nowhere_else(suites, tmp_path, capsys, command, linked):
    out = tmp_path / "out"
    history = suites / "history"
    history.mkdir()
    if linked == "folder":
        (out / "victim").rename(out / "victim.json")
        (history / "shop").symlink_to(out)
    else:
        (history / "shop").mkdir()
        (history / "shop" / "victim.json").symlink_to(out / "victim")
    before = read_tree(out)
    assert main(["history", *command, "--history", "history"]) == 2
    printed = capsys.readouterr()
    assert "is outside of" in " ".join(printed.err.split())
    assert SECRET not in printed.err
    assert read_tree(out) == before
