"""What `--why` is about to send, before anything is sent, and the report with its result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.config import Configs
from harness.errors import Option, UsageError
from harness.extensions.compare.forms import SideText, parse_side
from harness.extensions.compare.model import ComparisonReport, SideKind
from harness.extensions.compare.preparing import ComparisonRequest, PreparedComparison
from harness.extensions.compare.sides import SUITE, ComparedSide, make_run_side, read_baseline_side
from harness.extensions.compare.why.arms import count_fixtures, count_pair_searches, count_searches, fit_first
from harness.extensions.compare.why.asking import (
    ArmSender,
    SuiteRunner,
    choose_server,
    explain_refusal,
    make_fixture,
    make_template,
    read_fixture,
    read_kept_request,
    read_request,
    refuse_unlike,
)
from harness.extensions.compare.why.differences import FIXTURE, SERVER, Difference, Splitting, split_requests
from harness.extensions.compare.why.explaining import WhyOptions, estimate_difference, explain_requests
from harness.gate.selection import QueryFilter, select
from harness.masking import Masker
from harness.model.suite import Json, Suite
from harness.redaction import redact
from harness.run import Runner
from harness.search.fixtures import read_recipe
from harness.store.journal import Journal
from harness.words import listed

WHY, OLD_SUITE = Option("why"), Option("old-suite")


@dataclass(frozen=True, slots=True)
class WhyPlan:
    """The differences between two requests, and what is sent for them."""

    request: ComparisonRequest
    """With the loaded suite, and both sides."""
    suite: Suite
    """With the queries that are sent, and the new request by its name."""
    request_name: str
    """The new request."""
    old: End
    splitting: Splitting
    finest: tuple[Difference, ...]
    differences: tuple[Difference, ...]
    """Those of *finest*, joined where the searches do not allow for all."""
    options: WhyOptions
    new: End | None = None
    """The new request where it is searched apart."""

    @property
    def searches(self) -> int:
        """Those that are sent for both ends and for all differences."""
        return count_searches(self.splitting, self.differences, len(self.suite.queries))

    @property
    def arm_searches(self) -> int:
        """Those that are sent after both ends were, once."""
        return self.searches - 2 * len(self.suite.queries)

    @property
    def pair_searches(self) -> int:
        """The most that are sent for pairs."""
        most = count_pair_searches(self.differences, len(self.suite.queries))
        return max(0, min(most, self.options.searches - self.searches))

    @property
    def indexes(self) -> int:
        """The number of indexes that are built of fixtures."""
        return count_fixtures(self.splitting, self.differences)


@dataclass(frozen=True, slots=True)
class End:
    """One of the two requests, and where it is from."""

    name: str
    """As a side of a comparison."""
    parts: Json
    of_baseline: bool = False
    """Whether it is that of a baseline, whose rankings are not those of today."""
    is_searched: bool = False
    """Whether it is no request of the suite, or not on its index, so that it is searched apart."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """What the sides of a command name."""

    reference: SideText
    candidate: SideText
    places: tuple[SideText, SideText] | None = None
    """The index, or the server, that each request is sent to; None where both go where the suite says."""
    are_apart: bool = False
    """Whether the places stand behind the requests, so that neither is a side by itself."""

    @property
    def names_servers(self) -> bool:
        """Whether the places are servers."""
        return self.places is not None and self.places[0].kind is not SideKind.INDEX

    def add_places(self, old: End, new: End) -> tuple[End, End]:
        """Both requests, with where they are sent."""
        if self.places is None:
            return old, new
        ends = []
        for end, place in zip((old, new), self.places, strict=True):
            part = {SERVER: str(place)} if self.names_servers else {"index": place.value}
            name = f"{end.name} {place}" if self.are_apart else str(place)
            is_searched = end.is_searched or self.are_apart
            ends.append(replace(end, name=name, parts={**end.parts, **part}, is_searched=is_searched))
        return ends[0], ends[1]


def plan_why(request: ComparisonRequest, options: WhyOptions, environ: Mapping[str, str]) -> WhyPlan:
    """
    Take the requests of both sides apart; nothing is sent.

    Raises:
        InputError: A suite is wrong.
        UsageError: The sides are not two requests, or two places to search, or the searches are too few.
    """
    from harness.suites import load_suite

    if request.suite is None:
        raise UsageError(WHY, " compares two requests of a suite; give ", SUITE)
    configs = Configs.from_options(request.run, environ)
    suite = request.suite
    if isinstance(suite, Path):
        suite = load_suite(suite, environ, configs=configs)
    old_suite = None
    if options.old_suite is not None:
        old_suite = load_suite(options.old_suite, environ, configs=configs)
        # Secrets of both are masked.
        suite = replace(suite, variables={**old_suite.variables, **suite.variables})
        if not request.sides:
            names = [request.request or next(iter(loaded.requests)) for loaded in (old_suite, suite)]
            # The sides name the request now, and a comparison refuses it where no side needs it.
            request = replace(request, sides=tuple(f"{SideKind.REQUEST}:{name}" for name in names), request=None)
    sides = _read_sides(request, suite, old_suite)
    name = sides.candidate.value
    new = End(str(sides.candidate), read_request(suite.requests[name]))
    old = _read_old(request, sides, suite, old_suite)
    if old_suite is not None and (old_suite.fixture is not None or suite.fixture is not None):
        old, new = _add_fixtures(old, new, old_suite, suite)
    old, new = sides.add_places(old, new)
    active = select(suite, QueryFilter.from_options(request.run), request.options.today).active
    splitting = split_requests(old.parts, new.parts)
    finest = splitting.list_differences(each=options.each)
    differences = fit_first(finest, len(active), options.searches)
    selected = replace(suite, queries=active)
    request = replace(request, suite=suite)
    return WhyPlan(request, selected, name, old, splitting, finest, differences, options, new)


def _read_sides(request: ComparisonRequest, suite: Suite, old_suite: Suite | None) -> _Sides:
    """
    Both sides: a request, or a baseline, which keeps its request, and a request.

    Two indexes, or two servers, may stand behind two requests, or alone: then both have the same request.
    """
    texts = [parse_side(side, requests=suite.requests) for side in request.sides if isinstance(side, str)]
    places = _take_places(texts)
    if places is not None:
        _refuse_place(request, suite, places)
        texts = texts[:-2]
        if not texts:
            names = [request.request or next(iter(loaded.requests)) for loaded in (old_suite or suite, suite)]
            texts = [SideText(SideKind.REQUEST, name) for name in names]
    kinds = [text.kind for text in texts]
    firsts = (SideKind.REQUEST,) if places is not None else (SideKind.REQUEST, SideKind.BASELINE)
    if len(texts) != 2 or kinds[1] is not SideKind.REQUEST or kinds[0] not in firsts:
        raise UsageError(
            "found the sides ",
            ", ".join(map(str, request.sides)) or "none",
            ", expected two requests with ",
            WHY,
            ", such as request:current request:candidate, or a baseline and a request; two indexes or two clusters may "
            "stand behind two requests, or alone",
        )
    from harness.run import Matrix

    # The same sentence as without the option.
    Matrix((texts[1].value,)).check([suite])
    if kinds[0] is SideKind.REQUEST:
        Matrix((texts[0].value,)).check([old_suite or suite])
    elif old_suite is not None:
        raise UsageError(OLD_SUITE, " has the request of the first side, which is a baseline")
    return _Sides(texts[0], texts[1], places, are_apart=places is not None and len(request.sides) > 2)


def _take_places(texts: Sequence[SideText]) -> tuple[SideText, SideText] | None:
    """The last two of *texts*, if they are two indexes, or two servers."""
    if len(texts) < 2:
        return None
    servers = (SideKind.CLUSTER, SideKind.EMBEDDED)
    kinds = [text.kind for text in texts[-2:]]
    if all(kind is SideKind.INDEX for kind in kinds) or all(kind in servers for kind in kinds):
        return texts[-2], texts[-1]
    return None


def _refuse_place(request: ComparisonRequest, suite: Suite, places: tuple[SideText, SideText]) -> None:
    """
    Refuse *places* that the requests are not sent to.

    Raises:
        UsageError: The index is that of a fixture, or the options name another server.
    """
    if places[0].kind is not SideKind.INDEX:
        if request.run.names_server:
            raise UsageError(f"{places[0]} and {places[1]} name servers, and so does an option; expected one of them")
        return
    if suite.fixture is not None:
        raise UsageError(
            f"{suite.path} has a fixture, which is the index that it searches; expected a suite without one with "
            f"{places[0]} and {places[1]}"
        )


def _read_old(request: ComparisonRequest, sides: _Sides, suite: Suite, old_suite: Suite | None) -> End:
    """The request of the reference."""
    reference, candidate = sides.reference, sides.candidate
    if reference.kind is SideKind.BASELINE:
        path = Path(reference.value) if reference.value else None
        baseline = read_baseline_side(str(reference), path, suite, request.request)
        parts = read_kept_request(baseline.request_json, str(reference))
        index = suite.requests[candidate.value].index
        return End(str(reference), parts if index is None else {**parts, "index": index}, of_baseline=True)
    names = (reference.value, candidate.value)
    refuse_unlike((old_suite or suite, suite), names, names_servers=sides.names_servers)
    parts = read_request((old_suite or suite).requests[reference.value])
    if old_suite is None:
        return End(str(reference), parts)
    return End(f"{reference} of {old_suite.path}", parts, is_searched=True)


def _add_fixtures(old: End, new: End, old_suite: Suite, suite: Suite) -> tuple[End, End]:
    """Both requests with what their indexes are built from."""
    if old_suite.fixture is None or suite.fixture is None:
        raise UsageError(f"of {old_suite.path} and {suite.path} only one has a fixture; --why compares the two indexes")
    before, after = read_fixture(old_suite), read_fixture(suite)
    # The same documents are no difference, wherever they are.
    old_recipe = read_recipe(old_suite.fixture, Path(old_suite.path).parent, old_suite.name)
    if old_recipe.documents == read_recipe(suite.fixture, Path(suite.path).parent, suite.name).documents:
        before = {**before, "documents": after["documents"]}
    return replace(old, parts={**old.parts, FIXTURE: before}), replace(new, parts={**new.parts, FIXTURE: after})


def search_ends(plan: WhyPlan, runner: Runner, environ: Mapping[str, str]) -> ComparisonRequest:
    """The comparison, with those ends as sides that were searched which are no sides by themselves."""
    old, new = plan.request.sides[0], plan.request.sides[-1]
    if plan.old.is_searched:
        old = _search_end(plan, plan.old, f"{plan.request_name} (old)", runner, environ)
    if plan.new is not None and plan.new.is_searched:
        new = _search_end(plan, plan.new, plan.request_name, runner, environ)
    return replace(plan.request, sides=(old, new))


def _search_end(plan: WhyPlan, end: End, name: str, runner: Runner, environ: Mapping[str, str]) -> ComparedSide:
    """The side of *end*, searched as a request of the *name*."""
    template = make_template(plan.suite.requests[plan.request_name], name, end.parts)
    suite = replace(plan.suite, requests={name: template}, thresholds=())
    if FIXTURE in end.parts:
        assert suite.fixture is not None
        suite = replace(suite, fixture=make_fixture(suite.fixture, end.parts[FIXTURE]))
    options = choose_server(replace(plan.request.run, request=None, tags=(), queries=()), end.parts)
    run, cluster = runner.answer_suite(suite, options, Configs.from_options(plan.request.run, environ))
    return make_run_side(end.name, SideKind.REQUEST, suite, run, cluster)


def add_why(
    plan: WhyPlan, prepared: PreparedComparison, runner: SuiteRunner, environ: Mapping[str, str]
) -> ComparisonReport:
    """
    The report of *prepared* with the explanation of its difference.

    Raises:
        UsageError, EngineUnreachable, SuiteError: as `explain_requests`.
    """
    report = prepared.make_report()
    unanswered = next((side for side in prepared.sides if side.unanswered), None)
    if unanswered is not None:
        note = f"no cause is looked for: {unanswered.name} has queries without an answer"
        return replace(report, notes=(*report.notes, note))
    sender = ArmSender(
        runner=runner,
        suite=plan.suite,
        template=plan.suite.requests[plan.request_name],
        options=replace(plan.request.run, request=None, tags=(), queries=(), all_titles=False),
        configs=Configs.from_options(plan.request.run, environ),
    )
    reference, candidate = prepared.sides
    elsewhere = None
    if plan.old.of_baseline:
        # What lies between the requests is sent to the index of today, so the old request is, too.
        [run] = sender.send([plan.splitting.old])
        today = make_run_side(f"the request of {reference.name}, sent today", SideKind.REQUEST, plan.suite, run)
        refusal = explain_refusal(run)
        if refusal:
            return replace(report, notes=(*report.notes, f"no cause is looked for: {today.name}: {refusal}"))
        _, scored = replace(prepared, sides=(reference, today)).score_sides(today)
        elsewhere = estimate_difference(scored, plan.options.level)
        reference = today
    _, scored = replace(prepared, sides=(reference, candidate)).score_sides(candidate)
    try:
        why = explain_requests(plan.splitting, scored, sender, (reference.run, candidate.run), plan.options)
    finally:
        ends = [(plan.splitting.old, reference.run), (plan.splitting.new, candidate.run)]
        removed = sender.remove_indexes(ends)
    if removed:
        note = f"built for this, and removed: {len(removed):,} indexes ({listed(removed)})"
        why = replace(why, notes=(*why.notes, note))
    why = replace(why, elsewhere=elsewhere)
    if plan.old.of_baseline and plan.suite.fixture is not None:
        note = (
            "only the request was taken apart; `--old-suite FILE` in place of the baseline, with the suite of the base "
            "branch, takes the fixture apart too"
        )
        why = replace(why, notes=(*why.notes, note))
    return replace(report, why=redact(why, Masker(plan.suite.variables).mask))


@contextmanager
def open_why_journal(plan: WhyPlan) -> Iterator[Journal | None]:
    """
    The journal beside the suite, which has the responses of an explanation that was killed; removed when all went well.

    None where the folder of the suite cannot be written, as in a container that only reads it.

    Raises:
        UsageError: Another explanation writes it.
    """
    suite = Path(plan.suite.path)
    if not os.access(suite.parent, os.W_OK):
        yield None
        return
    path = suite.with_name(f".{suite.name}.why.journal")
    journal = Journal(path, resume=os.path.lexists(path), is_kept=False)
    try:
        yield journal
    except BaseException:
        journal.close()
        raise
    journal.finish(is_complete=True)
