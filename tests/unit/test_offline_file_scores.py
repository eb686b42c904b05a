"""Which files are scored as columns, which as dicts, and that what is wrong is told all the same."""

import pytest

pytest.importorskip("zstandard")

import gzip
import os
from threading import Thread

import zstandard

from harness.errors import FormatError, MeasureError
from harness.files.runs import FileScorer, read_measures, read_run
from harness.metrics import parse_measure
from harness.model.suite import Gain, GainKind, Profile

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\nq3 0 d9 1\n"
RUN = "q1 Q0 d2 1 2.5 t\nq1 Q0 d1 2 1.5 t\nq2 Q0 x 1 3 t\nq2 Q0 d1 2 3 t\nq4 Q0 d1 1 1 t\n"
PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


@pytest.fixture
def scorer(tmp_path, monkeypatch):
    """A scorer of two TREC files, and the run to score."""
    monkeypatch.setattr("harness.files.runs.LARGE", 0)

    def make(qrels=QRELS, run=RUN, measures=("RR",), packed="", profile=Profile.TREC, gain=None, complete=False):
        paths = tmp_path / f"any.qrels{packed}", tmp_path / f"any.run{packed}"
        for path, text in zip(paths, (qrels, run), strict=True):
            path.write_bytes(PACK[packed](text.encode("utf-8", "surrogateescape")))
        return FileScorer(paths[0], list(read_measures(measures).values()), gain, profile, complete), paths[1]

    return make


@pytest.fixture
def read_by_line(monkeypatch):
    """The runs that were read into dicts, line by line; what is scored as columns is not among them."""
    paths = []

    def read(path):
        paths.append(path)
        return read_run(path)

    monkeypatch.setattr("harness.files.runs.read_run", read)
    return paths


def score_as_dicts(files, run, monkeypatch):
    """The scores of a run as those of a small one."""
    monkeypatch.setattr("harness.files.runs.LARGE", run.stat().st_size + 1)
    return files.score(run)


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("lines", [RUN, RUN.replace(" ", "\t"), RUN.replace("\n", "\r\n"), RUN.replace(" ", "   ")])
def test_large_trec_files_are_scored_as_columns(scorer, packed, lines, read_by_line, monkeypatch):
    files, run = scorer(run=lines, packed=packed)
    evaluation = files.score(run)
    assert read_by_line == []
    assert evaluation.scores == {"RR": {"q1": 0.5, "q2": 0.5}}  # x before d1: equal scores, by id from the last
    assert (evaluation.missing, evaluation.unjudged) == (("q3",), ("q4",))
    assert evaluation == score_as_dicts(files, run, monkeypatch)
    assert read_by_line == [run]


def test_equal_scores_stand_as_they_come_in_every_other_profile(scorer):
    files, run = scorer(run="q2 Q0 d1 1 3 t\nq2 Q0 x 2 3 t\n", profile=Profile.STANDARD)
    assert files.score(run).scores == {"RR": {"q2": 1.0}}


def test_missing_queries_come_last_where_asked_for(scorer):
    files, run = scorer(complete=True)
    assert list(files.score(run).scores["RR"].items()) == [("q1", 0.5), ("q2", 0.5), ("q3", 0.0)]


def test_a_run_of_comments_scores_nothing(scorer, monkeypatch):
    files, run = scorer(run="# nothing\n")
    assert files.score(run).scores == score_as_dicts(files, run, monkeypatch).scores == {"RR": {}}


