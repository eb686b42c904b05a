"""The text of a measure: read, made canonical, refused with a sentence that says where and what."""

import pytest

pytest.importorskip("numpy")

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import EntryPoint, EntryPoints
from itertools import permutations
from math import e, inf

import numpy as np

from harness.errors import MeasureError, UndefinedScore, UsageError
from harness.metrics import (
    Definition,
    Needs,
    Number,
    deepest_cutoff,
    gain_in_force,
    measure_range,
    parse_measure,
    profile_gain,
    register_measure,
    registry,
    score_diverse_query,
    score_query,
)
from harness.metrics.evaluate import evaluate
from harness.metrics.registry import DEFINITIONS, MEASURE_ENTRY_POINTS, Registry
from harness.metrics.run_scores import score_run
from harness.metrics.ties import tie_band
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.suite import Gain, GainKind, Profile, Query, Suite, Target
from harness.suites import load_suite

LINEAR = Gain(GainKind.LINEAR)
EXPONENTIAL = Gain(GainKind.EXPONENTIAL)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("  nDCG @ 10 ", "nDCG@10"),
        ("nDCG@010", "nDCG@10"),
        ("nDCG(gain=linear)@10", "nDCG(gain=linear)@10"),
        ("DCG( gain = exponential )@5", "DCG(gain=exponential)@5"),
        ("nDCG(log=e)@10", "nDCG(log=e)@10"),
        ("nDCG(log=10.0)@10", "nDCG(log=10)@10"),
        ("nDCG(missing=-1)@5", "nDCG(missing=-1)@5"),
        ("nDCG(missing=-1,gain=linear)@5", "nDCG(gain=linear,missing=-1)@5"),
        ("nDCG(gain={3:7,0:-1, 1 : 0.5})@5", "nDCG(gain={0: -1, 1: 0.5, 3: 7})@5"),
        ("DCG(discount=jarvelin)@6", "DCG(discount=jarvelin)@6"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("P(rel=2.50)@5", "P(rel=2.5)@5"),
        ("P(rel=1)@5", "P(rel=1)@5"),
        ("F(beta=2)@5", "F(beta=2)@5"),
        ("RBP(p=0.8)", "RBP(p=0.8)"),
        ("RBP(p=.80,rel=2)@100", "RBP(p=0.8,rel=2)@100"),
        ("ERR(max=4)@20", "ERR(max=4)@20"),
        ("AP(judged_only=True)", "AP(judged_only=true)"),
        ("alpha_nDCG(alpha=0.5)@10", "alpha_nDCG(alpha=0.5)@10"),
        ("P(rel=1e0)@5", "P(rel=1)@5"),
        ("IPrec@0.50", "IPrec@0.5"),
        (" IPrec( rel = 2 ) @ .1 ", "IPrec(rel=2)@0.1"),
        ("IPrec(recall=1.0,rel=1)", "IPrec(rel=1)@1"),
        ("SetP(relative=True)", "SetP(relative=true)"),
    ],
)
def test_text_becomes_canonical_and_stays_so(text, canonical):
    assert parse_measure(text).text == canonical
    assert parse_measure(canonical) == parse_measure(text)
    assert str(parse_measure(text)) == canonical


