"""``relevance judge``: grade what is unjudged on a page in the browser."""

from __future__ import annotations

import math
import os
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.agreement import ResolutionRule
from harness.cli.examples import format_examples
from harness.cli.exits import INTERRUPTED, NO_ANSWER
from harness.cli.run import make_run_choices
from harness.cli.shared_options import (
    OutputType,
    cell_options,
    depth_option,
    engine_options,
    find_one_suite,
    make_run_options,
)
from harness.cli.terminal import run_progress
from harness.config import Configs
from harness.errors import UsageError
from harness.extensions.judging import PoolOptions, TextOptions, read_judged
from harness.extensions.judging.commands.agreement import JudgedSuiteFiles, show_agreement
from harness.extensions.judging.commands.machine import (
    MACHINE_ARGUMENTS,
    JudgedFiles,
    judge_by_machine,
    machine_options,
    read_machine_options,
)
from harness.extensions.judging.commands.team import ServeOptions, Serving, revoke_links, serve_judges
from harness.extensions.judging.findings import parse_scale
from harness.extensions.judging.judge_lock import hold_judge_file, hold_links
from harness.extensions.judging.server import JudgingServer, require_installed
from harness.extensions.judging.server.access import OneJudge, build_access_path
from harness.extensions.judging.server.addresses import Address
from harness.extensions.judging.server.views import ServedJudges
from harness.extensions.judging.session import JudgeOptions, JudgeView, open_views
from harness.extensions.judging.targets import WRITERS, GradeTarget
from harness.extensions.judging.writing import GradedFiles
from harness.files.beside import BesideFile
from harness.files.judge_files import (
    JudgeFile,
    build_judge_path,
    fingerprint_questions,
    read_judge_files,
)
from harness.files.query_samples import build_sample_path, choose_sample, write_sample
from harness.model.suite import QuerySample, Suite
from harness.report.outputs import Output
from harness.report.sentences import make_loggable
from harness.suites.files import find_roots
from harness.words import count, counted, did_you_mean

SOMEBODY = "judge"
"""The name of a judge who gives none."""

RULES = [str(rule) for rule in ResolutionRule]


