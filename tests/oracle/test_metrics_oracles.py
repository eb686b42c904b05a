"""
The metrics beside trec_eval (by pytrec-eval-terrier), ir_measures with its ndeval and gdeval, ranx and scikit-learn.

Where a peer differs, by what it is and not by chance, its test says so and keeps to where it does not:

- pytrec_eval holds scores as float32, so that scores that differ late in their digits tie. It ends the process where
  Bpref meets an empty first query, so every query here has hits.
- pytrec_eval counts a negative grade as trec_eval does, but its own checks refuse some; see the trec_eval profile.
- ir_measures takes RR from trec_eval and RR@10 from MS MARCO's script, which breaks ties by ascending id.
- gdeval prints five digits, knows grades up to 4, and calls a query without relevant documents nothing at all.
- ndeval resolves the greedy ideal's ties by descending id, does not normalise ERR-IA@1, and looks no deeper than 20.
- ranx pairs dicts by position, cuts fractional gains to whole ones, orders ties unstably, and takes the grade itself
  for the gain of RBP.
- scikit-learn averages ties, and builds its ideal from the documents that it is given.
"""

import pytest

pytest.importorskip("numpy")

import json
import os
import random
import shutil
import subprocess
import sys

import numpy as np

from harness.metrics import parse_measure, score_diverse_query, score_query
from harness.metrics.evaluate import evaluate
from harness.model.suite import Gain, GainKind, Profile

LINEAR, EXPONENTIAL = Gain(GainKind.LINEAR), Gain(GainKind.EXPONENTIAL)


def collection(seed, *, grades=(0, 0, 0, 1, 1, 2, 3), ties=False, relevant=False):
    """Judgments and runs of a few queries, ids in UTF-8, with scores that float32 can tell apart."""
    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(40)] + ["é", "Ω", "~", "文"]
    judgments, runs = {}, {}
    for number in range(draw.randint(1, 6)):
        query = f"q{number}"
        judgments[query] = {each: draw.choice(grades) for each in draw.sample(documents, draw.randint(1, 30))}
        if relevant:
            judgments[query][draw.choice(documents)] = max(grades)
        hits = draw.sample(documents, draw.randint(1, 44))
        scores = [draw.randint(1, 6) / 4 for _ in hits] if ties else draw.sample(range(1, 1000), len(hits))
        runs[query] = dict(zip(hits, map(float, scores), strict=True))
    return judgments, runs


def ours(texts, judgments, runs, **options):
    rankings = {query: list(run) for query, run in runs.items()}
    scores = {query: list(run.values()) for query, run in runs.items()}
    result = evaluate(rankings, judgments, [parse_measure(text) for text in texts], scores=scores, **options)
    return result.scores


def in_order(runs):
    return {query: sorted(run, key=run.__getitem__, reverse=True) for query, run in runs.items()}


TREC_EVAL = {
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "AP": "map",
    "AP@5": "map_cut_5",
    "RR": "recip_rank",
    "P@5": "P_5",
    "P@30": "P_30",
    "R@5": "recall_5",
    "R@10": "recall_10",
    "Rprec": "Rprec",
    "Success@1": "success_1",
    "Success@5": "success_5",
    "Bpref": "bpref",
    "infAP": "infAP",
    "P": "set_P",
    "R": "set_recall",
    "F": "set_F",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
}
TREC_EVAL_NAMES = {
    "ndcg",
    "ndcg_cut.5,10",
    "map",
    "map_cut.5",
    "recip_rank",
    "P.5,30",
    "recall.5,10",
    "Rprec",
    "success.1,5",
    "bpref",
    "infAP",
    "set_P",
    "set_recall",
    "set_F",
    "num_ret",
    "num_rel",
    "num_rel_ret",
}


@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
@pytest.mark.parametrize("seed", range(40))
def test_trec_eval(seed, ties):
    import pytrec_eval

    judgments, runs = collection(seed, ties=ties)
    theirs = pytrec_eval.RelevanceEvaluator(judgments, TREC_EVAL_NAMES).evaluate(runs)
    scores = ours(TREC_EVAL, judgments, runs, profile=Profile.TREC)
    for text, name in TREC_EVAL.items():
        assert scores[text] == {query: pytest.approx(theirs[query][name], abs=1e-9) for query in runs}, text


