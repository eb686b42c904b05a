"""What a comparison says about hits that nobody judged, and thresholds on how many are judged."""

import pytest

pytest.importorskip("numpy")

import itertools
import json
import random

from builders.suites import make_suite
from harness.cli import main
from harness.extensions.compare.coverage import find_range
from harness.metrics import parse_measure, score_query
from harness.metrics.run_scores import score_of
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.suite import Query

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
    reference = {"judged": pytest.approx(5 / 6), "hits": 6, "unjudged": 1, "queries": 1, "irrelevant": 2}
    candidate = {"judged": pytest.approx(2 / 6), "hits": 6, "unjudged": 4, "queries": 2, "irrelevant": 0}
    assert (found["reference"], found["candidate"]) == (reference, candidate)
    _, text = compare(LEXICAL, HYBRID)
    said = " ".join(text.split())
    assert "Judged@3 0.8333; 1 of 6 hits have no judgment, in 1 of 2 queries" in said
    assert "Judged@3 0.3333; 4 of 6 hits have no judgment, in 2 of 2 queries" in said
    assert "the sides are not judged alike: 83.3% and 33.3% of the hits" in said
    assert "`relevance judgments pool` collects the unjudged hits" in said
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


def test_a_measure_without_a_score_for_any_query_has_no_range(compare):
    """No document has a grade of 2, so that there is no mean over the queries to bound."""
    measures = ["P(rel=2)@3", "nDCG@3"]
    _, text = compare(LEXICAL, HYBRID, "--json", measures=measures, qrels="shoes 0 a 1\nboots 0 d 1\n")
    assert [found["measure"] for found in judged_of(text)["ranges"]] == ["nDCG@3"]


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


@pytest.mark.parametrize("measure", ["nDCG@4", "AP@4", "RR", "RBP(p=0.8)@4"])
@pytest.mark.parametrize("seed", range(3))
def test_known_differences_leave_the_range_as_it_is(measure, seed):
    """The difference of a query whose hits are all judged is taken as it is known; the range is the same."""
    draw = random.Random(seed)
    documents = [f"d{number}" for number in range(8)]
    queries = []
    for number in range(6):
        # Those of odd numbers have hits without a grade.
        graded = documents[: 6 - number % 2 * 3]
        grades = {document: float(draw.randint(0, 3)) for document in graded} | {"d0": 1.0}
        queries.append(Query(f"q{number}", "", judgments=grades, weight=1.0 + number))
    suite, parsed = make_suite(*queries), parse_measure(measure)
    runs = []
    for _ in range(2):
        rankings = {query.id: Ranking(tuple(map(Hit, draw.sample(documents[:6], 5)))) for query in queries}
        runs.append(Run(rankings, Engine("fake")))
    scores = [{query.id: score_of(suite, query, parsed, run).value for query in queries} for run in runs]
    differences = {query.id: scores[1][query.id] - scores[0][query.id] for query in queries}
    found, known = find_range(suite, tuple(runs), parsed), find_range(suite, tuple(runs), parsed, differences)
    assert (known.low, known.high) == (pytest.approx(found.low), pytest.approx(found.high))
    assert found.low < found.high
    # What is judged is not scored again, and what is not judged is.
    odd = {query.id: 100.0 for query in queries}
    moved = find_range(suite, tuple(runs), parsed, odd)
    assert moved.high - found.high == pytest.approx(sum((1 + n) * (100 - differences[f"q{n}"]) for n in (0, 2, 4)) / 21)


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


# How far unjudged hits may move what is said: B finds as much that is relevant as A, but only A's hits are judged.

QUERIES = tuple(f"q{number}" for number in range(24))
A = {query: ["r1", "r2", "n1"] for query in QUERIES}
B = {query: ["n2", "r3", "r4"] for query in QUERIES}
GRADES = {"r1": 2, "r2": 1, "n1": 0, "n2": 0, "r3": 2, "r4": 2}


def judge(*documents, queries=QUERIES):
    return "".join(f"{query} 0 {document} {GRADES[document]}\n" for query in queries for document in documents)


POOL_OF_A = judge("r1", "r2", "n1")


def range_of(report):
    [measure] = report["measures"]["measures"]
    return measure["if_judged"]


