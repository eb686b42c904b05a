"""One suite on two real indexes: an index that was built otherwise beside the one in use."""

import json

import pytest

from harness.cli import main
from harness.model.run import Status
from harness.report.json import loads_report
from harness.store.baseline_files import read_baselines

SUITE = """\
suite: two-indexes
target: {{cluster: "{url}", index: {first}}}
requests:
  current: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  phrase: {{query: {{match_phrase: {{title: "{{{{text}}}}"}}}}}}
  pinned: {{index: {first}, body: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}}}
measures: ["RR@3", "NumRet@3"]
thresholds: ["mean RR@3 >= 0.9", "drop RR@3 <= 0.1"]
queries:
  - {{id: boots, text: rubber boots, judgments: {{boots: 1}}}}
"""
DOCUMENTS = {
    "boots": {"title": "rubber boots"},
    "gloves": {"title": "rubber gloves"},
    "shoes": {"title": "boots of rubber and leather, rubber boots"},
}
ENGLISH = {"properties": {"title": {"type": "text", "analyzer": "english"}}}
WHOLE = {"properties": {"title": {"type": "keyword"}}}


@pytest.fixture
def suite(tmp_path, index, engine_url):
    """The suite, and its two indexes: in the second a title is found as a whole or not at all."""
    first, second = index(DOCUMENTS, mappings=ENGLISH), index({"boots": {"title": "rubber boot"}}, mappings=WHOLE)
    path = tmp_path / "two.relevance.yaml"
    path.write_text(SUITE.format(url=engine_url, first=first), encoding="utf-8")
    return path, first, second


def run(path, *words, status):
    report = path.with_name("r.json")
    assert main(["run", str(path), *words, "--output", f"json={report}", "-q"]) == status
    return loads_report(report.read_text(encoding="utf-8"))


def test_every_request_on_every_index_and_each_held_to_its_request_s_baseline(suite, capsys):
    path, first, second = suite
    assert main(["baseline", "save", str(path), "--all-requests", "-q"]) == 0
    assert set(read_baselines(path.with_name("two.baseline.json")).requests) == {"current", "phrase", "pinned"}

    report = run(path, "--all-requests", "--index", first, "--index", second, status=1)

    cells = {(one.request, one.index): one for one in report.suites}
    assert list(cells) == [(name, index) for name in ("current", "phrase", "pinned") for index in (first, second)]
    for request in ("current", "phrase", "pinned"):
        there, other = cells[request, first], cells[request, second]
        assert {verdict.status for verdict in there.verdicts} == {Status.PASSED}
        assert {verdict.status for verdict in other.verdicts} == {Status.FAILED}
        assert not any("since the baseline" in note for note in there.notes)
        notes = "\n".join(other.notes)
        assert f"index {second} was used instead of {first}" in notes
        assert "the mapping of the index changed" in notes
        assert "it had 3 documents and has 1" in notes
        assert "the request changed" not in notes
    assert cells["current", first].queries[0].ranking[0].id == "boots"


def test_an_index_that_is_not_there_fails_its_own_cells_and_no_others(suite):
    path, first, _ = suite
    main(["baseline", "save", str(path), "-q"])
    report = run(path, "--index", first, "--index", f"{first}-gone", status=3)
    assert [{verdict.status for verdict in one.verdicts} for one in report.suites] == [{Status.PASSED}, {Status.ERROR}]


@pytest.mark.one_engine
def test_both_are_on_one_page(suite, capsys):
    path, first, second = suite
    words = ["--index", first, "--index", second, "--output", f"html={path.with_name('r.html')}"]
    main(["run", str(path), *words])
    out = capsys.readouterr().out
    table = [line.split() for line in out[out.index("\nsuite ") :].splitlines()]
    assert table[2][:3] == ["two-indexes", first, "1.0000*"]
    assert table[3][:4] == ["two-indexes", second, "0.0000", "-1.0000"]
    page = path.with_name("r.html").read_text(encoding="utf-8")
    assert json.dumps(f"two-indexes, index {second}")[1:-1] in page