@pytest.mark.parametrize("seed", range(20))
def test_trec_eval_at_a_higher_relevance_level(seed):
    import pytrec_eval

    judgments, runs = collection(seed, ties=True)
    names = {"P.5", "map", "recip_rank", "Rprec", "bpref", "infAP", "success.5", "recall.10"}
    theirs = pytrec_eval.RelevanceEvaluator(judgments, names, relevance_level=2).evaluate(runs)
    levels = {
        "P(rel=2)@5": "P_5",
        "AP(rel=2)": "map",
        "RR(rel=2)": "recip_rank",
        "Rprec(rel=2)": "Rprec",
        "Bpref(rel=2)": "bpref",
        "infAP(rel=2)": "infAP",
        "Success(rel=2)@5": "success_5",
        "R(rel=2)@10": "recall_10",
    }
    scores = ours(levels, judgments, runs, profile=Profile.TREC)
    for text, name in levels.items():
        assert scores[text] == {query: pytest.approx(theirs[query][name], abs=1e-9) for query in runs}, text


@pytest.mark.parametrize("seed", range(20))
def test_trec_eval_of_judged_documents_only(seed):
    import pytrec_eval

    judgments, runs = collection(seed, ties=True)
    names = {"P.5", "map", "recip_rank", "ndcg_cut.5"}
    theirs = pytrec_eval.RelevanceEvaluator(judgments, names, judged_docs_only_flag=True).evaluate(runs)
    texts = {"P": "P_5", "AP": "map", "RR": "recip_rank", "nDCG": "ndcg_cut_5"}
    condensed = {f"{text}(judged_only=true){'@5' if '5' in name else ''}": name for text, name in texts.items()}
    scores = ours(condensed, judgments, runs, profile=Profile.TREC)
    for text, name in condensed.items():
        assert scores[text] == {query: pytest.approx(theirs[query][name], abs=1e-9) for query in runs}, text


