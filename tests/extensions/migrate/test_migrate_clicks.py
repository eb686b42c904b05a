"""Grades from clicks: worked by hand, and what is left out."""

import csv
import doctest
import json

import pytest

from harness.cli import main
from harness.errors import UsageError
from harness.extensions.migrate import click_logs, clicks
from harness.extensions.migrate.clicks import wilson
from harness.extensions.migrate.import_command import command
from harness.files.judgments import read_judgments
from harness.files.paths import refuse_repeated

# At position 1 there are 100 impressions and 40 clicks, at position 2 100 and 10: rates 0.4 and 0.1. So 24 clicks are
# expected of a (60 * 0.4), 6 of b, 16 of c and 4 of d, and COEC is 30/24, 9/6, 10/16 and 1/4.
COUNTED = """\
query,document,position,impressions,clicks
two tents,a,1,60,30
two tents,b,2,60,9
rope,c,1,40,10
rope,d,2,40,1
"""
COEC = {"a": 1.25, "b": 1.5, "c": 0.625, "d": 0.25}
GRADES = {"two tents": {"a": 2, "b": 2}, "rope": {"c": 1, "d": 0}}


@pytest.fixture
def graded(tmp_path, monkeypatch, capsys):
    """Writes a source and imports it; the exit status, the rows, the provenance, and what was said."""
    monkeypatch.chdir(tmp_path)

    def run(kind, text, *options, name="log.csv", output="graded.csv"):
        (tmp_path / name).write_text(text)
        status = main(["import", kind, name, "--output", output, *options])
        told = capsys.readouterr()
        written = tmp_path / output
        rows = {}
        if output.endswith(".csv") and written.exists():
            with written.open(encoding="utf-8-sig") as file:
                rows = {row["document"]: row for row in csv.DictReader(file)}
        beside = tmp_path / f"{output}.provenance.json"
        return status, rows, json.loads(beside.read_text()) if beside.exists() else {}, told.err

    return run


@pytest.mark.parametrize("module", [clicks, click_logs])
def test_docstring_examples_hold(module):
    assert doctest.testmod(module).failed == 0


def test_clicks_are_held_against_those_of_the_position(graded, tmp_path):
    status, rows, provenance, told = graded("clicks", COUNTED)
    assert (status, told) == (0, "")
    assert {name: float(row["coec"]) for name, row in rows.items()} == COEC
    assert {name: float(row["expected"]) for name, row in rows.items()} == {"a": 24, "b": 6, "c": 16, "d": 4}
    assert read_judgments(tmp_path / "graded.csv") == GRADES
    assert provenance["click_rate_by_position"] == {"1": 0.4, "2": 0.1}
    assert provenance["position_bias"] == "estimated from the log"
    assert len(provenance["sources"][0]["sha256"]) == 64