@click.command(
    "judge", epilog=format_examples("relevance judge suites/products.relevance.yaml --url http://localhost:9200")
)
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@click.option(
    "--judge",
    metavar="NAME",
    multiple=True,
    help=f"Whose grades these are; may be repeated with --serve and --agreement; by default {SOMEBODY}.",
)
@click.option("--blind", is_flag=True, help="Hide ranks, requests and existing grades, and shuffle documents.")
@click.option("--seed", type=int, default=0, show_default=True, help="The seed of the blind order, or of --sample.")
@click.option("--regrade", is_flag=True, help="Grade again what the suite judges, too.")
@click.option("--fields", metavar="NAME,…", help="The fields to show; by default the longest text except the title.")
@click.option("--scale", metavar="LOW..HIGH", help="The grades to choose from, such as 0..3.")
@depth_option
@engine_options
@cell_options
@click.option(
    "--output",
    "outputs",
    multiple=True,
    type=OutputType(WRITERS, "csv=grades.csv"),
    help="Write the grades to csv=FILE or jsonl=FILE instead of the suite; may be repeated.",
)
@click.option(
    "--resolve",
    "rule",
    type=click.Choice(RULES),
    default=RULES[0],
    show_default=True,
    help="The grade of a document that several judges graded.",
)
@click.option(
    "--most-apart",
    metavar="N",
    type=click.FloatRange(min=0),
    default=math.inf,
    help="Write no grade of a document whose grades are further apart.",
)
@click.option(
    "--settle",
    is_flag=True,
    help="Grade only documents on which other judges differ; these grades are written. Needs --judge.",
)
@click.option("--serve", metavar="HOST:PORT", help="Serve the page to several judges, and print a link for each.")
@click.option("--public-url", metavar="URL", help="The https address of the proxy in front of --serve.")
@click.option(
    "--overlap",
    metavar="N",
    type=click.IntRange(min=1),
    help="Give each document to N of the judges of --serve; by default to all.",
)
@click.option(
    "--settler",
    metavar="NAME",
    help="One more judge of --serve, who decides documents on which the others differ, and writes the grades; with "
    "--agreement, who did so.",
)
@click.option("--keep-links", is_flag=True, help="Let the links of the last --serve hold, and print new ones only.")
@click.option("--revoke", metavar="NAME", multiple=True, help="End the link of a judge, also while the page is served.")
@click.option("--agreement", is_flag=True, help="Print how far the judges agree, and open no page.")
@click.option("--json", "as_json", is_flag=True, help="Print the agreement as JSON.")
@click.option("--write", "only_write", is_flag=True, help="Write the grades that are kept, and open no page.")
@click.option(
    "--progress",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder where grades are kept; by default the suite's.",
)
@machine_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The page's port; by default a free one.")
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.option("--quiet", "-q", is_flag=True, help="No progress of the searches.")
def command(
    suite: Path,
    folder: Path | None,
    judge: tuple[str, ...],
    scale: str | None,
    outputs: tuple[Output, ...],
    rule: str,
    most_apart: float,
    settle: bool,
    agreement: bool,
    as_json: bool,
    only_write: bool,
    revoke: tuple[str, ...],
    **arguments: Any,
) -> int:
    """
    Grade on a page in the browser what `relevance judgments pool` would collect.

    Each grade is kept at once in a file beside the suite, one for each judge, so that judging goes on where it ended.
    Finishing on the page writes the grades to the suite, or to the judgment file that it names, and changes nothing
    else there. A file that changed meanwhile is not written unless the page is told to. Ctrl-C ends without writing.

    With --serve several judges grade at the same time, each through a personal link, until Ctrl-C.

    With --machine a language model of relevance.toml grades, and no page is opened.

    The exit status is 0 also if there is nothing to judge, 2 if a file or the command line is wrong or another
    command grades as the same judge, and 3 if a query, or a document sent to a model, got no answer.
    """
    sample_sizes = arguments["sample"]
    machine = read_machine_options(click.get_current_context().params)
    arguments = {name: value for name, value in arguments.items() if name not in MACHINE_ARGUMENTS}
    serve_names = ("serve", "public_url", "overlap", "settler", "keep_links")
    judges_named = tuple(name for name in judge if name)
    serve_options = ServeOptions(judges_named, **{name: arguments.pop(name) for name in serve_names})
    _check_choice(
        _Choice(agreement=agreement, as_json=as_json, only_write=only_write, settle=settle, revoke=bool(revoke)),
        serve_options,
    )
    if math.isnan(most_apart):
        raise click.UsageError("found nan for --most-apart, expected a number of at least 0")
    path = find_one_suite(suite, arguments["root"])
    roots = _list_roots(path, folder, arguments["root"])
    if revoke:
        return revoke_links(BesideFile(build_access_path(path, folder), roots), revoke)
    parsed_scale = None if scale is None else parse_scale(scale)
    config_arguments = {name: arguments[name] for name in ("config", "variables", "root")}
    configs = Configs.from_options(make_run_options(**config_arguments), os.environ)
    judged_suite = read_judged(path, None, configs=configs)[0].suite
    questions = fingerprint_questions(judged_suite)
    judges = read_judge_files(path, folder, questions, roots)
    chosen = {name: value for name, value in arguments.items() if name not in PAGE_ARGUMENTS}
    if machine is not None:
        files = JudgedFiles(path, questions, judges, folder, configs, roots)
        return judge_by_machine(files, machine, make_run_choices(**chosen), parsed_scale)
    if agreement:
        _check_comparable(judges_named, judges, serve_options.settler)
        shown = JudgedSuiteFiles(path, judged_suite, judges, judges_named or tuple(judges), serve_options.settler)
        sends = arguments["all_requests"] or len(arguments["requests"]) > 1
        sending = make_run_choices(**chosen) if sends else None
        return show_agreement(shown, ResolutionRule(rule), parsed_scale, sending, as_json=as_json)
    if only_write and settle:
        _check_has_graded(judges_named[0], judges)
    serving = None
    names = judges_named or (SOMEBODY,)
    settler = names[0] if settle else None
    if serve_options.serve is not None:
        serving = serve_options.parse(path, folder, arguments["port"], roots)
        names, settler = serving.judges, serving.settler
    for name in names:
        judges.setdefault(name, JudgeFile(build_judge_path(path, name, folder), questions, roots))
    _check_are_people(names, judges)
    target = GradeTarget(
        files=GradedFiles.read(path, configs),
        folder=folder,
        rule=ResolutionRule(rule),
        most_apart=most_apart,
        outputs=outputs,
        scale=parsed_scale,
        settler=settler,
    )
    target.check(judges)
    if only_write:
        for line in target.write():
            click.echo(make_loggable(line))
        return 0
    sample = _draw_queries(path, judged_suite, sample_sizes, arguments)
    return _judge(path, judges, target, _Judging(names, serving, sample, sample_sizes or ()), **arguments)