def test_trec_eval_holds_scores_as_float32_and_the_harness_does_not():
    import pytrec_eval

    judgments, runs = {"q": {"a": 1, "b": 0}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    theirs = pytrec_eval.RelevanceEvaluator(judgments, {"recip_rank"}).evaluate(runs)
    assert theirs["q"]["recip_rank"] == 0.5
    assert ours(["RR"], judgments, runs, profile=Profile.TREC)["RR"] == {"q": 1}


IR_MEASURES = [
    "nDCG@10",
    "P@5",
    "P(rel=2)@5",
    "RR",
    "RR(rel=2)",
    "AP",
    "AP(rel=2)",
    "AP@7",
    "R@10",
    "Judged@10",
    "Success@5",
    "Rprec",
    "Bpref",
    "infAP",
    "NumRet",
    "NumRel",
]


@pytest.mark.parametrize("seed", range(15))
def test_ir_measures(seed):
    import ir_measures

    judgments, runs = collection(seed)
    wanted = [ir_measures.parse_measure(text) for text in IR_MEASURES]
    theirs = {}
    for metric in ir_measures.iter_calc(wanted, judgments, runs):
        theirs.setdefault(str(metric.measure), {})[metric.query_id] = metric.value
    scores = ours(IR_MEASURES, judgments, runs, profile=Profile.TREC)
    for text, measure in zip(IR_MEASURES, wanted, strict=True):
        assert scores[text] == {query: pytest.approx(theirs[str(measure)][query], abs=1e-9) for query in runs}, text


OF_SETS = {
    "IPrec@0": "IPrec@0.0",
    "IPrec@0.1": "IPrec@0.1",
    "IPrec@0.33": "IPrec@0.33",
    "IPrec@0.5": "IPrec@0.5",
    "IPrec@1": "IPrec@1.0",
    "IPrec(rel=2)@0.2": "IPrec(rel=2)@0.2",
    "IPrec(judged_only=true)@0.7": "IPrec(judged_only=True)@0.7",
    "SetP": "SetP",
    "SetP(rel=2)": "SetP(rel=2)",
    "SetP(relative=true)": "SetP(relative=True)",
    "SetP(rel=2,relative=true,judged_only=true)": "SetP(rel=2,relative=True,judged_only=True)",
    "SetR": "SetR",
    "SetR(rel=2)": "SetR(rel=2)",
    "SetF": "SetF",
    "SetF(beta=3)": "SetF(beta=3.0)",
    "SetF(rel=2,beta=0.5)": "SetF(rel=2,beta=0.5)",
    "SetAP": "SetAP",
    "SetAP(rel=2)": "SetAP(rel=2)",
    "NumQ": "NumQ",
}
"""What ir_measures has of sets and of recall, by the same text; its numbers are of Python."""


@pytest.mark.parametrize("text", OF_SETS)
def test_measures_of_sets_and_of_recall(text):
    """
    Each alone, as ir_measures gives all SetF of one call the first one's beta.

    It takes IPrec from trec_eval 9, which rounds as here; the profile trec rounds as trec_eval 10.
    """
    import ir_measures

    own = text.replace("IPrec(", "IPrec(rounding=up,").replace("IPrec@", "IPrec(rounding=up)@")
    for seed in range(15):
        judgments, runs = collection(seed, ties=True)
        wanted = ir_measures.parse_measure(OF_SETS[text])
        theirs = {each.query_id: each.value for each in ir_measures.iter_calc([wanted], judgments, runs)}
        (scores,) = ours([own], judgments, runs, profile=Profile.TREC).values()
        assert scores == pytest.approx(theirs, abs=1e-9)
        relevant, runs = collection(seed, relevant=True)
        theirs = {each.query_id: each.value for each in ir_measures.iter_calc([wanted], relevant, runs)}
        plain = evaluate(in_order(runs), relevant, [parse_measure(text)]).scores
        assert plain[parse_measure(text).text] == pytest.approx(theirs, abs=1e-9)


def test_the_number_of_queries_is_the_sum():
    import ir_measures

    judgments, runs = collection(4)
    result = evaluate(in_order(runs), judgments, [parse_measure("NumQ")])
    assert result.sum("NumQ") == ir_measures.calc_aggregate([ir_measures.NumQ], judgments, runs)[ir_measures.NumQ] > 1
    assert result.summed == {"NumQ"}


@pytest.mark.parametrize("seed", range(10))
def test_reciprocal_rank_at_a_cutoff_where_nothing_ties(seed):
    import ir_measures

    judgments, runs = collection(seed)
    theirs = {each.query_id: each.value for each in ir_measures.iter_calc([ir_measures.RR @ 10], judgments, runs)}
    assert ours(["RR@10"], judgments, runs, profile=Profile.TREC)["RR@10"] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_compatibility(seed):
    import ir_measures

    judgments, runs = collection(seed, relevant=True)
    for text, measure in {
        "Compat": ir_measures.Compat,
        "Compat(p=0.8)": ir_measures.Compat(p=0.8),
        "Compat(p=0.8,normalize=false)": ir_measures.Compat(p=0.8, normalize=False),
    }.items():
        theirs = {each.query_id: each.value for each in ir_measures.iter_calc([measure], judgments, runs)}
        assert ours([text], judgments, runs, profile=Profile.TREC)[text] == pytest.approx(theirs, abs=1e-9)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a perl script")
@pytest.mark.parametrize("seed", range(3))
def test_gdeval_to_its_five_digits(seed):
    import ir_measures

    judgments, runs = collection(seed, relevant=True)
    judgments, runs = ({query[1:]: each for query, each in kind.items()} for kind in (judgments, runs))
    exponential = ir_measures.nDCG(dcg="exp-log2")
    wanted = {
        "nDCG(gain=exponential)@10": exponential @ 10,
        "ERR@10": ir_measures.ERR @ 10,
        "ERR(max=4)@5": ir_measures.ERR @ 5,
    }
    scores = ours(wanted, judgments, runs, profile=Profile.TREC)
    for text, measure in wanted.items():
        theirs = {each.query_id: each.value for each in ir_measures.iter_calc([measure], judgments, runs)}
        assert scores[text] == pytest.approx(theirs, abs=5.1e-6), text


@pytest.mark.parametrize("seed", range(15))
def test_ndeval_on_judgments_by_subtopic(seed):
    import ir_measures

    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(12)]
    judgments = {
        document: {f"{number}": draw.choice([0, 1, 1]) for number in draw.sample(range(1, 5), draw.randint(1, 4))}
        for document in draw.sample(documents, 8)
    }
    judgments[documents[0]] = {"1": 1}
    ranking = draw.sample(documents, draw.randint(1, 12))
    qrels = [
        ir_measures.Qrel("1", document, grade, subtopic)
        for document, each in judgments.items()
        for subtopic, grade in each.items()
    ]
    run = [ir_measures.ScoredDoc("1", document, float(-rank)) for rank, document in enumerate(ranking)]
    wanted = {
        "alpha_nDCG@5": ir_measures.alpha_nDCG @ 5,
        "alpha_nDCG(alpha=0.3)@10": ir_measures.alpha_nDCG(alpha=0.3) @ 10,
        "ERR_IA@5": ir_measures.ERR_IA @ 5,
        "ERR_IA@10": ir_measures.ERR_IA @ 10,
        "StRecall@5": ir_measures.StRecall @ 5,
    }
    for text, measure in wanted.items():
        (theirs,) = [each.value for each in ir_measures.iter_calc([measure], qrels, run)]
        assert score_diverse_query(parse_measure(text), ranking, judgments) == pytest.approx(theirs, abs=1e-6), text

    # ndeval divides by the sum of five documents that cover every subtopic: docs/reference/measures.md.
    subtopics = {subtopic for grades in judgments.values() for subtopic, grade in grades.items() if grade}
    (theirs,) = [each.value for each in ir_measures.iter_calc([ir_measures.alpha_DCG @ 5], qrels, run)]
    own = score_diverse_query(parse_measure("alpha_DCG@5"), ranking, judgments)
    perfect = {f"d{rank}": dict.fromkeys(subtopics, 1) for rank in range(5)}
    best = score_diverse_query(parse_measure("alpha_DCG@5"), list(perfect), perfect)
    assert own / best == pytest.approx(theirs, abs=1e-6)