def test_the_parts_of_a_measure():
    measure = parse_measure("nDCG(log=e, gain={0: 0, 2: 3})@7")
    assert measure.name == "nDCG"
    assert measure.cutoff == 7
    assert measure.parameters == (("gain", Gain(GainKind.MAP, ((0, 0), (2, 3)))), ("log", e))


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("", 0, "expected the name of a measure, such as nDCG@10, found nothing"),
        ("@10", 0, "expected the name of a measure, such as nDCG@10, found '@10'"),
        ("ndcg@10", 0, "unknown measure ndcg; did you mean nDCG?"),
        ("  nDGC@10", 2, "unknown measure nDGC; did you mean nDCG?"),
        ("MAP@10", 0, "unknown measure MAP; did you mean AP?"),
        ("MRR", 0, "unknown measure MRR; did you mean RR?"),
        ("Precision@3", 0, "unknown measure Precision; did you mean P?"),
        ("recall@3", 0, "unknown measure recall; did you mean R?"),
        ("nDCG@0", 5, "the cutoff must be at least 1, found 0"),
        ("P@000", 2, "the cutoff must be at least 1, found 000"),
        ("nDCG@", 5, "expected a cutoff after @, a whole number of at least 1, found nothing"),
        ("nDCG@-1", 5, "expected a cutoff after @, a whole number of at least 1, found '-1'"),
        ("nDCG@1.5", 5, "expected a cutoff after @, a whole number of at least 1, found '1.5'"),
        ("nDCG@ten", 5, "expected a cutoff after @, a whole number of at least 1, found 'ten'"),
        ("nDCG@10@20", 5, "expected a cutoff after @, a whole number of at least 1, found '10@20'"),
        ("nDCG@99999999999", 5, "the cutoff 99999999999 is larger than any ranking"),
        ("nDCG 10", 5, "expected @ and a cutoff, or the end, after nDCG, found '10'"),
        ("nDCG(gain=linear", 4, "the parenthesis of nDCG( is not closed"),
        ("nDCG()@10", 5, "expected a parameter such as rel=2 in the parentheses, found none"),
        ("P(2)@5", 2, "expected a parameter such as rel=2, found 2"),
        ("P(rel=2,)@5", 8, "expected a parameter such as rel=2, found nothing"),
        ("P(rel= )@5", 7, "expected a value for rel, found nothing"),
        ("P(rl=2)@5", 2, "P has no parameter rl; did you mean rel?"),
        ("P(zebra=2)@5", 2, "P has no parameter zebra; it has rel, over, judged_only"),
        ("Judged(rel=1)@5", 7, "Judged has no parameters, found rel"),
        ("P(rel=1,rel=2)@5", 8, "rel is given twice"),
        ("P(rel=two)@5", 6, "P's rel: expected a number, found two"),
        ("P(rel=nan)@5", 6, "P's rel: expected a number, found nan"),
        ("P(rel=1e999)@5", 6, "P's rel: expected a number, found 1e999"),
        ("P(rel=-1)@5", 6, "P's rel: expected a number of at least 0, found -1"),
        ("RBP(p=1)", 6, "RBP's p: expected a number from 0 to 1, exclusive, found 1"),
        ("ERR(max=0)@5", 8, "ERR's max: expected a number from 0 to 1024, exclusive, found 0"),
        ("alpha_nDCG(alpha=2)@5", 17, "alpha_nDCG's alpha: expected a number from 0 to 1, found 2"),
        ("nDCG(missing=1)@5", 13, "nDCG's missing: expected a number of at most 0, found 1"),
        ("nDCG(missing=-1)", 0,
         "nDCG(missing=-1): missing= fills the ranking up to the cutoff, so it needs one, such as @10"),
        ("nDCG(log=1)@5", 9, "nDCG's log: expected the base of a logarithm, a number above 1 or e, found 1"),
        ("nDCG(gain=linaer)@5", 10,
         "nDCG's gain: expected exponential or linear or a map such as {0: 0, 1: 1}, found linaer; "
         "did you mean linear?"),
        ("nDCG(gain={1})@5", 11, "nDCG's gain: expected grade: gain in the map, found 1"),
        ("nDCG(gain={1: 2, x: 3})@5", 17, "nDCG's gain: in the map, expected a number, found x"),
        ("nDCG(gain={1: 2, 1.0: 3})@5", 17, "nDCG's gain: grade 1 occurs twice in the map"),
        ("nDCG(gain={1: 2)@5", 15, "nDCG's gain: expected } at the end of the map {1: 2"),
        ("nDCG(discount=rank)@5", 14, "nDCG's discount: expected log or jarvelin, found rank"),
        ("AP(judged_only=yes)", 15, "AP's judged_only: expected true or false, found yes"),
        ("Rprec@5", 6, "Rprec has no cutoff; remove @5"),
        ("SetP@5", 5, "SetP has no cutoff; remove @5"),
        ("IPrec", 0, "IPrec needs a recall, such as IPrec@0.5"),
        ("IPrec@10", 6, "IPrec's recall: expected a number from 0 to 1, found 10"),
        ("IPrec@half", 6, "IPrec's recall: expected a number, found half"),
        ("IPrec(recall=0.5)@0.5", 18, "recall is given twice"),
        ("IPrec(rl=2)@0.5", 6, "IPrec has no parameter rl; did you mean rel?"),
        ("set_map", 0, "unknown measure set_map; did you mean SetAP?"),
        ("RBP(rel=1,max=3)", 0, "RBP(rel=1,max=3): rel= makes it binary and max= graded: use one of them"),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(text, offset, message):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert str(caught.value) == message
    assert caught.value.offset == offset


