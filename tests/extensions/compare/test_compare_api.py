"""What the Python API takes for a comparison."""

import pytest

from builders.suite_runs import make_suite_run
from harness.api import Relevance, evaluate
from harness.api.choices import ARGUMENT_KINDS
from harness.errors import InputError, UsageError
from harness.extensions.compare import outputs
from harness.extensions.compare.api import CompareChoices
from harness.model.run import Hit, Ranking
from harness.model.suite import Gain


def test_every_option_is_of_some_kind():
    assert set(CompareChoices.__annotations__) <= set(ARGUMENT_KINDS)


def test_a_kind_without_a_form_is_not_written():
    with pytest.raises(ValueError, match="'pdf'"):
        outputs.render(None, "pdf")


GOOD = Ranking((Hit("a"), Hit("x")))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"reference": 5}, "reference is 5, expected a text such as baseline, the path of a file, or what run"),
        ({"candidate": None}, "candidate is None, expected a text such as baseline"),
        ({"suite": 5}, "suite is 5, expected the path of a suite"),
        ({"qrels": 5}, "qrels is 5, expected the path of a file or None"),
        ({"measures": "P@1"}, "measures is the text 'P@1', expected a sequence of measures"),
        ({"depth": "3"}, "depth is the text '3', expected a whole number or None"),
        ({"depth": 0}, "found depth 0, expected at least 1"),
        ({"depth": 2.5}, "depth is 2.5, expected a whole number or None"),
        ({"profile": "nonsense"}, "found 'nonsense' as profile"),
        ({"gain": "nonsense"}, "found 'nonsense' as gain"),
        ({"complete": "no"}, "complete is the text 'no', expected True or False"),
        ({"test": "nonsense"}, "found test 'nonsense', expected one of sign-flip, t, wilcoxon, sign"),
        ({"test": 5}, "test is 5, expected a text"),
        ({"alternative": "nonsense"}, "found alternative 'nonsense', expected one of two-sided, less, greater"),
        ({"level": "5%"}, "level is the text '5%', expected a number"),
        ({"level": 5}, "found level 5, expected one between 0 and 1"),
        ({"correction": "nonsense"}, "found correction 'nonsense', expected one of holm"),
        ({"seed": -1}, "found seed -1, expected at least 0"),
        ({"seed": True}, "seed is True, expected a whole number"),
        ({"nonsense": 1}, "unknown option 'nonsense'"),
    ],
)
def test_what_is_no_argument_of_compare_is_refused(wrong, sentence):
    pytest.importorskip("numpy")
    sides = {name: evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=["P@1"]) for name in ("reference", "candidate")}
    with pytest.raises(UsageError) as refusal:
        Relevance().compare(**{**sides, **wrong})
    assert sentence in str(refusal.value)


def test_two_runs_that_were_asked_something_else_are_not_compared():
    pytest.importorskip("numpy")
    old, new = make_suite_run({"q": GOOD, "r": GOOD}), make_suite_run({"q": GOOD, "r": GOOD}, asked={"r": "red"})
    compared = Relevance().compare(old, new)
    assert compared.agreement.queries == 1
    with pytest.raises(AssertionError, match=r"asked something else for 1 query: r \(its text was 'r' and is 'red'\)"):
        compared.assert_thresholds("mean RBO >= 0")
    Relevance().compare(old, make_suite_run({"q": GOOD, "r": GOOD})).assert_thresholds("mean RBO >= 1")


def test_what_was_compared_is_asked_for_by_texts():
    pytest.importorskip("numpy")
    sides = [evaluate({"q": ["a"], "r": ["a"]}, {"q": {"a": 1}, "r": {"a": 1}}, measures=["P@1"]) for _ in range(2)]
    compared = Relevance().compare(*sides)
    for ask, name in ((compared.difference, "measure"), (compared.query, "query")):
        with pytest.raises(UsageError, match=f"{name} is 5, expected a text"):
            ask(5)
    with pytest.raises(UsageError, match="threshold is 5, expected a text"):
        compared.assert_thresholds(5)


def test_a_gain_of_a_comparison_by_judgments_is_given_as_in_a_suite(tmp_path):
    pytest.importorskip("numpy")
    (tmp_path / "qrels").write_text("q 0 a 3\nq 0 b 1\n")
    for name, order in (("a.run", "ab"), ("b.run", "ba")):
        lines = [f"q Q0 {document} {rank} {-rank} t" for rank, document in enumerate(order, 1)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    paths = (tmp_path / "a.run", tmp_path / "b.run")
    options = {"qrels": tmp_path / "qrels", "measures": ["DCG@1"]}
    for gain, fall in (("linear", -2), ({1: 1, 3: 5}, -4), (Gain(), -6)):
        [query] = Relevance().compare(*paths, gain=gain, **options).report.queries
        reference, candidate = query.scores["DCG@1"]
        assert candidate - reference == fall


def test_what_is_no_option_of_a_run_is_refused():
    with pytest.raises(UsageError, match="repeat is 0, expected a whole number from 1 on or None"):
        Relevance().compare("a.run", "b.run", repeat=0)


def test_a_name_that_is_too_long_for_the_system_is_refused():
    with pytest.raises((UsageError, InputError), match="too long"):
        Relevance().compare("x" * 5000, "b.run")
