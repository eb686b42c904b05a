"""Thresholds on machines as judges: their share of the grades, their kappa with people, and estimates with both."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from builders.gating import TODAY, ranking, threshold
from builders.suites import make_suite
from harness.errors import GrammarError
from harness.gate.conditions import explain_not_estimable
from harness.gate.decide import decide
from harness.gate.grammar import parse_threshold
from harness.metrics import parse_measure
from harness.metrics.run_scores import score_run
from harness.model.kept import Reference
from harness.model.run import Engine, Failure, FailureKind, Ranking, Run, Status, Verdict
from harness.model.suite import KappaCondition, MachineShareCondition, Operator, Query, QuerySample, Waiver
from harness.report.sentences import format_verdict_figure


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
    tested = make_suite(*queries, thresholds=[gated], judges=("people", "gpt"), **suite)
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
        suite = make_suite(*self.QUERIES, thresholds=["mean nDCG@2 >= 0", "mean Judged@2 >= 0"])
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
        suite = make_suite(Query("a", "a", judgments={"d1": 1}), thresholds=["mean P@1 >= 0"])
        [score] = score_run(suite, Run({"a": ranking(["d1"])}, Engine("fake"), ""))
        assert score.machine_share is None

    def test_the_ideal_reads_as_many_documents_as_the_cutoff_has(self) -> None:
        query = judged("a", {"d1": 3, "d2": 2}, {"d3": 1, "d4": 1})
        suite = make_suite(query, thresholds=["mean nDCG@2 >= 0"])
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
        assert "for all; without the grades of gpt: between" in verdict.reason
        assert "which count" not in verdict.reason

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

    def test_a_sampled_query_with_an_unjudged_hit_is_named_and_nothing_decided_without_it(self) -> None:
        queries, rankings = self.suite_parts()
        rankings["q00"] = ranking(["x", "d1"])
        # The machine calls a document that nobody else graded the best there is: it belongs into the ideal ranking.
        queries[1] = judged("q01", queries[1].people_grades or {}, {**queries[1].machine_grades["gpt"], "d9": 2.0})
        verdict = decide_one("mean nDCG@2 >= 0.1", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert verdict.status is Status.INCONCLUSIVE
        assert "it is decided at 40 judged queries of the sample" in verdict.reason
        assert (
            "; people have not judged all that is read of 2 of the first 40 sampled queries: 'q00', 'q01'; "
            "`relevance judge shop.relevance.yaml --sample 40 --seed 1` opens them" in verdict.reason
        )

    def test_it_does_not_pass_without_those_that_a_change_of_the_search_made_worse(self) -> None:
        queries, rankings = self.suite_parts()
        # The search is broken for a fifth of the queries, by documents that nobody has seen before.
        for number in range(40, 52):
            rankings[f"q{number}"] = ranking(["x", "y"])
        verdict = decide_one("mean P@1 >= 0.4", queries, rankings, is_estimated=True, sample=self.sample(), depth=2)
        assert verdict.status is Status.INCONCLUSIVE
        assert "people have not judged all that is read of 8 of the first 40 sampled queries" in verdict.reason

    @pytest.mark.parametrize(("skips", "status"), [(True, Status.PASSED), (False, Status.INCONCLUSIVE)])
    def test_a_judged_query_without_a_score_is_left_out_where_the_suite_says_so(
        self, skips: bool, status: Status
    ) -> None:
        queries, rankings = self.suite_parts()
        queries[3] = judged("q03", {"d1": 0.0, "d2": 0.0}, {"d1": 0.0, "d2": 0.0})
        parts = {"is_estimated": True, "sample": self.sample(), "depth": 2, "skip_undefined": skips}
        verdict = decide_one("mean nDCG@2 >= 0.1", queries, rankings, **parts)
        assert verdict.status is status
        assert "; by people's grades there is no score of 1 sampled query: 'q03'" in verdict.reason
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
        tested = make_suite(
            *queries, thresholds=[threshold("drop P@1 <= 0", is_estimated=True)], judges=("people", "gpt"), depth=2
        )
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
    for number in range(60):
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
    part = QuerySample(1, tuple(query.id for query in right[:52]), "")
    verdict = decide_one("mean P@1 >= 0.1", right, rankings, is_estimated=True, sample=part, depth=2)
    assert verdict.bounds is not None
    low, high = verdict.bounds
    assert low <= plain.observed <= high
    assert verdict.reason.startswith("weighted mean P@1 is estimated as")
    assert f"between {low:.4f} and {high:.4f} (" in verdict.reason
    assert format_verdict_figure(verdict) == f"{verdict.observed:.4f} ({low:.4f} to {high:.4f})"


class TestEstimatesOverUndefinedQueries:
    """People find no relevant document for a part of the queries, and the machine knows nothing of that."""

    def parts(self, undefined: int, finds: bool, size: int = 120) -> tuple[list[Query], dict[str, Ranking]]:
        """Half of the other queries have their relevant document at rank 1, half at rank 2; the machine is right."""
        queries, rankings = [], {}
        for number in range(size):
            has_relevant = number >= undefined
            people = {"d1": float(has_relevant and number % 2), "d2": float(has_relevant and not number % 2)}
            machine = dict(people)
            if not has_relevant and finds:
                machine["d1"] = 1.0
            name = f"q{number:03}"
            queries.append(judged(name, people, machine))
            rankings[name] = ranking(["d1", "d2"])
        return queries, rankings

    def sample(self, queries: list[Query], size: int) -> QuerySample:
        """Every second or third, so that each kind of query has its share."""
        names = sorted((query.id for query in queries), key=lambda name: (int(name[1:]) * 7919) % 1009)
        return QuerySample(1, tuple(names[:size]), "")

    @pytest.mark.parametrize("undefined", [6, 30, 48])
    @pytest.mark.parametrize("finds", [True, False])
    def test_the_mean_is_that_of_the_queries_with_a_score(self, undefined: int, finds: bool) -> None:
        queries, rankings = self.parts(undefined, finds)
        parts = {"is_estimated": True, "sample": self.sample(queries, 80), "depth": 2, "skip_undefined": True}
        # By people's grades RR is 1 for half of the queries and 0.5 for the others.
        verdict = decide_one("mean RR@2 >= 0.5", queries, rankings, **parts)
        low, high = (float(number) for number in verdict.reason.split("between ")[1].split(" (")[0].split(" and "))
        assert low <= 0.75 <= high
        assert high - low < 0.25
        assert decide_one("mean RR@2 >= 0.9", queries, rankings, **parts).status is Status.FAILED
        assert verdict.status is Status.PASSED

    def test_too_few_with_a_score_decide_nothing_and_the_number_is_named(self) -> None:
        queries, rankings = self.parts(60, finds=True)
        parts = {"is_estimated": True, "sample": self.sample(queries, 40), "depth": 2, "skip_undefined": True}
        verdict = decide_one("mean RR@2 >= 0.1", queries, rankings, **parts)
        assert verdict.status is Status.INCONCLUSIVE
        found = int(verdict.reason.split("expected at least 30 with a score, found ")[1].split(";")[0])
        assert found < 30
        assert f"about {-(-30 * 40 // found)} judged queries are enough" in verdict.reason

    @pytest.mark.parametrize(("skips", "status"), [(True, Status.PASSED), (False, Status.INCONCLUSIVE)])
    @pytest.mark.parametrize("text", ["mean RR@2 >= 0.5", "drop RR@2 <= 0.5"])
    @pytest.mark.parametrize("finds", [True, False])
    def test_a_mean_and_a_drop_have_one_rule(self, text: str, skips: bool, status: Status, finds: bool) -> None:
        queries, now = self.parts(40, finds)
        tested = make_suite(*queries, thresholds=[threshold("mean RR@2 >= 0")], judges=("people", "gpt"), depth=2)
        old_run = Run(dict(now), Engine("fake"), "current")
        reference = Reference(
            old_run, score_run(tested, old_run), depth=2, created="2026-05-01", same_request=True, remedy=""
        )
        now = {name: ranking(["d2", "d1"]) if name.endswith("7") else hits for name, hits in now.items()}
        parts = {"is_estimated": True, "sample": self.sample(queries, 90), "depth": 2, "reference": reference}
        verdict = decide_one(text, queries, now, skip_undefined=skips, **parts)
        assert verdict.status is status
        assert ("set `undefined: skip` to leave such queries out" in verdict.reason) is not skips
        assert "by people's grades there is no score of " in verdict.reason

    @pytest.mark.parametrize(("skips", "status"), [(True, Status.PASSED), (False, Status.INCONCLUSIVE)])
    def test_so_do_queries_outside_of_the_sample_for_which_nobody_found_anything(
        self, skips: bool, status: Status
    ) -> None:
        queries, rankings = self.parts(0, finds=False)
        names = tuple(query.id for query in queries)
        queries[110] = judged(names[110], {}, {"d1": 0.0, "d2": 0.0})
        parts = {"is_estimated": True, "sample": QuerySample(1, names[:90], ""), "depth": 2, "skip_undefined": skips}
        verdict = decide_one("mean RR@2 >= 0.5", queries, rankings, **parts)
        assert verdict.status is status
        assert ("nobody's grades give a score to 1 other query: 'q110'" in verdict.reason) is not skips


class TestLooksAtAnEstimate:
    """An estimate decides at the sizes that the sample names, from its first queries, and at no other ones."""

    COUNT = 90

    def decide(self, judged_by_people: Iterable[int], sizes: tuple[int, ...], text: str = "mean P@1 >= 0.5") -> Verdict:
        """The sample has the queries in the order of their numbers."""
        done = set(judged_by_people)
        queries, rankings = [], {}
        for number in range(self.COUNT):
            truth = {"d1": float(number % 3 > 0), "d2": 1.0}
            name = f"q{number:02}"
            queries.append(judged(name, truth if number in done else {}, {"d1": float(number % 5 > 0), "d2": 1.0}))
            rankings[name] = ranking(["d1", "d2"])
        sample = QuerySample(1, tuple(query.id for query in queries)[: sizes[-1]], "", sizes)
        return decide_one(text, queries, rankings, is_estimated=True, sample=sample, depth=2)

    @pytest.mark.parametrize(
        ("judged_queries", "decided", "following"),
        [
            (range(39), 0, 40),
            (range(40), 40, 60),
            (range(59), 40, 60),
            # Which ones people judge first is no chance: the first forty are not complete.
            (range(1, 60), 0, 40),
            ([*range(40), *range(50, 70)], 40, 60),
            (range(60), 60, 70),
            (range(70), 70, None),
            (range(90), 70, None),
        ],
    )
    def test_the_largest_size_that_is_judged_decides_by_its_first_queries(
        self, judged_queries: Iterable[int], decided: int, following: int | None
    ) -> None:
        verdict = self.decide(judged_queries, (40, 60, 70), "mean P@1 >= 0.66")
        assert verdict.status is Status.INCONCLUSIVE
        assert f"from {decided} of 90 queries judged by people" in verdict.reason
        if following is None:
            assert "this was the last size of the sample: judge all 90 queries, or require less" in verdict.reason
        elif decided:
            assert f"judge the sample up to {following} queries, its next size" in verdict.reason
        else:
            assert f"it is decided at {following} judged queries of the sample" in verdict.reason

    @pytest.mark.parametrize(
        ("sizes", "confidence"), [((60,), "95%"), ((40, 60), "97.5%"), ((30, 40, 60), "98.33%"), ((60, 90), "95%")]
    )
    def test_the_sizes_share_the_chance_of_an_error(self, sizes: tuple[int, ...], confidence: str) -> None:
        """The size of all queries takes none of it, as nothing is left to chance there."""
        assert f"(each bound holds with {confidence})" in self.decide(range(60), sizes).reason

    def test_the_more_sizes_the_wider_the_bounds(self) -> None:
        widths = []
        for sizes in ((60,), (40, 60), (30, 40, 50, 60)):
            reason = self.decide(range(60), sizes).reason
            low, high = (float(number) for number in reason.split("between ")[1].split(" (")[0].split(" and "))
            widths.append(high - low)
        assert widths == sorted(widths)
        assert widths[0] < widths[1] < widths[2]


class TestEstimatesWithWeightsByTraffic:
    """Few queries with most of the weight decide the mean, and a sample says nothing of those that it lacks."""

    def decide(self, weights: list[float], size: int, text: str = "mean P@1 >= 0.1") -> Verdict:
        queries, rankings = [], {}
        for number, weight in enumerate(weights):
            truth = {"d1": float(number % 3 > 0), "d2": 1.0}
            name = f"q{number:03}"
            queries.append(judged(name, truth, {"d1": float(number % 4 > 0), "d2": 1.0}, weight=weight))
            rankings[name] = ranking(["d1", "d2"])
        names = sorted(rankings, key=lambda name: (int(name[1:]) * 7919) % 1009)
        return decide_one(
            text, queries, rankings, is_estimated=True, sample=QuerySample(1, tuple(names[:size]), ""), depth=2
        )

    def test_weights_of_a_log_of_searches_are_too_unequal_and_all_are_asked_for(self) -> None:
        verdict = self.decide([1 / rank for rank in range(1, 251)], 70)
        assert verdict.status is Status.INCONCLUSIVE
        assert "weighted mean P@1 cannot be estimated" in verdict.reason
        assert "expected at least 30 of equal weight, and by their weights these count as 0." in verdict.reason
        assert "only all 250 queries are enough" in verdict.reason

    def test_where_more_queries_would_be_enough_their_number_is_named(self) -> None:
        weights = [1 + number % 6 for number in range(240)]
        reason = self.decide([float(weight) for weight in weights], 40).reason
        # The cube of the mean square over the square of the mean cube, of the weights 1 to 6.
        share = (91 / 6) ** 3 / (441 / 6) ** 2
        assert f"these count as {40 * share:.1f}; about {-(-30 // share):.0f} judged queries are enough" in reason

    def test_the_bounds_are_those_of_the_ratio_by_the_sample(self) -> None:
        weights = [float(1 + number % 3) for number in range(240)]
        verdict = self.decide(weights, 90)
        assert verdict.status is Status.PASSED
        truth = sum(weight for number, weight in enumerate(weights) if number % 3 > 0) / sum(weights)
        for part in verdict.reason.split("between ")[1:]:
            low, high = (float(number) for number in part.split(" (")[0].split(";")[0].split(" and "))
            assert low <= truth <= high
        assert "required >= 0.1" in verdict.reason

    def test_all_queries_judged_need_no_number(self) -> None:
        verdict = self.decide([1 / rank for rank in range(1, 101)], 100)
        assert verdict.status is Status.PASSED
