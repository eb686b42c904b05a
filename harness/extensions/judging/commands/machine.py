"""``relevance judge machine``: a language model of relevance.toml grades, and its grades are kept."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from harness.agreement import Pair
from harness.cli.examples import format_examples
from harness.cli.exits import INTERRUPTED_STATUS, NO_ANSWER
from harness.cli.headings import Command, rare_option
from harness.cli.results import CommandResult, print_result
from harness.cli.running import make_run_choices
from harness.cli.shared_options import cell_options, engine_options, json_option, quiet_option
from harness.cli.terminal import make_bars, run_progress
from harness.config import find_machine_judge
from harness.config.addresses import uses_tls
from harness.errors import FormatError, UsageError
from harness.extensions.judging.commands.judged_suite import (
    JudgedSuite,
    depth_option,
    folder_option,
    scale_option,
    split_names,
    suite_argument,
)
from harness.extensions.judging.commands.pages import fields_option, seed_option
from harness.extensions.judging.findings import Scale
from harness.extensions.judging.judge_lock import lock_judge_file
from harness.extensions.judging.machine.asking import TIMES_ASKED, Asking, fingerprint_asking
from harness.extensions.judging.machine.batch_client import BatchClient
from harness.extensions.judging.machine.batches import BatchAsking, SentBatches, Waiting, measure_line, split_sizes
from harness.extensions.judging.machine.budget import Budget, Prices, bound_input, estimate_input
from harness.extensions.judging.machine.client import ChatClient, build_schema, read_key, require_installed
from harness.extensions.judging.machine.pace import CallPace
from harness.extensions.judging.machine.prompt import Prompt
from harness.extensions.judging.machine.reading import Tokens
from harness.extensions.judging.machine.task import (
    AskingPlan,
    MachineTask,
    TaskDocuments,
    TaskOptions,
    open_task,
    plan_asking,
)
from harness.extensions.judging.pools_and_lint import PoolOptions
from harness.extensions.judging.texts import TextOptions
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile, build_judge_path, describe_outdated
from harness.model.judging import JudgeAnswer, MachineJudge
from harness.model.suite import Json
from harness.report.safe_text import make_loggable
from harness.search.login import is_this_machine
from harness.words import count, format_exactly, listed, shorten

TYPICAL_OUTPUT = 60
"""Tokens of an answer, where none is known."""

MOST_LISTED = 20
"""Documents that are listed one by one; the file has all."""

FEWEST_ALIKE = 20
"""So many grades are not all the same, unless the model sees too little, or cannot judge."""

LARGEST_PROMPT = 2**16


@click.command(
    "machine",
    cls=Command,
    epilog=format_examples("relevance judge machine suites/products.relevance.yaml --judge gpt --dry-run"),
)
@suite_argument
@click.option("--judge", metavar="NAME", required=True, help="The language model [judge.NAME] of relevance.toml.")
@click.option(
    "--documents",
    "selection",
    type=click.Choice([str(selection) for selection in TaskDocuments]),
    default=str(TaskDocuments.UNGRADED),
    show_default=True,
    help="What is graded: hits that people have not graded, what they have, or both.",
)
@click.option(
    "--sample",
    metavar="N",
    type=click.IntRange(min=1),
    help="Only N documents, drawn with --seed; of `judge page` it is queries.",
)
@click.option("--dry-run", is_flag=True, help="Print calls, tokens and cost, and send nothing.")
@click.option("--batch", is_flag=True, help="Ask in a batch, which costs less and may take a day, and wait.")
@depth_option
@engine_options
@cell_options
@quiet_option
@rare_option("--again", is_flag=True, help="Ask again for documents whose answer was no grade.")
@seed_option
@fields_option
@scale_option
@folder_option
@json_option
def command(
    suite: Path,
    judge: str,
    folder: Path | None,
    depth: int | None,
    fields: str | None,
    scale: Scale | None,
    selection: str,
    sample: int | None,
    seed: int,
    again: bool,
    dry_run: bool,
    batch: bool,
    quiet: bool,
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Let a language model grade, and keep what it says in a file beside the suite.

    Its grades are never written to the suite: they count where the suite names the model under `judges`.

    The exit status is 2 if a file or the command line is wrong or another command grades as the same model, and 3 if a
    query, or a document sent to the model, got no answer.
    """
    run, matrix = make_run_choices(**arguments)
    judged = JudgedSuite.read(suite, folder, run)
    model = find_machine_judge(judge, judged.configs, judged.path.parent)
    # Before queries are sent: what cannot be asked, or kept, needs none.
    if not dry_run:
        require_installed()
        read_key(model, os.environ)
    pooling = PoolOptions(run, matrix, depth, TextOptions(fields=split_names(fields)))
    task = TaskOptions(pooling, model, TaskDocuments(selection), sample, seed, scale)
    options = MachineOptions(task, again=again, dry_run=dry_run, batch=batch, quiet=quiet, as_json=as_json)
    path = build_judge_path(judged.path, model.name, folder)
    if dry_run:
        return _run_machine(judged, options, JudgeFile.read(path, judged.questions, judged.roots))
    with lock_judge_file(BesideFile(path, judged.roots), model.name) as is_held:
        if not is_held:
            _print_message(f"this system has no lock for {path}; let {model.name} grade in this command only")
        file = JudgeFile.read(path, judged.questions, judged.roots)
        file.check_writable()
        return _run_machine(judged, options, file)


