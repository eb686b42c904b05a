"""Many queries: which of them are in a mean, and by which door they come in."""

import pytest

pytest.importorskip("numpy")

import doctest
import re
import sys
from importlib import import_module
from math import inf, nan

import numpy as np

import harness.api.arrays
from harness.api import evaluate_arrays, evaluate_frames
from harness.errors import MeasureError, UsageError
from harness.metrics import parse_measure, score_query
from harness.metrics.bulk import CodedJudgments, CodedRun, batches_of_codes, score_batches
from harness.metrics.evaluate import evaluate
from harness.model.suite import Gain, GainKind, Profile

NDCG, AP, RR, JUDGED, COUNT = (parse_measure(text) for text in ("nDCG@10", "AP", "RR", "Judged@10", "NumRel"))
TREC = Profile.TREC

SOME_JUDGMENTS = {"both": {"a": 1}, "missing": {"a": 1, "b": 1}, "nothing relevant": {"a": 0}}
SOME_RANKINGS = {"both": ["a"], "nothing relevant": ["a"], "unjudged": ["a"]}

ARRAY_TEXTS = ("nDCG@2", "AP", "RR", "Judged@2", "NumRet", "infAP")
ARRAY_MEASURES = list(map(parse_measure, ARRAY_TEXTS))
CODED_RANKINGS = {"q0": ["a", "x", "b"], "q1": [], "q2": ["x", "y"], "q3": ["c", "a"]}
CODED_JUDGMENTS = {"q0": {"a": 1, "b": 3, "c": 2}, "q1": {"a": 1}, "q2": {}, "q3": {"a": 2, "c": -1}}

FRAME_JUDGMENTS = {"query": ["q1", "q1", "q2"], "document": ["a", "b", "a"], "grade": [3, 1, 1]}
FRAME_RUN = {"query": ["q1", "q2", "q1"], "document": ["b", "x", "a"], "score": [1.0, 5.0, 2.0]}


def evaluate_codes(run, judgments, queries, measures):
    return score_batches(batches_of_codes(run, judgments, queries), measures)


@pytest.fixture(params=[0, 10**9], ids=["at once", "one by one"], autouse=True)
def path(request, monkeypatch):
    """Every test takes both paths."""
    monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", request.param)


class TestWhichQueriesCount:
    def test_trec_scores_the_queries_of_both_files(self):
        result = evaluate(SOME_RANKINGS, SOME_JUDGMENTS, [AP, COUNT], profile=TREC)
        assert result.scores["AP"] == {"both": 1, "nothing relevant": 0}
        assert result.mean("AP") == 0.5
        assert (result.missing, result.unjudged) == (("missing",), ("unjudged",))

    def test_complete_counts_a_missing_query_as_0(self):
        result = evaluate(SOME_RANKINGS, SOME_JUDGMENTS, [AP, COUNT], profile=TREC, complete=True)
        assert result.scores["AP"] == {"both": 1, "nothing relevant": 0, "missing": 0}
        assert result.mean("AP") == pytest.approx(1 / 3)
        assert result.sum("NumRel") == 3

    def test_standard_keeps_undefined_apart_from_0(self):
        result = evaluate(SOME_RANKINGS, SOME_JUDGMENTS, [AP, JUDGED])
        assert result.scores["AP"] == {"both": 1, "nothing relevant": None, "unjudged": None}
        assert result.scores["Judged@10"] == {"both": 1, "nothing relevant": 1, "unjudged": 0}
        assert result.mean("AP") == 1

    def test_a_mean_over_no_query_is_none(self):
        assert evaluate({"other": ["a"]}, {"q": {"a": 1}}, [AP], profile=TREC).mean("AP") is None
        assert evaluate({}, {}, [AP]).mean("AP") is None
        assert evaluate({"q": ["a"]}, {"q": {"a": 0}}, [AP]).mean("AP") is None

    def test_counts_are_summed(self):
        result = evaluate(SOME_RANKINGS, SOME_JUDGMENTS, [AP, COUNT, parse_measure("NumRet")])
        assert result.summed == {"NumRel", "NumRet"}
        assert result.sum("NumRet") == 3

    def test_zero_hits_is_0(self):
        assert evaluate({"q": []}, {"q": {"a": 1}}, [NDCG]).scores["nDCG@10"] == {"q": 0}

    def test_a_query_with_no_judgments_of_its_own_is_unjudged(self):
        assert evaluate({"q": ["a"]}, {"q": {}}, [AP], profile=TREC, complete=True).scores["AP"] == {}


