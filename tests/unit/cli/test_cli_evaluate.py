import pytest

pytest.importorskip("numpy")

import json
import math
from decimal import Decimal

import numpy as np

from harness.cli import main
from harness.metrics import Definition, Needs, register_measure, registry
from harness.metrics.registry import Registry

QRELS = """\
q1 0 a 3
q1 0 b 2
q1\t0\tc\t0

q2 0 x 1
q2 0 y 1
q3 0 z 0
q4 0 w 2
"""

RUN = """\
q1 Q0 c 3 1.5 tag
q1 Q0 a 1 9.0 tag

q1 Q0 u 2 4.0 tag
q2  Q0   n 1 0.5 tag
q2 Q0 x 2 0.5 tag
q3 Q0 z 1 1 tag
q9 Q0 x 1 1 tag
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "j.qrels").write_text(QRELS)
    (tmp_path / "r.run").write_text(RUN)
    return ["evaluate", "--qrels", str(tmp_path / "j.qrels"), "--run", str(tmp_path / "r.run")]


def evaluated(capsys, words):
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.smoke("relevance evaluate")
def test_trec_has_linear_gain_and_breaks_ties_by_document_from_the_last(files, capsys):
    found = evaluated(capsys, [*files, "--measure", "nDCG@10", "--measure", "RR", "--profile", "trec"])
    assert found["profile"] == "trec"
    assert list(found["measures"]) == ["nDCG@10", "RR"]
    ndcg = found["measures"]["nDCG@10"]
    assert ndcg["queries"]["q1"] == pytest.approx(3 / (3 + 2 / math.log2(3)))
    assert found["measures"]["RR"]["queries"] == {"q1": 1, "q2": 1, "q3": 0}  # x before n: equal scores
    assert ndcg["mean"] == pytest.approx(sum(ndcg["queries"].values()) / 3)
    assert set(ndcg) == {"mean", "queries"}


def test_the_standard_has_exponential_gain_keeps_ties_and_leaves_undefined_queries_null(files, capsys):
    measures = evaluated(capsys, [*files, "--measure", "nDCG@10", "--measure", "RR"])["measures"]
    assert measures["nDCG@10"]["queries"]["q1"] == pytest.approx(7 / (7 + 3 / math.log2(3)))
    assert measures["RR"]["queries"] == {"q1": 1, "q2": 0.5, "q3": None, "q9": None}
    assert measures["RR"]["mean"] == 0.75


def test_each_measure_stands_under_the_text_it_was_asked_by(files, capsys):
    texts = ["nDCG@10", "nDCG( gain = exponential )@10", "P(rel=2)@5"]
    asked = [word for text in texts for word in ("--measure", text)]
    measures = evaluated(capsys, [*files, *asked])["measures"]
    assert list(measures) == texts
    assert measures[texts[0]] == measures[texts[1]]


def test_complete_counts_judged_queries_that_are_not_in_the_run(files, capsys):
    words = [*files, "--measure", "RR", "--profile", "trec", "--complete"]
    assert evaluated(capsys, words)["measures"]["RR"] == {"mean": 0.5, "queries": {"q1": 1, "q2": 1, "q3": 0, "q4": 0}}


OWN_QRELS = "a 0 b 1\nb 0 a 1\nb 0 b 1\nc 0 d 1\n"
OWN_RUN = "a Q0 a 1 9 t\na Q0 b 2 8 t\nb Q0 x 1 9 t\nb Q0 b 2 8 t\nb Q0 a 3 7 t\nc Q0 d 1 9 t\n"


@pytest.mark.parametrize("profile", ["standard", "trec"])
@pytest.mark.parametrize("copies", [0, 9_000], ids=["small", "large"])
def test_the_document_with_the_id_of_its_query_is_removed_where_that_is_asked_for(tmp_path, capsys, profile, copies):
    """As in BEIR's ArguAna, whose queries are documents of the corpus and find themselves first."""
    run = OWN_RUN + "".join(f"z{place} Q0 document-{place} 1 1 tag\n" for place in range(copies))
    (tmp_path / "j.qrels").write_text(OWN_QRELS)
    (tmp_path / "r.run").write_text(run)
    words = ["evaluate", "--qrels", str(tmp_path / "j.qrels"), "--run", str(tmp_path / "r.run"), "--measure", "RR"]
    words += ["--profile", profile]
    found = evaluated(capsys, words)["measures"]["RR"]["queries"]
    assert {query: found[query] for query in "abc"} == {"a": 0.5, "b": 0.5, "c": 1}
    found = evaluated(capsys, [*words, "--remove-query"])["measures"]["RR"]["queries"]
    assert {query: found[query] for query in "abc"} == {"a": 1, "b": 0.5, "c": 1}


