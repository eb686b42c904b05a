"""A node that cannot start: no jar is needed for that, and nothing may be left behind."""

import os
import tempfile
from pathlib import Path

import pytest

from harness.embedded import process, start
from harness.embedded.browsers import find_refusal
from harness.errors import EngineStartError, UsageError

pytest.importorskip("jpype", reason="the extra `embedded` is not installed")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(process, "ensure_jars", lambda *_, **__: [])
    return tmp_path


def test_a_node_that_dies_while_starting_shows_the_end_of_its_log(temporary: Path) -> None:
    with pytest.raises(EngineStartError) as caught, start("3.8"):
        pytest.fail("a node without jars started")
    first, *log = str(caught.value).splitlines()
    assert first == "the embedded node (OpenSearch 3.8.0) exited during start-up. The end of its log:"
    assert "OpenSearchRunner" in "\n".join(log)
    assert len(log) <= process.LOG_TAIL
    assert list(temporary.iterdir()) == []


def test_what_java_refuses_is_in_the_log_that_is_shown(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "HEAP", "much")
    with pytest.raises(EngineStartError, match="Invalid maximum heap size"), start("3.8"):
        pytest.fail("a node with no heap started")
    assert list(temporary.iterdir()) == []


def test_a_node_that_takes_too_long_is_ended(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_START_LIMIT", 0.0)
    with pytest.raises(EngineStartError, match=r"did not answer within 0 s"), start("3.8"):
        pytest.fail("a node started in no time")
    assert list(temporary.iterdir()) == []


def test_variables_that_change_every_java_do_not_reach_the_node(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    with pytest.raises(EngineStartError) as caught, start("3.8"):
        pytest.fail("a node without jars started")
    assert "NoSuchOption" not in str(caught.value)
    assert os.environ["JAVA_TOOL_OPTIONS"] == "-XX:NoSuchOption"


def test_an_unknown_version_is_a_wrong_command_line(temporary: Path) -> None:
    with pytest.raises(UsageError, match=r"expected 3\.8 or 2\.19"), start("4"):
        pytest.fail("a node of no version started")


@pytest.mark.parametrize(
    "host", ["127.0.0.1:9200", "127.0.0.1", "localhost:1", "LocalHost:9200", "[::1]:9200", "127.0.0.53:9200"]
)
def test_a_request_to_this_machine_is_answered_at_any_port(host: str) -> None:
    assert find_refusal(host, None) is None
    assert find_refusal(host, f"http://{host}") is None


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "rebound.example:9200",
        "127.0.0.1.rebound.example",
        "localhost.rebound.example",
        "rebound.example\\localhost",
        "user@localhost",
        "localhost:9200\n",
        "localhost:",
        "10.0.0.1:9200",
        "[::2]:9200",
        "127.0.0.\u0661",
    ],
)
def test_a_request_to_another_host_is_refused_with_and_without_an_origin(host: str | None) -> None:
    assert find_refusal(host, None) is not None
    assert find_refusal(host, f"http://{host}") is not None


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil",
        "https://127.0.0.1:9200",
        "http://127.0.0.1",
        "http://localhost:9200",
        "http://127.0.0.1:9200.evil",
        "chrome-extension://abcdef",
        "http://127.0.0.1:9200 http://evil",
    ],
)
def test_a_request_that_a_web_page_may_have_sent_is_refused(origin: str) -> None:
    assert find_refusal("127.0.0.1:9200", origin) is not None