class TestOrder:
    def test_trec_orders_by_score(self):
        result = evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, [AP], profile=TREC, scores={"q": [1.0, inf]})
        assert result.scores["AP"] == {"q": 1}

    def test_standard_does_not(self):
        result = evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, [AP], scores={"q": [1.0, inf]})
        assert result.scores["AP"] == {"q": 0.5}

    def test_a_wrong_score_names_its_query(self):
        with pytest.raises(UsageError, match="query 'q': the score of document 'b' is not a number"):
            evaluate({"q": ["a", "b"]}, {"q": {"b": 1}}, [AP], profile=TREC, scores={"q": [1.0, nan]})


def test_a_grade_that_is_no_number_names_its_document():
    with pytest.raises(UsageError, match="the grade of document 'b' is inf, and must be a finite number"):
        evaluate({"q": ["a"]}, {"q": {"a": 1, "b": inf}}, [AP])


@pytest.mark.parametrize("text", ["nDCG@1", "DCG@1", "CG@1"])
def test_a_map_must_hold_every_grade_in_use(text):
    gain = Gain(GainKind.MAP, ((0, 0), (1, 1)))
    with pytest.raises(MeasureError, match="grade 2 has no gain"):
        evaluate({"q": ["a"]}, {"q": {"a": 1, "b": 2}}, [parse_measure(text)], gain=gain)
    assert evaluate({"q": ["a"]}, {"q": {"a": 1, "b": 0}}, [parse_measure(text)], gain=gain).mean(text) == 1


def test_a_map_need_not_hold_grades_between_those_in_use():
    gain = Gain(GainKind.MAP, ((0, 0), (3, 1)))
    assert evaluate({"q": ["a"]}, {"q": {"a": 3, "b": 0}}, [NDCG], gain=gain).mean("nDCG@10") == 1


def test_very_many_grades():
    judgments = {"q": {f"d{number}": number / 7 for number in range(2000)}}
    ranking = sorted(judgments["q"])
    for text in ("nDCG(gain=linear)@50", "nDCG@3", "DCG(gain=linear)"):
        measure = parse_measure(text)
        one = [score_query(measure, ranking, judgments["q"])]
        assert list(evaluate({"q": ranking}, judgments, [measure]).scores[text].values()) == pytest.approx(
            one, rel=1e-12
        )


