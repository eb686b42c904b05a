import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from builders.extension_cases import list_cases, needs_extension
from harness import __version__
from harness.cli import COMMANDS, main, root
from harness.cli.exits import run_guarded
from harness.errors import BaselineError, EngineUnreachable, SuiteError, UsageError


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.smoke("relevance --help")
def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: relevance {name}")


def test_help_imports_nothing_heavy():
    heavy = {
        "elasticsearch",
        "elastic_transport",
        "numpy",
        "pydantic",
        "jinja2",
        "rich",
        "yaml",
        "pytest",
        "requests",
        "harness.model",
    }
    code = (
        f"import sys, harness.cli; harness.cli.main(['--help']); print({heavy} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"relevance-harness {__version__}\n"


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "harness", "--version"], capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


@pytest.mark.parametrize(
    "words", [["rnu"], ["run"], ["run", "--no-such"], ["run", "x", "--output", "y"], ["engine", "up", "--port", "0"]]
)
def test_wrong_use_is_2_and_says_so_on_stderr(words, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Error: " in printed.err


def test_an_unknown_command_is_answered_with_the_nearest(capsys):
    main(["rnu"])
    assert "there is no command 'rnu'; did you mean 'run'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("no"), 2),
        (SuiteError.at("s.yaml", 3, 1, "wrong"), 2),
        (EngineUnreachable("gone"), 3),
        (BaselineError("old"), 1),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.FileError("x"), 2),
        (BrokenPipeError(), 141),
        (ZeroDivisionError("secret-password"), 3),
    ],
)
def test_each_error_has_its_exit_status_and_no_traceback(error, status, capsys):
    assert run_guarded(raising(error)) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err


def test_errors_are_told_in_their_own_words(capsys):
    run_guarded(raising(SuiteError.at("s.yaml", 3, 1, "wrong")))
    assert capsys.readouterr().err == "s.yaml:3:1: wrong\nrelevance: 1 problem\n"


@pytest.mark.parametrize("error", [UsageError("no \x1b[31msuite"), SuiteError.at("a\x1b[2J.yaml", 3, 1, "wrong")])
def test_an_error_does_not_command_the_terminal(capsys, error):
    run_guarded(raising(error))
    printed = capsys.readouterr().err
    assert "\x1b" not in printed
    assert "\\x1b" in printed


def test_a_fault_of_ours_tells_where_it_is_but_not_what_it_held(capsys):
    run_guarded(raising(ZeroDivisionError("secret-password")))
    text = capsys.readouterr().err
    assert "internal error: ZeroDivisionError in exits.py" in text
    assert "RELEVANCE_DEBUG=1" in text
    assert "secret-password" not in text


def test_the_traceback_is_there_for_who_asks(capsys, monkeypatch):
    monkeypatch.setenv("RELEVANCE_DEBUG", "1")
    assert run_guarded(raising(ZeroDivisionError("text"))) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_reader_that_leaves_early_is_no_error_to_look_at():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "harness", "schema", "report"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_output_that_does_not_fit_on_a_disk_is_told_and_no_fault_of_ours():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "schema"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    said = "relevance: standard output could not be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize(
    ("words", "status", "unbuffered"),
    [
        ("validate .", 0, "1"),
        ("validate none", 2, ""),
        ("run a.relevance.yaml", 3, ""),
    ],
)
def test_messages_that_do_not_fit_on_a_disk_change_no_status(tmp_path, words, status, unbuffered):
    (tmp_path / "a.relevance.yaml").write_text(
        "suite: a\ntarget: {index: i, cluster: 'http://127.0.0.1:9'}\nrequest: {query: {match: {t: '{{text}}'}}}\n"
        "thresholds: [mean P@1 >= 0]\nqueries: [{id: q, text: q, judgments: {d: 1}}]\n"
    )
    (tmp_path / "b.relevance.yml").write_text("suite: b\n")  # a misnamed suite causes a warning
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", *words.split()],
            cwd=tmp_path,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )
    assert done.returncode == status
    assert bool(done.stdout) == (status != 2)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_messages_to_a_closed_pipe_change_no_status():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "harness", "validate", "none"], stderr=write, check=False)
    os.close(write)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("words", "status", "closed"),
    [
        ("--help", 0, ">&-"),
        ("validate .", 0, ">&- 2>&-"),
        ("validate none", 2, "2>&-"),
    ],
)
def test_without_an_output_a_command_ends_with_its_own_status(tmp_path, words, status, closed):
    (tmp_path / "a.relevance.yaml").write_text(
        "suite: a\ntarget: {index: i}\nrequest: {query: {match: {t: '{{text}}'}}}\n"
        "queries: [{id: q, text: q, judgments: {d: 1}}]\n"
    )
    command = f'"{sys.executable}" -m harness {words} {closed}'
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert "internal error" not in done.stderr + done.stdout


