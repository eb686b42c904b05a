"""Thresholds on machines as judges: their share of the grades, their kappa with people, and estimates with both."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from builders.gating import TODAY, ranking, suite_of, threshold
from harness.errors import GrammarError
from harness.gate import decide
from harness.gate.grammar import parse_threshold
from harness.gate.judge_estimates import explain_not_estimable
from harness.metrics import parse_measure
from harness.metrics.score import score_run
from harness.model import (
    Engine,
    Failure,
    FailureKind,
    KappaCondition,
    MachineShareCondition,
    Operator,
    Query,
    QuerySample,
    Ranking,
    Reference,
    Run,
    Status,
    Verdict,
    Waiver,
)


def judged(
    name: str, people: Mapping[str, float], machine: Mapping[str, float], used: Iterable[str] = (), **fields: Any
) -> Query:
    """A query with both grades; *used* are the documents whose grade is the machine's."""
    judgments = {**machine, **people}
    by_machine = frozenset(used) or frozenset(machine.keys() - people.keys())
    return Query(
        name,
        name,
        judgments=judgments,
        people_grades=people,
        machine_grades={"gpt": machine},
        machine_graded=by_machine,
        **fields,
    )


def decide_one(text: str, queries: Iterable[Query], rankings: Mapping[str, Any], **suite: Any) -> Verdict:
    estimated = suite.pop("is_estimated", False)
    reference = suite.pop("reference", None)
    gated = threshold(text, is_estimated=estimated)
    tested = suite_of(queries, gated, judges=("people", "gpt"), **suite)
    run = Run(dict(rankings), Engine("fake"), "current")
    [verdict] = decide(tested, run, score_run(tested, run), today=TODAY, reference=reference)
    return verdict


class TestTheShareOfMachines:
    QUERIES = (
        judged("a", {"d1": 2, "d2": 1}, {"d3": 1}),
        judged("b", {}, {"d1": 2, "d2": 1}),
    )
    RANKINGS: ClassVar = {"a": ranking(["d1", "d3"]), "b": ranking(["d1", "x"])}

    def test_it_is_that_of_the_grades_that_the_score_reads(self) -> None:
        suite = suite_of(self.QUERIES, "mean nDCG@2 >= 0", "mean Judged@2 >= 0")
        shares = {
            (s.query, s.measure): s.machine_share for s in score_run(suite, Run(self.RANKINGS, Engine("fake"), ""))
        }
        # Of a: the hits d1 and d3, and d2 of the ideal ranking, which has two documents; Judged reads the hits alone.
        assert shares == {
            ("a", "nDCG@2"): pytest.approx(1 / 3),
            ("b", "nDCG@2"): 1.0,
            ("a", "Judged@2"): 0.5,
            ("b", "Judged@2"): 1.0,
        }

    def test_it_is_unknown_where_people_alone_judge(self) -> None:
        suite = suite_of([Query("a", "a", judgments={"d1": 1})], "mean P@1 >= 0")
        [score] = score_run(suite, Run({"a": ranking(["d1"])}, Engine("fake"), ""))
        assert score.machine_share is None

    def test_the_ideal_reads_as_many_documents_as_the_cutoff_has(self) -> None:
        query = judged("a", {"d1": 3, "d2": 2}, {"d3": 1, "d4": 1})
        suite = suite_of([query], "mean nDCG@2 >= 0")
        [score] = score_run(suite, Run({"a": ranking(["d3"])}, Engine("fake"), ""))
        assert score.machine_share == pytest.approx(1 / 3)

    @pytest.mark.parametrize(("allowed", "status"), [("67%", Status.PASSED), ("66%", Status.FAILED)])
    def test_a_threshold_limits_its_mean(self, allowed: str, status: Status) -> None:
        verdict = decide_one(f"machine nDCG@2 <= {allowed}", self.QUERIES, self.RANKINGS)
        assert (verdict.status, verdict.observed) == (status, pytest.approx(2 / 3))
        if status is Status.FAILED:
            assert verdict.reason == ("the share of machines' grades in nDCG@2 is 66.67% > 66.00%; most in b, a")

    def test_weights_count(self) -> None:
        queries = [replace(query, weight=weight) for query, weight in zip(self.QUERIES, (3.0, 1.0), strict=True)]
        assert decide_one("machine nDCG@2 <= 50%", queries, self.RANKINGS).observed == pytest.approx(0.5)

    def test_an_error_of_a_query_is_no_share(self) -> None:
        rankings = {**self.RANKINGS, "b": Failure(FailureKind.ERROR, "no")}
        verdict = decide_one("machine nDCG@2 <= 100%", self.QUERIES, rankings)
        assert (verdict.status, verdict.blamed) == (Status.ERROR, ("b",))