RANX = {
    "nDCG(gain=linear)@10": "ndcg@10",
    "nDCG(gain=exponential)@10": "ndcg_burges@10",
    "AP": "map",
    "RR": "mrr",
    "P@5": "precision@5",
    "R@10": "recall@10",
    "Rprec": "r-precision",
    "Success@5": "hit_rate@5",
    "F@10": "f1@10",
}

RANX_CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
import ranx
for judgments, runs, names in json.load(sys.stdin):
    means = ranx.evaluate(ranx.Qrels(judgments), ranx.Run(runs), names)
    print(json.dumps({name: float(mean) for name, mean in means.items()}))
"""


def ranx_means(*asked):
    """
    The means of each of the judgments, runs and names that are *asked* for.

    In a process of its own, where its functions are not compiled: that takes a minute, and ten queries do not.
    """
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", RANX_CHILD]
    done = subprocess.run(command, input=json.dumps(asked), env=environment, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()[-len(asked) :]]


def test_ranx_where_nothing_ties_and_grades_are_whole_and_binary_ones_for_rbp():
    """It weighs RBP with the grade itself, so that only binary grades agree."""
    whole = [collection(seed, relevant=True) for seed in range(2)]
    binary = collection(5, grades=(0, 1), relevant=True)
    *theirs, of_binary = ranx_means(*((*one, list(RANX.values())) for one in whole), (*binary, ["rbp.80", "map"]))
    for one, means in zip(whole, theirs, strict=True):
        result = ours(RANX, *one, profile=Profile.TREC)
        for text, name in RANX.items():
            assert np.mean(list(result[text].values())) == pytest.approx(means[name], abs=1e-9), text
    values = ours(["RBP(p=0.8)"], *binary, profile=Profile.TREC)["RBP(p=0.8)"].values()
    assert np.mean(list(values)) == pytest.approx(of_binary["rbp.80"], abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_scikit_learn_where_all_is_judged_and_returned(seed):
    from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

    draw = np.random.default_rng(seed)
    grades = draw.integers(0, 4, 15)
    grades[0] = 1
    scores = draw.permutation(15).astype(float)
    ranking = [f"d{number}" for number in np.argsort(-scores)]
    judgments = {f"d{number}": int(grade) for number, grade in enumerate(grades)}
    for text, theirs in {
        "nDCG(gain=linear)@5": ndcg_score([grades], [scores], k=5),
        "nDCG(gain=linear)": ndcg_score([grades], [scores]),
        "DCG(gain=linear)@5": dcg_score([grades], [scores], k=5),
        "DCG(gain=linear,log=10)@5": dcg_score([grades], [scores], k=5, log_base=10),
        "AP": average_precision_score(grades > 0, scores),
    }.items():
        assert score_query(parse_measure(text), ranking, judgments) == pytest.approx(theirs, abs=1e-9), text


def test_kendalls_tau_is_scipys():
    from scipy.stats import kendalltau

    from harness.metrics.rank_correlation import kendall_tau

    draw = random.Random(3)
    for size in (2, 3, 10, 101, 256, 257, 1500):
        first = [f"d{number}" for number in range(size)]
        second = draw.sample(first, size)
        theirs = kendalltau(range(size), [second.index(each) for each in first]).statistic
        assert kendall_tau(first, second) == pytest.approx(theirs, abs=1e-12)


def test_rank_biased_overlap_is_the_mean_agreement_over_where_readers_stop():
    """The definition itself, summed so deep that nothing is left, and not the closed form that is in use."""
    from harness.metrics.rank_correlation import rbo

    def agreement(short, long, depth):
        """As the source extrapolates it: below the shorter list its share goes on, below both the last of all."""
        depth = min(depth, len(long))
        common = len(set(short[:depth]) & set(long[:depth]))
        if depth > len(short):
            common += len(set(short) & set(long[: len(short)])) * (depth - len(short)) / len(short)
        return common / depth

    draw = random.Random(7)
    names = [f"d{number}" for number in range(30)]
    for _ in range(200):
        short, long = sorted((draw.sample(names, draw.randint(1, 20)) for _ in range(2)), key=len)
        p = draw.choice((0.3, 0.8, 0.9, 0.95))
        theirs = sum((1 - p) * p ** (depth - 1) * agreement(short, long, depth) for depth in range(1, 700))
        assert rbo(short, long, p) == pytest.approx(theirs, abs=1e-9)
        assert rbo(long, short, p) == pytest.approx(theirs, abs=1e-9)


def test_the_comparison_of_two_runs_is_scipys():
    """p by swapping signs, beside scipy's own; the limits are differences of which scipy's p is the level."""
    from scipy.stats import permutation_test

    from harness.statistics.compare import ComparisonOptions, compare

    draw = np.random.default_rng(11)
    before = draw.uniform(0, 1, 40)
    after = np.clip(before + draw.normal(0.05, 0.15, 40), 0, 1)
    sides = ({"RR": dict(zip(map(str, range(40)), values.tolist(), strict=True))} for values in (before, after))
    [row] = compare(*sides, names=("a", "b"), options=ComparisonOptions(), weights={}).measures

    changes = after - before
    swapped = permutation_test(
        (changes,), np.mean, permutation_type="samples", vectorized=True, n_resamples=50_000, rng=1
    )
    assert row.difference == pytest.approx(changes.mean(), abs=1e-12)
    assert row.p_value == pytest.approx(swapped.pvalue, abs=0.01)
    for limit in (row.low, row.high):
        swapped = permutation_test(
            (changes - limit,), np.mean, permutation_type="samples", vectorized=True, n_resamples=50_000, rng=1
        )
        assert swapped.pvalue == pytest.approx(0.05, abs=0.01)