@dataclass(frozen=True, slots=True)
class MachineOptions:
    """What the user asked for."""

    task: TaskOptions
    again: bool
    dry_run: bool
    batch: bool
    quiet: bool
    as_json: bool

    def print_line(self, line: str) -> None:
        """Print *line*, on standard error if standard output is for programs."""
        click.echo(make_loggable(line), err=self.as_json)

    def report(self, file: JudgeFile, plan: AskingPlan, estimate: CostEstimate, status: int) -> int:
        """Print the result for programs if it is wanted; returns the exit status *status*."""
        if not self.as_json:
            return status
        facts: dict[str, Json] = {
            "judge": self.task.judge.name,
            "to_ask": len(plan.to_ask),
            "graded": len(file.grades),
            "tokens": estimate.likely.input + estimate.likely.output,
            "cost": None if estimate.prices is None else estimate.prices.compute_cost(estimate.likely),
        }
        return print_result(CommandResult("judge machine", status, [str(file.path)], facts))


def _run_machine(judged: JudgedSuite, options: MachineOptions, file: JudgeFile) -> int:
    """Plan what to ask for, print it, and ask."""
    judge = options.task.judge
    if file.answers and not file.is_machine:
        raise UsageError(
            f"{file.path}: {judge.name} is a person here, who graded {count(len(file.grades), 'document')}; give the "
            f"table [judge.{judge.name}] another name"
        )
    sent = SentBatches.read(file, judge)
    template = read_template(judge)
    with run_progress(quiet=options.quiet) as progress:
        task = open_task(judged.path, judged.judges, options.task, environ=os.environ, progress=progress)
    prompt = Prompt(task.grades, task.suite.guidelines, template, judge.prompt or "")
    plan = plan_asking(task.pairs, file, fingerprint_asking(judge, prompt), again=options.again)
    # What may be in a batch is in none, or is found there: the batches look for it before they send it.
    plan = plan.leave_out(sent.list_waiting(includes_unsure=not options.batch))
    estimate = estimate_cost(judge, prompt, plan, file, is_batch=options.batch)
    if judge.api_key_env is not None and is_exposed(judge.base_url):
        _print_message(f"the key in {judge.api_key_env} is sent without encryption to {judge.base_url}; use https://")
    old = Counter(plan.old.values())
    old_notes = [f"{count(number, 'grade')} old, not used: {reason}" for reason, number in old.items()]
    for note in [*task.notes, *describe_outdated({judge.name: file}), *old_notes]:
        _print_message(note)
    _list_documents(task.unshown, "left out, as nothing of it can be shown")
    for line in describe_plan(judge, task, plan, estimate):
        options.print_line(line)
    incomplete = NO_ANSWER if task.unanswered else 0
    if options.dry_run:
        options.print_line("nothing was sent")
        return options.report(file, plan, estimate, incomplete)
    status = 0
    # A run that was killed has no end, which this one writes though nothing may be left to ask.
    if plan.old or file.is_open or (plan.to_ask and not options.batch):
        with _explain_failures(file):
            file.begin_run()
        for pair in plan.old:
            # So that a grade which is old counts nowhere, whoever reads the file.
            _record_answer(file, JudgeAnswer(*pair, None))
    if options.batch and (plan.to_ask or sent.batches):
        # The suite can be run while a batch is waited for.
        _end_run(file)
        status = _ask_for_grades(options, prompt, plan, file, sent)
    elif plan.to_ask:
        status = _ask_for_grades(options, prompt, plan, file)
    _end_run(file)
    _list_no_grades(plan.without_grade)
    return options.report(file, plan, estimate, status or incomplete)