class TestKappa:
    def queries(self, pairs: Iterable[tuple[float, float]]) -> list[Query]:
        people = {f"d{n}": first for n, (first, _) in enumerate(pairs)}
        machine = {f"d{n}": second for n, (_, second) in enumerate(pairs)}
        return [judged("a", people, {**machine, "alone": 3.0})]

    def decide(self, text: str, pairs: list[tuple[float, float]]) -> Verdict:
        return decide_one(text, self.queries(pairs), {"a": ranking(["d0"])})

    @pytest.mark.parametrize(("required", "status"), [("0.87", Status.PASSED), ("0.88", Status.FAILED)])
    def test_it_has_quadratic_weights_over_what_both_graded(self, required: str, status: Status) -> None:
        # Observed (1 + 4) / 20 squared steps; expected by chance (10 * 1 + 4 * 10 * 9 + 4 * 10 * 10 + 10 * 1) / 400.
        pairs = [(0.0, 0.0)] * 9 + [(2.0, 2.0)] * 9 + [(0.0, 1.0)] + [(2.0, 0.0)]
        verdict = self.decide(f"kappa gpt >= {required} over 20 documents", pairs)
        assert verdict.status is status
        assert verdict.observed == pytest.approx(1 - 0.25 / 1.95)
        assert verdict.reason.endswith("over 20 documents that people and gpt graded, with quadratic weights")

    def test_steps_are_those_of_the_scale(self) -> None:
        """A 3 for a 1 is two steps apart where the scale has a 2, and one step where it has none."""
        pairs = [(0.0, 0.0)] * 5 + [(1.0, 1.0)] * 5 + [(1.0, 3.0)] * 5
        kappas = []
        for grades in ({}, {"two": 2.0}):
            verdict = decide_one(
                "kappa gpt >= -1 over 15 documents", self.queries(pairs), {"a": ranking(["d0"])}, grades=grades
            )
            kappas.append(verdict.observed)
        # Squared steps observed over those expected by chance: 5 / 15 over 225 / 225, and 20 / 15 over 500 / 225.
        assert kappas == [pytest.approx(1 - (5 / 15) / (225 / 225)), pytest.approx(1 - (20 / 15) / (500 / 225))]

    @pytest.mark.parametrize(
        ("text", "pairs", "why"),
        [
            (
                "kappa gpt >= 0.1",
                [(0.0, 0.0), (1.0, 1.0)] * 24,
                "over 48 documents that people and gpt graded: expected",
            ),
            (
                "kappa gpt >= 0.1 over 3 documents",
                [(1.0, 1.0)] * 3,
                "over 3 documents that people and gpt graded: all have",
            ),
            ("kappa ben >= 0.1", [(0.0, 0.0)] * 60, "over 0 documents that people and ben graded"),
        ],
    )
    def test_too_few_documents_decide_nothing(self, text: str, pairs: list[tuple[float, float]], why: str) -> None:
        verdict = self.decide(text, pairs)
        assert verdict.status is Status.INCONCLUSIVE
        assert why in verdict.reason


