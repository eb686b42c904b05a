"""The documents of User Behavior Insights, read from their indexes."""

import json
from pathlib import Path

import pytest

from harness.cli import main
from harness.files.judgments import read_judgments
from harness.search import index_sample


@pytest.fixture
def ubi(index):
    """Twenty searches for a tent: a is shown first and clicked in eight, b is second and clicked in two."""
    events = [
        {"query_id": f"q{n}", "action_name": "click", "event_attributes": {"object": {"object_id": document}}}
        for document, clicked in (("a", 8), ("b", 2))
        for n in range(clicked)
    ]
    searches = [{"query_id": f"q{n}", "user_query": "tent", "query_response_hit_ids": ["a", "b"]} for n in range(20)]
    return [index({str(number): one for number, one in enumerate(documents)}) for documents in (searches, events)]


def test_all_documents_are_read_page_by_page(ubi, engine_url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(index_sample, "PAGE", 7)
    assert main(["import", "ubi", *ubi, "--url", engine_url, "--output", "judged.csv"]) == 0, capsys.readouterr().err
    told = capsys.readouterr().err.splitlines()
    assert told[0::2] == ["not carried over:", "1 thing"]
    assert told[1].endswith("alone at each of their positions: COEC is 1 by construction (2 times)")
    assert read_judgments(Path("judged.csv")) == {"tent": {"a": 2, "b": 2}}
    provenance = json.loads(Path("judged.csv.provenance.json").read_text())
    assert provenance["sources"] == [{"index": name} for name in ubi]
    assert provenance["click_rate_by_position"] == {"1": 0.4, "2": 0.1}


def test_no_more_is_asked_for_than_an_index_allows(index, engine_url, tmp_path):
    events = {"query_id": "q", "user_query": "tent", "query_response_hit_ids": ["a", "b"]}
    click = {"query_id": "q0", "action_name": "click", "event_attributes": {"object": {"object_id": "a"}}}
    documents = {str(number): {**events, "query_id": f"q{number}"} for number in range(25)} | {"click": click}
    name = index(documents, settings={"max_result_window": 4})
    output = str(tmp_path / "judged.csv")
    assert main(["import", "ubi", name, "--url", engine_url, "--output", output]) == 0
    assert list(read_judgments(Path(output))) == ["tent"]


def test_an_index_that_cannot_be_read_is_named_with_what_to_do(ubi, index, call, engine_url, tmp_path, capsys):
    closed, bare = index({}), index({"1": {"query_id": "q"}}, mappings={"_source": {"enabled": False}})
    call("POST", f"/{closed}/_close")
    said = {
        f"{ubi[0]}x": "the server has no index, alias or data stream of that name; correct it; did you mean ",
        closed: "the index is closed; open it, or name another index\n",
        bare: "the index cannot be read: document '1' has no `_source`, from which documents are read; name an index ",
    }
    for name, sentence in said.items():
        output = str(tmp_path / "judged.csv")
        assert main(["import", "ubi", name, "--url", engine_url, "--output", output]) == 3
        told = capsys.readouterr().err
        assert told.startswith(f"relevance: SOURCE {name}: {sentence}")
        assert "target" not in told
