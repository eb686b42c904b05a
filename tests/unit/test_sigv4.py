"""The example that signs requests, against a server that checks AWS Signature Version 4."""

import pytest

pytest.importorskip("opensearchpy")

import runpy
import sys
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path

from builders.engine import ScriptedEngine
from builders.sigv4 import check, signing_server
from harness.cli import main
from harness.hooks import HOOK_ENTRY_POINTS, load_installed_hooks

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "sigv4.py"
KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
WHEN = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
HEADERS = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
FORM = {"content-type": "application/x-www-form-urlencoded", **HEADERS}
HEADER = "AWS4-HMAC-SHA256 Credential={}/20150830/us-east-1/service/aws4_request, SignedHeaders={}, Signature={}"

PUBLISHED = {
    "get-vanilla": ("GET", "/", HEADERS, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    "post-vanilla": ("POST", "/", HEADERS, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    "get-vanilla-query-order-key-case": (
        "GET", "/?Param2=value2&Param1=value1", HEADERS, b"",
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ),
    "get-header-value-trim": (
        "GET", "/", {**HEADERS, "my-header1": " value1", "my-header2": ' "a   b   c"'}, b"",
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ),
    "get-unreserved": (
        "GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", HEADERS, b"",
        "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    ),
    "post-x-www-form-urlencoded": (
        "POST", "/", FORM, b"Param1=value1", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ),
}  # fmt: skip
"""
Cases of AWS's published Signature Version 4 test suite (aws-sig-v4-test-suite): key AKIDEXAMPLE, us-east-1, service,
2015-08-30. Also in aws-sdk-js-v3, packages/signature-v4/src/suite.fixture.ts.
"""


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_example_and_the_check_agree_with_the_published_suite(name):
    method, target, headers, body, signature = PUBLISHED[name]
    expected = HEADER.format(KEY, ";".join(sorted(headers)), signature)
    url = f"https://example.amazonaws.com{target}"
    sign = runpy.run_path(str(EXAMPLE))["authorization"]
    assert sign(method, url, headers, body, ("us-east-1", "service"), KEY, SECRET) == expected

    def checked(body=body, **changed):
        sent = {**headers, "authorization": expected, **changed}
        known = {"secrets": {KEY: SECRET}, "scope": "us-east-1/service", "now": WHEN}
        return check(method, target, sent, body, **known)

    assert checked() == ""
    assert checked(body=b"other") == "the signature does not match"
    assert checked(host="elsewhere") == "the signature does not match"


SUITE = """\
suite: shop
target: {{cluster: "{url}", index: "shop-*"}}
request:
  query: {{match: {{title: "{{{{text}}}}"}}}}
measures: ["nDCG@10"]
thresholds: ["drop nDCG@10 <= 0.1", "mean nDCG@10 >= 0.9"]
queries:
  - {{id: shoes, text: red shoes, judgments: {{a: 3, b: 1, z: 1}}}}
"""


@pytest.fixture
def aws(tmp_path, monkeypatch):
    """A suite on a server that wants signatures, with credentials in the environment; gives why it refused others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "temporary")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    with ScriptedEngine() as engine, signing_server(engine, {KEY: SECRET}, "eu-central-1/es") as (url, refused):
        Path("shop.relevance.yaml").write_text(SUITE.format(url=url), encoding="utf-8")
        yield refused


@pytest.fixture
def installed(monkeypatch):
    """The example as a module of an installed package."""
    monkeypatch.setattr(EntryPoint, "load", lambda _: _module())
    offered = EntryPoint("aws", "acme.aws", HOOK_ENTRY_POINTS)
    monkeypatch.setattr("harness.hooks.find_hook_entry_points", lambda: (offered,))
    load_installed_hooks.cache_clear()
    yield
    load_installed_hooks.cache_clear()


def _module():
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("sigv4_example", EXAMPLE)
    module = module_from_spec(spec)
    sys.modules.pop("sigv4_example", None)
    spec.loader.exec_module(module)
    return module


def test_the_command_signs_with_an_installed_hook(aws, installed, capsys):
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    assert main(["run", "shop.relevance.yaml"]) == 0
    assert aws == []
    text = capsys.readouterr().out
    assert "hooks: pytest_relevance_client" in text
    assert SECRET not in text


def test_collected_suites_sign_with_a_conftest(aws, pytester, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(EXAMPLE.read_text(encoding="utf-8"))
    pytester.makefile(".relevance.yaml", shop=(tmp_path / "shop.relevance.yaml").read_text(encoding="utf-8"))
    pytester.runpytest("-p", "relevance", "-W", "error").assert_outcomes(passed=1, failed=1)
    assert aws == []


def test_an_unsigned_request_is_refused(aws, capsys):
    assert main(["run", "shop.relevance.yaml"]) == 3
    assert set(aws) == {"no signature"}
    assert "no login was sent" in " ".join(capsys.readouterr().out.split())
