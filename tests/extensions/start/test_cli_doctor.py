"""``relevance doctor`` and ``relevance info`` without an engine."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.cli import main
from harness.extensions.start import doctor
from harness.extensions.start.doctor import Health, examine_server
from harness.model.run import Engine, Failure, FailureKind, IndexFacts, Ranking
from harness.search.protocol import IndexField, Inspector, Search, StreamedResponse

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class ClockInspector(Inspector):
    def __init__(self, clock):
        self.clock = clock

    def read_clock(self):
        return self.clock

    def read_fields(self, index):
        return {"title": IndexField("title", frozenset({"text"}), searchable=True, sortable=False)}


class OneSearch(Search):
    """Gives *response* to each search."""

    service = "engine"
    engine = Engine("opensearch", "3.8.0")

    def __init__(self, response=None, *, clock=NOON, facts=None):
        self.response = response or Ranking(took=3.0)
        self.facts = facts
        self.clock = clock

    def stream(self, requests, *, budget=None):
        for place, request in enumerate(requests):
            yield StreamedResponse(place, request, self.response)

    def index_facts(self, index):
        return self.facts or super().index_facts(index)

    @contextmanager
    def at_point_in_time(self, index, url_params):
        yield self

    @property
    def inspector(self):
        return ClockInspector(self.clock)

    def close(self):
        """Nothing is open."""


def examine(search, index="products"):
    return {finding.name: finding for finding in examine_server(search, index, now=lambda: NOON)}


def test_missing_privilege_limits_a_run():
    """What a login may not read limits a run, and does not break it."""
    findings = examine(OneSearch(facts=IndexFacts(documents=7, missing=("mapping",))))
    assert findings["search"].health is Health.FINE
    assert findings["index"].health is Health.LIMITED
    assert findings["index"].text == "7 documents; cannot be read: mapping"
    assert findings["changes"].health is Health.LIMITED
    assert findings["_rank_eval"].health is Health.LIMITED
    assert findings["point in time"].health is Health.FINE
    assert findings["fields"].text == "1 field: 1 text"


def test_failed_search_is_the_last_finding():
    """A search that fails is broken, and the last finding."""
    failure = Failure(FailureKind.ERROR, "no such index [products]", 404)
    findings = examine(OneSearch(failure))
    assert list(findings) == ["engine", "clock", "search"]
    assert findings["search"].health is Health.BROKEN


@pytest.mark.parametrize(
    ("seconds", "health", "text"),
    [
        (60, Health.FINE, "60.0 s ahead of the clock here"),
        (60.1, Health.LIMITED, "60.1 s ahead of the clock here"),
        (-61, Health.LIMITED, "61.0 s behind the clock here"),
    ],
)
def test_a_clock_may_differ_by_a_minute(seconds, health, text):
    findings = examine(OneSearch(clock=NOON + timedelta(seconds=seconds)))
    assert (findings["clock"].health, findings["clock"].text) == (health, text)


def test_a_service_without_indexes():
    search = OneSearch()
    search.service = "http"
    findings = examine(search)
    assert list(findings) == ["engine", "index"]
    assert findings["index"].health is Health.LIMITED


def test_a_server_that_does_not_answer_is_broken(capsys):
    assert main(["doctor", "--url", "http://127.0.0.1:1"]) == 3
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith("broken   connection")


def test_a_login_is_named_and_not_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_KEY", "geheim123")
    (tmp_path / "relevance.toml").write_text(
        '[clusters.default]\nurl = "http://127.0.0.1:1"\napi_key_env = "SHOP_KEY"\n'
    )
    assert main(["doctor"]) == 3
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "geheim123" not in text
    assert "clusters default (engine)" in text


def test_info_does_not_quote_a_broken_configuration(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "relevance.toml").write_text('password = "geheim123"\n')
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "geheim123" not in text
    assert "has a problem (ConfigError)" in text


def test_info_names_what_an_extra_lacks(capsys, monkeypatch):
    class Harness:
        requires = ("click>=8", 'numpy>=2; extra == "arrays"', "not-there-at-all>=1 ; extra == 'more'")

    monkeypatch.setattr("harness.extensions.start.info_command.distribution", lambda name: Harness)
    assert main(["info"]) == 0
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["extras"].strip() == "arrays; more lacks not-there-at-all"


def test_programs_read_info(capsys):
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert {"harness", "packages", "extras", "relevance.toml"} <= set(facts)


def test_the_page_lists_the_codes_of_findings():
    page = (Path(__file__).parents[3] / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    listed = re.search(r"^\| `doctor` \| `findings`: a code \((.*?)\)", page, re.MULTILINE)[1]
    folder = Path(doctor.__file__).parent
    sources = [(folder / name).read_text(encoding="utf-8") for name in ("doctor.py", "doctor_command.py")]
    names = re.findall(r'(?:Diagnosis|_ask)\(\s*"([^"]+)"', "".join(sources))
    assert set(re.findall(r"`([^`]+)`", listed)) == {name.replace(" ", "-") for name in names}
