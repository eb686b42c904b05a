"""Scores, rankings and comparisons as data frames, and the short report of a notebook."""

import html
import importlib
import math
import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import harness.api.frames
from builders.extension_cases import needs_extension
from builders.suite_runs import make_suite_run
from harness.api import Relevance, evaluate, evaluate_frames
from harness.errors import MeasureError, UsageError
from harness.model.report import QueryReport, RankedDocument
from harness.model.run import Failure, FailureKind, Hit, Ranking
from harness.report.html.notebook import THRESHOLDS, render_run_summary

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
GOOD = Ranking((Hit("a", 2.5), Hit("x", 1.0)))
BAD = Ranking((Hit("x", 3.0), Hit("y", 2.0), Hit("a", 1.0)))
EMPTY = Ranking(())
GONE = Failure(FailureKind.ERROR, "gone", 500)
RESPONSES = {"q": GOOD, "r": BAD, "empty": EMPTY, "gone": GONE}


@pytest.fixture(params=["pandas", "polars"])
def package(request):
    pytest.importorskip(request.param)
    return request.param


def rows_of(frame):
    """The rows of a frame as dictionaries, None where a value is missing."""
    if hasattr(frame, "to_dicts"):
        return frame.to_dicts()
    rows = frame.to_dict("records")
    missing = importlib.import_module("pandas").NA
    for row in rows:
        for name, value in row.items():
            if value is missing or (isinstance(value, float) and math.isnan(value)):
                row[name] = None
    return rows


def test_scores_have_a_row_for_each_query_and_a_column_for_each_measure(package):
    frame = make_suite_run(RESPONSES).to_frame(package=package)
    assert type(frame).__module__.partition(".")[0] == package
    assert list(frame.columns) == ["query", "text", "tags", "P@1"]
    assert rows_of(frame) == [
        {"query": "q", "text": "q", "tags": [], "P@1": 1.0},
        {"query": "r", "text": "r", "tags": [], "P@1": 0.0},
        {"query": "empty", "text": "empty", "tags": [], "P@1": 0.0},
        {"query": "gone", "text": "gone", "tags": [], "P@1": None},
    ]


def test_other_measures_may_be_named(package):
    frame = make_suite_run({"q": GOOD, "r": BAD}).to_frame(measures=["RR", "P@2"], package=package)
    assert [(row["RR"], row["P@2"]) for row in rows_of(frame)] == [(1.0, 0.5), (pytest.approx(1 / 3), 0.0)]
    with pytest.raises(MeasureError):
        make_suite_run({"q": GOOD}).to_frame(measures=["nonsense"])
    with pytest.raises(UsageError, match="measures is the text 'P@1', expected a sequence of measures"):
        make_suite_run({"q": GOOD}).to_frame(measures="P@1")


def test_rankings_have_a_row_for_each_hit(package):
    run = make_suite_run(RESPONSES)
    rows = rows_of(run.to_frame("rankings", package=package))
    assert [(row["query"], row["rank"], row["document"], row["score"]) for row in rows] == [
        ("q", 1, "a", 2.5), ("q", 2, "x", 1.0), ("r", 1, "x", 3.0), ("r", 2, "y", 2.0), ("r", 3, "a", 1.0),
    ]  # fmt: skip
    assert [(row["grade"], row["gain"], row["title"]) for row in rows[:2]] == [(1.0, 1.0, None), (None, None, None)]


def test_rankings_of_a_run_can_be_scored_again(package):
    pytest.importorskip("numpy")
    frame = importlib.import_module(package).DataFrame
    rankings = make_suite_run({"q": GOOD, "r": BAD}).to_frame("rankings", package=package)
    judgments = frame({"query": ["q", "r"], "document": ["a", "a"], "grade": [1, 1]})
    assert evaluate_frames(rankings, judgments, measures=["RR"])["RR"] == {"q": 1.0, "r": pytest.approx(1 / 3)}