def test_a_name_like_no_other_gets_the_whole_list():
    with pytest.raises(MeasureError) as caught:
        parse_measure("xyzzyxyz@3")
    assert all(definition.name in str(caught.value) for definition in DEFINITIONS)


class TestRange:
    @pytest.mark.parametrize(
        ("text", "gain", "expected"),
        [
            ("nDCG@10", EXPONENTIAL, (0, 1)),
            ("nDCG@10", Gain(GainKind.MAP, ((0, 0), (1, 2))), (0, 1)),
            ("nDCG@1", Gain(GainKind.MAP, ((0, -1), (1, 2))), (-0.5, 1)),
            ("nDCG", Gain(GainKind.MAP, ((0, -1), (1, 2))), (None, 1)),
            ("nDCG(missing=-1)@1", LINEAR, (None, 1)),
            ("nDCG(unjudged=2)@1", LINEAR, (0, None)),
            ("DCG@10", LINEAR, (0, None)),
            ("DCG@1", Gain(GainKind.MAP, ((0, -1), (1, 2))), (-1, 2)),
            ("DCG", Gain(GainKind.MAP, ((0, -1), (1, 2))), (None, None)),
            ("CG@3", Gain(GainKind.MAP, ((0, -1), (1, 2))), (-3, 6)),
            ("CG(missing=-5)@3", Gain(GainKind.MAP, ((0, -1), (1, 2))), (-15, 6)),
            ("CG@3", Gain(GainKind.MAP, ((0, -2), (1, -1))), (-6, 0)),
            ("P@5", LINEAR, (0, 1)),
            ("RBP(p=0.5)@2", LINEAR, (0, 0.75)),
            ("RBP", LINEAR, (0, 1)),
            ("RBPResidual(p=0.5)@2", LINEAR, (0, 1)),
            ("ERR(max=1)@1", LINEAR, (0, 0.5)),
            ("ERR(max=1)@2", LINEAR, (0, 0.625)),
            ("ERR(max=60)", LINEAR, (0, 1)),
            ("ERR(max=1e-320)", LINEAR, (0, 0)),
            ("NumRet@3", LINEAR, (0, 3)),
            ("NumRel", LINEAR, (0, None)),
        ],
    )
    def test_known_ranges(self, text, gain, expected):
        assert measure_range(parse_measure(text), gain) == pytest.approx(expected)

    def test_err_without_a_cutoff_comes_near_its_limit_and_no_nearer(self):
        grades = {f"d{number}": 3 for number in range(400)}
        reached = score_query(parse_measure("ERR(max=3)"), list(grades), grades)
        assert reached == pytest.approx(measure_range(parse_measure("ERR(max=3)"))[1], abs=1e-12)

    @pytest.mark.parametrize("text", ["nDCG@3", "DCG@3", "CG@3"])
    def test_the_worst_and_the_best_ranking_reach_the_ends(self, text):
        gain = Gain(GainKind.MAP, ((0, -2), (1, 1), (2, 4)))
        least, greatest = measure_range(parse_measure(text), gain)
        bad = score_query(parse_measure(text), ["a", "b", "c"], {"a": 0, "b": 0, "c": 0, "good": 1}, gain=gain)
        best = score_query(parse_measure(text), ["a", "b", "c"], {"a": 2, "b": 2, "c": 2}, gain=gain)
        assert (bad, best) == (pytest.approx(least), pytest.approx(greatest))