PAGE_ARGUMENTS = frozenset({"fields", "depth", "blind", "seed", "regrade", "port", "no_open", "quiet"})
"""The arguments of the command that say nothing of how suites run."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """The options that say what is done in place of judging, or beside it."""

    agreement: bool
    as_json: bool
    only_write: bool
    settle: bool
    revoke: bool


def _check_choice(choice: _Choice, serve_options: ServeOptions) -> None:
    """
    Check that the options go together.

    Raises:
        click.UsageError: They do not.
    """
    judges = serve_options.judges
    if choice.as_json and not choice.agreement:
        raise click.UsageError("--json prints the agreement; add --agreement")
    if choice.agreement and (choice.only_write or choice.settle):
        raise click.UsageError(f"--agreement writes nothing; remove {'--write' if choice.only_write else '--settle'}")
    if serve_options.serve is None:
        serve_options.check_unused(names_may_repeat=choice.agreement)
    elif choice.settle:
        raise click.UsageError("--settle is for one judge alone; name the judge who settles with --settler NAME")
    elif choice.agreement or choice.only_write or choice.revoke:
        raise click.UsageError("--serve opens the page; remove --agreement, --write and --revoke")
    if choice.revoke and (choice.agreement or choice.only_write):
        raise click.UsageError("--revoke ends links only; remove --agreement and --write")
    if choice.settle and not judges:
        raise click.UsageError("--settle needs --judge NAME, whose grades stand before those of all others")
    if choice.only_write and judges and not choice.settle:
        raise click.UsageError("--write writes the grades of all judges; remove --judge, or add --settle")


def _draw_queries(
    path: Path, suite: Suite, sizes: tuple[int, ...] | None, arguments: Mapping[str, Any]
) -> QuerySample | None:
    """
    The queries of *suite* to grade, drawn at random for estimates that decide at *sizes*; None if there are no sizes.

    Raises:
        HarnessError: The sample that is kept has others.
        click.UsageError: Queries are selected otherwise too.
    """
    if sizes is None:
        return None
    if arguments["queries"] or arguments["tags"]:
        raise click.UsageError("--sample draws from all queries; remove --query and --tag")
    return choose_sample(path, suite, sizes, arguments["seed"])


def _list_roots(path: Path, folder: Path | None, root: Path | None) -> tuple[str, ...]:
    """The folders that files beside the suite at *path* may be in; none where the user named their *folder*."""
    if folder is not None:
        return ()
    return tuple(map(str, find_roots(path, root)))


def _check_are_people(names: Iterable[str], judges: Mapping[str, JudgeFile]) -> None:
    """
    Check that none of *names* is a machine: what a person adds to its file would count as the machine's.

    Raises:
        UsageError: One is.
    """
    for name in names:
        if judges[name].is_machine:
            path = judges[name].path
            raise UsageError(f"{path}: {name} is a machine here, whose grades are no person's; choose another --judge")


def _check_has_graded(judge: str | None, judges: Mapping[str, JudgeFile]) -> None:
    """
    Check that *judge*, whose grades settle or are compared, has graded a document.

    Raises:
        UsageError: The judge has not.
    """
    names = [name for name, file in judges.items() if file.grades]
    if judge in names:
        return
    others = "nobody has"
    if names:
        others = f"only {', '.join(names)} {'has' if len(names) == 1 else 'have'}"
    raise UsageError(f"{judge} has graded no document, and {others}{did_you_mean(str(judge), names)}")


def _check_comparable(names: Sequence[str], judges: Mapping[str, JudgeFile], settler: str | None) -> None:
    """
    Check that the judges *names*, if any are named, and the *settler* have grades whose agreement can be asked for.

    Raises:
        UsageError: One has graded nothing, or there is one person alone.
    """
    for name in names if settler is None else (*names, settler):
        _check_has_graded(name, judges)
    # A machine is compared with people whom nobody needs to name.
    if len(set(names)) == 1 and not judges[names[0]].is_machine:
        raise click.UsageError("--agreement compares several judges; name another --judge, or none for all of them")


def _has_work(views: Iterable[JudgeView]) -> bool:
    """Whether there is a document to grade, or a query of which none is known: one may be found on the page."""
    for view in views:
        if view.documents:
            return True
        task = view.task
        judged = {query.id for query in task.suite.queries if query.judgments}
        if task.beyond is not None and not view.settles and not task.unanswered and set(task.queries) - judged:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Judging:
    """Who grades, as *names*, and where."""

    names: tuple[str, ...]
    serving: Serving | None
    """None for the page of one judge."""
    sample: QuerySample | None
    """The queries that were drawn to be graded, if they were."""
    sizes: tuple[int, ...]
    """
    Those that the command names.

    What is drawn first is graded first, up to the first size: there estimates read so many queries of the sample.
    """


def _judge(
    path: Path,
    judges: dict[str, JudgeFile],
    target: GradeTarget,
    judging: _Judging,
    *,
    port: int,
    no_open: bool,
    **arguments: Any,
) -> int:
    """Judge while no other command grades as one of these judges; the arguments are those of `_open_views`."""
    names, serving = judging.names, judging.serving
    # Before queries are sent: what a judge grades could not be kept.
    require_installed()
    with ExitStack() as resources:
        if serving is not None:
            resources.enter_context(hold_links(serving.access))
            serving.check_links()
        for name in names:
            own_file = judges[name]
            own_file.check_writable()
            if not resources.enter_context(hold_judge_file(own_file.place, name)):
                line = f"this system has no lock for {own_file.path}; grade as {name} in this command only"
                click.echo(make_loggable(f"relevance: {line}"), err=True)
            # A command that ended just now may have kept grades since the file was read.
            judges[name] = JudgeFile.read(own_file.path, own_file.questions, own_file.roots)
        overlap = None if serving is None else serving.overlap
        if judging.sample is not None:
            arguments["queries"] = judging.sample.queries[: judging.sizes[0]]
        views = _open_views(path, judges, target, _Shared(names, overlap, resources), **arguments)
        task = views[names[0]].task
        # Only now: a command that is refused draws no sample.
        _keep_sample(path, task.suite, judging)
        status = NO_ANSWER if task.unanswered else 0
        if not _has_work(views.values()):
            line = "nothing to judge"
            # Without an answer nobody knows whether there is something.
            if status == 0 and serving is None and target.settler is not None:
                line += ": no hit has different grades of other judges"
            elif status == 0:
                line += ": every hit in the pool has a grade"
            click.echo(line)
            return status
        if arguments["blind"]:
            click.echo(f"blind order, seed {arguments['seed']}")
        if serving is not None:
            absent = {name: file for name, file in judges.items() if name not in names}
            return serve_judges(views, absent, target, serving)
        return _serve_alone(views[names[0]], target, port, opens=not no_open) or status


def _keep_sample(path: Path, suite: Suite, judging: _Judging) -> None:
    """
    Write the sample of *suite*, whose file is *path*, if one was drawn, and say where, and what is judged of it.

    Raises:
        UsageError: It cannot be written.
    """
    sample = judging.sample
    if sample is None:
        return
    sample_path = build_sample_path(path)
    write_sample(sample_path, sample, suite.roots)
    line = f"{count(len(sample.queries), 'query')} drawn with seed {sample.seed}: {sample_path}"
    if len(sample.looks) > 1:
        line += f"; estimates decide at {', '.join(map(str, sample.looks))} judged queries"
    shown = judging.sizes[0]
    if shown < len(sample.queries):
        following = next(size for size in sample.looks if size > shown)
        line += f"; the first {shown} are on the page, and --sample {following} opens those of the next size"
    click.echo(line)


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the judges have in common: *overlap* as in `JudgeOptions`; *resources* closes the connections."""

    judges: tuple[str, ...]
    overlap: int | None
    resources: ExitStack


