"""How far a machine may be trusted: its grades beside people's on the same documents, and on requests. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.agreement import Grades, Weights, cohen_kappa, krippendorff_alphas
from harness.extensions.judging.model import GradedAlike, MachineTrust, RequestMeans, RequestRanks
from harness.gate.finding import read_weights
from harness.means import mean_of
from harness.metrics.rank_correlation import kendall_tau
from harness.metrics.run_scores import score_of
from harness.model.run import Run
from harness.model.suite import Measure, Query, Suite


@dataclass(frozen=True, slots=True)
class _Shared:
    """A document that both graded."""

    query: Query
    people: float
    machine: float


def compare_machine(
    machine: str, suite: Suite, people: Grades, grades: Grades, scale: Sequence[float] = ()
) -> MachineTrust:
    """
    Compare the *grades* of *machine* with those of *people*.

    Args:
        machine: Its name.
        suite: Has the queries with their tags.
        people: The grades by people, by query and document.
        grades: The machine's.
        scale: The possible grades, as in `harness.agreement.cohen_kappa`.

    Raises:
        UsageError: A package is not installed.
    """
    queries = {query.id: query for query in suite.queries}
    shared: list[_Shared] = []
    by_grade: dict[float, list[_Shared]] = {}
    by_tag: dict[str, list[_Shared]] = {}
    for pair, grade in grades.items():
        query = queries.get(pair[0])
        if query is None or pair not in people:
            continue
        document = _Shared(query, people[pair], grade)
        shared.append(document)
        by_grade.setdefault(document.people, []).append(document)
        for tag in query.tags:
            by_tag.setdefault(tag, []).append(document)
    pairs = Counter((document.people, document.machine) for document in shared)
    rows = [[document.people for document in shared], [document.machine for document in shared]]
    return MachineTrust(
        machine=machine,
        graded=len(grades),
        shared=_describe(shared, scale),
        leniency_range=_find_leniency_range(shared),
        alpha=krippendorff_alphas(rows)["interval"],
        confusion=tuple((first, second, times) for (first, second), times in sorted(pairs.items())),
        by_grade={grade: _describe(documents, scale) for grade, documents in sorted(by_grade.items())},
        by_tag={tag: _describe(documents, scale) for tag, documents in sorted(by_tag.items())},
    )


def _describe(shared: Sequence[_Shared], scale: Sequence[float]) -> GradedAlike:
    """How the machine graded *shared*, some of the documents that both graded."""
    grades = [(document.people, document.machine) for document in shared]
    leniency = None
    if grades:
        leniency = sum(machine - people for people, machine in grades) / len(grades)
    return GradedAlike(
        documents=len(grades),
        same=sum(people == machine for people, machine in grades),
        leniency=leniency,
        kappa=cohen_kappa(grades, scale, weights=Weights.QUADRATIC),
    )


def _find_leniency_range(shared: Sequence[_Shared]) -> tuple[float, float] | None:
    """
    The 95 % interval of the mean difference, by the t distribution over queries.

    Documents of one query are alike, so it is the queries that vary: their sums of differences over their numbers of
    documents, a ratio.
    """
    import numpy as np

    from harness.statistics.intervals import t_interval

    sums: dict[str, float] = {}
    sizes: dict[str, int] = {}
    for document in shared:
        name = document.query.id
        sums[name] = sums.get(name, 0.0) + document.machine - document.people
        sizes[name] = sizes.get(name, 0) + 1
    if len(sums) < 2:
        return None
    mean_size = len(shared) / len(sizes)
    # A ratio of two means: that of the sums, and that of the sizes, which is brought to 1.
    scaled_sums = np.array(list(sums.values())) / mean_size
    scaled_sizes = np.array(list(sizes.values())) / mean_size
    interval = t_interval(scaled_sums, scaled_sizes, alternative="two-sided", level=0.05)
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high


def rank_requests(
    suite: Suite, runs: Mapping[str, Run], measure: Measure, machine: Mapping[str, Mapping[str, float]]
) -> RequestRanks | None:
    """
    Rank requests by the mean of *measure*, once by people's grades and once by a machine's.

    Args:
        suite: The queries that ran, with people's grades as judgments.
        runs: The responses to each request, by its name.
        measure: What the requests are ranked by.
        machine: The machine's grades, by query and document.

    Returns:
        The means by both, over the queries that have a score by both for each request, and how far the two orders
        agree. None where there are fewer than two requests, or no such query.
    """
    if len(runs) < 2:
        return None
    queries = [replace(query, judgments=machine.get(query.id, {})) for query in suite.queries]
    machine_suite = replace(suite, queries=tuple(queries))

    people_scores = {request: _score_queries(suite, measure, run) for request, run in runs.items()}
    machine_scores = {request: _score_queries(machine_suite, measure, run) for request, run in runs.items()}
    compared = list(suite.queries)
    for scores in (*people_scores.values(), *machine_scores.values()):
        compared = [query for query in compared if query.id in scores]
    if not compared:
        return None

    ids = [query.id for query in compared]
    weights = read_weights(compared, ids)
    means = []
    for request in runs:
        by_people = mean_of({query: people_scores[request][query] for query in ids}, weights)
        by_machine = mean_of({query: machine_scores[request][query] for query in ids}, weights)
        means.append(RequestMeans(request, by_people, by_machine))
    best_by_people = sorted(means, key=lambda mean: -mean.by_people)
    best_by_machine = sorted(means, key=lambda mean: -mean.by_machine)
    tau = kendall_tau([mean.request for mean in best_by_people], [mean.request for mean in best_by_machine])
    return RequestRanks(measure.text, len(compared), tuple(best_by_people), tau)


def _score_queries(suite: Suite, measure: Measure, run: Run) -> dict[str, float]:
    """The scores of *measure* by query, of the queries that have one."""
    scores = {}
    for query in suite.queries:
        score = score_of(suite, query, measure, run)
        if score.value is not None:
            scores[query.id] = score.value
    return scores