@pytest.mark.parametrize("kind", ["clicks", "ubi", "csv", "trec"])
def test_a_file_that_is_given_twice_is_refused_whatever_its_path(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(COUNTED)
    (tmp_path / "copy.csv").write_text(COUNTED)
    (tmp_path / "link.csv").symlink_to("log.csv")
    again = {"log.csv": "is given twice", "./log.csv": "is the same as log.csv", "link.csv": "is the same as log.csv"}
    for path, said in again.items():
        assert main(["import", kind, "log.csv", path, "--output", "out.relevance.yaml"]) == 2
        assert capsys.readouterr().err == f"relevance: {path} {said}, and would count twice; give it once\n"
    with pytest.raises(UsageError, match=r"qrels=link\.csv is the same as qrels=log\.csv"):
        refuse_repeated(["topics=copy.csv", "qrels=log.csv", "qrels=link.csv"])
    with pytest.raises(UsageError, match="ubi_events is given twice"):
        refuse_repeated(["ubi_queries", "ubi_events", "ubi_events"], are_files=False)
    refuse_repeated(["log.csv", "copy.csv", "no-file"])


def test_the_interval_is_wilsons_for_the_share_scaled_as_the_share_is():
    # 30 of 60 with z = 1.95996: 0.5 +- 1.95996 * sqrt(0.25/60 + z^2/(4 * 3600)) / (1 + z^2/60) = 0.5 +- 0.12265
    low, high = wilson(30, 60)
    assert (low, high) == pytest.approx((0.37735, 0.62265), abs=1e-5)
    assert wilson(0, 10) == pytest.approx((0, 0.27753), abs=1e-5)


def test_the_interval_is_written_and_grades_that_it_leaves_open_are_counted(graded):
    _, rows, provenance, _ = graded("clicks", COUNTED)
    assert float(rows["a"]["low"]) == pytest.approx(0.37735 * 60 / 24, abs=1e-4)
    assert float(rows["a"]["high"]) == pytest.approx(0.62265 * 60 / 24, abs=1e-4)
    assert provenance["grade_uncertain"] == 4  # a 0.94 to 1.56, b 0.81 to 2.62, c 0.36 to 1.00, d 0.04 to 1.29


ALONE = "what clicks say of documents that were alone at each of their positions: COEC is 1 by construction"


@pytest.mark.parametrize(
    ("rows", "alone"),
    [
        (["rope,e,3,50,1"], 1),
        (["rope,e,3,50,49", "rope,f,4,30,3"], 2),
        (["rope,e,3,50,10", "rope,e,4,30,3"], 1),
        (["rope,e,3,50,10", "two tents,e,3,50,10"], 0),
        (["rope,e,3,50,10", "rope,e,1,30,3"], 0),
        (["rope,e,3,50,10", "rope,f,3,0,0"], 1),
    ],
)
def test_a_document_that_shares_no_position_is_said_to_have_a_coec_of_1_by_construction(graded, rows, alone):
    status, found, _, told = graded("clicks", COUNTED + "".join(f"{row}\n" for row in rows))
    assert status == 0
    if not alone:
        assert ALONE not in told
        return
    assert f"{ALONE} ({alone} times)" in told if alone > 1 else ALONE in told
    assert {row["coec"] for name, row in found.items() if name in "ef" and row["impressions"] != "0"} == {"1"}


def test_given_propensities_make_no_coec_by_construction(graded, tmp_path):
    (tmp_path / "seen.csv").write_text("position,propensity\n1,1\n2,0.5\n3,0.2\n")
    _, found, _, told = graded("clicks", f"{COUNTED}rope,e,3,50,1\n", "--propensities", "seen.csv")
    assert ALONE not in told
    assert found["e"]["coec"] != "1"


def test_given_propensities_are_scaled_so_that_all_clicks_are_expected(graded, tmp_path):
    # 100 * 1 + 100 * 0.5 = 150 of the 50 clicks: a factor of 1/3. Expected of a are 60 / 3 = 20.
    (tmp_path / "seen.csv").write_text("position,propensity\n1,1\n2,0.5\n")
    _, rows, provenance, _ = graded("clicks", COUNTED, "--propensities", "seen.csv")
    found = {name: float(row["coec"]) for name, row in rows.items()}
    assert found == pytest.approx({"a": 1.5, "b": 0.9, "c": 0.75, "d": 0.15}, abs=1e-5)
    assert provenance["position_bias"] == "given"
    (tmp_path / "one.csv").write_text("position,propensity\n1,1\n")
    status, rows, _, told = graded("clicks", COUNTED, "--propensities", "one.csv", output="one-position.csv")
    assert (status, set(rows)) == (0, {"a", "c"})
    assert "documents at a position without a propensity, such as 2 (2 times)" in told


def test_what_was_shown_too_seldom_is_left_out_and_listed(graded):
    status, rows, provenance, told = graded("clicks", COUNTED, "--least-impressions", "41", "--strict")
    assert (status, set(rows)) == (1, {"a", "b"})
    assert "documents with fewer than 41 impressions for their query (2 times)" in told
    assert provenance["left_out"] == [{"what": "documents with fewer than 41 impressions for their query", "times": 2}]


def test_the_cut_points_are_given(graded):
    _, rows, provenance, _ = graded("clicks", COUNTED, "--cut-points", "0.3, 1.25")
    assert {name: row["grade"] for name, row in rows.items()} == {"a": "2", "b": "2", "c": "1", "d": "0"}
    assert provenance["grade_cut_points"] == [0.3, 1.25]


def test_a_coec_that_is_a_cut_point_reaches_it(graded, tmp_path):
    header = "query,document,position,impressions,clicks\n"
    _, rows, _, _ = graded("clicks", f"{header}tent,a,1,60,31\nrope,c,2,40,10\n")
    assert {name: (row["grade"], row["coec"]) for name, row in rows.items()} == {"a": ("2", "1"), "c": ("2", "1")}
    (tmp_path / "seen.csv").write_text("position,propensity\n1,0.7\n2,0.1\n")
    given = f"{header}tent,a,1,60,42\nrope,c,2,420,42\n"
    _, rows, _, _ = graded("clicks", given, "--propensities", "seen.csv", output="given.csv")
    assert {name: row["grade"] for name, row in rows.items()} == {"a": "2", "c": "2"}


def test_a_propensity_that_leaves_almost_no_click_to_expect_grades_nothing(graded, tmp_path):
    (tmp_path / "seen.csv").write_text("position,propensity\n1,1\n2,1e-320\n")
    _, rows, _, told = graded("clicks", COUNTED, "--propensities", "seen.csv")
    assert set(rows) == {"a", "c"}
    assert "documents at positions where nothing was clicked (2 times)" in told


@pytest.mark.parametrize("points", ["1,0.5", "0,1", "x", "1,1", "inf"])
def test_cut_points_that_do_not_rise_are_refused(graded, points):
    status, _, _, told = graded("clicks", COUNTED, "--cut-points", points)
    assert status == 2
    assert "expected numbers above 0 that rise" in told


def test_a_line_may_be_an_event(graded):
    text = "session_id,query,document,position,action\n" + "".join(
        f"s{n},Tent,{document},{position},impression\n"
        + (f"s{n},tent ,{document},{position},click\n" * 2 if n % 10 < clicked else "")
        for n in range(20)
        for document, position, clicked in (("a", 1, 4), ("b", 2, 1))
    )
    text += "s1,tent,a,1,add_to_cart\ns99,tent,z,1,click\n"
    status, rows, _, told = graded("clicks", text)
    assert status == 0
    assert {name: (row["impressions"], row["clicks"]) for name, row in rows.items()} == {
        "a": ("20", "8"),
        "b": ("20", "2"),
    }
    assert "events with the action 'add_to_cart'" in told
    assert "clicks on documents that were not shown" in told


def test_an_event_without_a_position_is_listed(graded):
    text = "query,document,position,action\n" + "tent,a,1,impression\n" * 20 + "tent,a,,click\ntent,b,,impression\n"
    status, rows, _, told = graded("clicks", text)
    assert (status, {name: (row["impressions"], row["clicks"]) for name, row in rows.items()}) == (
        0,
        {"a": ("20", "1")},
    )
    assert "log.csv:22:1: the position of clicks without one, which count for position 1" in told
    assert "log.csv:23:1: impressions without a position" in told


def test_a_line_may_be_an_impression(graded):
    text = (
        "query,document,position,clicked\n" + "tent,a,1,true\ntent,a,1,false\n" * 10 + "tent,b,2,0\ntent,b,2,1\n" * 10
    )
    _, rows, _, _ = graded("clicks", text)
    assert {name: (row["clicks"], row["coec"]) for name, row in rows.items()} == {"a": ("10", "1"), "b": ("10", "1")}


def test_a_text_beside_a_query_is_the_text(graded):
    header, *lines = COUNTED.splitlines()
    text = "\n".join([f"{header},query_text", *(f"{line},text of {line[0]}" for line in lines)])
    _, rows, _, told = graded("clicks", text)
    assert {row["query"] for row in rows.values()} == {"text of t", "text of r"}
    assert "log.csv:1:1: the column 'query'" in told


def test_an_error_for_want_of_clicks_lists_what_was_left_out(graded):
    lines = "query,document,position,action\ntent,a,1,impression\ntent,a,1,Click\n"
    status, _, _, told = graded("clicks", lines)
    assert status == 2
    assert "nothing to grade by\n  log.csv:3:1: events with the action 'Click'\n" in told


def test_columns_that_are_not_read_are_listed(graded):
    header, *lines = COUNTED.splitlines()
    counted = "\n".join([f"{header},action", *(f"{line},view" for line in lines)])
    status, _, _, told = graded("clicks", counted, "--strict")
    assert status == 1
    assert "log.csv:1:1: the column 'action'\n" in told


def test_columns_of_events_that_are_not_read_are_listed(graded):
    lines = [f"q{n},s,tent,a,1,{action},5,shop" for n in range(20) for action in ("impression", "click")]
    lines.append(",s,tent,a,1,impression,5,shop")
    header = "query_id,session_id,query,document,position,action,impressions,application"
    _, rows, _, told = graded("clicks", "\n".join([header, *lines]))
    assert rows["a"]["impressions"] == "20"
    listed = [line.strip() for line in told.splitlines() if "column" in line or "events" in line]
    assert listed == [
        "log.csv:42:1: events without a query_id",
        *(f"log.csv:1:1: the column {name!r}" for name in ("session_id", "impressions", "application")),
    ]


def test_hostile_cells_are_marked_and_read_back(graded, tmp_path):
    text = 'query,document,position,impressions,clicks\n"=cmd()",007,1,50,10\n"=cmd()",@x,2,50,5\n'
    _, rows, _, _ = graded("clicks", text)
    assert set(rows) == {"'007", "'@x"}
    assert {row["query"] for row in rows.values()} == {"'=cmd()"}
    assert read_judgments(tmp_path / "graded.csv") == {"=cmd()": {"007": 2, "@x": 2}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document,position\nq,d,1\n", "log.csv:1:1: found the columns query, document, position, expected one"),
        ("query,document,position,clicks,impressions\nq,d,x,1,1\n", "log.csv:2:1: found 'x' as 'position'"),
        ("query,document,position,clicks,impressions\nq,,1,1,1\n", "log.csv:2:1: the document is empty"),
        (
            f"query,document,position,impressions,clicks\nq,d,1,1,1\n{'q,d,1,1e308,1e308' + chr(10)}",
            "log.csv:3:1: found '1e308' as 'impressions', expected a whole number from 0 to 2^53",
        ),
        ("query,document,position,clicks,impressions\nq,d,1,0.5,1\n", "log.csv:2:1: found '0.5' as 'clicks', expected"),
        ("query,document,position,clicks,impressions\nq,d,1,0,30\n", "the sources have no click"),
        ("query,document,position,clicks,impressions\nq,d,1,5,3\n", "the sources have no click"),
    ],
)
def test_a_log_that_cannot_be_used_is_told(graded, text, message):
    status, rows, _, told = graded("clicks", text)
    assert (status, rows) == (2, {})
    assert message in told


