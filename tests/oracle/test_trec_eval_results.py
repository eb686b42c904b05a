"""
The results that trec_eval 10 keeps of its own tests, and each difference as a small case.

Its test data are not ours to hand on: `RELEVANCE_TEST_TREC_EVAL` names the folder test/ of a checkout of
github.com/usnistgov/trec_eval, and without it only the small cases run. Their figures are what trec_eval 10.0-rc3
printed.
"""

import os
import re
from pathlib import Path

import pytest

from harness.files.judgments import read_judgments
from harness.files.runs import read_run
from harness.metrics import parse_measure, score_query
from harness.metrics.evaluate import evaluate
from harness.metrics.profiles import sort_by_score
from harness.model.suite import Profile

VARIABLE = "RELEVANCE_TEST_TREC_EVAL"
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "reference" / "profiles.md"

LEFT_OUT = (
    "11pt_avg", "gm_map", "gm_bpref", "Rprec_mult", "relative_P", "utility", "G", "binG", "Rndcg", "ndcg_rel",
    "num_nonrel_judged_ret", "runid", "relstring",
)  # fmt: skip
"""What trec_eval prints there and the harness has not, as the page on measures says."""

AT_LEVEL = {
    "map": "AP({})", "Rprec": "Rprec({})", "bpref": "Bpref({})", "recip_rank": "RR({})", "infAP": "infAP({})",
    "set_P": "SetP({})", "set_relative_P": "SetP({},relative=true)", "set_recall": "SetR({})", "set_map": "SetAP({})",
    "set_F": "SetF({})", "num_rel": "NumRel({})", "num_rel_ret": "NumRelRet({})", "P_k": "P({})@{}",
    "recall_k": "R({})@{}", "map_cut_k": "AP({})@{}", "success_k": "Success({})@{}",
    "iprec_at_recall_k": "IPrec({})@{}",
}  # fmt: skip
WITHOUT_LEVEL = {
    "num_q": "NumQ", "num_ret": "NumRet", "ndcg": "nDCG", "ndcg_cut_k": "nDCG@{}", "rbp_resid": "RBPResidual(p=0.9)",
    "ndcg_1=3,2=9,4=4.5": "nDCG(gain={{0: 0, 1: 3, 2: 9, 3: 3, 4: 4.5}})",
}  # fmt: skip
SUMS = {"num_q", "num_ret", "num_rel", "num_rel_ret"}

CASES = {
    "out.test": ("qrels.test", "results.test", {}),
    "out.test with comments": ("qrels.test.with-comments", "results.test", {}),
    "out.comment.test": ("qrels.comment.test", "results.comment.test", {}),
    "out.test.a": ("qrels.test", "results.test", {}),
    "out.test.aq": ("qrels.test", "results.test", {}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"complete": True}),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"complete": True, "hits": 100}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"level": 2}),
    "out.test.meas_params": ("qrels.test", "results.test", {}),
}
"""The output with its judgments, its run and its options: -c, -M and -l."""


def measure_of(name, level):
    """The text of the measure that trec_eval calls *name*."""
    form = re.sub(r"_[\d.]+$", "_k", name)
    number = name.removeprefix(form.removesuffix("k")) if form != name else ""
    number = f"{float(number):g}" if number else ""
    if form in AT_LEVEL:
        return AT_LEVEL[form].format(f"rel={level}", number)
    return WITHOUT_LEVEL[form].format(number) if form in WITHOUT_LEVEL else None


def is_left_out(name):
    return any(name == each or name.startswith(f"{each}_") for each in LEFT_OUT)


@pytest.fixture(scope="module")
def folder():
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder of trec_eval's test data")
    return Path(named)


class Output:
    """What trec_eval printed, and the same evaluation here."""

    def __init__(self, folder, case):
        judgments, run, options = CASES[case]
        lines = (folder / case.partition(" ")[0]).read_text().splitlines()
        self.rows = [tuple(map(str.strip, line.split("\t"))) for line in lines]
        self.judgments = read_judgments(folder / judgments)
        stored = read_run(folder / run)
        self.rankings = {
            query: sort_by_score(one.documents, one.scores)[: options.get("hits")] for query, one in stored.items()
        }
        self.level, self.complete = options.get("level", 1), options.get("complete", False)

    def scores(self, text):
        """By query, and by name what trec_eval says of all."""
        return evaluate(
            self.rankings, self.judgments, [parse_measure(text)], profile=Profile.TREC, complete=self.complete
        )

    def ours(self, name, query):
        text = measure_of(name, self.level)
        result, text = self.scores(text), parse_measure(text).text
        if query == "all":
            return result.sum(text) if name in SUMS else result.mean(text)
        return result.scores[text][query]


