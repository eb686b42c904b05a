"""``relevance doctor`` on each engine."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.cli import main


@pytest.fixture
def index(call: Callable[..., Any]) -> Iterator[str]:
    name = f"relevance-test-doctor-{uuid.uuid4().hex[:8]}"
    call("PUT", f"/{name}", {"mappings": {"properties": {"title": {"type": "text"}, "sku": {"type": "keyword"}}}})
    call("PUT", f"/{name}/_doc/1?refresh=true", {"title": "red shoes", "sku": "a"})
    yield name
    call("DELETE", f"/{name}")


@pytest.fixture
def examine(engine_url: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, list[str]]]]:
    """The exit status of ``relevance doctor``, and the health and the text of each finding by its name."""

    def run(*words: str) -> tuple[int, dict[str, list[str]]]:
        status = main(["doctor", "--url", engine_url, *words])
        findings = {}
        for line in capsys.readouterr().out.splitlines():
            health, name, text = line.split("  ", 1)[0], line[9:23].strip(), line[25:]
            findings[name] = [health, text]
        return status, findings

    return run


def test_an_index_that_can_be_searched(examine, index):
    status, findings = examine("--index", index)
    assert status == 0
    assert findings["search"][0] == "ok"
    assert findings["index"] == ["ok", "1 document; mapping and settings can be read"]
    assert findings["fields"] == ["ok", "2 fields: 1 text, 1 keyword"]
    assert findings["changes"] == ["ok", "a run sees changes of the index; 1 shard"]
    assert findings["point in time"][0] == "ok"
    assert "_rank_eval" in findings


def test_the_clock_of_this_machine_is_the_same(examine):
    status, findings = examine()
    assert status == 0
    assert findings["clock"][0] == "ok"


def test_without_an_index_the_names_are_listed(examine, index):
    _, findings = examine()
    assert "index: " in findings["indexes"][1]


def test_an_index_that_is_not_there(examine):
    status, findings = examine("--index", "relevance-test-nowhere")
    assert status == 3
    assert findings["search"][0] == "broken"
    assert "point in time" not in findings