def test_a_document_with_more_clicks_than_impressions_does_not_raise_the_rate(graded):
    lines = ["q,a,1,impression"] * 30 + ["q,a,1,click"] * 31 + ["q,b,1,impression"] * 30 + ["q,b,1,click"] * 3
    text = "\n".join(["query,document,position,action", *lines])
    status, rows, provenance, told = graded("clicks", text)
    assert (status, list(rows)) == (0, ["b"])
    assert float(rows["b"]["coec"]) == 1.0
    assert provenance["click_rate_by_position"] == {"1": 0.1}
    assert "documents with more clicks than impressions" in told


def test_a_position_with_two_propensities_is_refused(graded, tmp_path):
    (tmp_path / "seen.csv").write_text("position,propensity\n1,1\n1,0.5\n2,0.25\n")
    status, rows, _, told = graded("clicks", COUNTED, "--propensities", "seen.csv")
    assert (status, rows) == (2, {})
    assert told.startswith("seen.csv:3:1: position 1 has a propensity already")


def ubi(*, impressions=True):
    """Twenty searches for a tent: a is shown first and clicked in eight, b is second and clicked in two."""
    lines = []
    for n in range(20):
        lines.append({"index": {"_index": "ubi_queries"}})
        query = {"query_id": f"q{n}", "user_query": "Tent", "client_id": "c", "query_response_hit_ids": ["a", "b"]}
        lines.append({"_index": "ubi_queries", "_source": query} if n % 2 else query)
        for document, ordinal, clicked in (("a", 1, n < 8), ("b", 2, n < 2)):
            thing = {"object": {"object_id": document, "object_id_field": "_id"}, "position": {"ordinal": ordinal}}
            actions = [*(["impression"] if impressions else []), *(["click", "click_through"] if clicked else [])]
            lines += [{"query_id": f"q{n}", "action_name": one, "event_attributes": thing} for one in actions]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize("impressions", [True, False])