def _ask_for_grades(
    options: MachineOptions, prompt: Prompt, plan: AskingPlan, file: JudgeFile, sent: SentBatches | None = None
) -> int:
    """
    Ask for what *plan* says, keep each answer as it comes, and print what came of it.

    With *sent*, it is asked for in batches, and those sent before are picked up.
    """
    judge = options.task.judge
    start = time.perf_counter()
    answers: list[JudgeAnswer] = []
    failures: dict[Pair, str] = {}
    asked = {(pair.query, pair.document) for pair in plan.to_ask}
    with closing(ChatClient(judge, prompt.grades, os.environ)) as chat:
        asking: Asking | BatchAsking
        if sent is None:
            pace = CallPace(judge.requests_per_minute, judge.tokens_per_minute)
            asking = Asking(judge, prompt, chat, Budget(find_prices(judge), judge.budget), pace)
        else:
            asked |= sent.list_waiting()
            budget = Budget(find_prices(judge, is_batch=True), judge.budget)
            asking = BatchAsking(judge, prompt, BatchClient(chat), sent, file, budget)
        bars = make_bars(sys.stderr, "documents", quiet=options.quiet)
        bar = bars.add_task("asking", total=len(asked))
        try:
            with closing(asking.ask_all(plan.to_ask)) as results, bars:
                for result in results:
                    done = len(answers) + len(failures) + 1
                    if isinstance(result, str):
                        _print_message(result)
                        continue
                    if isinstance(result, Waiting):
                        _end_run(file)
                        done = result.done
                    elif result.answer is None:
                        failures[result.pair.query, result.pair.document] = result.failure
                    else:
                        _keep_answer(file, result.answer)
                        answers.append(result.answer)
                    bars.update(bar, completed=done)
        except KeyboardInterrupt:
            remedy = "start the command again to go on"
            if sent is not None and sent.batches:
                remedy = "batches go on at the server, and the same command picks them up"
            _print_message(f"{count(len(answers), 'answer')} kept in {file.path}; {remedy}")
            return INTERRUPTED_STATUS
    for line in describe_results(asking, answers, len(asked), time.perf_counter() - start):
        options.print_line(line)
    _list_no_grades({(answer.query, answer.document): answer for answer in answers if answer.grade is None})
    _list_documents(list(failures), "not asked to the end", list(failures.values()))
    options.print_line(f"kept in {file.path}")
    unanswered = len(asked - {(answer.query, answer.document) for answer in answers})
    if unanswered:
        _print_unanswered(unanswered, len(asked), asking.ended)
    has_grades = any(answer.grade is not None for answer in answers)
    return 0 if has_grades and not unanswered else NO_ANSWER


def _print_unanswered(unanswered: int, asked: int, ended: str) -> None:
    """Say that so many of those *asked* for have no answer, as the calls *ended* early, or for reasons of their own."""
    why = f": {ended}" if ended else ""
    _print_message(f"{count(unanswered, 'document')} of {asked:,} got no answer{why}")


def _keep_answer(file: JudgeFile, answer: JudgeAnswer) -> None:
    """As `_record_answer`, unless *file* has *answer* already: a batch is read again after its command was killed."""
    known = file.answers.get((answer.query, answer.document))
    if known is not None and (known.grade, known.machine) == (answer.grade, answer.machine):
        return
    if not file.is_open:
        with _explain_failures(file):
            file.begin_run()
    _record_answer(file, answer)


def _end_run(file: JudgeFile) -> None:
    """Say that a run of the machine ended, if one began; raises as `_record_answer`."""
    if file.is_open:
        with _explain_failures(file):
            file.end_run()