def _open_views(
    path: Path,
    judges: dict[str, JudgeFile],
    target: GradeTarget,
    shared: _Shared,
    *,
    fields: str | None,
    depth: int | None,
    blind: bool,
    seed: int,
    regrade: bool,
    quiet: bool,
    **arguments: Any,
) -> dict[str, JudgeView]:
    """Collect what is to be judged by each judge of *shared*; the other arguments are those of the command."""
    field_names = [name.strip() for name in fields.split(",")] if fields is not None else []
    run_options, matrix = make_run_choices(**arguments)
    shown = TextOptions(fields=tuple(name for name in field_names if name), highlights=True)
    pool_options = PoolOptions(run_options, matrix, depth, shown)
    options = JudgeOptions(
        pooling=pool_options,
        judges=shared.judges,
        blind=blind,
        seed=seed,
        scale=target.scale,
        settler=target.settler,
        overlap=shared.overlap,
        regrades=regrade,
    )
    with run_progress(quiet=quiet) as progress:
        views = open_views(path, judges, options, environ=os.environ, resources=shared.resources, progress=progress)
    for note in next(iter(views.values())).task.notes:
        click.echo(make_loggable(f"relevance: {note}"), err=True)
    return views


def _serve_alone(view: JudgeView, target: GradeTarget, port: int, *, opens: bool) -> int:
    """Serve the page on this machine until the judge finishes, or interrupts."""
    access = OneJudge(view.judge)
    served = ServedJudges.from_views({view.judge: view})
    server = JudgingServer(served, access, target, Address(port=port), ends=True)
    server.start()
    link = server.address.build_link(access.token)
    try:
        click.echo(f"{_describe_work(view)}: {link}")
        if opens and not _open_browser(link):
            click.echo("relevance: no browser could be opened; open the address above", err=True)
        server.finished.wait()
    except KeyboardInterrupt:
        graded = view.graded_count
        kept = "no document was graded"
        if graded:
            kept = f"{count(graded, 'grade')} {'is' if graded == 1 else 'are'} kept in {view.file.path}"
        click.echo(make_loggable(f"{kept}; nothing was written to the suite"), err=True)
        return INTERRUPTED
    finally:
        server.close()
    for line in server.said:
        click.echo(make_loggable(line))
    return 0


def _describe_work(view: JudgeView) -> str:
    """What there is to judge, for the line of the link."""
    documents = view.list_documents()
    if documents:
        return f"{count(len(documents), 'document')} to judge, {view.graded_count:,} of them graded"
    judged = {query.id for query in view.task.suite.queries if query.judgments}
    queries = [query for query in view.task.queries if query not in judged]
    return f"no hit to judge; search on the page for documents of {counted(queries, 'query')}"


def _open_browser(url: str) -> bool:
    """Open the page in a browser with a window, not one in the terminal; returns whether that succeeded."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    # The class of browsers in the terminal, such as lynx, which would take it over.
    if type(browser) is webbrowser.GenericBrowser:
        return False
    return browser.open(url)