class TestArrays:
    def expected(self):
        scores = evaluate(CODED_RANKINGS, CODED_JUDGMENTS, ARRAY_MEASURES).scores
        return {text: [nan if value is None else value for value in values.values()] for text, values in scores.items()}

    def assert_expected(self, scores):
        assert {text: values.tolist() for text, values in scores.items()} == {
            text: pytest.approx(values, nan_ok=True) for text, values in self.expected().items()
        }

    def csr(self, unjudged, dtype):
        rows = [[CODED_JUDGMENTS[query].get(each, unjudged) for each in ids] for query, ids in CODED_RANKINGS.items()]
        judged = [list(CODED_JUDGMENTS[query].values()) for query in CODED_RANKINGS]
        return (*self.flat(rows, dtype), *self.flat(judged, np.int8))

    @staticmethod
    def flat(rows, dtype):
        offsets = np.cumsum([0, *map(len, rows)])
        return offsets, np.array([value for row in rows for value in row], dtype)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_grades_with_nan_for_unjudged(self, dtype):
        self.assert_expected(evaluate_arrays(*self.csr(nan, dtype), measures=ARRAY_TEXTS))

    def test_the_results_have_the_measures_as_they_are_written(self):
        written = ["RBP( p=0.8 , max=3 )@3", "nDCG@2"]
        assert list(evaluate_arrays(*self.csr(nan, np.float64), measures=written)) == written

    def test_small_integers_with_a_mask(self):
        arrays = self.csr(-128, np.int8)
        self.assert_expected(evaluate_arrays(*arrays, measures=ARRAY_TEXTS, judged=arrays[1] != -128))

    @pytest.mark.parametrize("shuffled", [False, True])
    @pytest.mark.parametrize("at_once", [1, 2, 100])
    def test_codes(self, shuffled, at_once, monkeypatch):
        monkeypatch.setattr("harness.metrics.bulk.arrays._QUERIES_AT_ONCE", at_once)
        code = {document: number for number, document in enumerate("abcxy")}
        hits = [(number, code[each]) for number, ids in enumerate(CODED_RANKINGS.values()) for each in ids]
        judged = [
            (number, code[document], grade)
            for number, judgments in enumerate(CODED_JUDGMENTS.values())
            for document, grade in judgments.items()
        ]
        judged = judged[::-1] if shuffled else judged
        run = CodedRun(*np.array(hits, np.int32).T)
        judgments = CodedJudgments(*np.array(judged, np.int32).T)
        self.assert_expected(evaluate_codes(run, judgments, 4, ARRAY_MEASURES))

    def test_nothing_at_all(self):
        empty = np.zeros(0, np.int32)
        assert evaluate_codes(CodedRun(empty, empty), CodedJudgments(empty, empty, empty), 0, [AP])["AP"].tolist() == []
        scores = evaluate_codes(CodedRun(empty, empty), CodedJudgments(empty, empty, empty), 2, [AP])["AP"]
        assert np.isnan(scores).tolist() == [True, True]

    @pytest.mark.parametrize(
        ("run", "judgments", "message"),
        [
            (([1, 0], [0, 1]), ([0], [0], [1]), "the run must be grouped by query"),
            (([0, 0], [1, 1]), ([0], [0], [1]), "a document has more than one hit in the same query"),
            (([0], [1]), ([0, 0], [1, 1], [1, 2]), "a document has more than one judgment in the same query"),
            (
                ([0], [1]),
                ([2], [1], [1]),
                "a code in the judgments is below 0, or a query's is not below the 2 queries",
            ),
            (([-1], [1]), ([0], [1], [1]), "a code in the run is below 0"),
            (([0], [1, 2]), ([0], [1], [1]), "the columns of the run differ in length: 1, 2"),
        ],
    )
    def test_codes_that_do_not_fit(self, run, judgments, message):
        with pytest.raises(UsageError, match=message):
            evaluate_codes(CodedRun(*map(np.array, run)), CodedJudgments(*map(np.array, judgments)), 2, [AP])

    @pytest.mark.parametrize(
        ("offsets", "judged_offsets", "message"),
        [
            ([0, 1], [0, 1], r"the offsets of the hits must rise from 0 to 2"),
            ([0, 2, 1, 2], [0, 1], "the offsets of the hits must rise"),
            ([], [0, 1], "the offsets of the hits must rise"),
            ([0, 2], [0, 0, 1], "there are hits of 1 queries and judgments of 2"),
        ],
    )
    def test_offsets_that_do_not_fit(self, offsets, judged_offsets, message):
        arrays = np.array(offsets), np.array([1.0, nan]), np.array(judged_offsets), np.array([1])
        with pytest.raises(UsageError, match=message):
            evaluate_arrays(*arrays, measures=["AP"])

    def test_a_mask_that_does_not_fit(self):
        with pytest.raises(UsageError, match="there are 1 grades and 2 marks of which are judged"):
            evaluate_arrays(
                np.array([0, 1]),
                np.array([1]),
                np.array([0, 0]),
                np.array([]),
                measures=["AP"],
                judged=np.array([True, False]),
            )

    def test_a_judgment_that_is_not_finite(self):
        with pytest.raises(UsageError, match="a grade is not a finite number"):
            evaluate_arrays(np.array([0, 1]), np.array([1.0]), np.array([0, 1]), np.array([inf]), measures=["AP"])

    def test_a_measure_that_needs_ids(self):
        with pytest.raises(MeasureError, match=r"Compat is computed from ids, query by query"):
            evaluate_arrays(np.array([0]), np.array([]), np.array([0]), np.array([]), measures=["Compat"])

    def test_the_gain_and_the_profile_are_those_that_were_given(self):
        arrays = [0, 2], [nan, 2], [0, 1], [2]
        assert evaluate_arrays(*arrays, measures=["CG"], gain={2: 5})["CG"].tolist() == [5.0]
        assert evaluate_arrays(*arrays, measures=["CG"], profile="trec")["CG"].tolist() == [2.0]
        assert evaluate_arrays([0, 1], [0], [0, 1], [0], measures=["AP"], profile="trec")["AP"].tolist() == [0.0]

    def test_how_many_judgments_there_are_does_not_limit_the_codes(self):
        many = np.arange(2**12)
        judgments = CodedJudgments(many[::-1], many, np.ones(len(many), np.int8))
        run = CodedRun(np.array([0]), np.array([2**31]))
        assert np.isfinite(evaluate_codes(run, judgments, 2**20, [AP])["AP"]).sum() == len(many)

    def test_codes_too_large_for_one_integer(self):
        run = CodedRun(np.array([0]), np.array([2**62]))
        with pytest.raises(UsageError, match="too many queries and documents"):
            evaluate_codes(run, CodedJudgments(np.array([0]), np.array([0]), np.array([1])), 100, [AP])