def test_an_evaluation_has_the_same_columns(package):
    evaluation = evaluate({"q": ["a", "x"]}, {"q": {"a": 3}, "lost": {"a": 1}}, measures=["RR", "P@2"])
    assert rows_of(evaluation.to_frame(package=package)) == [
        {"query": "q", "text": "q", "tags": [], "RR": 1.0, "P@2": 0.5},
        {"query": "lost", "text": "lost", "tags": [], "RR": None, "P@2": None},
    ]
    rows = rows_of(evaluation.to_frame("rankings", package=package))
    assert [list(row.values()) for row in rows] == [
        ["q", 1, "a", None, 3.0, 7.0, None],
        ["q", 2, "x", None, None, None, None],
    ]


def test_half_of_a_character_is_escaped(package):
    evaluation = evaluate({"q\ud800": ["a\udc80", "é"]}, {"q\ud800": {"é": 1}}, measures=["RR"])
    rows = rows_of(evaluation.to_frame("rankings", package=package))
    assert [(row["query"], row["document"]) for row in rows] == [("q\\ud800", "a\\udc80"), ("q\\ud800", "é")]
    assert rows_of(evaluation.to_frame(package=package))[0]["text"] == "q\\ud800"


@pytest.mark.parametrize("content", ["scores", "rankings"])
def test_a_column_has_its_type_though_it_has_no_value(package, content):
    full = make_suite_run({"q": GOOD}).to_frame(content, package=package)
    blank = make_suite_run({"q": GONE}).to_frame(content, package=package)
    assert list(full.dtypes) == list(blank.dtypes)


@needs_extension("compare")
def test_comparisons_have_both_scores_and_both_ranks(package):
    pytest.importorskip("numpy")
    compared = Relevance().compare(make_suite_run({"q": GOOD, "r": BAD}), make_suite_run({"q": BAD, "r": GONE}))
    [q, r] = sorted(rows_of(compared.to_frame(package=package)), key=lambda row: row["query"])
    assert (q["P@1_reference"], q["P@1_candidate"], q["P@1_difference"]) == (1.0, 0.0, -1.0)
    assert (r["P@1_reference"], r["P@1_candidate"], r["P@1_difference"]) == (0.0, None, None)
    assert (q["rbo"] < 1, r["rbo"]) == (True, None)
    rows = rows_of(compared.to_frame("rankings", package=package))
    ranks = [(row["document"], row["rank_reference"], row["rank_candidate"]) for row in rows if row["query"] == "q"]
    assert ranks == [("x", 2, 1), ("y", None, 2), ("a", 1, 3)]


def test_the_package_that_is_installed_is_taken(monkeypatch):
    monkeypatch.setattr(harness.api.frames, "PACKAGES", ("no_such_package", "polars"))
    polars = pytest.importorskip("polars")
    assert isinstance(make_suite_run({"q": GOOD}).to_frame(), polars.DataFrame)


@pytest.mark.parametrize(
    ("package", "sentence"),
    [
        (
            None,
            "a data frame needs the package pandas or polars: pip install 'relevance-harness[pandas]' or",
        ),
        ("polars", "a data frame needs the package polars: pip install 'relevance-harness[polars]'"),
        ("pandas", "a data frame needs the package pandas: pip install 'relevance-harness[pandas]'"),
    ],
)
def test_a_package_that_is_not_installed_is_an_error_with_its_extra(monkeypatch, package, sentence):
    def refuse_import(name):
        raise ImportError(name)

    monkeypatch.setattr(harness.api.frames, "import_module", refuse_import)
    for run in (make_suite_run({"q": GOOD}), evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=["RR"])):
        with pytest.raises(UsageError, match=re.escape(sentence)):
            run.to_frame(package=package)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"content": "score"}, "content is the text 'score', expected scores or rankings"),
        ({"content": None}, "content is None, expected scores or rankings"),
        ({"package": "numpy"}, "package is the text 'numpy', expected pandas or polars, or None"),
        ({"package": 5}, "package is 5, expected pandas or polars, or None"),
        ({"content": "rankings", "measures": ["RR"]}, "measures are columns of the scores, and content is 'rankings'"),
    ],
)
def test_what_is_no_argument_of_a_frame_is_refused(arguments, sentence):
    with pytest.raises(UsageError, match=re.escape(sentence)):
        make_suite_run({"q": GOOD}).to_frame(**arguments)


