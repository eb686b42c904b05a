"""
Thresholds that compare scores with the median of the last runs of a history: ``drop nDCG@10 <= 0.02 since 5 runs``.

The kept rankings of these runs are scored like today's, and each run is paired with today's as a baseline would be. The
median of the means then takes the place of the baseline's mean: one lucky run does not decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.gate.decide_drops import decide_pairs
from harness.gate.finding import Finding, describe_undefined, read_weights, scope_scores
from harness.gate.inputs import GateInputs
from harness.gate.pairs import Pairs, pair_scores, suggest_tie_remedy
from harness.gate.ties import replace_scores, truncate_ranking
from harness.means import mean_of
from harness.model.kept import History, Reference, RescoredEntry
from harness.model.run import Cause, ComparedRun, Ranking, Response, Run, Status
from harness.model.scores import index_scores
from harness.model.suite import DropCondition, Measure, Query, Suite, WorseCondition, is_in_force
from harness.words import count, counted, listed


def decide_since(
    condition: DropCondition | WorseCondition,
    queries: Sequence[Query],
    inputs: GateInputs,
    *,
    of_query: bool,
    tag: str | None = None,
) -> Finding:
    """
    Compare the scores of *queries*, those with *tag* if there is one, with those of the last runs of the history.

    A query counts if all of these runs have it, with the same text and params.

    Returns:
        As for the same threshold with a baseline. FAILED, or WARNED where the suite's baseline is optional, if the
        history has fewer runs, they have no query in common, or fewer than half of theirs are compared. INCONCLUSIVE
        where runs that are dated later than now do not count, and would decide otherwise. The finding has the runs, and
        the least and the greatest of their means as its `spread`.
    """
    history = inputs.history
    entries: Sequence[RescoredEntry] = ()
    if history is not None:
        entries = history.entries
    finding = _decide_runs(condition, queries, inputs, entries, of_query=of_query, tag=tag)
    may_pass = finding.status in (Status.PASSED, Status.WARNED)
    if not may_pass or history is None or not history.entries_with_later:
        return finding
    # Runs are dated later than now if their clock was ahead, or if that of today is behind. In that case they are the
    # last runs, and should count.
    finding_with_later = _decide_runs(
        condition, queries, inputs, history.entries_with_later, of_query=of_query, tag=tag
    )
    if finding_with_later.status in (Status.PASSED, finding.status):
        return finding
    reason = (
        f"cannot be decided: {describe_later(history)}; if they did, {finding_with_later.reason}; "
        f"without them, {finding.reason}"
    )
    return replace(
        finding,
        status=Status.INCONCLUSIVE,
        reason=reason,
        caveat="",
        blamed=finding_with_later.blamed,
        cause=Cause.LATER_RUNS,
    )


def _decide_runs(
    condition: DropCondition | WorseCondition,
    queries: Sequence[Query],
    inputs: GateInputs,
    history_entries: Sequence[RescoredEntry],
    *,
    of_query: bool,
    tag: str | None,
) -> Finding:
    """As `decide_since`, with the last of *history_entries*, which are in the order of their dates."""
    runs = condition.since or 1
    entries = sorted(history_entries[-runs:], key=lambda entry: entry.number)
    if len(entries) < runs:
        return _refuse(condition, queries, inputs, explain_too_few(inputs.history, runs), Cause.NO_BASELINE)
    shared = [query for query in queries if _is_shared(query, entries, inputs)]
    shared_ids = {query.id for query in shared}
    absent = [query.id for query in queries if query.id not in shared_ids]
    refusal = _refuse_absent(condition, queries, inputs, absent)
    if refusal is not None:
        return refusal
    pairs_of_runs = _pair_with_runs(entries, shared, inputs, condition.measure)
    if isinstance(pairs_of_runs, Finding):
        return pairs_of_runs
    is_per_query = isinstance(condition, WorseCondition) or condition.every
    median = find_median(pairs_of_runs, shared, is_per_query=is_per_query)
    if median is None:
        return _refuse(condition, queries, inputs, "no query has a score in all of them")
    scored_before: list[str] = []
    if not of_query:
        scored_before = _list_scored_queries(entries, tag)
    not_compared = [query for query in scored_before if query not in median.pairs.before]
    if 2 * len(not_compared) > len(scored_before):
        compared = len(scored_before) - len(not_compared)
        sentence = f"only {compared} of {count(len(scored_before), 'query')} that they have scores of can be compared"
        return _refuse(condition, queries, inputs, f"{sentence}; not: {listed(not_compared)}")
    caveats_of_queries = []
    if absent:
        caveats_of_queries.append(f"not in all of these runs: {count(len(absent), 'query')} ({listed(absent)})")
    # Those in *absent* are named already.
    not_compared = [query for query in not_compared if query not in absent]
    if not_compared:
        caveats_of_queries.append(f"with scores in these runs and not compared: {counted(not_compared, 'query')}")
    pairs = _describe_median(median, entries, inputs.history, caveats_of_queries)
    remedy = suggest_tie_remedy(replace(inputs, reference=None))
    finding = decide_pairs(condition, pairs, of_query=of_query, remedy=remedy)
    later = describe_later(inputs.history)
    reasons = [finding.reason, describe_runs(entries, inputs.history), later]
    finding = replace(finding, reason="; ".join(filter(None, reasons)))
    if finding.status is Status.PASSED:
        caveats = [finding.caveat, *caveats_of_queries, later]
        finding = replace(finding, caveat="; ".join(filter(None, caveats)))
    compared_runs = [ComparedRun(entry.number, entry.entry.created, entry.entry.commit) for entry in entries]
    return replace(
        finding,
        left_out=finding.left_out + len(absent),
        spread=(median.least, median.greatest),
        runs=tuple(compared_runs),
    )


def _is_shared(query: Query, entries: Sequence[RescoredEntry], inputs: GateInputs) -> bool:
    """Whether *query* is in all *entries*, or is skipped, which the pairs of scores count."""
    return is_in_force(query.skip, inputs.today) or all(query.id in entry.run.responses for entry in entries)


def _list_scored_queries(entries: Sequence[RescoredEntry], tag: str | None) -> list[str]:
    """The queries, those with *tag* if there is one, that had a score in most of *entries*, of any measure."""
    runs_by_query: Counter[str] = Counter()
    for entry in entries:
        for query, kept_query in entry.entry.queries.items():
            if tag is not None and tag not in kept_query.tags:
                continue
            if any(score is not None for score in kept_query.scores.values()):
                runs_by_query[query] += 1
    # "Most" and not "all": a query that was deleted from the suite should be reported as missing for a while, and not
    # only in the first run without it.
    return [query for query, runs in runs_by_query.items() if 2 * runs > len(entries)]


def explain_too_few(history: History | None, runs: int) -> str:
    """Why there are no *runs* to compare with, and what to do about it."""
    if history is None or history.folder is None:
        return "no history was named; `relevance run --history DIR` keeps runs in one"
    found = count(len(history.entries), "run")
    remedy = f"each `relevance run --history {history.folder}` adds one"
    facts = f"{history.folder} has {found} of this suite and request, expected {runs}"
    return "; ".join(filter(None, (facts, describe_later(history), describe_other_files(history), remedy)))


def describe_runs(entries: Sequence[RescoredEntry], history: History | None = None) -> str:
    """
    The numbers and the days of the runs that count, which come in the order of their numbers, and those passed over.

    Empty if they have no numbers, as they are not read from a folder.
    """
    if not entries[0].number:
        return ""
    spans: list[list[RescoredEntry]] = []
    for entry in entries:
        if spans and entry.number == spans[-1][-1].number + 1:
            spans[-1].append(entry)
        else:
            spans.append([entry])
    subject = "run that counts is" if len(entries) == 1 else "runs that count are"
    text = f"the {subject} {', '.join(map(_describe_span, spans))}"
    repeats = sum(entry.is_repeat for entry in entries)
    if repeats:
        verb = "repeats" if repeats == 1 else "repeat"
        text += f", of which {repeats} {verb} this one"
    if history is None:
        return text
    compared = {entry.number for entry in entries}
    passed_over = [f"{number}" for number in history.repeats if number > entries[0].number and number not in compared]
    if passed_over:
        verb = "repeats" if len(passed_over) == 1 else "repeat"
        text += f", but not {listed(passed_over)}, which {verb} this one"
    passed_over = [f"{number}" for number in history.repeated if number > entries[0].number and number not in compared]
    if passed_over:
        text += f", but not {listed(passed_over)}: a later run of the same commit and day counts"
    return text


def _describe_span(entries: Sequence[RescoredEntry]) -> str:
    """Runs in a row: the numbers of the first and the last, and their days."""
    first, last = entries[0], entries[-1]
    numbers, days = f"{first.number}", first.entry.created[:10]
    if last is not first:
        numbers += f" to {last.number}"
    if last.entry.created[:10] != days:
        days += f" to {last.entry.created[:10]}"
    return f"{numbers} ({days})"


def describe_other_files(history: History) -> str:
    """That runs of other files do not count; empty if there are none."""
    if not history.other_files:
        return ""
    others = listed(history.other_files)
    return f"runs of {others} do not count: a suite of the same name, in another file than {history.file}"


def describe_later(history: History | None) -> str:
    """That runs do not count because they are dated later than now; empty if there are none."""
    if history is None or not history.later:
        return ""
    verb = "does" if len(history.later) == 1 else "do"
    return f"{count(len(history.later), 'run')} {verb} not count, dated later than now: {listed(history.later)}"


def _refuse(
    condition: DropCondition | WorseCondition,
    queries: Sequence[Query],
    inputs: GateInputs,
    problem: str,
    cause: Cause = Cause.UNUSABLE_BASELINE,
) -> Finding:
    """The finding that *queries* cannot be compared, or that one of them has no answer."""
    name = f"the last {count(condition.since or 1, 'run')}"
    reference = Reference(problem=problem, cause=cause, name=name)
    finding = pair_scores(replace(inputs, reference=reference), queries, condition.measure)
    assert isinstance(finding, Finding), "nothing is paired with no run"
    return finding


def _refuse_absent(
    condition: DropCondition | WorseCondition, queries: Sequence[Query], inputs: GateInputs, absent: Sequence[str]
) -> Finding | None:
    """
    The finding that all of *queries* are *absent* from the earlier runs, or that one of them has no score today.

    What is absent is not compared, but it is in the scope of the threshold all the same. None where nothing is wrong.
    """
    if len(absent) == len(queries):
        finding = _refuse(condition, queries, inputs, f"they have no query in common: {listed(absent)}")
        return replace(finding, left_out=finding.left_out + len(absent))
    now = scope_scores(queries, condition.measure.text, inputs.scores, inputs.today)
    if now.unanswered:
        return _refuse(condition, queries, inputs, now.no_score, Cause.UNANSWERED)
    undefined = tuple(query for query in now.undefined if query in absent)
    if undefined and not inputs.suite.skip_undefined:
        problem = f"it {describe_undefined(undefined, now.size)}"
        finding = _refuse(condition, queries, inputs, problem, Cause.UNDEFINED)
        return replace(finding, status=Status.FAILED, blamed=undefined)
    return None


def _pair_with_runs(
    entries: Sequence[RescoredEntry], queries: Sequence[Query], inputs: GateInputs, measure: Measure
) -> list[Pairs] | Finding:
    """Today's scores of *queries* beside those of each of *entries*, or why one of them cannot be compared with."""
    comparable_inputs = replace(inputs, run=_replace_all_scores(inputs.run, inputs.suite))
    pairs_of_runs = []
    for entry in entries:
        pairs = pair_scores(_compare_with(entry, comparable_inputs), queries, measure)
        if isinstance(pairs, Finding):
            return pairs
        pairs_of_runs.append(pairs)
    return pairs_of_runs