def test_json_names_the_queries_that_are_in_no_mean(files, capsys):
    words = [*files, "--measure", "RR"]
    assert evaluated(capsys, words)["left_out"] == {"not_in_run": ["q4"], "not_judged": ["q9"]}
    assert evaluated(capsys, [*words, "--complete"])["left_out"] == {"not_judged": ["q9"]}


def test_json_has_no_more_than_the_scores_where_every_query_is_in_them(files, capsys, tmp_path):
    (tmp_path / "r.run").write_text("q1 Q0 a 1 1 tag\nq2 Q0 x 1 1 tag\nq3 Q0 z 1 1 tag\n")
    words = [*files, "--measure", "RR"]
    assert list(evaluated(capsys, words)) == ["profile", "measures", "left_out"]
    (tmp_path / "r.run").write_text((tmp_path / "r.run").read_text() + "q4 Q0 w 1 1 tag\n")
    assert list(evaluated(capsys, words)) == ["profile", "measures"]


@pytest.mark.parametrize(
    ("run", "complete", "said"),
    [
        (
            "q1 Q0 a 1 1 t\n",
            False,
            "3 judged queries (q2, q3, q4) not in the run are in no mean; --complete counts them",
        ),
        ("q1 Q0 a 1 1 t\n", True, "3 judged queries (q2, q3, q4) not in the run count as queries without hits"),
        (RUN, True, "1 judged query (q4) not in the run counts as a query without hits"),
    ],
)
def test_what_is_left_out_is_said_in_the_right_number(files, tmp_path, capsys, run, complete, said):
    (tmp_path / "r.run").write_text(run)
    assert main([*files, "--measure", "RR", *(["--complete"] if complete else [])]) == 0
    assert said in capsys.readouterr().err


def test_a_run_and_qrels_that_changed_places_are_one_problem(files, tmp_path, capsys):
    (tmp_path / "long.run").write_text("".join(f"q{n} Q0 d {n} 1.0 tag\n" for n in range(300)))
    (tmp_path / "long.qrels").write_text("".join(f"q{n} 0 d 1\n" for n in range(300)))
    words = ["evaluate", "--measure", "RR", "--qrels"]
    assert main([*words, str(tmp_path / "long.run"), "--run", str(tmp_path / "long.qrels")]) == 2
    text = capsys.readouterr().err
    assert "long.run:1:1: found 6 columns in every line, expected 4: query, iteration, document, grade" in text
    assert "is this the run file?" in text
    assert text.endswith("relevance: 1 problem\n")
    assert main([*words, str(tmp_path / "long.qrels"), "--run", str(tmp_path / "long.qrels")]) == 2
    text = capsys.readouterr().err
    assert "long.qrels:1:1: found 4 columns in every line, expected 6: query, Q0, document, rank, score, tag" in text
    assert "is this the judgment file?" in text
    assert text.endswith("relevance: 1 problem\n")


def test_a_line_of_the_other_kind_among_good_ones_is_told_as_it_is(files, tmp_path, capsys):
    (tmp_path / "j.qrels").write_text(QRELS + "q5 Q0 d 1 1.0 tag\n")
    assert main([*files, "--measure", "RR"]) == 2
    text = capsys.readouterr().err
    assert "j.qrels:9:1: found 6 columns, expected 4" in text
    assert "is this" not in text


def test_the_number_of_problems_is_that_of_the_file(files, tmp_path, capsys):
    (tmp_path / "r.run").write_text("".join(f"q{n} Q0 d 1 high tag\n" for n in range(300)))
    assert main([*files, "--measure", "RR"]) == 2
    text = capsys.readouterr().err
    assert text.count("'high'") == 20
    assert "r.run: 280 more problems are not shown" in text
    assert text.endswith("relevance: 300 problems\n")