def test_the_range_is_beside_the_p_value_of_its_measure(compare, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    _, text = compare(A, B, "--json", measures=["P@3"], qrels=POOL_OF_A)
    report = json.loads(text)
    [measure] = report["measures"]["measures"]
    assert (measure["difference"], measure["adjusted"] < 0.001) == (pytest.approx(-2 / 3), True)
    assert measure["if_judged"] == [pytest.approx(-2 / 3), pytest.approx(1 / 3)]
    _, text = compare(A, B, "--threshold", "drop P@3 <= 0.1", measures=["P@3"], qrels=POOL_OF_A)
    said = " ".join(text.split())
    assert "if judged p corrected" in said
    assert "-0.6667 to +0.3333" in said
    assert "next: `relevance judgments pool`" in said
    assert "the sides are not judged alike: 100.0% and 0.0%" in said


@pytest.mark.parametrize("more", [1, 2, 3])
def test_any_number_of_sides_has_the_range_of_each(tmp_path, capsys, more):
    (tmp_path / "j.qrels").write_text(POOL_OF_A)
    sides = [write_run(tmp_path / "a.run", A)]
    sides += [write_run(tmp_path / f"b{number}.run", B) for number in range(more)]
    files = [word for kind in ("html", "markdown", "json") for word in ("--output", f"{kind}={tmp_path / kind}")]
    words = ["--qrels", str(tmp_path / "j.qrels"), "--measure", "P@3"]
    assert main(["compare", *sides, *words, *files]) == 0
    terminal = capsys.readouterr().out
    assert terminal.count("-0.6667 to +0.3333") >= more
    assert "next: `relevance judgments pool`" in " ".join(terminal.split())
    assert (tmp_path / "html").read_text().count('data-label="if judged">-0.6667 to +0.3333<') == more
    assert (tmp_path / "markdown").read_text().count("| -0.6667 to +0.3333 |") == more
    report = json.loads((tmp_path / "json").read_text())
    for comparison in report.get("comparisons", [report]):
        assert range_of(comparison) == [pytest.approx(-2 / 3), pytest.approx(1 / 3)]


def test_where_all_is_judged_there_is_no_range(compare):
    _, text = compare(A, B, "--json", measures=["P@3"], qrels=judge(*GRADES))
    assert range_of(json.loads(text)) is None
    _, text = compare(A, B, measures=["P@3"], qrels=judge(*GRADES))
    assert "if judged" not in text
    assert "next:" not in text


def test_sides_that_are_hardly_judged_otherwise_are_judged_alike(compare):
    """All but one hit of B: the range says that its grade does not matter."""
    qrels = POOL_OF_A + judge("n2", "r3", "r4", queries=QUERIES[1:]) + judge("r3", "r4", queries=QUERIES[:1])
    _, text = compare(A, {**B, "q5": ["n2", "n1", "n2b"]}, measures=["P@3"], qrels=qrels + "q5 0 n2b 0\n")
    said = " ".join(text.split())
    assert "-0.0278 to -0.0139" in said
    assert "1 of 72 hits have no judgment" in said
    assert "not judged alike" not in said
    assert "next:" not in said


def test_a_loss_that_no_grade_of_unjudged_hits_makes_a_gain_stands(compare):
    """A third of B is unjudged, and what is judged of it is bad."""
    worse = {query: ["n1", "n2", "r3"] for query in QUERIES}
    qrels = judge("r1", "r2", "n1", "n2") + "".join(f"{query} 0 r5 2\n" for query in QUERIES)
    _, text = compare({query: ["r1", "r2", "r5"] for query in QUERIES}, worse, measures=["P@3"], qrels=qrels)
    said = " ".join(text.split())
    assert "-1.0000 to -0.6667" in said
    assert "not judged alike" not in said
    assert "next:" not in said


def test_judged_hits_alone_are_not_suggested_where_nearly_all_are_relevant(compare):
    only_relevant = judge("r1", "r2", "r3", "r4")
    _, text = compare(A, B, measures=["nDCG@3"], qrels=only_relevant)
    said = " ".join(text.split())
    assert "judged_only" not in said
    assert "100.0% of the judged hits are relevant, so measures of judged hits alone say little" in said


def test_a_side_says_which_queries_lost_all_their_hits(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "400")
    (tmp_path / "j.qrels").write_text(POOL_OF_A)
    sides = [write_run(tmp_path / "a.run", A), write_run(tmp_path / "b.run", {QUERIES[0]: A[QUERIES[0]]})]
    main(["compare", *sides, "--qrels", str(tmp_path / "j.qrels"), "--measure", "P@3", "--complete"])
    assert f"b.run: zero hits for {len(QUERIES) - 1} queries (" in " ".join(capsys.readouterr().out.split())


def test_the_relevant_hits_that_entered_and_left_are_counted(compare):
    _, text = compare(A, B, measures=["P@3"], qrels=judge("r1", "r2", "r3", "n2"))
    said = " ".join(text.split())
    assert f": {len(QUERIES)} relevant hits entered, {2 * len(QUERIES)} left" in said