def _record_answer(file: JudgeFile, answer: JudgeAnswer) -> None:
    """
    Keep *answer* in *file*.

    Raises:
        FormatError: The file holds something else by now.
        UsageError: It could not be written.
    """
    with _explain_failures(file):
        file.record(answer)


@contextmanager
def _explain_failures(file: JudgeFile) -> Iterator[None]:
    """Raise UsageError where *file* cannot be written."""
    try:
        yield
    except OSError as error:
        why = f"an answer could not be kept: {error.strerror or error}"
        remedy = "those before it are kept; start the command again to go on"
        raise UsageError(f"{file.path}: {why}; {remedy}") from None


def is_exposed(url: str) -> bool:
    """
    Whether others on the way could read what is sent to *url*.

    >>> [is_exposed(url) for url in ("http://llm.example/v1", "https://llm.example/v1", "http://127.0.0.1:8080/v1")]
    [True, False, False]
    """
    return not uses_tls(url) and not is_this_machine(urlsplit(url).hostname or "")


def read_template(judge: MachineJudge) -> str | None:
    """
    The user's own prompt, None if there is none.

    Raises:
        FormatError: The file cannot be read.
    """
    if judge.prompt is None:
        return None
    path = Path(judge.prompt)
    try:
        content = path.read_bytes()
        if len(content) > LARGEST_PROMPT:
            raise FormatError.at(path, 0, 0, f"found more than {LARGEST_PROMPT:,} bytes, expected a template")
        return content.decode()
    except OSError as error:
        raise FormatError.at(path, 0, 0, f"the file cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FormatError.at(path, 0, 0, "this is no text in UTF-8") from None


# What it costs.


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Tokens of all calls: what they will be about, and what they cannot exceed."""

    likely: Tokens
    most: Tokens
    prices: Prices | None
    batches: int | None = None
    """The number of batches; None where each document is asked for in a call of its own."""


def find_prices(judge: MachineJudge, *, is_batch: bool = False) -> Prices | None:
    """The prices of *judge*: those of a batch if it is one and they are known; None if there are none."""
    if is_batch and judge.batch_input_price is not None and judge.batch_output_price is not None:
        return Prices(judge.batch_input_price, judge.batch_output_price)
    if judge.input_price is None or judge.output_price is None:
        return None
    return Prices(judge.input_price, judge.output_price)


def estimate_cost(
    judge: MachineJudge, prompt: Prompt, plan: AskingPlan, file: JudgeFile, *, is_batch: bool
) -> CostEstimate:
    """
    What asking for *plan* will take; an answer has about as many tokens as those in *file*.

    Raises:
        FormatError: The user's prompt cannot be filled in.
    """
    schema = build_schema(prompt.grades) if judge.answers == "schema" else None
    outputs = [answer.machine.output_tokens for answer in file.answers.values() if answer.machine is not None]
    output = TYPICAL_OUTPUT
    if outputs:
        output = round(sum(outputs) / len(outputs))
    times = 1 if is_batch else TIMES_ASKED
    likely, most = Tokens(), Tokens()
    sizes = []
    for pair in plan.to_ask:
        messages = prompt.write_messages(pair)
        likely += Tokens(estimate_input(messages, schema), min(output, judge.most_output_tokens))
        most += Tokens(times * bound_input(messages, schema), times * judge.most_output_tokens)
        if is_batch:
            sizes.append(measure_line(judge, schema, messages))
    batches = len(split_sizes(sizes)) if is_batch else None
    return CostEstimate(likely, most, find_prices(judge, is_batch=is_batch), batches)


def describe_plan(judge: MachineJudge, task: MachineTask, plan: AskingPlan, cost: CostEstimate) -> Iterator[str]:
    """Lines on what will be sent."""
    documents = count(len(task.pairs), "document")
    if len(task.pairs) < task.selected:
        documents = f"{documents} drawn of {task.selected:,}"
    yield f"{judge.name}: {judge.model} at {judge.base_url}"
    yield f"  documents  {documents}, {len(plan.kept):,} answered before, {len(plan.to_ask):,} to ask for"
    if plan.waiting:
        remedy = "; --batch picks them up" if cost.batches is None else ""
        yield f"             {count(plan.waiting, 'document')} sent in batches before{remedy}"
    yield f"  grades     {', '.join(format_exactly(grade.grade) for grade in task.grades)}"
    if not plan.to_ask:
        return
    how = "and at most one more for each answer that is no grade"
    if cost.batches is not None:
        how = "in 1 batch" if cost.batches == 1 else f"in {cost.batches:,} batches"
    yield f"  calls      {len(plan.to_ask):,}, {how}"
    yield f"  tokens     about {cost.likely.input:,} sent and {cost.likely.output:,} of answers"
    yield f"             at most {cost.most.input:,} sent and {cost.most.output:,} of answers"
    if cost.prices is None:
        yield "  cost       unknown, as relevance.toml has no prices"
        return
    likely, most = cost.prices.compute_cost(cost.likely), cost.prices.compute_cost(cost.most)
    budget = "no budget" if judge.budget is None else f"the budget is {format_cost(judge.budget)}"
    yield f"  cost       about {format_cost(likely)}, at most {format_cost(most)}; {budget}"
    if cost.batches and judge.batch_input_price is None:
        yield "             by the prices of single calls, as relevance.toml has no batch_input_price"


def format_cost(cost: float) -> str:
    """
    *cost* with two digits that count.

    >>> [format_cost(cost) for cost in (12.345, 0.5, 0.00123, 0.0)]
    ['12.35', '0.50', '0.0012', '0.00']
    """
    if cost >= 0.1 or cost == 0:
        return f"{cost:,.2f}"
    return f"{cost:.2g}"


def describe_results(
    asking: Asking | BatchAsking, answers: Sequence[JudgeAnswer], asked: int, seconds: float
) -> Iterator[str]:
    """Lines on what came of the calls."""
    spent = asking.budget.spent
    cost = "" if asking.budget.cost is None else f", cost {format_cost(asking.budget.cost)}"
    graded = [answer.grade for answer in answers if answer.grade is not None]
    yield f"graded {len(graded):,} of {count(asked, 'document')} in {seconds:.1f} s"
    yield f"  {count(asking.calls, 'call')}: {spent.input:,} tokens sent, {spent.output:,} of answers{cost}"
    tally = Counter(graded)
    for grade in asking.prompt.grades:
        name = f" ({grade.name})" if grade.name else ""
        yield f"  grade {format_exactly(grade.grade)}{name}: {tally[grade.grade]:,}"
    if len(graded) >= FEWEST_ALIKE and len(tally) == 1:
        yield (
            f"  all {len(graded):,} grades are {format_exactly(graded[0])}: they tell no document from another; show "
            "the model more of each document with --fields, or try another prompt or model"
        )
    models = Counter(answer.machine.model for answer in answers if answer.machine is not None)
    if len(models) > 1:
        yield f"  the server named {listed([f'{model} ({number:,})' for model, number in models.items()])}"


# Lists of documents.


def _list_no_grades(answers: Mapping[Pair, JudgeAnswer]) -> None:
    """List *answers* that are no grade, with what the model said."""
    reasons = []
    for answer in answers.values():
        model_text = ""
        if answer.machine is not None:
            model_text = shorten(" ".join(answer.machine.reason.split()), 200)
        reasons.append(f"{answer.comment.removeprefix('no grade: ')}; the answer: {model_text or 'nothing'}")
    _list_documents(list(answers), "no grade", reasons)


def _list_documents(pairs: Sequence[Pair], what: str, reasons: Sequence[str] = ()) -> None:
    """Print the first of *pairs*, each with *what* it is and, if there are *reasons*, with that of the same number."""
    for number, (query, document) in enumerate(pairs[:MOST_LISTED]):
        line = f"{what}: document {document} of query {query}"
        if reasons:
            line += f": {reasons[number]}"
        _print_message(line)
    if len(pairs) > MOST_LISTED:
        _print_message(f"{what}: {count(len(pairs) - MOST_LISTED, 'more document')}")


def _print_message(sentence: str) -> None:
    """Print *sentence* on standard error."""
    click.echo(make_loggable(f"relevance: {sentence}"), err=True)