def test_counts_give_their_sum(files, capsys):
    found = evaluated(capsys, [*files, "--measure", "NumRet", "--profile", "trec"])["measures"]["NumRet"]
    assert found == {"mean": 2, "sum": 6, "queries": {"q1": 3, "q2": 2, "q3": 1}}


def test_a_mean_over_no_query_is_null(files, capsys, tmp_path):
    (tmp_path / "r.run").write_text("q3 Q0 z 1 1 tag\n")
    found = evaluated(capsys, [*files, "--measure", "RR"])
    assert found["measures"]["RR"] == {"mean": None, "queries": {"q3": None}}


@pytest.mark.parametrize("words", [[], ["--complete"], ["--json"], ["--profile", "trec"]])
@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("q77 Q0 a 1 1 t\n", "the run has 'q77', the judgments have 'q1', 'q2', 'q3' and 1 more; give files"),
        ("Q1 Q0 a 1 1 t\nx Q0 a 1 1 t\n", "the run has 'Q1', 'x', the judgments have"),
        ("Q1 Q0 a 1 1 t\n", "; 'Q1' may be the query 'q1'; give files in which a query has the same id"),
        ("MB002 Q0 a 1 1 t\n", "; 'MB002' may be the query 'q2'; give files"),
        ("4 Q0 a 1 1 t\n", "; '4' may be the query 'q4'; give files"),
    ],
)
def test_a_run_of_which_no_query_is_judged_is_an_error_with_ids_of_both(files, capsys, tmp_path, run, said, words):
    (tmp_path / "r.run").write_text(run)
    assert main([*files, "--measure", "RR", "--measure", "NumRet", *words]) == 2
    printed = capsys.readouterr()
    assert f"r.run: no query of the run is judged in {tmp_path / 'j.qrels'}: " in printed.err
    assert said in printed.err
    assert "measures" not in printed.out


def test_a_run_without_queries_is_scored_where_judged_queries_count_as_without_hits(files, capsys, tmp_path):
    (tmp_path / "r.run").write_text("")
    assert evaluated(capsys, [*files, "--measure", "RR", "--complete"])["measures"]["RR"]["mean"] == 0
    assert main([*files, "--measure", "RR"]) == 2
    assert "r.run: the run has no query; --complete counts" in capsys.readouterr().err


def test_the_gain_can_be_chosen_and_written_as_a_map(files, capsys):
    linear = evaluated(capsys, [*files, "--measure", "DCG@1", "--gain", "linear"])["measures"]["DCG@1"]
    mapped = evaluated(capsys, [*files, "--measure", "DCG@1", "--gain", "{0: 0, 1: 1, 2: 4, 3: 50}"])
    assert linear["queries"]["q1"] == 3
    assert mapped["measures"]["DCG@1"]["queries"]["q1"] == 50


def test_quepids_cg_is_of_grades(files, capsys):
    words = [*files, "--measure", "CG@5", "--profile", "quepid"]
    for gain in ([], ["--gain", "exponential"]):
        assert evaluated(capsys, [*words, *gain])["measures"]["CG@5"]["queries"]["q1"] == 3


@pytest.mark.parametrize(
    ("measure", "heading"), [("nDCG@10", "mean  counted  undefined"), ("NumRet", "mean  sum  counted  undefined")]
)
def test_the_table_has_a_sum_where_a_measure_has_one(files, capsys, measure, heading):
    assert main([*files, "--measure", measure]) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert f"measure {' '.join(heading.split())} gain" in table