@pytest.fixture(params=["pandas", "polars"])
def library(request):
    """Imported here, as each process that collects would import both for a second and more."""
    return import_module(request.param)


class TestFrames:
    @pytest.mark.parametrize("profile", ["standard", "trec", "quepid"])
    def test_scores_are_those_of_dicts(self, library, profile):
        rows = [(query, each) for query, ids in CODED_RANKINGS.items() for each in ids]
        grades = [
            (query, each, grade) for query, of_query in CODED_JUDGMENTS.items() for each, grade in of_query.items()
        ]
        run = library.DataFrame(dict(zip(("query", "document"), zip(*rows, strict=True), strict=True)))
        run = (
            run.assign(score=range(len(rows), 0, -1))
            if library.__name__ == "pandas"
            else run.with_columns(library.Series("score", range(len(rows), 0, -1)))
        )
        judgments = library.DataFrame(dict(zip(("query", "document", "grade"), zip(*grades, strict=True), strict=True)))
        expected = evaluate(CODED_RANKINGS, CODED_JUDGMENTS, ARRAY_MEASURES, profile=Profile(profile)).scores
        found = evaluate_frames(run, judgments, measures=ARRAY_TEXTS, profile=profile)
        for text in ARRAY_TEXTS:
            assert found[text].pop("q1") is None, "which the run does not hold"
            of_run = {query: value for query, value in expected[text].items() if query != "q1"}
            assert found[text] == {query: pytest.approx(of_run.get(query)) for query in ("q0", "q2", "q3")}

    def test_the_highest_score_comes_first(self, library):
        found = evaluate_frames(library.DataFrame(FRAME_RUN), library.DataFrame(FRAME_JUDGMENTS), measures=["nDCG@10"])
        assert found == {"nDCG@10": {"q1": 1.0, "q2": 0.0}}

    @pytest.mark.parametrize(("profile", "score"), [("standard", 0.5), ("trec", 1.0)])
    def test_equal_scores_stand_as_they_come_and_by_id_under_trec(self, library, profile, score):
        run = library.DataFrame({"query": ["q"] * 3, "document": ["a", "ü", "b"], "score": [1.0, 1.0, 0.5]})
        judgments = library.DataFrame({"query": ["q"], "document": ["ü"], "grade": [1]})
        assert evaluate_frames(run, judgments, measures=["RR"], profile=profile)["RR"] == {"q": score}

    def test_without_scores_the_rows_are_the_ranking(self, library):
        run = library.DataFrame({name: FRAME_RUN[name] for name in ("query", "document")})
        assert evaluate_frames(run, library.DataFrame(FRAME_JUDGMENTS), measures=["nDCG@10"])["nDCG@10"]["q1"] < 1

    @pytest.mark.parametrize("profile", [Profile.STANDARD, Profile.TREC])
    def test_without_scores_the_rows_are_the_ranking_under_every_profile(self, library, profile):
        run = library.DataFrame({"query": ["q", "q"], "document": ["a", "b"]})
        judgments = library.DataFrame({"query": ["q"], "document": ["a"], "grade": [1]})
        found = evaluate_frames(run, judgments, measures=["RR"], profile=profile)
        assert (
            found["RR"]
            == evaluate({"q": ["a", "b"]}, {"q": {"a": 1}}, [RR], profile=profile).scores["RR"]
            == {"q": 1.0}
        )

    @pytest.mark.parametrize("name", ["skore", "score"])
    def test_a_named_column_of_scores_that_is_not_there(self, library, name):
        run = library.DataFrame({"query": ["q"], "document": ["a"]})
        with pytest.raises(UsageError, match=f"the frame of the run has no column '{name}'; it has 'query'"):
            evaluate_frames(run, library.DataFrame(FRAME_JUDGMENTS), measures=["RR"], score=name)

    def test_a_query_that_only_one_frame_has_is_there(self, library):
        run = library.DataFrame({"query": ["q1", "q3"], "document": ["a", "a"]})
        found = {
            profile: evaluate_frames(
                run, library.DataFrame(FRAME_JUDGMENTS), measures=["AP", "Judged@1"], profile=profile
            )
            for profile in ("standard", "trec")
        }
        assert found["standard"]["AP"] == {"q1": 0.5, "q3": None, "q2": None}
        assert found["standard"]["Judged@1"] == {"q1": 1.0, "q3": 0.0, "q2": None}
        assert found["trec"]["AP"] == {"q1": 0.5, "q3": None, "q2": None}

    def test_columns_of_other_names_and_ids_that_are_numbers(self, library):
        judgments = library.DataFrame({"qid": [1, 1], "docno": [10, 11], "label": [3, 1]})
        run = library.DataFrame({"qid": [1, 1], "docno": [11, 10], "sim": [1.0, 2.0]})
        names = {"query": "qid", "document": "docno", "grade": "label", "score": "sim"}
        assert evaluate_frames(run, judgments, measures=["nDCG@10"], **names) == {"nDCG@10": {"1": 1.0}}

    def test_ids_that_are_floating_point_numbers(self, library):
        run = library.DataFrame({"query": ["q"], "document": [1.0]})
        with pytest.raises(UsageError, match="the column 'document' of the run has floating-point numbers, expected"):
            evaluate_frames(run, library.DataFrame(FRAME_JUDGMENTS), measures=["RR"])

    def test_a_column_that_is_not_there(self, library):
        with pytest.raises(UsageError, match="the frame of the run has no column 'document'; it has 'query'"):
            evaluate_frames(
                library.DataFrame({"query": ["q1"]}), library.DataFrame(FRAME_JUDGMENTS), measures=["nDCG@10"]
            )

    @pytest.mark.parametrize("other", [None, {"query": ["q"]}, [("q", "a")], 3])
    def test_what_is_no_frame(self, library, other):
        frame = library.DataFrame(FRAME_JUDGMENTS)
        for frames, name in (((other, frame), "run"), ((frame, other), "judgments")):
            with pytest.raises(UsageError, match=f"{name} is .*, expected a data frame of pandas or polars"):
                evaluate_frames(*frames, measures=["RR"])

    def test_a_value_that_is_not_there(self, library):
        run = library.DataFrame({**FRAME_RUN, "score": [1.0, None, 2.0]})
        with pytest.raises(UsageError, match="the column 'score' of the run has empty values"):
            evaluate_frames(run, library.DataFrame(FRAME_JUDGMENTS), measures=["nDCG@10"])

    @pytest.mark.parametrize("value", ["good", str(10**400)[:-1] + "x"])
    def test_a_value_that_is_no_number(self, library, value):
        judgments = library.DataFrame({"query": ["q"], "document": ["a"], "grade": [value]})
        with pytest.raises(UsageError, match="the column 'grade' of the judgments has a value that is no number"):
            evaluate_frames(library.DataFrame(FRAME_RUN), judgments, measures=["nDCG@10"])

    def test_a_document_judged_twice(self, library):
        judgments = library.DataFrame({"query": ["p", "q", "q"], "document": ["a", "a", "a"], "grade": [1, 1, 2]})
        with pytest.raises(UsageError, match="document 'a' is judged twice for query 'q'"):
            evaluate_frames(library.DataFrame(FRAME_RUN), judgments, measures=["nDCG@10"])

    def test_a_document_returned_twice(self, library):
        run = library.DataFrame({"query": ["p", "q", "p"], "document": ["a", "a", "a"]})
        with pytest.raises(UsageError, match="document 'a' comes twice for query 'p'"):
            evaluate_frames(run, library.DataFrame(FRAME_JUDGMENTS), measures=["nDCG@10"])

    def test_a_measure_that_needs_ids(self, library):
        frames = library.DataFrame(FRAME_RUN), library.DataFrame(FRAME_JUDGMENTS)
        with pytest.raises(MeasureError, match=r"Compat is computed from ids, query by query, .*; use evaluate"):
            evaluate_frames(*frames, measures=["Compat"])

    def test_frames_without_a_row(self, library):
        nothing = library.DataFrame({name: [] for name in ("query", "document", "score", "grade")})
        assert evaluate_frames(nothing, nothing, measures=["AP"]) == {"AP": {}}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("offsets", [0.0, 1.5], "offsets is of type list, expected an array of whole numbers in one dimension"),
        ("grades", ["good"], "grades is of type list, expected an array of numbers in one dimension"),
        ("grades", [[1]], "expected an array of numbers in one dimension"),
        ("judged", [1], "judged is of type list, expected an array of truth values in one dimension"),
        ("measures", "AP", "measures is the text 'AP', expected"),
        ("profile", "trek", "found 'trek' as profile"),
    ],
)
def test_what_is_no_argument_of_evaluate_arrays_is_refused(name, value, expected):
    arrays = {"offsets": [0, 1], "grades": [1], "judged_offsets": [0, 1], "judged_grades": [1], "measures": ["AP"]}
    assert evaluate_arrays(**arrays)["AP"].tolist() == [1.0]
    with pytest.raises(UsageError, match=expected):
        evaluate_arrays(**{**arrays, name: value})