class TestEstimates:
    """Forty queries of which people judged thirty; the machine is a grade too kind to every second document."""

    COUNT = 60

    def suite_parts(self, judged_queries: int = 40, bad: int = 20) -> tuple[list[Query], dict[str, Ranking]]:
        generator = random.Random(4)
        queries, rankings = [], {}
        for number in range(self.COUNT):
            relevant = number >= bad
            truth = {"d1": 1.0 if relevant else 0.0, "d2": 1.0}
            machine = {"d1": truth["d1"], "d2": 1.0}
            if generator.random() < 0.1:
                machine["d1"] = 1.0
            people = truth if number % 3 != 2 or judged_queries == self.COUNT else {}
            name = f"q{number:02}"
            queries.append(judged(name, people, machine))
            rankings[name] = ranking(["d1", "d2"])
        return queries, rankings

    def sample(self) -> QuerySample:
        return QuerySample(1, tuple(f"q{number:02}" for number in range(self.COUNT) if number % 3 != 2), "")

    def decide(self, text: str, **changes: Any) -> Verdict:
        queries, rankings = self.suite_parts()
        return decide_one(text, queries, rankings, is_estimated=True, sample=self.sample(), depth=2, **changes)

    @pytest.mark.parametrize(
        ("required", "status"), [("0.5", Status.PASSED), ("0.66", Status.INCONCLUSIVE), ("0.8", Status.FAILED)]
    )
    def test_a_mean_passes_or_fails_where_both_bounds_say_so(self, required: str, status: Status) -> None:
        verdict = self.decide(f"mean P@1 >= {required}")
        assert verdict.status is status
        # Two of three queries are relevant at rank 1.
        assert verdict.observed == pytest.approx(2 / 3, abs=0.05)
        assert "from 40 of 60 queries judged by people, and the grades of gpt for all" in verdict.reason
        assert "people alone: between" in verdict.reason

    def test_at_most_is_the_mirror_of_at_least(self) -> None:
        statuses = [self.decide(f"mean P@1 <= {required}").status for required in ("0.5", "0.66", "0.8")]
        assert statuses == [Status.FAILED, Status.INCONCLUSIVE, Status.PASSED]

    def test_the_machine_makes_the_bounds_narrower(self) -> None:
        reason = self.decide("mean P@1 >= 0.66").reason
        low, high = (float(number) for number in reason.split("between ")[1].split(" (")[0].split(" and "))
        least, most = (float(number) for number in reason.split("between ")[2].split(";")[0].split(" and "))
        assert high - low < 0.75 * (most - least)

    def test_fewer_than_thirty_judged_queries_decide_nothing(self) -> None:
        queries, rankings = self.suite_parts()
        sample = QuerySample(1, self.sample().queries[:29], "")
        verdict = decide_one("mean P@1 >= 0.1", queries, rankings, is_estimated=True, sample=sample, depth=2)
        assert verdict.status is Status.INCONCLUSIVE
        assert verdict.reason == (
            "mean P@1 cannot be estimated from 29 of 60 queries judged by people, and the grades of gpt for all: "
            "expected at least 30"
        )

    def test_a_sampled_query_with_an_unjudged_hit_does_not_count_and_is_named(self) -> None:
        queries, rankings = self.suite_parts()
        rankings["q00"] = ranking(["x", "d1"])
        # The machine calls a document that nobody else graded the best there is: it belongs into the ideal ranking.
        queries[1] = judged("q01", queries[1].people_grades or {}, {**queries[1].machine_grades["gpt"], "d9": 2.0})
        verdict = decide_one("mean nDCG@2 >= 0.1", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert "people have not judged all that is read of 2 sampled queries: q00, q01" in verdict.reason
        assert "from 38 of 60 queries" in verdict.reason

    def test_it_does_not_pass_without_those_that_a_change_of_the_search_made_worse(self) -> None:
        queries, rankings = self.suite_parts()
        # The search is broken for a fifth of the queries, by documents that nobody has seen before.
        for number in range(40, 52):
            rankings[f"q{number}"] = ranking(["x", "y"])
        verdict = decide_one("mean P@1 >= 0.4", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert verdict.status is Status.INCONCLUSIVE
        assert "judge all of the sample, as what is left out may be worse; people have not judged" in verdict.reason

    @pytest.mark.parametrize(("skips", "status"), [(True, Status.PASSED), (False, Status.INCONCLUSIVE)])
    def test_a_judged_query_without_a_score_is_left_out_where_the_suite_says_so(
        self, skips: bool, status: Status
    ) -> None:
        queries, rankings = self.suite_parts()
        queries[3] = judged("q03", {"d1": 0.0, "d2": 0.0}, {"d1": 0.0, "d2": 0.0})
        parts = {"is_estimated": True, "sample": self.sample(), "depth": 2, "skip_undefined": skips}
        verdict = decide_one("mean nDCG@2 >= 0.1", queries, rankings, **parts)
        assert verdict.status is status
        assert "; by people's grades there is no score of 1 sampled query: q03" in verdict.reason
        assert ("set `undefined: skip` to leave such queries out" in verdict.reason) is not skips

    def test_a_query_that_is_skipped_is_no_part_of_it(self) -> None:
        queries, rankings = self.suite_parts()
        queries[0] = replace(queries[0], skip=Waiver("no"))
        del rankings["q00"]
        verdict = decide_one("mean P@1 >= 0.1", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert (verdict.status, verdict.counted, verdict.left_out) == (Status.PASSED, 59, 1)
        assert "from 39 of 59 queries" in verdict.reason

    def test_equal_scores_of_the_sample_decide_nothing(self) -> None:
        queries, rankings = self.suite_parts(bad=0)
        verdict = decide_one("mean P@1 >= 0.1", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert (verdict.status, "the sample's scores are equal" in verdict.reason) == (Status.INCONCLUSIVE, True)

    def test_an_error_of_a_query_is_an_error(self) -> None:
        queries, rankings = self.suite_parts()
        answers = {**rankings, "q05": Failure(FailureKind.ERROR, "no")}
        verdict = decide_one("mean P@1 >= 0.1", queries, answers, is_estimated=True, sample=self.sample(), depth=2)
        assert (verdict.status, verdict.blamed) == (Status.ERROR, ("q05",))

    @pytest.mark.parametrize(
        ("allowed", "status"), [("0.05", Status.FAILED), ("0.33", Status.INCONCLUSIVE), ("0.9", Status.PASSED)]
    )
    def test_a_drop_is_estimated_from_both_rankings(self, allowed: str, status: Status) -> None:
        queries, now = self.suite_parts()
        before = {name: ranking(["d2", "d1"]) for name in now}
        tested = suite_of(queries, threshold("drop P@1 <= 0", is_estimated=True), judges=("people", "gpt"), depth=2)
        old_run = Run(dict(before), Engine("fake"), "current")
        scores = score_run(tested, old_run)
        reference = Reference(old_run, scores, depth=2, created="2026-05-01", same_request=True, remedy="REMEDY")
        verdict = decide_one(
            f"drop P@1 <= {allowed}",
            queries,
            now,
            is_estimated=True,
            sample=self.sample(),
            depth=2,
            reference=reference,
        )
        assert verdict.status is status
        assert verdict.observed == pytest.approx(1 / 3, abs=0.05)

    def test_without_a_baseline_a_drop_fails_as_it_does_without_an_estimate(self) -> None:
        verdict = self.decide("drop P@1 <= 0.1")
        assert (verdict.status, "estimated" in verdict.reason) == (Status.FAILED, False)

    @pytest.mark.parametrize(
        "text",
        [
            "median P@1 >= 0.5",
            "every P@1 >= 0",
            "90% P@1 >= 0",
            "mean P@1 = 1",
            "drop every P@1 <= 0.1",
            "drop P@1 <= 2%",
        ],
    )
    def test_other_thresholds_cannot_be_estimated(self, text: str) -> None:
        condition, _ = parse_threshold(text, of_query=False)
        assert explain_not_estimable(condition)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("machine nDCG@10 <= 30%", MachineShareCondition(parse_measure("nDCG@10"), 0.3)),
        ("machine P(rel=2)@5 <= 0 %", MachineShareCondition(parse_measure("P(rel=2)@5"), 0.0)),
        ("kappa gpt >= 0.6", KappaCondition("gpt", Operator.AT_LEAST, 0.6, 50)),
        ("kappa gpt-5 > -1 over 200 documents", KappaCondition("gpt-5", Operator.ABOVE, -1.0, 200)),
    ],
)
def test_the_grammar_reads_them(text: str, condition: Any) -> None:
    assert parse_threshold(text, of_query=False) == (condition, None)
    assert parse_threshold(f"{text} for head", of_query=False) == (condition, "head")


@pytest.mark.parametrize(
    ("text", "said", "offset"),
    [
        ("machine nDCG@10 >= 30%", "found '>=', but a machine's share of the grades takes only '<='", 16),
        ("machine nDCG@10 <= 0.3", "found the end, expected '%' after the share", 22),
        ("machine nDCG@10 <= 130%", "found 130%, expected a share from 0% to 100%", 19),
        ("machine <= 3%", "found '<=', expected a measure such as nDCG@10", 8),
        ("kappa >= 0.6", "expected the name of a machine after 'kappa', as in 'kappa gpt >= 0.6'", 6),
        ("kappa", "expected the name of a machine after 'kappa', as in 'kappa gpt >= 0.6'", 5),
        ("kappa gpt <= 0.6", "found '<=', but a kappa takes only '>=' or '>'", 10),
        ("kappa gpt >= 1.6", "found 1.6, expected a kappa from -1 to 1", 13),
        ("kappa gpt >= 0.6 over 1 documents", "found '1', expected a number of documents such as 50, at least 2", 22),
        ("kappa gpt >= 0.6 over 10", "found the end, expected 'documents'", 24),
    ],
)
def test_what_is_out_of_the_grammar_is_told_with_its_place(text: str, said: str, offset: int) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_threshold(text, of_query=False)
    assert (str(caught.value), caught.value.offset) == (said, offset)


@pytest.mark.parametrize("text", ["machine nDCG@10 <= 30%", "kappa gpt >= 0.6"])
def test_they_are_no_thresholds_of_one_query(text: str) -> None:
    with pytest.raises(GrammarError, match="move the threshold to the suite"):
        parse_threshold(text, of_query=True)


def test_a_mean_says_how_many_of_its_grades_are_machines() -> None:
    queries, rankings = TestTheShareOfMachines.QUERIES, TestTheShareOfMachines.RANKINGS
    verdict = decide_one("mean nDCG@2 >= 0.1", queries, rankings)
    assert verdict.reason.endswith("; 66.67% of the grades are machines'")
    by_people = [replace(query, machine_graded=frozenset()) for query in queries]
    assert "machines" not in decide_one("mean nDCG@2 >= 0.1", by_people, rankings).reason


def test_an_estimate_is_of_the_weighted_mean() -> None:
    """Where people judged all queries the mean is known: it is that of the plain threshold."""
    generator = random.Random(5)
    queries, rankings = [], {}
    for number in range(40):
        truth = {"d1": float(generator.random() < 0.5), "d2": 1.0}
        queries.append(judged(f"q{number}", truth, {"d1": 1.0, "d2": 0.0}, weight=1.0 + number))
        rankings[f"q{number}"] = ranking(["d1", "d2"])
    sample = QuerySample(1, tuple(query.id for query in queries), "")
    plain = decide_one("mean P@1 >= 0.1", queries, rankings)
    estimated = decide_one("mean P@1 >= 0.1", queries, rankings, is_estimated=True, sample=sample, depth=2)
    assert plain.observed is not None
    assert estimated.observed == pytest.approx(plain.observed)
    # The machine's scores weigh as people's do: a machine that is right leaves nothing between the bounds but chance.
    right = [replace(query, machine_grades={"gpt": query.people_grades or {}}) for query in queries]
    part = QuerySample(1, tuple(query.id for query in right[:32]), "")
    reason = decide_one("mean P@1 >= 0.1", right, rankings, is_estimated=True, sample=part, depth=2).reason
    low, high = (float(number) for number in reason.split("between ")[1].split(" (")[0].split(" and "))
    assert low <= plain.observed <= high