def _compare_with(entry: RescoredEntry, inputs: GateInputs) -> GateInputs:
    """*inputs* with the run of *entry* in place of the baseline."""
    created = entry.entry.created
    day, time = created[:10], created[11:16]
    reference = Reference(
        run=entry.run,
        scores=entry.scores,
        depth=entry.entry.depth,
        created=created,
        same_request=entry.same_request,
        name=f"the run of {day} {time}",
    )
    return replace(inputs, reference=reference, reference_scores=index_scores(entry.scores))


def _replace_all_scores(run: Run, suite: Suite) -> Run:
    """*run* with the scores of `replace_scores`, which kept rankings have too: ties are found by comparing these."""
    responses: dict[str, Response] = {}
    for query, response in run.responses.items():
        if isinstance(response, Ranking):
            response = replace_scores(truncate_ranking(response, suite.depth), suite.profile)
        responses[query] = response
    return replace(run, responses=responses)


def _describe_median(
    median: Median, entries: Sequence[RescoredEntry], history: History | None, left_out: Sequence[str]
) -> Pairs:
    """The pairs of *median*, which say what they are compared with, how far that is spread, and what is *left_out*."""
    runs = f"the last {count(len(entries), 'run')}"
    newest = 0
    if history is not None:
        newest = history.newest
    # Entries have no numbers, and 0 is the newest one, where they are not read from a folder.
    are_the_last = entries[0].number == newest - len(entries) + 1
    if newest and not are_the_last:
        runs = f"{count(len(entries), 'run')} of the history"
    first = min(entry.entry.created for entry in entries)
    spread = f"{median.least:.4f} to {median.greatest:.4f}, since {first[:10]}"
    against = f"the median of {runs}"
    remarks = []
    if median.is_per_query:
        remarks.append(f"compared with the median of each query in {runs} (means {spread})")
    remarks += left_out
    return replace(median.pairs, against=against, origin=f"{against} ({spread})", remarks=tuple(remarks))