def test_the_example_of_evaluate_arrays_holds():
    assert doctest.testmod(harness.api.arrays) == (0, 1)


def test_arrays_and_frames_say_what_to_install_where_there_is_no_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(UsageError, match=r"need the package numpy: pip install 'relevance-harness\[arrays\]'"):
        evaluate_arrays([0], [], [0], [], measures=["AP"])


@pytest.mark.parametrize("numpy_from", [0, 10**9], ids=["at once", "one by one"])
@pytest.mark.parametrize(
    ("grade", "shown"), [(10**400, "too large"), ("3", "'3'"), (None, "None"), (nan, "nan"), (inf, "inf"), ([], "[]")]
)
def test_a_grade_that_is_no_finite_number_is_refused_on_every_path(grade, shown, numpy_from, monkeypatch):
    monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", numpy_from)
    judgments = {"p": {"a": 1.5}, "q": {"b": 1, "a": grade}}
    with pytest.raises(
        UsageError, match=rf"the grade of document 'a' is {re.escape(shown)}, and must be a finite number"
    ):
        evaluate({"p": ["a"], "q": ["a", "b"]}, judgments, [NDCG])


def test_a_frame_whose_rows_are_not_computed():
    import polars

    lazy = polars.LazyFrame(FRAME_RUN)
    with pytest.raises(
        UsageError, match=r"run is of type LazyFrame, whose rows are not computed; pass its collect\(\)"
    ):
        evaluate_frames(lazy, polars.DataFrame(FRAME_JUDGMENTS), measures=["RR"])


