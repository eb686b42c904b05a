"""``relevance judge agreement``: how far judges agree, and how far machines agree with people."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from harness.agreement import Grades, Pair, ResolutionRule, compute_agreement, group_by_query, resolve
from harness.cli.examples import format_examples
from harness.cli.headings import Command, rare_option
from harness.cli.running import make_run_choices
from harness.cli.shared_options import cell_options, engine_options, json_option
from harness.cli.terminal import print_all, run_progress
from harness.config import Configs
from harness.extensions.judging.commands.judged_suite import (
    JudgedSuite,
    folder_option,
    rule_option,
    scale_option,
    suite_argument,
)
from harness.extensions.judging.document import build_agreement_document, dump_agreement
from harness.extensions.judging.findings import Scale
from harness.extensions.judging.model import MachineTrust
from harness.extensions.judging.pool import choose_bounded_measure
from harness.extensions.judging.session import check_on_scale, list_choices
from harness.extensions.judging.trust import compare_machine, rank_requests
from harness.files.judge_files import describe_outdated
from harness.metrics import parse_measure
from harness.model.run import Run
from harness.options import RunOptions
from harness.report.safe_text import make_loggable
from harness.report.terminal import print_document
from harness.run import Matrix, Runner
from harness.suites import load_suites
from harness.words import count


@click.command(
    "agreement", cls=Command, epilog=format_examples("relevance judge agreement suites/products.relevance.yaml")
)
@suite_argument
@click.option("--judge", "judges", metavar="NAME", multiple=True, help="Compare these judges only; may be repeated.")
@json_option
@engine_options
@cell_options
@rare_option(
    "--settler",
    metavar="NAME",
    help="If one judge settled where others differ: leave out all grades of that judge, also those whose lines do not "
    "say it.",
)
@rule_option
@scale_option
@folder_option
def command(
    suite: Path,
    judges: tuple[str, ...],
    settler: str | None,
    rule: str,
    scale: Scale | None,
    folder: Path | None,
    as_json: bool,
    **arguments: Any,
) -> int:
    """
    Print how far the judges of a suite agree, and how far machines agree with people, before their grades count.

    With several requests it also says whether people and a machine rank these alike; only then queries are sent. The
    exit status is 2 if a file or the command line is wrong, or nobody can be compared.
    """
    run, matrix = make_run_choices(**arguments)
    judged = JudgedSuite.read(suite, folder, run)
    for name in judges:
        judged.check_has_graded(name)
    if settler is not None:
        judged.check_has_graded(settler)
    # A machine is compared with people whom nobody needs to name.
    if len(set(judges)) == 1 and not judged.judges[judges[0]].is_machine:
        raise click.UsageError("found one --judge, and agreement is between several; name another, or none for all")
    compared = JudgedSuiteFiles(judged, judges or tuple(judged.judges), settler)
    sending = (run, matrix) if matrix.all_requests or len(matrix.requests) > 1 else None
    return show_agreement(compared, ResolutionRule(rule), scale, sending, as_json=as_json)


@dataclass(frozen=True, slots=True)
class JudgedSuiteFiles:
    """
    A suite with people's judgments, and the files of all judges by name.

    *compared* are the judges whose agreement is asked for: all of them, unless some were named. People's agreement is
    that of their independent grades; machines are compared with people, each by itself.
    """

    judged: JudgedSuite
    compared: Container[str]
    settler: str | None = None
    """A judge of whom all grades were given to settle differences, also those whose lines do not say it."""

    def list_independent_grades(self) -> dict[str, Grades]:
        """The grades that people gave without having seen those of others, by name, where there are any."""
        independent: dict[str, Grades] = {}
        for name, file in self.judged.judges.items():
            if name != self.settler and not file.is_machine and file.independent_grades:
                independent[name] = file.independent_grades
        return independent

    def count_settled(self) -> dict[str, int]:
        """The number of documents that a judge graded having seen the grades of others, by name, if there are any."""
        independent = self.list_independent_grades()
        settled = {}
        for name, file in self.judged.judges.items():
            number = len(file.grades) - len(independent.get(name, ()))
            if number and not file.is_machine:
                settled[name] = number
        return settled

    def collect_settled_grades(self) -> dict[Pair, float]:
        """The grades of documents that were settled, where all who settled one gave it the same grade."""
        independent = self.list_independent_grades()
        settled: dict[Pair, set[float]] = {}
        for name, file in self.judged.judges.items():
            if file.is_machine:
                continue
            for pair in file.grades.keys() - independent.get(name, {}).keys():
                settled.setdefault(pair, set()).add(file.grades[pair])
        return {pair: grades.pop() for pair, grades in settled.items() if len(grades) == 1}


def show_agreement(
    files: JudgedSuiteFiles,
    rule: ResolutionRule,
    scale: Scale | None,
    sending: tuple[RunOptions, Matrix] | None,
    *,
    as_json: bool,
) -> int:
    """
    Print the agreement of all who judged, and how far each machine may be trusted.

    *sending* says how the requests are sent that people and machines are to rank; None if none are.

    Raises:
        HarnessError: There is nothing to compare, or a grade is not on the scale.
    """
    for line in describe_outdated(files.judged.judges):
        click.echo(make_loggable(f"relevance: {line}"), err=True)
    check_on_scale(files.judged.judges.values(), files.judged.suite, scale)
    compared = {name: file for name, file in files.judged.judges.items() if name in files.compared}
    for file in files.judged.judges.values():
        file.check_whole()
    independent = {name: grades for name, grades in files.list_independent_grades().items() if name in compared}
    settled = {name: number for name, number in files.count_settled().items() if name in compared}
    scale_grades = [choice.grade for choice in list_choices(files.judged.suite, scale)]
    people = _collect_people_grades(files, rule)
    machines = [name for name, file in compared.items() if file.is_machine]
    runs = {} if sending is None or not machines else _send_requests(files.judged.path, *sending)
    trusts = []
    for machine in machines:
        trust = compare_machine(machine, files.judged.suite, people, compared[machine].grades, scale_grades)
        trusts.append(_add_ranks(trust, files, people, runs))
    agreement = None
    # A machine beside people whose grades stand in the suite needs no second judge.
    if len(independent) > 1 or not machines:
        agreement = compute_agreement(independent, scale_grades)
    if as_json:
        click.echo(dump_agreement(agreement, trusts, settled))
        return 0
    for name, number in settled.items():
        sentence = f"{name} settled {count(number, 'document')}, having seen the grades of others: left out below"
        click.echo(make_loggable(sentence))
    names = {grade: name for name, grade in files.judged.suite.grades.items()}
    print_all(print_document(build_agreement_document(agreement, trusts, names)))
    return 0


def _collect_people_grades(files: JudgedSuiteFiles, rule: ResolutionRule) -> Grades:
    """
    People's grade of each document: that in the suite, else that of who settled it, else that of those who judged, by
    *rule*.
    """
    people = {name: file.grades for name, file in files.judged.judges.items() if file.grades and not file.is_machine}
    grades: dict[Pair, float] = dict(resolve(people, rule).grades)
    grades |= files.collect_settled_grades()
    for query in files.judged.suite.queries:
        for document, grade in query.judgments.items():
            grades[query.id, document] = grade
    return grades


def _send_requests(path: Path, options: RunOptions, matrix: Matrix) -> dict[str, Run]:
    """The responses to each request of *matrix*, by its name."""
    configs = Configs.from_options(options, os.environ)
    suites = load_suites([path], os.environ, needs_judgments=False, machines=False, configs=configs)
    with run_progress(quiet=False) as progress, Runner(os.environ, progress) as runner:
        answered = runner.answer(suites, replace(options, unjudged=True), matrix=matrix, configs=configs)
        return {cell.run.request: cell.mask_run() for cell in answered}


def _add_ranks(trust: MachineTrust, files: JudgedSuiteFiles, people: Grades, runs: Mapping[str, Run]) -> MachineTrust:
    """*trust* with how *runs* rank by both."""
    if not runs:
        return trust
    judged_by_people = group_by_query(people)
    queries = [replace(query, judgments=judged_by_people.get(query.id, {})) for query in files.judged.suite.queries]
    suite = replace(files.judged.suite, queries=tuple(queries))
    by_machine = group_by_query(files.judged.judges[trust.machine].grades)
    measure = choose_bounded_measure(suite, suite.depth) if suite.measures else parse_measure("nDCG@10")
    return replace(trust, ranks=rank_requests(suite, runs, measure, by_machine))
