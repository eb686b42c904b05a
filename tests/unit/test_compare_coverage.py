"""What a comparison says about hits that nobody judged, and thresholds on how many are judged."""

import pytest

pytest.importorskip("numpy")

import itertools
import json
import random

from harness.cli import main
from harness.metrics import parse_measure, score_query

QRELS = "shoes 0 a 3\nshoes 0 b 1\nshoes 0 c 0\nboots 0 d 2\nboots 0 e 0\n"
LEXICAL = {"shoes": ["a", "c", "b"], "boots": ["e", "d", "x"]}
HYBRID = {"shoes": ["x", "a", "y"], "boots": ["x", "d", "z"]}


def write_run(path, rankings):
    lines = [
        f"{query} Q0 {document} {rank} {100 - rank} t\n"
        for query, documents in rankings.items()
        for rank, document in enumerate(documents, start=1)
    ]
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture
def compare(tmp_path, capsys):
    def run(reference, candidate, *more, measures=("nDCG@3",), qrels=QRELS):
        (tmp_path / "j.qrels").write_text(qrels)
        sides = [write_run(tmp_path / f"{name}.run", one) for name, one in (("a", reference), ("b", candidate))]
        given = [word for measure in measures for word in ("--measure", measure)]
        status = main(["compare", *sides, "--qrels", str(tmp_path / "j.qrels"), *given, *more])
        return status, capsys.readouterr().out

    return run


def judged_of(text):
    return json.loads(text)["judged"]


def test_each_side_says_how_many_hits_have_no_judgment(compare):
    _, text = compare(LEXICAL, HYBRID, "--json")
    found = judged_of(text)
    assert (found["depth"], found["queries"]) == (3, 2)
    assert found["reference"] == {"judged": pytest.approx(5 / 6), "hits": 6, "unjudged": 1, "queries": 1}
    assert found["candidate"] == {"judged": pytest.approx(2 / 6), "hits": 6, "unjudged": 4, "queries": 2}
    _, text = compare(LEXICAL, HYBRID)
    said = " ".join(text.split())
    assert "Judged@3 0.8333; 1 of 6 hits have no judgment, in 1 of 2 queries" in said
    assert "Judged@3 0.3333; 4 of 6 hits have no judgment, in 2 of 2 queries" in said
    assert "the sides are not judged alike: 83.3% and 33.3% of the hits" in said
    assert "`harness judgments pool` collects the unjudged hits" in said
    assert "`--measure 'nDCG(judged_only=true)@3'` compares without them" in said


def test_k_is_the_deepest_cutoff_that_is_compared(compare):
    _, text = compare(LEXICAL, HYBRID, "--json", measures=["RR", "P@2"])
    found = judged_of(text)
    assert (found["depth"], found["candidate"]["hits"], found["candidate"]["unjudged"]) == (2, 4, 2)


def test_sides_that_are_judged_alike_give_no_warning(compare):
    mirrored = {query: documents[::-1] for query, documents in HYBRID.items()}
    _, text = compare(HYBRID, mirrored)
    assert "not judged alike" not in text
    assert "4 of 6 hits have no judgment" in " ".join(text.split())


def test_where_all_is_judged_one_line_says_so(compare):
    _, text = compare({"shoes": ["a", "b"], "boots": ["d"]}, {"shoes": ["b", "a"], "boots": ["e", "d"]})
    assert "all hits of the first 3 ranks are judged on both sides" in " ".join(text.split())
    assert "judged alike" not in text


def test_judgments_by_subtopic_say_nothing_about_hits(compare):
    _, text = compare(LEXICAL, HYBRID, measures=["alpha_nDCG@3"], qrels="shoes 1 a 1\nshoes 2 c 1\nboots 1 d 1\n")
    assert "have no judgment" not in " ".join(text.split())


