"""A secret in every place where one may stand is in no output, whatever is asked for and whatever fails."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest

from builders.engine import Fault, ScriptedEngine
from builders.extension_cases import map_cases
from builders.proxy import Proxy
from harness.cli import main
from harness.report.outputs import OUTPUT_KINDS

VARIABLES = {
    name: f'{name.lower().replace("_", "-")}-Sesame/{number}+&<"ü'
    for number, name in enumerate(
        [
            "ES_KEY",
            "HEADER_TOKEN",
            "PROXY_PASSWORD",
            "RELEVANCE_TEXT",
            "RELEVANCE_PARAM",
            "RELEVANCE_BODY",
            "RELEVANCE_TEMPLATE",
        ]
    )
} | {"RELEVANCE_INDEX": "index-sesame-7", "HTTPS_PROXY": "http://kim:url-login-Sesame@proxy.example:3128"}
SECRETS = {**VARIABLES, "HTTPS_PROXY": "url-login-Sesame"}

CONFIG = """\
variables = ["*_SECRET"]
[clusters.default]
url = "URL"
api_key_env = "ES_KEY"
headers_env = {X-Token = "HEADER_TOKEN"}
proxy = "PROXY"
proxy_username_env = "PROXY_USER"
proxy_password_env = "PROXY_PASSWORD"
"""
SUITE = """\
suite: shop
target: {index: "${RELEVANCE_INDEX}"}
display: {title: title}
requests:
  body:
    query: {match: {title: "{{text}}"}}
    runtime_mappings: {secret: {type: keyword, script: {source: "emit('${RELEVANCE_BODY}')", params: {p: "{{own}}"}}}}
  templated:
    template: {source: {query: {match: {title: "{{t}}"}}}, params: {t: "{{text}}", secret: "${RELEVANCE_TEMPLATE}"}}
queries:
  - {id: shoes, text: red shoes, params: {own: "${RELEVANCE_PARAM}"}, judgments: {a: 3, x: 1}}
  - {id: boots, text: "rubber boots ${RELEVANCE_TEXT}", params: {own: p}, judgments: {e: 3}, expect: ["e in top 1"]}
thresholds: ["mean nDCG@3 >= 0.9", "drop nDCG@3 <= 0.1"]
"""
TEST = """\
import pytest

def test_it(relevance):
    relevance.run("shop.relevance.yaml")

def test_raises(relevance):
    import os
    relevance.run("shop.relevance.yaml", request="nowhere")

def test_expects(relevance):
    assert relevance.run("shop.relevance.yaml").mean("nDCG@3") > 2
"""


def forms(secret: str) -> set[str]:
    """A secret as it is, and as it is written elsewhere; and the beginning that is left where a text is cut."""
    raw = secret.encode()
    tokens = (raw, b"kim:" + raw)
    encoded = {base64.b64encode(one).decode() for one in tokens}
    written = {quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    return {secret, secret.lower(), *encoded, *written, secret[: len(secret) * 3 // 4]}


def leaks(text: str) -> list[str]:
    return [name for name, secret in SECRETS.items() if any(form in text for form in forms(secret))]


@pytest.fixture
def engine() -> ScriptedEngine:
    """It repeats what it was sent in its errors and its documents."""
    with ScriptedEngine() as server:
        texts = [f"rubber boots {VARIABLES['RELEVANCE_TEXT']}", *server.rankings]
        server.rankings = {text: ["a", "b", "c", "d"] for text in texts}
        said = " ".join(SECRETS.values())
        hits = [{"_index": "i", "_id": "e", "_score": 1.0, "_source": {"title": f"Boots of {said}"}}]

        def echo(answer: dict[str, object]) -> dict[str, object]:
            for item in answer["responses"]:  # type: ignore[attr-defined]
                for hit in item.get("hits", {}).get("hits", []):
                    hit["_source"] = hits[0]["_source"]
            return answer

        server.change_all = echo
        yield server


@pytest.fixture
def folder(engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, value in {**VARIABLES, "PROXY_USER": "kim"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RELEVANCE_DEBUG", "1")
    login = base64.b64encode(f"kim:{VARIABLES['PROXY_PASSWORD']}".encode()).decode()
    with Proxy(login=f"Basic {login}") as proxy:
        Path("relevance.toml").write_text(CONFIG.replace("URL", engine.url).replace('PROXY"', f'{proxy.url}"', 1))
        Path("shop.relevance.yaml").write_text(SUITE)
        Path("test_shop.py").write_text(TEST)
        yield tmp_path


INPUTS = {"relevance.toml", "shop.relevance.yaml", "test_shop.py"}


def clean(folder: Path) -> None:
    """No file that was written holds a secret."""
    written = [path for path in folder.rglob("*") if path.is_file() and path.name not in INPUTS]
    found = {path.name: leaks(path.read_text(errors="replace")) for path in written if path.suffix != ".pyc"}
    assert not {name: names for name, names in found.items() if names}


FAULTS = {
    "nothing": [],
    "an error that repeats all": [Fault(status=400, times=99, body=None)],
    "a refused login": [Fault(status=401, times=99, body=" ".join(SECRETS.values()).encode())],
    "a cut answer": [Fault(status=200, times=99, body=b"x" * 100 + " ".join(SECRETS.values()).encode())],
    "a closed connection": [Fault(status=None, times=99)],
}
REPORTS = [argument for kind in OUTPUT_KINDS for argument in ("--output", f"{kind}=report-{kind}")]
COMMANDS = {
    "run": ["run", "shop.relevance.yaml", *REPORTS, "--journal", "j.jsonl"],
    "run of a template": ["run", "shop.relevance.yaml", "--request", "templated", *REPORTS],
    "json": ["run", "shop.relevance.yaml", "--json"],
    "show": ["show", "shop.relevance.yaml", "boots"],
    "show in JSON": ["show", "shop.relevance.yaml", "shoes", "--json"],
    "baseline": ["baseline", "save", "shop.relevance.yaml"],
    "validate": ["validate", "shop.relevance.yaml"],
    **map_cases("MASKED"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_of_a_command_has_a_secret(
    folder: Path,
    engine: ScriptedEngine,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    command: str,
    fault: str,
) -> None:
    engine.faults = [Fault(one.path, one.status, one.times, one.body) for one in FAULTS[fault]]
    caplog.set_level(logging.DEBUG)

    main(COMMANDS[command])

    shown = capfd.readouterr()
    assert leaks(shown.out) == []
    assert leaks(shown.err) == []
    assert leaks(caplog.text) == []
    clean(folder)


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_that_pytest_prints_has_a_secret(
    pytester: pytest.Pytester, folder: Path, engine: ScriptedEngine, fault: str
) -> None:
    """With all local variables of all frames, and the logs of all libraries."""
    engine.faults = [Fault(one.path, one.status, one.times, one.body) for one in FAULTS[fault]]
    words = ["-vv", "--showlocals", "--log-level=DEBUG", "--junit-xml=junit.xml", "-p", "no:cacheprovider", "--tb=long"]

    done = pytester.runpytest_inprocess("-p", "relevance", "-p", "no:xdist", *words)

    assert "failed" in done.stdout.str()
    assert "DEBUG" in done.stdout.str()
    assert leaks(done.stdout.str()) == []
    assert leaks(done.stderr.str()) == []
    clean(folder)