# The median of runs.


@dataclass(frozen=True, slots=True)
class Median:
    """The scores of several runs as those of one: *pairs* has today's beside the median."""

    pairs: Pairs
    least: float
    """The least mean of the runs, over the queries of *pairs*."""
    greatest: float
    is_per_query: bool = False
    """Whether each query has a median of its own."""


def find_median(pairs_of_runs: Sequence[Pairs], queries: Sequence[Query], *, is_per_query: bool) -> Median | None:
    """
    The pairs of today's scores with the median of several runs.

    The mean of what is `before` is then the median of the means: it has the scores of the run in the middle, or those
    half-way between the two runs in the middle. If *is_per_query*, each query has the median of its own scores.

    Args:
        pairs_of_runs: Today's scores beside those of each run.
        queries: Their queries, with the weights of today.
        is_per_query: Whether each query is compared by itself.

    Returns:
        None if no query has a score in all runs.
    """
    first = pairs_of_runs[0]
    shared = [query for query in first.before if all(query in pairs.before for pairs in pairs_of_runs)]
    if not shared:
        return None
    weights = read_weights(queries, shared)
    means = []
    for pairs in pairs_of_runs:
        shared_scores = {query: pairs.before[query] for query in shared}
        means.append(mean_of(shared_scores, weights))
    if is_per_query:
        middle_of_queries = {query: _pick_middle(_sort_by_query(pairs_of_runs, query)) for query in shared}
    else:
        order = sorted(range(len(means)), key=means.__getitem__)
        middle = _pick_middle([pairs_of_runs[index] for index in order])
        middle_of_queries = dict.fromkeys(shared, middle)
    undefined: dict[str, None] = {}
    for pairs in pairs_of_runs:
        undefined.update(dict.fromkeys(pairs.undefined))
    median = replace(_average(middle_of_queries, first), weights=weights, undefined=tuple(undefined))
    return Median(median, min(means), max(means), is_per_query)