class TestGainInForce:
    def test_the_measure_then_the_suite_then_the_profile(self):
        own, plain = parse_measure("nDCG(gain=linear)@5"), parse_measure("nDCG@5")
        assert gain_in_force(own, EXPONENTIAL) == LINEAR
        assert gain_in_force(plain, LINEAR, Profile.STANDARD) == LINEAR
        assert gain_in_force(plain, EXPONENTIAL, Profile.TREC) == EXPONENTIAL
        assert gain_in_force(plain, None, Profile.TREC) == LINEAR
        assert gain_in_force(plain) == EXPONENTIAL

    def test_a_measure_s_gain_in_the_profile_stands_beside_the_profile_s_own(self):
        cg = parse_measure("CG@5")
        assert gain_in_force(cg, None, Profile.QUEPID) == LINEAR
        assert gain_in_force(cg, EXPONENTIAL, Profile.QUEPID) == LINEAR, "a suite's gain where it names none"
        assert gain_in_force(cg, EXPONENTIAL) == EXPONENTIAL
        assert gain_in_force(parse_measure("CG(gain=exponential)@5"), LINEAR, Profile.QUEPID) == EXPONENTIAL
        doubled = Gain(GainKind.MAP, ((0, 0), (1, 2)))
        assert gain_in_force(cg, doubled, Profile.QUEPID) == doubled
        assert gain_in_force(parse_measure("DCG@5"), EXPONENTIAL, Profile.QUEPID) == EXPONENTIAL

    def test_each_profile_has_its_gain(self):
        assert profile_gain(Profile.TREC) == LINEAR
        others = set(Profile) - {Profile.TREC}
        assert {profile_gain(profile) for profile in others} == {EXPONENTIAL}


def test_deepest_cutoff():
    measures = [parse_measure(text) for text in ("nDCG@10", "AP", "P@5", "Judged@20")]
    assert deepest_cutoff(measures) == 20
    assert deepest_cutoff([parse_measure("AP")]) is None
    assert deepest_cutoff([]) is None


class TestUndefined:
    @pytest.mark.parametrize("definition", [each for each in DEFINITIONS if each.formula], ids=lambda each: each.name)
    def test_only_measures_that_need_no_judgment_have_a_value_without_one(self, definition):
        measure = parse_measure(f"{definition.name}@1" if definition.at else definition.name)
        for grades in ({}, {"a": 0}, {"a": -1, "b": 0}):
            if definition.name in {"Judged", "NumQ", "NumRet", "NumRel", "NumRelRet", "RBPResidual"}:
                assert score_query(measure, ["a"], grades) >= 0
            else:
                with pytest.raises(UndefinedScore):
                    score_query(measure, ["a"], grades)

    def test_the_relevance_level_decides(self):
        assert score_query(parse_measure("P@1"), ["a"], {"a": 1}) == 1
        with pytest.raises(UndefinedScore, match="no judged document has a grade of at least 2"):
            score_query(parse_measure("P(rel=2)@1"), ["a"], {"a": 1})

    def test_zero_hits_is_a_score(self):
        assert score_query(parse_measure("nDCG@5"), [], {"a": 1}) == 0
        assert score_query(parse_measure("nDCG(missing=-1)@1"), [], {"a": 1}) == -1


