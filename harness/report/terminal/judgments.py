"""Pools of unjudged hits, findings in judgments, and the agreement of judges on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.model import JudgeAgreement, JudgmentFinding, Pool
from harness.report.json import escape_json_commands
from harness.report.sentences import describe_unanswered, describe_zero_hits, format_score, printable
from harness.report.terminal import align_right, indent, make_table, make_text, make_texts
from harness.words import count, format_exactly

# Pools.


QUERIES_SHOWN = 10


def print_pool(pool: Pool) -> Iterator[RenderableType]:
    """The unjudged documents in all, in each run, and in the queries whose score may change most."""
    yield Text.assemble((printable(pool.suite), "bold"), f"  {_describe_total(pool)}")
    yield indent(_lay_out_coverage(pool))
    if pool.queries:
        yield Text()
        yield indent(_lay_out_queries(pool))
    if len(pool.queries) > QUERIES_SHOWN:
        yield indent(Text(f"and {count(len(pool.queries) - QUERIES_SHOWN, 'ranking')} more", style="dim"))
    yield from map(indent, make_texts(pool.notes, "dim"))
    yield from map(indent, make_texts(describe_zero_hits(pool), "yellow"))
    yield from map(indent, make_texts(describe_unanswered(pool), "bold red"))


def _describe_total(pool: Pool) -> str:
    if not pool.documents:
        if any(coverage.judged is not None for coverage in pool.coverage):
            return f"no hit of the top {pool.depth} is unjudged"
        return "no query was answered"
    queries = count(len({document.query for document in pool.documents}), "query")
    documents = count(len(pool.documents), "document")
    return f"{documents} to judge in {queries}, of the top {pool.depth}"


def _lay_out_coverage(pool: Pool) -> Table:
    mean = printable(f"mean {pool.measure}")
    figures = (f"Judged@{pool.depth}", "unjudged hits", mean, "if worst", "if best")
    table = make_table("request", *map(align_right, figures))
    for coverage in pool.coverage:
        unjudged = f"{coverage.unjudged:,} of {coverage.hits:,}"
        bounds = (coverage.as_judged, coverage.if_worst, coverage.if_best)
        table.add_row(make_text(coverage.run), format_score(coverage.judged), unjudged, *map(format_score, bounds))
    return table


def _lay_out_queries(pool: Pool) -> Table:
    has_runs = len(pool.coverage) > 1
    figures = ("unjudged", printable(pool.measure), "if worst", "if best")
    table = make_table("judge first", "request" if has_runs else None, *map(align_right, figures))
    for query in pool.queries[:QUERIES_SHOWN]:
        cells: list[str | Text] = [make_text(query.query)]
        if has_runs:
            cells.append(make_text(query.run))
        cells.append(f"{query.unjudged:,}")
        cells += map(format_score, (query.bounds.as_judged, query.bounds.if_worst, query.bounds.if_best))
        table.add_row(*cells)
    return table


# Findings.


def format_findings(findings: Sequence[JudgmentFinding]) -> Iterator[str]:
    """A line per finding, which begins with its place."""
    return (printable(str(finding)) for finding in findings)


def dump_findings(findings: Sequence[JudgmentFinding]) -> str:
    """A list of objects with path, line, column, kind and message; *line* and *column* are 0 for a whole file."""
    plain = [{**asdict(finding.mark), "kind": finding.kind, "message": finding.message} for finding in findings]
    return escape_json_commands(json.dumps(plain, indent=2))


def write_findings_closing(findings: Sequence[JudgmentFinding], judgments: int, suites: int) -> str:
    """The numbers of judgments and suites checked, and of findings."""
    checked = f"{count(judgments, 'judgment')} of {count(suites, 'suite')} checked"
    return f"{checked}: {count(len(findings), 'finding') if findings else 'no findings'}"


# Agreement of judges.


def print_agreement(agreement: JudgeAgreement) -> Iterator[RenderableType]:
    """How much each judge graded, the coefficients with their numbers of documents, and the disagreements."""
    for judge, size in agreement.graded.items():
        line = f"{judge} graded {count(size, 'document')}"
        if judge in agreement.alone:
            line += ", none of which another judge graded: left out below"
        yield Text(line)
    yield Text(f"{count(agreement.shared, 'document')} graded by several judges, {agreement.same:,} of them alike")
    yield Text()
    table = make_table(
        Column("coefficient", no_wrap=True),
        Column(no_wrap=True),
        align_right("value"),
        align_right("documents"),
    )
    for weights, kappa in agreement.cohen.items():
        table.add_row("Cohen's kappa", weights, format_score(kappa), f"{agreement.complete:,}")
    if agreement.complete:
        table.add_row("Fleiss' kappa", "", format_score(agreement.fleiss), f"{agreement.complete:,}")
    for level, alpha in agreement.alpha.items():
        table.add_row("Krippendorff's alpha", level, format_score(alpha), f"{agreement.shared:,}")
    yield table
    if not agreement.complete:
        judges = len(agreement.graded) - len(agreement.alone)
        yield Text(f"Fleiss' kappa needs documents that all {judges} judges graded, and there is none", style="dim")
    if None in (*agreement.cohen.values(), *agreement.alpha.values()):
        yield Text("a dash is for what is undefined, because only one grade was given", style="dim")
    if agreement.disagreements:
        yield Text()
        yield _lay_out_disagreements(agreement)


def _lay_out_disagreements(agreement: JudgeAgreement) -> RenderableType:
    judges = [judge for judge in agreement.graded if judge not in agreement.alone]
    table = make_table(align_right("apart"), "query", "document", *map(align_right, judges))
    for disagreement in agreement.disagreements:
        grades = []
        for judge in judges:
            grade = disagreement.grades.get(judge)
            grades.append("–" if grade is None else format_exactly(grade))
        table.add_row(
            f"{disagreement.spread:g}", make_text(disagreement.query), make_text(disagreement.document), *grades
        )
    return table


def dump_agreement(agreement: JudgeAgreement) -> str:
    """*agreement* as JSON."""
    return escape_json_commands(json.dumps(asdict(agreement), indent=2))