def test_ubi_counts_a_document_once_in_each_search(graded, impressions):
    status, rows, provenance, told = graded("ubi", ubi(impressions=impressions), name="ubi.ndjson")
    assert status == 0
    assert told == f"not carried over:\n  ubi.ndjson: {ALONE} (2 times)\n1 thing\n"
    assert {name: (row["query"], row["impressions"], row["clicks"], row["coec"]) for name, row in rows.items()} == {
        "a": ("Tent", "20", "8", "1"),
        "b": ("Tent", "20", "2", "1"),
    }
    assert provenance["impressions_from"] == ("impression events" if impressions else "query_response_hit_ids")


def test_what_ubi_cannot_tell_is_listed(graded):
    others = [
        {"query_id": "q1", "action_name": "add_to_cart", "event_attributes": {"object": {"object_id": "a"}}},
        {"query_id": "lost", "action_name": "click", "event_attributes": {"object": {"object_id": "a"}}},
        {"query_id": "q1", "action_name": "click", "event_attributes": {"object": {"object_id": "gone"}}},
        {"query_id": "q1", "action_name": "click", "event_attributes": {}},
        {"action_name": "click"},
        {
            "query_id": "q1",
            "action_name": "click",
            "event_attributes": {"object": {"object_id": "a", "object_id_field": "sku"}},
        },
    ]
    status, rows, _, told = graded("ubi", ubi() + "".join(f"{json.dumps(one)}\n" for one in others), name="ubi.jsonl")
    assert (status, set(rows)) == (0, {"a", "b"})
    for what in (
        "events with the action 'add_to_cart'",
        "searches without a user_query",
        "clicks on documents that were not shown",
        "events without an object_id",
        "documents without a query_id",
        "that object_id is the field 'sku'; give it as id_field of the suite's target",
    ):
        assert what in told