# ---------------------------------------------------------------------------------------------------- one query


def test_a_query_is_found_by_its_id():
    run = make_suite_run(RESPONSES)
    query = run.query("r")
    assert (query.id, query.scores, [document.id for document in query.ranking]) == ("r", {"P@1": 0.0}, ["x", "y", "a"])
    assert run.query("gone").reason
    with pytest.raises(UsageError, match="there is no query 'emty'; did you mean 'empty'"):
        run.query("emty")
    with pytest.raises(UsageError, match="query is 5, expected a text"):
        run.query(5)


@pytest.mark.parametrize(("heading", "documented"), [("A query has", QueryReport), ("A hit has", RankedDocument)])
def test_the_page_names_attributes_that_exist(heading, documented):
    table = PAGE.partition(heading)[2].partition("\n\n")[2].partition("\n\n")[0]
    names = re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines()[2:]))
    assert len(names) > 4
    assert set(names) <= {field.name for field in fields(documented)}


# ---------------------------------------------------------------------------------------------------- a notebook

HOSTILE = '<script>alert("1")</script>\x1b[31m'


class Tags(HTMLParser):
    """Collects the names of the elements of a page and their texts."""

    def __init__(self, page):
        super().__init__()
        self.names, self.texts = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_a_notebook_shows_facts_thresholds_and_measures():
    page = Tags(make_suite_run({"q": GOOD, "r": BAD}, "mean P@1 >= 0.9")._repr_html_())
    assert page.names == {"div", "p", "span", "bdi", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th", "td"}
    texts = [text.strip() for text in page.texts if text.strip()]
    for expected in ("s", "Engine", "Request", "failed", "mean P@1 >= 0.9", "0.5000", "P@1", "Median"):
        assert expected in texts


def test_a_notebook_shows_names_and_reasons_as_texts():
    run = make_suite_run({HOSTILE: Ranking((Hit(HOSTILE),))}, "every P@1 >= 1")
    verdict = replace(run.verdicts[0], reason=f"the document {HOSTILE} is not there", query=HOSTILE)
    report = replace(run.report, name=HOSTILE, request=HOSTILE, index=HOSTILE, cluster=HOSTILE, verdicts=(verdict,))
    page = render_run_summary(report)
    assert "script" not in Tags(page).names
    assert "\x1b" not in page
    assert page.count(html.escape("<script>alert(")) >= 5


def test_a_notebook_shows_no_more_than_some_thresholds():
    run = make_suite_run({"q": GOOD}, *[f"mean P@1 >= 0.{number:03}" for number in range(THRESHOLDS + 5)])
    page = run._repr_html_()
    assert page.count("mean P@1 &gt;= 0.") == THRESHOLDS
    assert "5 more thresholds" in page


def test_a_notebook_says_that_nothing_answered():
    page = make_suite_run({"q": GONE}, "mean P@1 >= 0.5")._repr_html_()
    assert "no query has an answer" in page


@needs_extension("compare")
def test_a_notebook_shows_both_sides_of_a_comparison():
    pytest.importorskip("scipy")
    reference, candidate = make_suite_run({"q": GOOD, "r": GOOD}), make_suite_run({"q": BAD, "r": BAD})
    page = Relevance().compare(reference, candidate)._repr_html_()
    assert {"Reference", "Candidate", "P@1", "-1.0000"} <= {text.strip() for text in Tags(page).texts}
