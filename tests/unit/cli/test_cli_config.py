"""Whose configuration counts: a pull request changes suites and the relevance.toml beside them, and a secret is set."""

import json
from pathlib import Path

import pytest

from builders.extension_cases import list_cases, map_cases, needs_extension
from builders.journaled import engine_of_shop, suite_text
from harness.cli import main
from harness.options import RunOptions
from harness.run import Matrix

SECRET = "postgres://kim:s3cr3t@db"
SUITE = Path("suites") / "shop.relevance.yaml"


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The engine of a suite in the folder of a pull request, which is below the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", SECRET)
    with engine_of_shop() as engine:
        SUITE.parent.mkdir()
        Path("shop.relevance.yaml").rename(SUITE)
        yield engine


def beside(engine, *lines):
    text = "\n".join([f'[clusters.default]\nurl = "{engine.url}"', *lines])
    SUITE.with_name("relevance.toml").write_text(f"{text}\n", encoding="utf-8")


def read_variable(name="DATABASE_URL"):
    SUITE.write_text(suite_text().replace("text: text 0,", f'text: "${{{name}}}",'), encoding="utf-8")


COMMANDS = {
    "run": ["run"],
    "baseline save": ["baseline", "save"],
    **map_cases("LOGINS"),
}


UNLISTED = {"validate": ["validate", str(SUITE)], **map_cases("UNLISTED")}


def words_of(command):
    return [*COMMANDS[command], str(SUITE)]


def run_all(words, capsys):
    status = main(words)
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    return status, printed.out + printed.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_sends_a_login_that_the_file_beside_a_suite_names(engine, command, capsys):
    pytest.importorskip("numpy")
    beside(engine, 'bearer_token_env = "DATABASE_URL"')
    status, printed = run_all(words_of(command), capsys)
    assert status == 2
    assert "relevance.toml:3:1: found bearer_token_env, expected plain addresses only" in printed
    assert "give --config" in printed
    assert not engine.sent


def test_no_command_of_other_options_sends_such_a_login(engine, capsys):
    pytest.importorskip("numpy")
    beside(engine, 'bearer_token_env = "DATABASE_URL"')
    for words in (["show", str(SUITE), "q1"], *list_cases("UNSENT_LOGINS")):
        status, printed = run_all(words, capsys)
        assert status == 2
        assert "found bearer_token_env, expected plain addresses only" in printed
    assert not engine.sent


@pytest.mark.parametrize("command", [*COMMANDS, *UNLISTED])
def test_no_command_reads_a_variable_that_is_not_listed(engine, command, capsys):
    Path("relevance.toml").write_text(f'[clusters.default]\nurl = "{engine.url}"\n', encoding="utf-8")
    SUITE.with_name("relevance.toml").write_text('variables = ["*"]\n', encoding="utf-8")
    read_variable()
    status, printed = run_all(UNLISTED.get(command) or words_of(command), capsys)
    assert status == 2
    assert 'relevance.toml: variables = ["DATABASE_URL"]' in printed
    assert not engine.sent


def test_a_variable_is_read_where_the_trusted_file_or_an_option_lists_it(engine, monkeypatch, tmp_path, capsys):
    read_variable("SHOP_TEXT")
    monkeypatch.setenv("SHOP_TEXT", "text 0")
    (tmp_path / "trusted.toml").write_text('variables = ["SHOP_*"]\n', encoding="utf-8")
    url = ["--url", engine.url, "--quiet"]
    assert main(["run", str(SUITE), *url]) == 2
    assert main(["run", str(SUITE), *url, "--variable", "SHOP_TEXT"]) == 1
    assert main(["run", str(SUITE), *url, "--config", "trusted.toml"]) == 1
    assert main(["validate", str(SUITE), "--config", "trusted.toml"]) == 0
    monkeypatch.setenv("RELEVANCE_CONFIG", "trusted.toml")
    assert main(["run", str(SUITE), *url]) == 1
    assert main(["run", str(SUITE), *url, "--config", "nowhere.toml"]) == 2
    assert "--config: there is no file nowhere.toml" in capsys.readouterr().err


def test_an_address_of_the_command_line_gets_nothing_of_a_file_beside_a_suite(engine, capsys):
    beside(engine, 'proxy = "http://127.0.0.1:1"', 'bearer_token_env = "DATABASE_URL"')
    assert main(["run", str(SUITE), "--url", engine.url, "--quiet"]) == 1  # as without the file
    assert engine.sent


def test_suites_with_plain_addresses_run_from_the_root_of_a_repository_and_reports_name_the_files(engine, capsys):
    beside(engine)
    outputs = [f"--output={kind}=report.{kind}" for kind in ("json", "html", "markdown")]
    assert main(["run", "suites/", *outputs]) == 1
    assert "config   suites/relevance.toml" in capsys.readouterr().out
    Path("relevance.toml").write_text("", encoding="utf-8")
    assert main(["run", "suites/", *outputs]) == 1
    assert "config   relevance.toml and suites/relevance.toml" in capsys.readouterr().out
    suite = json.loads(Path("report.json").read_text(encoding="utf-8"))["suites"][0]
    assert suite["configuration"] == ["relevance.toml", "suites/relevance.toml"]
    assert "relevance.toml and suites/relevance.toml" in Path("report.html").read_text(encoding="utf-8")
    assert "config <code>relevance.toml</code> and <code>suites/relevance.toml</code>" in Path(
        "report.markdown"
    ).read_text(encoding="utf-8")


@needs_extension("distributed")
def test_a_merge_elsewhere_reads_what_the_parts_were_allowed_to_read(engine, monkeypatch, tmp_path, capsys):
    read_variable("SHOP_TEXT")
    monkeypatch.setenv("SHOP_TEXT", "text 0")
    (tmp_path / "trusted.toml").write_text('variables = ["SHOP_TEXT"]\n', encoding="utf-8")
    path = str(tmp_path / SUITE)
    for option in (["--config", "trusted.toml"], ["--variable", "SHOP_TEXT"]):
        journals = [str(tmp_path / f"{number}.journal") for number in (1, 2)]
        for number, journal in enumerate(journals, 1):
            words = ["run", path, "--url", engine.url, "-q", "--shard", f"{number}/2", "--journal", journal, *option]
            assert main(words) == 0
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path / "elsewhere")
            assert main(["merge", *journals, "-q"]) == 1
            Path("empty.toml").write_text("", encoding="utf-8")
            if option[0] == "--config":
                assert main(["merge", *journals, "-q", "--config", "empty.toml"]) == 2
                patch.setenv("RELEVANCE_CONFIG", "empty.toml")
                assert main(["merge", *journals, "-q"]) == 2
        for journal in journals:
            Path(journal).unlink()


@needs_extension("distributed")
def test_the_workers_of_a_scheduler_are_sent_the_configuration():
    from harness.extensions.distributed.scheduler import list_command_words

    options = RunOptions(config=Path("/srv/shop/relevance.toml"), variables=("SHOP_TEXT", "SEASON_*"))
    words = ["--config=/srv/shop/relevance.toml", "--variable=SHOP_TEXT", "--variable=SEASON_*"]
    assert list_command_words(options, Matrix()) == words