class TestGrades:
    def test_fractional_grades_are_not_cut(self):
        assert score_query(parse_measure("DCG(gain=linear)@1"), ["a"], {"a": 0.4}) == 0.4
        assert score_query(parse_measure("DCG@1"), ["a"], {"a": 0.5}) == pytest.approx(2**0.5 - 1)

    @pytest.mark.parametrize("gain", [LINEAR, EXPONENTIAL])
    def test_a_grade_below_0_gains_nothing(self, gain):
        assert score_query(parse_measure("DCG@2"), ["bad", "a"], {"bad": -3, "a": 1}, gain=gain) == pytest.approx(
            0.6309, abs=1e-4
        )

    def test_a_document_returned_twice_counts_once(self):
        grades = {"a": 1, "b": 1}
        for text in ("nDCG@2", "P@2", "AP", "R@2"):
            twice = score_query(parse_measure(text), ["a", "a", "b"], grades)
            assert twice == score_query(parse_measure(text), ["a", "b"], grades) == 1

    @pytest.mark.parametrize("grade", [inf, -inf, float("nan")])
    def test_a_grade_must_be_finite(self, grade):
        with pytest.raises(UsageError, match=f"the grade of document 'a' is {grade}, and must be a finite number"):
            score_query(parse_measure("nDCG@1"), ["a"], {"a": grade})

    def test_a_grade_too_large_for_the_exponential_gain(self):
        with pytest.raises(MeasureError, match="the exponential gain of grade 5000 is too large for a float"):
            score_query(parse_measure("nDCG@1"), ["a"], {"a": 5000})

    @pytest.mark.parametrize("text", ["ERR(max=2)@5", "RBP(max=2)@5"])
    def test_a_grade_above_the_scale(self, text):
        with pytest.raises(MeasureError, match="grade 3 is above the top grade 2"):
            score_query(parse_measure(text), ["x"], {"a": 3})


def undefined():
    raise UndefinedScore("nothing to measure")