@pytest.mark.parametrize("case", CASES)
def test_its_results_are_ours(folder, case):
    output = Output(folder, case)
    named = {"rbp", "unj_5", "unj_10", "unj_20"}
    compared = [row for row in output.rows if not is_left_out(row[0]) and row[0] not in named]
    assert len(compared) >= 28
    differ = [(*row, output.ours(*row[:2])) for row in compared if not is_same(row[2], output.ours(*row[:2]))]
    assert differ == []


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("out.test.a")])
def test_its_rbp_is_graded_by_the_greatest_grade_of_the_query(folder, case):
    output = Output(folder, case)
    values = {}
    for query, grades in output.judgments.items():
        measure = parse_measure(f"RBP(p=0.9,max={max(1, max(grades.values())):g})")
        if query in output.rankings or output.complete:
            values[query] = score_query(measure, output.rankings.get(query, ()), grades, profile=Profile.TREC)
    values["all"] = sum(values.values()) / len(values)
    rows = [row for row in output.rows if row[0] == "rbp"]
    assert rows
    assert [row for row in rows if not is_same(row[2], values[row[1]])] == []


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("out.test.a")])
def test_its_unj_is_1_less_judged_where_there_are_as_many_hits_and_no_grade_below_0(folder, case):
    output = Output(folder, case)
    rows = [row for row in output.rows if row[0].startswith("unj_") and row[1] != "all"]
    for name, query, value in rows:
        cutoff, hits = int(name.removeprefix("unj_")), output.rankings.get(query, ())
        as_there = len(hits) >= cutoff and min(output.judgments[query].values()) >= 0
        judged = output.scores(f"Judged@{cutoff}").scores[f"Judged@{cutoff}"][query]
        assert is_same(value, 1 - judged) or not as_there


def is_same(printed, value):
    """To the four decimals that are printed."""
    return value is not None and abs(float(printed) - value) <= 0.5e-4 + 1e-9


def test_what_is_left_out_is_on_the_page():
    said = re.search(r"\*\*Not included\.\*\*(.*?)(?:\n\n|\Z)", DOCUMENTATION.read_text(encoding="utf-8"), re.S)[1]
    assert [name for name in LEFT_OUT if not re.search(rf"\b{name}\b", said)] == []


class TestDifferences:
    """Each as trec_eval 10 printed it, beside what is here."""

    def test_rbp_with_grades_above_1(self):
        """rbp.p=0.8 printed 0.2640 and 0.2267: grades over 2 and over 3, the greatest of each query."""
        first = (["a", "x", "b", "d"], {"a": 2, "b": 1, "c": 0, "d": -1})
        second = (["z", "a"], {"a": 3, "z": 1})
        for (ranking, grades), greatest, printed in ((first, 2, "0.2640"), (second, 3, "0.2267")):
            graded, plain = (
                score_query(parse_measure(text), ranking, grades, profile=Profile.TREC)
                for text in (f"RBP(p=0.8,max={greatest})", "RBP(p=0.8)")
            )
            assert is_same(printed, graded)
            assert not is_same(printed, plain)

    def test_unj_divides_by_the_cutoff_and_takes_a_grade_below_0_for_no_judgment(self):
        """unj_5 printed 0.4000 for a of grade 1, x that is unjudged and b of grade -1: two of five ranks."""
        judged = score_query(parse_measure("Judged@5"), ["a", "x", "b"], {"a": 1, "b": -1}, profile=Profile.TREC)
        assert judged == pytest.approx(2 / 3)

    def test_set_f_takes_beta_squared(self):
        """set_F.4 printed 0.7143 for one relevant of three hits and of one."""
        value = score_query(parse_measure("SetF(beta=4)"), ["a", "x", "b"], {"a": 1}, profile=Profile.TREC)
        assert is_same("0.7143", value)
        assert value == pytest.approx(
            score_query(parse_measure("F(beta=2)"), ["a", "x", "b"], {"a": 1}, profile=Profile.TREC)
        )

    def test_fractional_grades_are_not_cut(self):
        """num_rel printed 1 for grades 1.9 and 0.9, and ndcg 1.0000, as of grades 1 and 0."""
        grades = {"a": 1.9, "b": 0.9}
        assert score_query(parse_measure("DCG"), ["b", "a"], grades, profile=Profile.TREC) > 0.9
        assert score_query(parse_measure("NumRel"), ["a", "b"], grades, profile=Profile.TREC) == 1

    def test_the_residual_of_rbp_is_that_of_trec_eval_under_its_profile_alone(self):
        """rbp_resid printed 0.9000 for a, x and b of grade -1."""
        ranking, grades = ["a", "x", "b"], {"a": 1, "b": -1, "c": 0}
        measure = parse_measure("RBPResidual(p=0.9)")
        assert is_same("0.9000", score_query(measure, ranking, grades, profile=Profile.TREC))
        assert not is_same("0.9000", score_query(measure, ranking, grades))

    def test_a_judged_query_that_the_run_lacks_counts_only_where_that_is_asked_for(self):
        """-c printed 0.0000 for map and rbp_resid of such a query, and 0.3333 for map of all three."""
        judgments = {"q": {"a": 1}, "r": {"a": 0}, "s": {"a": 1}}
        measures = [parse_measure(text) for text in ("AP", "NumQ")]
        result = evaluate({"q": ["a"], "r": ["a"]}, judgments, measures, profile=Profile.TREC, complete=True)
        assert result.scores["AP"] == {"q": 1, "r": 0, "s": 0}
        assert (is_same("0.3333", result.mean("AP")), result.sum("NumQ")) == (True, 3)