def test_a_frame_with_a_column_twice():
    import pandas

    judgments = pandas.DataFrame([["q", "a", 1, 2]], columns=["query", "document", "grade", "grade"])
    with pytest.raises(UsageError, match="the frame of the judgments has 2 columns 'grade', expected one"):
        evaluate_frames(pandas.DataFrame(FRAME_RUN), judgments, measures=["RR"])


@pytest.mark.parametrize("kind", ["uint8", "int32", "uint64"])
def test_offsets_of_every_type_of_whole_numbers(kind):
    offsets, judged = np.array([0, 2, 3], kind), np.array([0, 1, 2], kind)
    found = evaluate_arrays(offsets, [nan, 1, 0], judged, [1, 2], measures=["RR"])
    assert found["RR"].tolist() == [0.5, 0.0]
    with pytest.raises(UsageError, match="the offsets of the hits must rise from 0 to 3"):
        evaluate_arrays(np.array([0, 5, 3], kind), [nan, 1, 0], judged, [1, 2], measures=["RR"])


def test_a_number_in_a_frame_that_is_too_large():
    import pandas

    grades = pandas.Series([10**400], dtype=object)  # pandas before 3 would fail to find a type
    judgments = pandas.DataFrame({"query": ["q"], "document": ["a"], "grade": grades})
    with pytest.raises(
        UsageError, match="the column 'grade' of the judgments has a value that is no number, or one too"
    ):
        evaluate_frames(pandas.DataFrame(FRAME_RUN), judgments, measures=["nDCG@10"])