class TestOfYourOwn:
    @pytest.fixture(autouse=True)
    def _own_registry(self, monkeypatch):
        monkeypatch.setattr(registry, "_REGISTRY", Registry(DEFINITIONS))

    @staticmethod
    def bad_on_top(name="BadOnTop"):
        def formula(ranking, settings):
            top = ranking.grades[: settings.cutoff]
            return float(sum(grade is not None and grade <= settings.number("worst") for grade in top))

        return Definition(name, formula, {"worst": Number(0.0)}, needs=Needs.NOTHING)

    def test_registered_it_is_a_measure_like_any_other(self):
        register_measure(self.bad_on_top())
        measure = parse_measure("BadOnTop(worst=1)@2")
        assert score_query(measure, ["a", "b", "c"], {"a": 0, "b": 1, "c": 0}) == 2
        assert score_query(parse_measure("BadOnTop@2"), ["a", "b", "c"], {"a": 0, "b": 1, "c": 0}) == 1

    def test_one_that_sorts_the_grades_changes_no_other_score(self):
        def best(ranking, _):
            ranking.grades.sort(key=lambda grade: -(grade or 0))
            return ranking.grades[0] or 0.0

        register_measure(Definition("Best", best, needs=Needs.NOTHING))
        measures = tuple(map(parse_measure, ("Best@10", "RR@10", "Best@10", "P@1")))
        query = Query("q", "q", judgments={"a": 1})
        suite = Suite("s", "s.relevance.yaml", Target(), {}, measures, (query,))
        scores = score_run(suite, Run({"q": Ranking((Hit("x"), Hit("a")))}, Engine("fake")))
        assert {score.measure: score.value for score in scores} == {"Best@10": 1.0, "RR@10": 0.5, "P@1": 0.0}

    def test_it_is_found_by_entry_point(self, monkeypatch):
        offered = EntryPoint("BadOnTop", "somewhere:BAD", MEASURE_ENTRY_POINTS)
        monkeypatch.setattr(EntryPoint, "load", lambda _: self.bad_on_top())
        monkeypatch.setattr(
            "importlib.metadata.entry_points",
            lambda group: EntryPoints([offered]) if group == MEASURE_ENTRY_POINTS else (),
        )
        assert parse_measure("BadOnTop@2").name == "BadOnTop"

    def test_an_entry_point_that_is_no_definition(self, monkeypatch):
        offered = EntryPoint("Odd", "somewhere:odd", MEASURE_ENTRY_POINTS)
        monkeypatch.setattr(EntryPoint, "load", lambda _: print)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints([offered]))
        with pytest.raises(
            UsageError, match=r"entry point Odd of relevance_harness.measures \(somewhere:odd\) is no measure"
        ):
            parse_measure("Odd@2")

    @pytest.mark.parametrize("error", [ImportError, SystemExit])
    def test_an_entry_point_that_cannot_be_loaded_is_told_each_time(self, monkeypatch, error):
        def load(_):
            raise error("no module named shop")

        offered = EntryPoint("Odd", "shop:ODD", MEASURE_ENTRY_POINTS)
        monkeypatch.setattr(EntryPoint, "load", load)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: EntryPoints([offered]))
        for _ in range(2):
            with pytest.raises(UsageError, match=rf"\(shop:ODD\) cannot be loaded: {error.__name__}: no module"):
                parse_measure("Odd@2")

    def test_a_name_can_be_taken_only_once(self):
        with pytest.raises(UsageError, match="a measure named nDCG is already registered"):
            register_measure(self.bad_on_top("nDCG"))
        register_measure(self.bad_on_top())
        with pytest.raises(UsageError, match="a measure named BadOnTop is already registered"):
            register_measure(self.bad_on_top())

    def test_the_same_definition_may_be_registered_again(self):
        definition = self.bad_on_top()
        register_measure(definition)
        register_measure(definition)
        assert parse_measure("BadOnTop@2").name == "BadOnTop"

    def test_the_next_session_replaces_what_it_registers_and_keeps_the_rest(self):
        register_measure(Definition("Kept", self.giving(0.25), needs=Needs.NOTHING))
        register_measure(Definition("Mine", self.giving(0.5), {"least": Number(1.0)}, needs=Needs.NOTHING))
        measure = parse_measure("Mine")
        assert score_query(measure, ["a"], {}) == 0.5

        registry.let_measures_be_replaced()
        own = Definition(
            "Mine", lambda _, settings: settings.number("least"), {"least": Number(2.0)}, needs=Needs.NOTHING
        )
        register_measure(own)

        assert score_query(measure, ["a"], {}) == 2.0
        assert score_query(parse_measure("Kept"), ["a"], {}) == 0.25
        with pytest.raises(UsageError, match="a measure named Mine is already registered"):
            register_measure(Definition("Mine", self.giving(0.5)))
        with pytest.raises(UsageError, match="a measure named nDCG is already registered"):
            register_measure(self.bad_on_top("nDCG"))

    def test_a_cell_of_a_notebook_may_be_executed_again(self, monkeypatch):
        monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
        for value in (0.25, 0.5):
            formula = self.giving(value)
            formula.__module__ = "__main__"
            register_measure(Definition("Mine", formula, needs=Needs.NOTHING))
            assert score_query(parse_measure("Mine"), ["a"], {}) == value

    @staticmethod
    def giving(value):
        return lambda _ranking, _settings: value

    @pytest.mark.parametrize(
        ("value", "score"),
        [
            (np.float32(0.5), 0.5),
            (np.float64(0.25), 0.25),
            (np.int64(2), 2.0),
            (np.bool_(True), 1.0),
            (False, 0.0),
            (1, 1.0),
            (Decimal("0.25"), 0.25),
            (Fraction(1, 4), 0.25),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_a_number_of_any_kind_becomes_a_float(self, value, score):
        register_measure(Definition("Mine", self.giving(value), needs=Needs.NOTHING))
        found = score_query(parse_measure("Mine"), ["a"], {})
        assert (type(found), found) == (float, score)
        register_measure(Definition("Ours", diverse=self.giving(value)))
        found = score_diverse_query(parse_measure("Ours"), ["a"], {"a": {"s": 1}})
        assert (type(found), found) == (float, score)

    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (math.nan, "nan"),
            (math.inf, "inf"),
            (Decimal("NaN"), "Decimal('NaN')"),
            (np.float32("nan"), "nan"),
            (None, "None"),
            ("0.5", "'0.5'"),
            (1j, "1j"),
            (np.array([0.5]), "array"),
            (np.array(0.5), "array"),
            ([0.5], "[0.5]"),
            (10**400, "an object of type int"),
            (10**5000, "an object of type int"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_is_no_number_is_refused(self, value, shown):
        register_measure(Definition("Mine", self.giving(value), needs=Needs.NOTHING))
        with pytest.raises(MeasureError) as caught:
            score_query(parse_measure("Mine"), ["a"], {})
        assert shown in str(caught.value)
        assert str(caught.value).startswith("the formula of Mine gave ")
        assert str(caught.value).endswith(", expected a finite number")
        register_measure(Definition("Ours", diverse=self.giving(value)))
        with pytest.raises(MeasureError, match="the formula of Ours gave "):
            score_diverse_query(parse_measure("Ours"), ["a"], {"a": {"s": 1}})

    def test_what_a_function_raises_names_the_measure(self):
        def fail(*_):
            raise ZeroDivisionError("division by zero")

        register_measure(Definition("Formula", fail, needs=Needs.NOTHING))
        with pytest.raises(MeasureError, match=r"^the formula of Formula raised ZeroDivisionError: division by zero$"):
            score_query(parse_measure("Formula"), ["a"], {})
        register_measure(Definition("Reach", self.giving(0.5), reach=fail))
        with pytest.raises(MeasureError, match=r"^the reach of Reach raised ZeroDivisionError: division by zero$"):
            measure_range(parse_measure("Reach"))
        register_measure(Definition("Check", self.giving(0.5), check=fail))
        with pytest.raises(MeasureError, match=r"^the check of Check raised ZeroDivisionError: division by zero$"):
            parse_measure("Check")

    def test_one_that_ends_the_program_is_an_error_like_any_other(self):
        def leave(*_):
            sys.exit("no catalogue")

        register_measure(Definition("Mine", leave, needs=Needs.NOTHING))
        with pytest.raises(MeasureError, match=r"^the formula of Mine raised SystemExit: no catalogue$"):
            score_query(parse_measure("Mine"), ["a"], {})

    def test_an_interrupt_is_the_user_s(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        register_measure(Definition("Mine", interrupt, needs=Needs.NOTHING))
        with pytest.raises(KeyboardInterrupt):
            score_query(parse_measure("Mine"), ["a"], {})

    def test_a_formula_may_say_that_a_score_is_undefined(self):
        def nothing(*_):
            raise UndefinedScore("nothing to measure")

        register_measure(Definition("Mine", nothing, needs=Needs.NOTHING))
        with pytest.raises(UndefinedScore, match="nothing to measure"):
            score_query(parse_measure("Mine"), ["a"], {})

    def test_a_range_holds_floats(self):
        register_measure(Definition("Mine", self.giving(0.5), reach=lambda _: (np.float32(0), Decimal(2))))
        assert measure_range(parse_measure("Mine")) == (0.0, 2.0)
        assert [type(end) for end in measure_range(parse_measure("Mine"))] == [float, float]

    @pytest.mark.parametrize("reach", [0.5, None, (0, 1, 2), (0, "1"), (math.nan, None)], ids=repr)
    def test_what_is_no_range_is_refused(self, reach):
        register_measure(Definition("Mine", self.giving(0.5), reach=lambda _: reach))
        with pytest.raises(MeasureError, match="the reach of Mine "):
            measure_range(parse_measure("Mine"))

    def test_one_definition_serves_a_suite_many_queries_at_once_and_tie_bands(self, monkeypatch, tmp_path):
        """All that there is to a measure: of relevant hits, each is worth a share of the one above."""
        batches = []

        def worth(grade, settings):
            return float(grade is not None and grade >= settings.level)

        def falling(worths, settings):
            return sum(each * settings.number("share") ** rank for rank, each in enumerate(worths))

        def batch(batch, settings):
            batches.append(batch.queries)
            found = batch.relevant(settings.level, settings.cutoff)
            return batch.per_query(found.query, settings.number("share") ** (found.rank - 1.0))

        register_measure(
            Definition(
                "Falling",
                lambda ranking, settings: falling([worth(grade, settings) for grade in ranking.grades], settings),
                {"rel": Number(1.0), "share": Number(0.5, 0.0, 1.0)},
                reach=lambda settings: (0, 1 / (1 - settings.number("share"))),
                batch=batch,
                worth=worth,
            )
        )
        measure = parse_measure("Falling(share=0.25)@3")
        rankings = {"p": ["a", "x", "b", "c"], "q": ["x", "a"], "none": ["a"]}
        judgments = {"p": {"a": 2, "b": 1, "c": 0}, "q": {"a": 1, "x": 1}, "none": {"a": 0}}
        expected = {"p": 1 + 0.25**2, "q": 1 + 0.25, "none": None}

        path = tmp_path / "shop.relevance.yaml"
        path.write_text(
            "suite: shop\ntarget: {index: products}\nrequest: {query: {match: {title: '{{text}}'}}}\n"
            "thresholds: ['mean Falling(share=0.25)@3 >= 1']\nqueries:\n"
            + "".join(f"  - {{id: {query}, text: t, judgments: {judgments[query]}}}\n" for query in rankings)
        )
        run = Run({query: Ranking(tuple(map(Hit, ids))) for query, ids in rankings.items()}, Engine("fake"))
        scores = {(score.query, score.measure): score.value for score in score_run(load_suite(path, {}), run)}
        assert {query: scores[query, measure.text] for query in rankings} == expected

        for worth_numpy in (10**9, 0):
            monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", worth_numpy)
            assert batches == []
            assert evaluate(rankings, judgments, [measure]).scores[measure.text] == expected
        assert batches == [3]

        orders = [score_query(measure, order, judgments["p"]) for order in permutations(rankings["p"])]
        band = tie_band(measure, rankings["p"], [1.0] * 4, judgments["p"])
        assert (band.least, band.greatest, band.drawn) == (min(orders), max(orders), 0)
        many = [f"d{number}" for number in range(40)]
        assert tie_band(measure, many, [1.0] * 40, dict.fromkeys(many[:20], 1)).drawn == 0, "no order is tried"

    @pytest.mark.parametrize(
        ("found", "sentence"),
        [
            (lambda batch: batch.returned[:1], r"gave an array of shape \(1,\), expected one number for each of 2"),
            (lambda _: 0.5, r"gave an array of shape \(\), expected one number for each of 2 queries"),
            (lambda _: ["a", "b"], r"gave \['a', 'b'\], expected one number for each of 2 queries"),
            (lambda _: 1 / 0, "raised ZeroDivisionError: division by zero"),
            (lambda batch: batch.no_such_thing, "raised AttributeError: "),
            (lambda _: undefined(), "raised UndefinedScore: nothing to measure"),
        ],
    )
    def test_what_a_batch_formula_gives_is_checked(self, found, sentence, monkeypatch):
        monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", 0)
        register_measure(Definition("Mine", self.giving(0.5), needs=Needs.NOTHING, batch=lambda batch, _: found(batch)))
        with pytest.raises(MeasureError, match=f"^the batch formula of Mine {sentence}"):
            evaluate({"p": ["a"], "q": ["a"]}, {"p": {"a": 1}, "q": {}}, [parse_measure("Mine")])

    def test_a_batch_formula_gives_numbers_of_any_kind(self, monkeypatch):
        monkeypatch.setattr("harness.metrics.evaluate.WORTH_NUMPY", 0)
        register_measure(Definition("Mine", self.giving(2), needs=Needs.NOTHING, batch=lambda batch, _: batch.hits(2)))
        assert evaluate({"p": ["a", "b", "c"]}, {"p": {"a": 1}}, [parse_measure("Mine")]).scores["Mine"] == {"p": 2.0}

    def test_what_a_worth_gives_is_checked(self):
        ranking, scores, grades = ["a", "b"], [1.0, 1.0], {"a": 1}
        register_measure(Definition("Worth", self.giving(0.5), worth=lambda _grade, _settings: None))
        with pytest.raises(MeasureError, match=r"^the worth of Worth gave None, expected a finite number"):
            tie_band(parse_measure("Worth"), ranking, scores, grades)

    def test_a_name_must_fit_into_the_text_of_a_measure(self):
        with pytest.raises(UsageError, match="'bad on top' is not a valid name of a measure"):
            register_measure(self.bad_on_top("bad on top"))


def test_one_query_needs_no_numpy():
    code = (
        "import sys; from harness.metrics import parse_measure, score_query, tie_band, unjudged_bounds\n"
        "from harness.metrics.evaluate import evaluate\n"
        "evaluate({'q': ['a']}, {'q': {'a': 1}}, [parse_measure('nDCG@10')])\n"
        "assert 'numpy' not in sys.modules and 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
