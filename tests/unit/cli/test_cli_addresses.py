"""Which addresses a suite may name: those of the trusted relevance.toml and the command line are the owner's."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.engine import ScriptedEngine
from harness.api import Relevance
from harness.cli import main
from harness.errors import UsageError
from harness.hooks import Hooks

pytestmark = pytest.mark.usefixtures("working_folder")

SUITE = """\
suite: shop
target: {cluster: "CLUSTER", index: shop}
request:
  query: {match: {title: "{{text}}"}}
measures: ["nDCG@10"]
queries:
  - {id: shoes, text: red shoes, judgments: {e: 1}}
"""
REFUSED = "is an address of the suite's own, and only listed addresses are allowed; define it under [clusters.NAME] in "


def write(cluster: str, config: str = "") -> None:
    Path("shop.relevance.yaml").write_text(SUITE.replace("CLUSTER", cluster), encoding="utf-8")
    Path("relevance.toml").write_text(config, encoding="utf-8")


def run(*words: str) -> int:
    return main(["run", "shop.relevance.yaml", "--no-checks", *words])


def test_an_address_of_the_suites_own_is_refused_where_only_listed_ones_are_allowed(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    write(engine.url)
    assert run() == 0
    sent = list(engine.sent)

    assert run("--listed-addresses") == 2
    assert f"shop.relevance.yaml:2:1: {engine.url} {REFUSED}relevance.toml, or give --url" in capsys.readouterr().err
    assert engine.sent == sent
    with Relevance() as relevance, pytest.raises(UsageError, match="only listed addresses are allowed"):
        relevance.run("shop.relevance.yaml", listed_addresses=True)


def test_the_trusted_file_says_the_same(engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    write(engine.url, 'addresses = "listed"\n')
    assert run() == 2
    assert f"shop.relevance.yaml:2:1: {engine.url} {REFUSED}relevance.toml, or give --url" in capsys.readouterr().err
    assert engine.sent == []

    assert run("--url", engine.url) == 0
    write(engine.url, f'addresses = "listed"\n[clusters.shop]\nurl = "{engine.url}/"\n')
    assert run() == 0


def test_a_file_beside_a_suite_lists_no_address(engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]) -> None:
    write("shop", 'addresses = "listed"\n')
    Path("suites").mkdir()
    Path("shop.relevance.yaml").rename("suites/shop.relevance.yaml")
    Path("suites/relevance.toml").write_text(f'[clusters.shop]\nurl = "{engine.url}"\n', encoding="utf-8")

    assert main(["run", "suites"]) == 2
    assert f"suites/shop.relevance.yaml:2:1: {engine.url} {REFUSED}" in capsys.readouterr().err
    assert engine.sent == []


def test_the_owners_addresses_are_not(engine: ScriptedEngine) -> None:
    table = f'[clusters.shop]\nurl = "{engine.url}"\n'
    write("shop", table)
    assert run("--listed-addresses") == 0, "by its name"
    write(engine.url, table)
    assert run("--listed-addresses") == 0, "by its URL"
    write("http://169.254.1.2:9200")
    assert run("--listed-addresses", "--url", engine.url) == 0


@pytest.mark.parametrize("host", ["169.254.1.2:9200", "[fe80::1]", "2852039166", "metadata.google.internal"])
def test_an_address_that_is_none_of_a_suites_ends_with_2(
    engine: ScriptedEngine, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(f"http://{host}")
    assert run() == 2
    assert f"shop.relevance.yaml:2:1: http://{host} was not connected to: " in capsys.readouterr().err


def test_nor_does_a_hook_make_its_client(engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(Hooks, "make_client", lambda _, cluster: asked.append(cluster))
    write("http://169.254.1.2:9200")
    assert run() == 2
    assert run("--listed-addresses") == 2
    assert asked == []


@pytest.mark.parametrize(
    "request_of_suite",
    [
        'request: {query: {match: {brand: "{{text}}"}}}',
        'request: {http: {path: "/s/{{text}}", ids: "$[*].id"}}',
    ],
)
def test_a_host_that_is_no_name_ends_its_own_suite_only(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], request_of_suite: str
) -> None:
    write(engine.url)
    odd = SUITE.replace("suite: shop", "suite: odd").replace("CLUSTER", "http://shop.ⓐ.example")
    if "http:" in request_of_suite:
        odd = odd.replace(", index: shop", "")
    odd = odd.replace('request:\n  query: {match: {title: "{{text}}"}}', request_of_suite)
    Path("odd.relevance.yaml").write_text(odd, encoding="utf-8")

    assert main(["run", "odd.relevance.yaml", "shop.relevance.yaml", "--no-checks"]) == 3

    assert "red shoes" in engine.asked
    assert "its host is not the name of a server" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("url", ["http://127.0.0.1:", "https://shop.example:/api", "http://[::1]:"])
def test_a_colon_without_a_port_is_no_default_port(
    engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    write(url)
    assert run() == 2
    assert f"shop.relevance.yaml:2:19: found '{url}'" in capsys.readouterr().err
    write(engine.url)
    assert run("--url", url) == 2
    assert f"found '{url}'" in capsys.readouterr().err
    write("default", f'[clusters.default]\nurl = "{url}"\n')
    assert run() == 2
    assert engine.sent == []