def test_a_document_at_two_positions_of_a_search_counts_at_the_first_and_is_listed(graded):
    again = {"object": {"object_id": "a"}, "position": {"ordinal": 7}}
    line = json.dumps({"query_id": "q1", "action_name": "impression", "event_attributes": again})
    _, rows, provenance, told = graded("ubi", f"{ubi()}{line}\n", name="ubi.jsonl")
    assert (rows["a"]["impressions"], list(provenance["click_rate_by_position"])) == ("20", ["1", "2"])
    what = "impressions at another position than the first of the document in its search (document 'a' at position 7)"
    assert what in told


def test_what_the_documents_of_a_query_id_say_differently_is_listed(graded):
    others = [
        {"query_id": "q1", "user_query": "TENT ", "query_response_hit_ids": ["a", "b"], "application": "shop"},
        {"query_id": "q1", "user_query": "rope", "query_response_hit_ids": ["b", "a"], "application": "docs"},
        {
            "query_id": "q2",
            "action_name": "click",
            "user_query": "rope",
            "event_attributes": {"object": {"object_id": "a"}},
        },
        {"query_id": "q3", "event_attributes": {"object": {"object_id": "a"}}},
    ]
    lines = ubi(impressions=False)
    _, rows, _, told = graded("ubi", lines + "".join(f"{json.dumps(one)}\n" for one in others), name="ubi.jsonl")
    assert {name: (row["query"], row["impressions"], row["clicks"]) for name, row in rows.items()} == {
        "a": ("Tent", "20", "8"),
        "b": ("Tent", "20", "2"),
    }
    at = lines.count("\n")
    assert [line.strip() for line in told.splitlines()[1:-1]] == [
        f"ubi.jsonl:{at + 2}:1: a user_query other than the first of its query_id"
        " (2 times, first 'rope' of query_id 'q1')",
        f"ubi.jsonl:{at + 2}:1: query_response_hit_ids other than the first of their query_id (query_id 'q1')",
        f"ubi.jsonl:{at + 4}:1: events without an action_name",
        "ubi.jsonl: the application; documents of 'docs', 'shop' are counted together",
        f"ubi.jsonl: {ALONE} (2 times)",
    ]


def test_searches_without_an_impression_are_listed_where_others_have_some(graded):
    seen = json.dumps({"query_id": "x", "user_query": "tent", "query_response_hit_ids": ["a"]})
    _, rows, _, told = graded("ubi", f"{ubi()}{seen}\n", name="ubi.jsonl")
    assert rows["a"]["impressions"] == "20"
    assert (
        "query_response_hit_ids of searches without an impression, as other searches have some (query_id 'x')" in told
    )


def test_half_a_character_is_listed(graded):
    odd = json.dumps({"query_id": "x", "user_query": "rope\ud800", "query_response_hit_ids": ["a"]})
    status, rows, _, told = graded("ubi", f"{ubi(impressions=False)}{odd}\n", name="ubi.jsonl", output="graded.jsonl")
    assert (status, rows) == (0, {})
    what = "queries and documents that hold half of a character (a lone surrogate)"
    assert f"ubi.jsonl: {what} ('rope\\ud800, a')" in told


