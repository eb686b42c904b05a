"""Judgment files by subtopic, and the measures of novelty from files."""

import pytest

from harness.cli import main
from harness.errors import FormatError
from harness.files.judgments import read_subtopic_judgments
from harness.metrics import parse_measure, score_diverse_query
from harness.metrics.evaluate import evaluate_novelty

EXPECTED = {"q1": {"d1": {"1": 1.0, "2": 1.0}, "d2": {"2": 1.0}, "d3": {"1": 0.0}}}
FILES = {
    "j.qrels": "# topic subtopic document grade\nq1 1 d1 1\nq1 2 d2 1\nq1 1 d3 0\nq1 2 d1 1\n",
    "j.csv": "query,subtopic,document,grade\nq1,1,d1,1\nq1,2,d2,1\nq1,1,d3,0\nq1,2,d1,1\n",
    "j.jsonl": '{"query": "q1", "subtopic": 1, "document": "d1", "grade": 1}\n'
    '{"query": "q1", "subtopic": "2", "document": "d2", "grade": 1}\n'
    '{"query": "q1", "subtopic": 1, "document": "d3", "grade": 0}\n'
    '{"query": "q1", "subtopic": 2, "document": "d1", "grade": 1}\n',
}
RUN = "q1 Q0 d3 1 2 t\nq1 Q0 d1 2 3 t\nq1 Q0 d2 3 1 t\nq9 Q0 d1 1 1 t\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_file(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_file


@pytest.mark.parametrize("name", FILES)
def test_every_form_gives_the_same_judgments(write, name):
    assert read_subtopic_judgments(write(name, FILES[name])) == EXPECTED


def test_a_document_judged_twice_for_a_subtopic_is_told(write):
    path = write("j.qrels", FILES["j.qrels"] + "q1 1 d1 2\n")
    with pytest.raises(
        FormatError, match=r":6:1: document 'd1' is judged twice for subtopic '1' of query 'q1', first in"
    ):
        read_subtopic_judgments(path)


def test_a_document_judged_twice_without_a_subtopic_is_told_without_one(write):
    path = write("j.qrels", "q1 0 d1 2\nq1 0 d1 2\n")
    with pytest.raises(FormatError, match=r":2:1: document 'd1' is judged twice for query 'q1', first in line 1"):
        read_subtopic_judgments(path)


@pytest.mark.parametrize("text", ["alpha_nDCG@10", "ERR_IA@10", "StRecall@1"])
def test_many_queries_are_scored_like_one(text):
    measure = parse_measure(text)
    rankings = {"q1": ["d1", "d3", "d2"], "q9": ["d1"]}
    found = evaluate_novelty(rankings, EXPECTED, [measure])
    assert found.scores[text] == {"q1": score_diverse_query(measure, rankings["q1"], EXPECTED["q1"]), "q9": None}
    assert (found.unjudged, found.missing) == (("q9",), ())


def test_the_command_scores_files_by_subtopic(write, capsys):
    write("j.qrels", FILES["j.qrels"])
    write("r.run", RUN)
    words = ["evaluate", "--qrels", "j.qrels", "--run", "r.run", "--profile", "trec", "--json"]
    assert main([*words, "--measure", "StRecall@1", "--measure", "alpha_nDCG@10"]) == 0
    assert '"mean": 1.0' in capsys.readouterr().out  # the best two documents lead by their scores


def test_measures_of_both_kinds_are_not_asked_for_at_once(write, capsys):
    write("j.qrels", FILES["j.qrels"])
    write("r.run", RUN)
    assert main(["evaluate", "--qrels", "j.qrels", "--run", "r.run", "--measure", "P@5", "--measure", "ERR_IA@5"]) == 2
    assert "ERR_IA@5 need judgments by subtopic, and P@5 one grade a document" in capsys.readouterr().err