@pytest.mark.parametrize("measure", ["P@3", "P(rel=2)@3", "RR@3", "CG@3", "DCG@3"])
def test_the_range_is_that_over_all_worst_and_best_grades(compare, measure):
    """For measures that have no ideal, where each grade moves the score by itself."""
    _, text = compare(LEXICAL, HYBRID, "--json", measures=[measure])
    [found] = judged_of(text)["ranges"]
    grades = {"shoes": {"a": 3, "b": 1, "c": 0}, "boots": {"d": 2, "e": 0}}
    lows, highs = [], []
    for query, known in grades.items():
        unjudged = sorted({*LEXICAL[query], *HYBRID[query]} - known.keys())
        differences = []
        for given in itertools.product((0, 3), repeat=len(unjudged)):
            supposed = {**known, **dict(zip(unjudged, given, strict=True))}
            before, after = (score_query(parse_measure(measure), run[query], supposed) for run in (LEXICAL, HYBRID))
            differences.append(after - before)
        lows.append(min(differences))
        highs.append(max(differences))
    assert (found["low"], found["high"]) == (pytest.approx(sum(lows) / 2), pytest.approx(sum(highs) / 2))


@pytest.mark.parametrize("measure", ["nDCG@5", "AP@5", "ERR@5", "RBP(p=0.8)@5", "Bpref", "nDCG(judged_only=true)@5"])
@pytest.mark.parametrize("seed", range(3))
def test_the_difference_as_judged_is_in_its_range(compare, measure, seed):
    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(12)]
    sides = [{query: draw.sample(documents, 6) for query in ("p", "q", "r")} for _ in range(2)]
    qrels = "".join(f"{query} 0 {document} {draw.randint(0, 3)}\n" for query in "pqr" for document in documents[:7])
    _, text = compare(*sides, "--json", measures=[measure], qrels=qrels)
    report = json.loads(text)
    [found] = report["judged"]["ranges"]
    [row] = report["measures"]["measures"]
    assert found["low"] - 1e-9 <= row["difference"] <= found["high"] + 1e-9


@pytest.mark.parametrize(
    ("sides", "threshold", "status"),
    [
        ((LEXICAL, HYBRID), "mean Judged@3 >= 0.8", 1),
        ((HYBRID, LEXICAL), "mean Judged@3 >= 0.8", 1),
        ((LEXICAL, HYBRID), "mean Judged@3 >= 0.3", 0),
        ((LEXICAL, LEXICAL), "every Judged@2 >= 1", 0),
        ((HYBRID, LEXICAL), "every Judged@2 >= 1", 1),
        ((LEXICAL, HYBRID), "50% Judged@3 >= 1", 1),
        ((LEXICAL, HYBRID), "drop Judged@3 <= 0.1", 1),
        ((HYBRID, LEXICAL), "drop Judged@3 <= 0.1", 0),
    ],
)
def test_a_threshold_on_coverage_holds_for_both_sides(compare, sides, threshold, status):
    assert compare(*sides, "--threshold", threshold)[0] == status


def test_its_reason_has_both_sides(compare):
    _, text = compare(HYBRID, LEXICAL, "--threshold", "mean Judged@3 >= 0.8", "--json")
    [verdict] = json.loads(text)["verdicts"]
    assert verdict["observed"] == pytest.approx(1 / 3)
    assert "a.run: mean Judged@3 is 0.3333, required >= 0.8" in verdict["reason"]
    assert "b.run: mean Judged@3 is 0.8333, required >= 0.8" in verdict["reason"]


def test_other_scores_of_one_run_are_no_thresholds_of_a_comparison(compare, capsys):
    assert compare(LEXICAL, HYBRID, "--threshold", "mean nDCG@3 >= 0.5")[0] == 2


def test_a_threshold_on_coverage_needs_judgments(tmp_path, capsys):
    sides = [write_run(tmp_path / name, LEXICAL) for name in ("a.run", "b.run")]
    assert main(["compare", *sides, "--threshold", "mean Judged@3 >= 0.8"]) == 2
    assert "there are no scores to compare" in capsys.readouterr().err