def test_documents_that_a_search_did_not_return_are_listed(graded):
    hits = [{"_source": json.loads(line).get("_source", json.loads(line))} for line in ubi().splitlines()]
    found = {"hits": {"total": {"value": len(hits) + 7, "relation": "eq"}, "hits": hits}, "_shards": {"failed": 1}}
    _, _, _, told = graded("ubi", json.dumps(found), name="ubi.json")
    assert "ubi.json: documents of shards that failed or timed out in the search" in told
    assert "ubi.json: documents that the search found and did not return (7 times)" in told


def test_a_key_that_is_twice_in_a_document_is_refused(graded):
    status, _, _, told = graded("ubi", '{"query_id": "a", "query_id": "b"}\n', name="ubi.jsonl")
    assert status == 2
    assert told.startswith("ubi.jsonl:1:19: the object has the key 'query_id' twice")


def test_ubi_as_the_answer_to_a_search_and_other_actions(graded):
    hits = [{"_source": json.loads(line).get("_source", json.loads(line))} for line in ubi().splitlines()]
    text = json.dumps({"hits": {"hits": hits}})
    _, rows, provenance, _ = graded("ubi", text, "--click-action", "click_through", name="ubi.json")
    assert rows["a"]["clicks"] == "8"
    assert provenance["click_actions"] == ["click_through"]


@pytest.mark.parametrize(("line", "column"), [("{", 2), ("3", 1), ('"x"', 1)])
def test_a_line_of_ubi_that_is_no_document_has_its_place(graded, line, column):
    status, _, _, told = graded("ubi", f"{ubi()}{line}\n", name="ubi.jsonl")
    assert status == 2
    assert told.startswith(f"ubi.jsonl:{ubi().count(chr(10)) + 1}:{column}: ")


@pytest.mark.parametrize(
    "text", ["5", "null", '{"hits": 5}', '{"hits": null}', '{"hits": {"hits": 5}}', '{"hits": {}}']
)
def test_a_file_of_ubi_that_is_no_search_is_refused(graded, text):
    status, _, _, told = graded("ubi", text, name="ubi.json")
    assert status == 2
    assert told.startswith("ubi.json:1:1: expected the JSON of a search with a list `hits.hits`, a list of documents")


@pytest.mark.parametrize("hits", [5, "abc", {"a": 1}, [None], ["a", {"b": 1}], [True], False])
def test_ids_of_hits_that_are_no_list_of_ids_are_listed(graded, hits):
    odd = json.dumps({"query_id": "odd", "user_query": "rope", "query_response_hit_ids": hits})
    status, rows, _, told = graded("ubi", f"{ubi(impressions=False)}{odd}\n", name="ubi.jsonl")
    assert (status, set(rows)) == (0, {"a", "b"})
    assert (
        f"ubi.jsonl:{ubi(impressions=False).count(chr(10)) + 1}:1: query_response_hit_ids that are no list of" in told
    )


SUITE = """\
suite: shop
target: {cluster: "http://127.0.0.1:1", index: i}
request: {query: {match: {title: "{{text}}"}}}
queries: [{id: t, text: Two  Tents}]
"""


def test_a_suite_gives_its_ids_and_reads_the_grades(graded, tmp_path):
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    status, _, _, told = graded("clicks", COUNTED, "--suite", "shop.relevance.yaml")
    assert status == 0
    assert "documents of queries that shop.relevance.yaml does not have (2 times)" in told
    assert read_judgments(tmp_path / "graded.csv") == {"t": GRADES["two tents"]}
    (tmp_path / "shop.relevance.yaml").write_text(f"{SUITE}judgments: graded.csv\n")
    assert main(["validate", "shop.relevance.yaml"]) == 0


def test_a_query_of_a_suite_with_the_text_of_another_is_listed(graded, tmp_path):
    (tmp_path / "shop.relevance.yaml").write_text(SUITE.replace("queries: [", "queries: [{id: s, text: two tents}, "))
    _, _, _, told = graded("clicks", COUNTED, "--suite", "shop.relevance.yaml")
    assert "queries of shop.relevance.yaml with the text of another one, which gets the grades" in told
    assert read_judgments(tmp_path / "graded.csv") == {"s": GRADES["two tents"]}


