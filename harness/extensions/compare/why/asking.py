"""Sends requests that are built from two requests of a suite, as a run sends those of a suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.errors import EngineUnreachable, UsageError
from harness.extensions.compare.forms import parse_side
from harness.extensions.compare.why.clauses import are_same, write_json
from harness.extensions.compare.why.differences import FIXTURE, SERVER
from harness.masking import fingerprint
from harness.metrics.run_scores import failure_text
from harness.model.run import Failure, Run, Verdict
from harness.model.suite import Fixture, Json, Mark, Query, RequestTemplate, Suite
from harness.options import RunOptions
from harness.run import Matrix
from harness.words import grouped

if TYPE_CHECKING:
    from harness.config import Configs
    from harness.run.cell import AnsweredCell, Progress
    from harness.search.protocol import Search

HTTP_PARTS = ("path", "params", "headers", "json")
"""What two requests over HTTP may differ in."""

PLACES = ("/index", f"/{SERVER}")
"""The pointers of differences between two indexes that exist already."""

ARM = "why-"
"""What the names of requests begin with that lie between two requests."""


class ArmProgress:
    """Tells *progress* of all that lies between two requests as of one suite: there may be a hundred requests."""

    def __init__(self, progress: Progress, searches: int) -> None:
        """
        Args:
            progress: Is told.
            searches: Those that are planned.
        """
        self._progress = progress
        self._searches = searches
        self._has_begun = False

    def suite_started(self, suite: Suite, queries: int, chosen: str) -> None:
        """See `Progress`."""
        if not _has_arms(suite.requests):
            self._progress.suite_started(suite, queries, chosen)
        elif not self._has_begun:
            self._has_begun = True
            self._progress.suite_started(suite, self._searches, "between the requests")

    def queries_done(self, count: int) -> None:
        """See `Progress`."""
        self._progress.queries_done(count)

    def suite_finished(self, run: Run, verdicts: Sequence[Verdict] | None) -> None:
        """See `Progress`."""
        if not _has_arms([run.request]):
            self._progress.suite_finished(run, verdicts)


def _has_arms(requests: Iterable[str]) -> bool:
    return any(name.startswith(ARM) for name in requests)


class SuiteRunner(Protocol):
    """What sends the queries of suites: `harness.run.Runner`."""

    def answer(
        self, suites: Sequence[Suite], options: RunOptions, *, matrix: Matrix | None = None, configs: Configs
    ) -> list[AnsweredCell]:
        """See `Runner.answer`."""
        ...


# Templates of a suite and requests, which are their parts by name.


def read_request(template: RequestTemplate) -> Json:
    """The parts of *template* in which two requests may differ."""
    http = template.http
    if http is not None:
        return {name: getattr(http, name) for name in HTTP_PARTS if getattr(http, name)}
    parts: dict[str, Json] = {"body": template.body}
    if template.url_params:
        parts["url_params"] = dict(template.url_params)
    if template.index is not None:
        parts["index"] = template.index
    return parts


def read_fixture(suite: Suite) -> Json:
    """What the index of *suite* is built from, with the path of its documents from the working directory."""
    fixture = suite.fixture
    assert fixture is not None
    return {
        "settings": dict(fixture.settings),
        "mappings": dict(fixture.mappings),
        "documents": str(Path(suite.path).parent / fixture.documents),
        "id_field": fixture.id_field,
    }


def make_fixture(fixture: Fixture, parts: Json) -> Fixture:
    """*fixture* with what `read_fixture` gives."""
    documents = str(Path(parts["documents"]).absolute())
    return replace(
        fixture,
        documents=documents,
        mappings=parts["mappings"],
        settings=parts["settings"],
        id_field=parts["id_field"],
    )


def choose_server(options: RunOptions, request: Json) -> RunOptions:
    """*options* with the server of *request*, where it names one."""
    return parse_side(request[SERVER]).apply_to(options) if SERVER in request else options


def name_place(request: Json, index: str) -> str:
    """What a report calls the *index* that *request* searches: that of its own, or its server."""
    return str(request.get(SERVER, index))


def read_kept_request(kept: Json, name: str) -> Json:
    """
    The parts of the request that a baseline keeps, as `build_request_json` has them.

    Raises:
        UsageError: The baseline keeps none, or one with variables, whose values it does not keep.
    """
    if kept is None:
        raise UsageError(f"{name} does not keep its request; name a request of the suite in its place")
    if "${" in write_json(kept):
        raise UsageError(
            f"{name} keeps its request without the values of its variables, so that it cannot be sent; name a request "
            "of the suite in its place"
        )
    if "http" in kept:
        return {name: kept["http"][name] for name in HTTP_PARTS if name in kept["http"]}
    return {name: kept[name] for name in ("body", "url_params") if name in kept}


def make_template(template: RequestTemplate, name: str, request: Json) -> RequestTemplate:
    """*template* with the parts of *request*, called *name*."""
    if template.http is None:
        url_params, index = request.get("url_params", {}), request.get("index")
        return replace(template, name=name, body=request["body"], url_params=url_params, index=index, masked=None)
    http = replace(
        template.http,
        path=request.get("path", ""),
        params=request.get("params", {}),
        headers=request.get("headers", {}),
        json=request.get("json"),
    )
    return replace(template, name=name, http=http, body=http.json, masked=None)


def refuse_unlike(suites: tuple[Suite, Suite], names: tuple[str, str], *, names_servers: bool) -> None:
    """
    Refuse two requests of *suites* that differ in more than what is sent for a query, and the index.

    Args:
        suites: Of the first and of the second request.
        names: Of both.
        names_servers: Whether the user names the server of each, which takes the place of its cluster.

    Raises:
        UsageError: They search another server, or read other hits from a response.
    """
    targets = [
        replace(suite.find_target(name), index=None, mark=Mark()) for suite, name in zip(suites, names, strict=True)
    ]
    if names_servers:
        targets = [replace(target, cluster="") for target in targets]
    if targets[0] != targets[1]:
        raise UsageError(
            f"the requests {names[0]} and {names[1]} search different targets; --why compares requests on one, or on "
            f"two clusters that stand behind them: request:{names[0]} request:{names[1]} cluster:OLD cluster:NEW"
        )
    templates = [suite.requests[name] for suite, name in zip(suites, names, strict=True)]
    if any(template.http is None for template in templates):
        is_alike = all(template.http is None for template in templates)
    else:
        first = read_request(templates[0])
        alike = [make_template(template, "", first).http for template in templates]
        is_alike = alike[0] == alike[1]
    if not is_alike:
        raise UsageError(
            f"the requests {names[0]} and {names[1]} are not of one form: their methods, or what is read from a "
            "response, differ; --why compares what is sent"
        )


@dataclass(slots=True)
class ArmSender:
    """Sends requests with the queries of *suite*; each request once."""

    runner: SuiteRunner
    suite: Suite
    template: RequestTemplate
    """What all requests have beside their own parts."""
    options: RunOptions
    configs: Configs
    known: dict[str, Run] = field(default_factory=dict)
    """The runs of requests that were sent with all queries, by their text."""
    searches: int = 0
    """The searches that were sent."""
    searches_by_server: dict[str, Search] = field(default_factory=dict)
    """An open connection to each server that answered, by the text of its side; empty for that of the options."""
    built: dict[tuple[str, str], Search] = field(default_factory=dict)
    """The indexes that were searched of fixtures, by server and name, each with a connection to its server."""

    def add_run(self, request: Json, run: Run) -> None:
        """Take *run* as that of *request*, which was sent with all queries, unless its run is known."""
        if not self.is_known(request):
            self.known[write_json(request)] = run
            self.searches += len(run.responses)

    def is_known(self, request: Json) -> bool:
        """Whether *request* was sent with all queries."""
        return write_json(request) in self.known

    def send(self, requests: Sequence[Json], queries: Sequence[Query] | None = None) -> list[Run]:
        """
        Send *requests*, those that were not sent yet.

        Args:
            requests: As `read_request` gives them.
            queries: Those to send, all where None.

        Raises:
            EngineUnreachable: The server answers nothing at all.
            SuiteError: A request cannot be built.
        """
        texts = [write_json(request) for request in requests]
        unsent = {text: request for text, request in zip(texts, requests, strict=True) if text not in self.known}
        named = {f"{ARM}{fingerprint(text)}": request for text, request in unsent.items()}
        runs = dict(zip(unsent, self._send(named, queries), strict=True))
        if queries is None:
            self.known |= runs
        return [runs[text] if text in runs else self.known[text] for text in texts]

    def send_again(self, requests: Sequence[Json]) -> list[Run]:
        """Send *requests* a second time, whether they were sent or not."""
        named = {}
        for place, request in enumerate(requests):
            named[f"{ARM}again-{place}-{fingerprint(write_json(request))}"] = request
        return self._send(named, None)

    def _send(self, requests: Mapping[str, Json], queries: Sequence[Query] | None) -> list[Run]:
        """Send *requests* by their names, which have their fingerprints: a journal finds them by these."""
        if not requests:
            return []
        suite = replace(self.suite, thresholds=())
        if queries is not None:
            suite = replace(suite, queries=tuple(queries))
        # Each index that a fixture describes is built for a suite of its own, and each server is searched by itself.
        by_place = grouped(
            (write_json([request.get(FIXTURE), request.get(SERVER)]), name) for name, request in requests.items()
        )
        runs: dict[str, Run] = {}
        for names in by_place.values():
            runs |= self._send_to_index(replace(suite, fixture=self._make_fixture(requests[names[0]])), requests, names)
        return [runs[name] for name in requests]

    def _make_fixture(self, request: Json) -> Fixture | None:
        if FIXTURE not in request:
            return self.suite.fixture
        assert self.suite.fixture is not None
        return make_fixture(self.suite.fixture, request[FIXTURE])

    def _send_to_index(self, suite: Suite, requests: Mapping[str, Json], names: Sequence[str]) -> dict[str, Run]:
        """Send those *requests* that have the *names*, which search the index of *suite* on one server."""
        templates = {name: make_template(self.template, name, requests[name]) for name in names}
        suite = replace(suite, requests=templates)
        matrix = Matrix(requests=tuple(templates))
        server = requests[names[0]].get(SERVER, "")
        options = choose_server(self.options, requests[names[0]])
        answered = self.runner.answer([suite], options, matrix=matrix, configs=self.configs)
        runs = {}
        for name, cell in zip(names, answered, strict=True):
            runs[name] = cell.mask_run()
            self.searches += len(runs[name].responses)
            if cell.search is not None:
                self.searches_by_server[server] = cell.search
            if FIXTURE in requests[name]:
                if cell.search is not None and cell.run.index is not None:
                    self.built[server, cell.run.index] = cell.search
            else:
                _refuse_unreachable(runs[name])
        return runs

    def remove_indexes(self, ends: Iterable[tuple[Json, Run]]) -> list[str]:
        """Remove the indexes that were built for arms, but not those of *ends*, two requests; returns their names."""
        from harness.search.fixtures import remove_index

        kept = {(request.get(SERVER, ""), run.index) for request, run in ends}
        removed = []
        for (server, index), search in self.built.items():
            if (server, index) not in kept:
                remove_index(search, index)
                removed.append(index)
        return removed

    def find_search(self, request: Json) -> Search | None:
        """An open connection to the server of *request*; None where it answered nothing, as in a run that goes on."""
        return self.searches_by_server.get(request.get(SERVER, ""))


def _refuse_unreachable(run: Run) -> None:
    """Raise EngineUnreachable where no query was answered, without a status: no request is to blame for that."""
    failures = list_failures(run)
    if failures and len(failures) == len(run.responses) and all(failure.status is None for failure in failures):
        raise EngineUnreachable(failure_text(failures[0]))


def list_failures(run: Run) -> list[Failure]:
    """The failures of *run*."""
    return [response for response in run.responses.values() if isinstance(response, Failure)]


def explain_refusal(run: Run) -> str:
    """What the engine says of the first query of *run* without an answer; empty if all have one."""
    failures = list_failures(run)
    return failure_text(failures[0]) if failures else ""


def find_other_parts(rebuilt: Json, original: Json) -> Iterator[str]:
    """The uppermost pointers of what is written otherwise in the request *rebuilt* than in the *original*."""
    for part in dict.fromkeys([*rebuilt, *original]):
        before, after = original.get(part), rebuilt.get(part)
        if are_same(before, after):
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            prefix = "" if part == "body" else f"/{part}"
            for key in dict.fromkeys([*before, *after]):
                if not are_same(before.get(key), after.get(key)):
                    yield f"{prefix}/{key}"
        else:
            yield f"/{part}"