@pytest.mark.parametrize(
    "given",
    [
        {"measures": ["Compat"]},
        {"profile": Profile.RRE},
        {"run": "q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"},
        {"run": "q1 Q0 d1 1 2 t\nq1 Q0 a\x01b 2 1 t\n"},
    ],
    ids=[
        "a measure without a batch formula",
        "a profile's own formula",
        "a query in two places",
        "a control character",
    ],
)
def test_what_columns_do_not_take_is_scored_as_dicts(scorer, given, read_by_line, monkeypatch):
    files, run = scorer(**{"measures": ["nDCG@10"], **given})
    evaluation = files.score(run)
    assert read_by_line == [run]
    assert evaluation == score_as_dicts(files, run, monkeypatch)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"run": RUN + "q4 Q0 d1 2 0 t\n"}, r"any.run:6:1: document 'd1' comes twice for query 'q4', first in line 5"),
        ({"run": RUN + "q4 Q0 d2 2 nan t\n"}, r"any.run:6:1: the score of document 'd2' for query 'q4' is NaN"),
        ({"run": RUN + "q4 Q0 d2 2 0x1 t\n"}, r"any.run:6:1: found '0x1' as the score"),
        ({"run": RUN + "q4 Q0 d2 2 1\n"}, r"any.run:6:1: found 5 columns"),
        ({"run": RUN + "q4 Q0 d\udcff 2 1 t\n"}, r"any.run:6:8: byte 0xff is not UTF-8"),
        ({"run": RUN + "q4 Q0 d\0 2 1 t\n"}, r"any.run:6:8: found a NUL byte"),
        ({"run": RUN.replace("\n", "\r")}, r"any.run:1:17: found the character U\+000D; expected blanks"),
        ({"run": "# by a\rq1 Q0 d2 1 2.5 t\n"}, r"any.run:1:7: found the character U\+000D"),
        ({"run": RUN.replace("t\nq4", "t\fq4")}, r"any.run:4:15: found the character U\+000C"),
        ({"run": RUN.replace("t\nq4", "t\vq4")}, r"any.run:4:15: found the character U\+000B"),
        ({"qrels": QRELS.replace("q2 0", "q2\v0")}, r"any.qrels:3:3: found the character U\+000B"),
        ({"qrels": QRELS + "q1 0 d2 1\n"}, r"any.qrels:5:1: document 'd2' is judged twice .* first in line 2"),
        ({"qrels": QRELS + "q1 0 d7 inf\n"}, r"any.qrels:5:1: the grade of document 'd7' .* is inf"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(scorer, given, told):
    files, run = scorer(**given)
    with pytest.raises(FormatError, match=told):
        files.score(run)


@pytest.mark.parametrize(
    ("grade", "measure", "told"),
    [
        ("1e300", "nDCG@10", r"any\.qrels:5:1: the exponential gain of grade 1e\+300 is too large"),
        ("9", "nDCG(gain={0: 0, 1: 1, 2: 2})@10", r"any\.qrels:5:1: grade 9 has no gain"),
        ("9", "ERR(max=4)@10", r"any\.qrels:5:1: grade 9 is above the top grade 4 of ERR"),
    ],
)
def test_a_grade_that_a_measure_does_not_take_is_told_with_its_line(scorer, grade, measure, told):
    files, run = scorer(qrels=QRELS + f"q1 0 d7 {grade}\n", measures=[measure], profile=Profile.STANDARD)
    with pytest.raises(MeasureError, match=told):
        files.score(run)


def test_a_pipe_of_judgments_is_not_read_again_for_the_line(tmp_path):
    os.mkfifo(tmp_path / "any.qrels")
    (tmp_path / "any.run").write_text(RUN)
    Thread(target=lambda: (tmp_path / "any.qrels").write_text(QRELS), daemon=True).start()
    gain = Gain(GainKind.MAP, ((0.0, 0.0), (1.0, 1.0)))
    files = FileScorer(tmp_path / "any.qrels", [parse_measure("DCG@10")], gain, Profile.STANDARD)
    with pytest.raises(MeasureError, match=r"any\.qrels: grade 2 has no gain"):
        files.score(tmp_path / "any.run")


def test_a_file_that_is_wrong_is_told_before_a_grade_without_a_gain(scorer):
    gain = Gain(GainKind.MAP, ((0.0, 0.0), (1.0, 1.0)))
    files, run = scorer(measures=["nDCG@10"], gain=gain)
    with pytest.raises(MeasureError, match="grade 2 has no gain"):
        files.score(run)
    files, run = scorer(run=RUN + "q4\n", measures=["nDCG@10"], gain=gain)
    with pytest.raises(FormatError, match="found 1 column"):
        files.score(run)