def test_scores_that_are_too_wide_for_a_table_have_a_line_each_below_their_query(files, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = [word for cutoff in range(1, 12) for word in ("--measure", f"nDCG@{cutoff}")]
    assert main([*files, *asked, "--per-query"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:3] == [["q1"], ["nDCG@1", "1.0000"]]
    q2 = lines.index(["q2"])
    assert [line[0] for line in lines[q2 + 1 : q2 + 12]] == asked[1::2]


def test_people_get_a_table_with_profile_gain_and_what_is_left_out(files, capsys):
    assert main([*files, "--measure", "nDCG@10", "--measure", "NumRet", "--per-query"]) == 0
    printed = capsys.readouterr()
    lines = [line.split() for line in printed.out.splitlines()]
    assert lines[0] == ["profile", "standard"]
    assert ["query", "nDCG@10", "NumRet"] in lines
    assert ["q3", "–", "1.0000"] in lines
    assert lines[-3] == ["NumRet", "1.7500", "7", "4", "0"]
    assert lines[-1][0] == "nDCG@10:"  # n and x of q2 have equal scores
    assert lines[-4][-1] == "exponential"
    assert "1 judged query (q4) not in the run is in no mean; --complete counts it" in printed.err
    assert "1 query (q9) of the run without judgments" in printed.err


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("r.run", "q1 Q0 a 1 2.0 tag", ["r.run:11", "'a'", "twice"]),
        ("r.run", "q5 Q0 d 1 nan tag", ["r.run:11", "'d'", "NaN"]),
        ("r.run", "q5 Q0 d 1", ["r.run:11"]),
        ("j.qrels", "q1 0 a 1", ["j.qrels:11", "'a'"]),
        ("j.qrels", "q1 0 d high", ["j.qrels:11", "'d'", "'high'"]),
    ],
)
def test_a_wrong_line_ends_with_2_and_names_file_line_and_document(files, tmp_path, capsys, file, line, said):
    path = tmp_path / file
    path.write_text(path.read_text() + "\n\n" + line + "\n")
    assert main([*files, "--measure", "RR", "--json"]) == 2
    printed = capsys.readouterr()
    [problem] = json.loads(printed.out)["problems"]
    assert (problem["file"], problem["line"]) == (str(path), 11)
    assert "Traceback" not in printed.err
    assert all(word in printed.err for word in said), printed.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--measure", "nDGC@10", "--measure", "P@0"], ["measure 'nDGC@10'", "measure 'P@0'"]),
        (["--measure", "RR", "--gain", "cubic"], ["found 'cubic' as gain, expected exponential, linear, or a map"]),
        (["--measure", "RR", "--gain", "linear, log=2"], ["as gain, expected"]),
        (["--measure", "RR", "--profile", "trek"], ["trek"]),
        ([], ["--measure"]),
    ],
)
def test_wrong_options_end_with_2_and_all_their_problems(files, capsys, words, said):
    assert main([*files, *words]) == 2
    text = capsys.readouterr().err
    assert all(word in text for word in said), text


def test_a_file_that_is_not_there_is_named(files, capsys):
    assert main([*files[:-1], "no.run", "--measure", "RR"]) == 2
    assert "no.run" in capsys.readouterr().err


def test_json_needs_no_rich(files, capsys, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    evaluated(capsys, [*files, "--measure", "RR"])
    assert not any(name.split(".")[0] == "rich" for name in sys.modules)


@pytest.fixture
def register(monkeypatch):
    """Registers a measure that gives one value, for one test."""
    monkeypatch.setattr(registry, "_REGISTRY", Registry(registry.DEFINITIONS))

    def with_value(value):
        register_measure(Definition("Mine", lambda _ranking, _settings: value, needs=Needs.NOTHING))

    return with_value


@pytest.mark.parametrize("value", [np.float32(0.5), Decimal("0.5")], ids=lambda value: type(value).__name__)
def test_a_measure_of_the_user_s_gives_plain_numbers(files, capsys, register, value):
    register(value)
    assert evaluated(capsys, [*files, "--measure", "Mine"])["measures"]["Mine"]["mean"] == 0.5


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_measure_of_the_user_s_that_gives_no_number_is_told(files, capsys, register, command):
    register(math.nan)
    _, _, qrels, _, run = files
    words = {
        "evaluate": ["--qrels", qrels, "--run", run],
        "compare": [run, run, "--qrels", qrels],
    }
    assert main([command, *words[command], "--measure", "Mine"]) == 2
    assert "the formula of Mine gave nan, expected a finite number" in capsys.readouterr().err
