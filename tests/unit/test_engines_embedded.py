"""A node that cannot start: no jar is needed for that, and nothing may be left behind."""

import os
import tempfile
from pathlib import Path

import pytest

from harness.embedded import process, start
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
    monkeypatch.setattr(process, "START_LIMIT", 0.0)
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