def test_a_terminal_that_lacks_a_character_gets_its_escape():
    code = "import sys; from harness.cli.exits import run_guarded; sys.exit(run_guarded(lambda: print('靴')))"
    environ = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.strip() == r"\u9774"


@pytest.mark.parametrize("words", [["run"], ["validate"], ["baseline", "show"], ["baseline", "save"]])
def test_a_name_that_no_file_can_have_is_wrong_use(capsys, words):
    assert main([*words, "x" * 5000]) == 2
    assert "too long" in capsys.readouterr().err  # Python 3.14 looks for the file without an error, and then opens it


@pytest.mark.parametrize(
    "words",
    [
        ["run", "s.relevance.yaml", "--journal", "a\0b"],
        ["run", "s.relevance.yaml", "--baseline", "a\0b"],
        ["run", "s.relevance.yaml", "--output", "json=a\0b"],
        ["run", "a\0b"],
        ["evaluate", "--qrels", "a\0b", "--run", "r", "--measure", "P@1"],
        *list_cases("NUL_BYTES"),
    ],
)
def test_a_nul_byte_in_a_name_is_wrong_use(words, capsys):
    assert main(words) == 2
    assert r"b' on the command line, which has a NUL byte" in capsys.readouterr().err


def list_leaves(command=root, words=()):
    """The words and the command of each command that has no commands of its own."""
    if not isinstance(command, click.Group):
        return [(" ".join(words), command)]
    context = click.Context(command)
    leaves = []
    for name in command.list_commands(context):
        leaves += list_leaves(command.get_command(context, name), (*words, name))
    return leaves


LEAVES = dict(list_leaves())


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_has_examples_that_its_options_allow(words):
    command = LEAVES[words]
    examples = (command.epilog or "").partition("\nExamples:\n")[2].splitlines()
    assert examples
    for example in examples:
        given = shlex.split(example.partition(" > ")[0])
        name = ["relevance", *words.split()]
        assert given[: len(name)] == name
        context = click.Context(command)
        values, rest, _ = command.make_parser(context).parse_args(given[len(name) :])
        assert rest == []
        assert [param.name for param in command.params if param.required and not values.get(param.name)] == []


def print_next_steps(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert main([]) == 2
    return capsys.readouterr().out


def test_alone_it_names_the_suites_near_by_and_the_commands_for_them(tmp_path, monkeypatch, capsys):
    for name in ("my suites/b.relevance.yaml", "my suites/a.relevance.yaml", ".hidden/c.relevance.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = print_next_steps(tmp_path, monkeypatch, capsys)
    assert text.startswith("2 suites: my suites/a.relevance.yaml, my suites/b.relevance.yaml\n")
    assert "  relevance validate 'my suites' " in text


def test_alone_it_runs_the_whole_folder_where_suites_are_in_several(tmp_path, monkeypatch, capsys):
    for name in ("one/a.relevance.yaml", "two/b.relevance.yaml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    assert "  relevance run . " in print_next_steps(tmp_path, monkeypatch, capsys)


def test_alone_it_names_a_server_where_nothing_else_does_and_the_embedded_one_where_suites_have_documents(
    tmp_path, monkeypatch, capsys
):
    suite = tmp_path / "a.relevance.yaml"
    suite.touch()
    text = print_next_steps(tmp_path, monkeypatch, capsys)
    assert "  relevance run . --url http://localhost:9200 " in text
    assert "--embedded" not in text
    suite.write_text("suite: a\nfixture: {documents: a.jsonl}\n")
    (tmp_path / "relevance.toml").touch()
    text = print_next_steps(tmp_path, monkeypatch, capsys)
    assert "  relevance run .  " in text
    assert "  relevance run . --embedded --allow-write  " in text


@needs_extension("migrate")
def test_alone_without_suites_it_names_the_ways_to_a_first_one(tmp_path, monkeypatch, capsys):
    (tmp_path / "shop.relevance.yml").touch()
    text = print_next_steps(tmp_path, monkeypatch, capsys)
    assert "shop.relevance.yml is not read; name it *.relevance.yaml" in text
    assert "  relevance init " in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_of_the_manual_have_a_completion(shell):
    environ = {**os.environ, "_RELEVANCE_COMPLETE": f"{shell}_source"}
    code = "from harness.cli import main; raise SystemExit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert "_relevance_completion" in done.stdout


def test_options_of_a_command_are_completed():
    environ = {
        **os.environ,
        "_RELEVANCE_COMPLETE": "bash_complete",
        "COMP_WORDS": "relevance run --outp",
        "COMP_CWORD": "2",
    }
    code = "from harness.cli import main; raise SystemExit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plain,--output"]