def test_jsonl_and_a_suite_are_written_too(graded, tmp_path):
    assert graded("clicks", COUNTED, output="graded.jsonl")[0] == 0
    assert read_judgments(tmp_path / "graded.jsonl") == GRADES
    assert graded("clicks", COUNTED, "--index", "i", output="shop.relevance.yaml")[0] == 0
    assert "{id: two-tents, text: two tents, judgments: {a: 2, b: 2}}" in (tmp_path / "shop.relevance.yaml").read_text()
    assert (tmp_path / "shop.relevance.yaml.provenance.json").exists()
    status, _, _, told = graded("clicks", COUNTED, output="graded.txt")
    assert status == 2
    assert "expected a file .csv or .jsonl" in told


def test_nothing_is_replaced(graded):
    assert graded("clicks", COUNTED)[0] == 0
    assert graded("clicks", COUNTED)[0] == 2


@pytest.mark.parametrize(
    ("option", "kinds"),
    [
        ("--cut-points", {"clicks", "ubi"}),
        ("--url", {"ubi"}),
        ("--grades", {"csv", "jsonl"}),
        ("--match-ids", {"trec", "beir", "ir_datasets", "csv", "jsonl"}),
    ],
)
def test_each_format_has_the_options_that_it_has_a_use_for(option, kinds):
    assert {kind for kind, read in command.commands.items() for given in read.params if option in given.opts} == kinds


@pytest.mark.parametrize("name", ["judged.csv", "judged.jsonl", "shop.relevance.yaml"])
def test_clicks_that_leave_no_grade_are_an_error_and_write_nothing(tmp_path, capsys, name):
    log = tmp_path / "log.csv"
    log.write_text("query,document,position,impressions,clicks\nrope,a,1,7,2\nrope,b,2,6,0\n")
    assert main(["import", "clicks", str(log), "--output", str(tmp_path / "out" / name)]) == 2
    said = capsys.readouterr().err
    assert "no document gets a grade" in said
    assert "2 documents had fewer than 20 impressions for the query; --least-impressions" in said
    assert not (tmp_path / "out").exists()
    words = ["import", "clicks", str(log), "--output", str(tmp_path / "out" / name), "--least-impressions", "5"]
    assert main(words) == 0


def test_clicks_of_queries_that_the_suite_lacks_are_an_error(tmp_path, capsys):
    log = tmp_path / "log.csv"
    log.write_text("query,document,position,impressions,clicks\nrope,a,1,70,2\n")
    suite = tmp_path / "shop.relevance.yaml"
    suite.write_text(
        'suite: shop\ntarget: {index: shop}\nrequest: {query: {match: {title: "{{text}}"}}}\n'
        "measures: [P@1]\nqueries: [{id: tent, text: tent, judgments: {a: 1}}]\n"
    )
    words = ["import", "clicks", str(log), "--suite", str(suite), "--output", str(tmp_path / "judged.csv")]
    assert main(words) == 2
    assert "documents of queries that" in capsys.readouterr().err
    assert not (tmp_path / "judged.csv").exists()


@pytest.mark.parametrize(
    "header",
    [
        "search_term,sku,rank,impression_count,click_count",
        "keyword,asin,position,views,clicks",
        "q,url,ordinal,shown,clicked",
        "Search query,Variant ID,Position,Impressions,Clicks",
    ],
)
def test_columns_have_the_names_of_shops(graded, header):
    status, rows, _, told = graded("clicks", COUNTED.replace(COUNTED.partition("\n")[0], header))
    assert (status, told) == (0, "")
    assert {name: float(row["coec"]) for name, row in rows.items()} == COEC


def test_placeholders_of_reports_are_no_queries_and_change_no_rate(graded):
    text = f"{COUNTED}(other),z,1,9000,10\n[not set],a,2,500,400\n"
    status, rows, provenance, told = graded("clicks", text)
    assert status == 0
    assert {name: float(row["coec"]) for name, row in rows.items()} == COEC
    assert provenance["click_rate_by_position"] == {"1": 0.4, "2": 0.1}
    assert "(2 times, first '(other)')" in told


def test_a_number_that_is_one_or_a_thousand_is_refused(graded):
    status, rows, _, told = graded("clicks", COUNTED.replace(",40,10", ",4.000,10"))
    assert (status, rows) == (2, {})
    assert "found '4.000' as 'impressions'" in told


def test_several_clicks_without_a_column_of_impressions_are_named(graded):
    status, _, _, told = graded("clicks", "query,document,clicks\ntent,a,5\n")
    assert status == 2
    assert "without a column 'impressions' each line is one impression" in told