def _sort_by_query(pairs_of_runs: Sequence[Pairs], query: str) -> list[Pairs]:
    """The runs by their scores of *query*, the least first."""
    return sorted(pairs_of_runs, key=lambda pairs: pairs.before[query])


def _pick_middle(ordered: Sequence[Pairs]) -> Sequence[Pairs]:
    """The one in the middle, or the two of an even number."""
    size = len(ordered)
    return ordered[(size - 1) // 2 : size // 2 + 1]


def _average(middle_of_queries: Mapping[str, Sequence[Pairs]], first: Pairs) -> Pairs:
    """
    One run from several: each query has the mean of its scores in one or two runs, which are the middle ones for it.

    *first* has what all pairs share, such as the measure.
    """
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    tie_ranges: dict[str, tuple[float, float]] = {}
    only_ties = []
    ties_and_more = []
    for query, middle in middle_of_queries.items():
        before[query] = _average_values([pairs.before[query] for pairs in middle])
        after[query] = _average_values([pairs.after[query] for pairs in middle])
        if any(query in pairs.tie_ranges for pairs in middle):
            tie_ranges[query] = _average_tie_ranges(middle, query)
        elif all(query in pairs.only_ties for pairs in middle):
            only_ties.append(query)
        elif any(query in (*pairs.only_ties, *pairs.ties_and_more) for pairs in middle):
            ties_and_more.append(query)
    return replace(
        first,
        before=before,
        after=after,
        today={query: first.today[query] for query in middle_of_queries},
        tie_ranges=tie_ranges,
        only_ties=tuple(only_ties),
        ties_and_more=tuple(ties_and_more),
    )


def _average_tie_ranges(middle: Sequence[Pairs], query: str) -> tuple[float, float]:
    """The mean range of today's score of *query*; in a run with all ties known, both ends are that score."""
    least, greatest = [], []
    for pairs in middle:
        value = pairs.after[query]
        low, high = pairs.tie_ranges.get(query, (value, value))
        least.append(low)
        greatest.append(high)
    return _average_values(least), _average_values(greatest)


def _average_values(values: Sequence[float]) -> float:
    """The mean of one value or of two; they may be infinite."""
    return sum(values) / len(values)
