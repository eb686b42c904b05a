"""Pools of unjudged hits, findings in judgments, and the agreement of judges on a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.files.versioned import escape_json_commands
from harness.model.judging import JudgeAgreement, JudgmentFinding, MachineTrust, Pool, RequestRanks
from harness.report.sentences import describe_unanswered, describe_zero_hits, format_score, make_loggable, printable
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
    return (make_loggable(str(finding)) for finding in findings)


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


def dump_agreement(
    agreement: JudgeAgreement | None, machines: Sequence[MachineTrust], settled: Mapping[str, int]
) -> str:
    """
    *agreement*, where there is one, as JSON, with how far *machines* may be trusted.

    *settled* is the number of documents that a judge graded having seen the grades of others, by judge.
    """
    content = {} if agreement is None else asdict(agreement)
    if settled:
        content["settled"] = dict(settled)
    content["machines"] = [asdict(trust) for trust in machines]
    return escape_json_commands(json.dumps(content, indent=2))


# Machines beside people.


def print_trust(trust: MachineTrust, names: Mapping[float, str]) -> Iterator[RenderableType]:
    """
    A machine beside people: kappa, leniency, the confusion matrix, tags, and how requests rank.

    *names* are those of grades.
    """
    shared = trust.shared
    both = count(shared.documents, "document")
    yield Text(f"{printable(trust.machine)}, a machine, graded {count(trust.graded, 'document')}; people too: {both}")
    if not shared.documents:
        yield Text("nothing says how far its grades may be trusted: let people grade what it graded", style="yellow")
        return
    table = make_table("figure", align_right("value"), Column("meaning"))
    table.add_row("Cohen's kappa, quadratic", format_score(shared.kappa), "1 is as people, 0 is by chance")
    table.add_row("Krippendorff's alpha, interval", format_score(trust.alpha), "")
    table.add_row("same grade", f"{shared.same:,}", f"of {both}")
    table.add_row("leniency", _format_leniency(shared.leniency), _describe_leniency(trust))
    yield table
    yield Text()
    yield _lay_out_confusion(trust, names)
    if trust.by_tag:
        yield Text()
        yield _lay_out_tags(trust)
    if trust.ranks is not None:
        yield Text()
        yield from _lay_out_ranks(trust.ranks)


def _format_leniency(leniency: float | None) -> str:
    return "–" if leniency is None else f"{leniency:+.2f}"


def _describe_leniency(trust: MachineTrust) -> str:
    sentence = "the mean of its grade minus people's"
    if trust.leniency_range is None:
        return sentence
    low, high = trust.leniency_range
    return f"{sentence}; between {low:+.2f} and {high:+.2f} at 95%"


def _lay_out_confusion(trust: MachineTrust, names: Mapping[float, str]) -> Table:
    """A row for each grade by people, a column for each by the machine."""
    given = sorted({grade for people, machine, _ in trust.confusion for grade in (people, machine)})
    times = {(people, machine): number for people, machine, number in trust.confusion}
    columns = [align_right(_name_grade(grade, names)) for grade in given]
    table = make_table("people gave", *columns, align_right("mean difference"))
    for people, alike in trust.by_grade.items():
        cells = [f"{times.get((people, machine), 0):,}" for machine in given]
        table.add_row(_name_grade(people, names), *cells, _format_leniency(alike.leniency))
    return table


def _name_grade(grade: float, names: Mapping[float, str]) -> str:
    name = names.get(grade)
    return format_exactly(grade) if name is None else f"{format_exactly(grade)} {printable(name)}"


def _lay_out_tags(trust: MachineTrust) -> Table:
    table = make_table("tag", align_right("documents"), align_right("kappa"), align_right("leniency"))
    for tag, alike in trust.by_tag.items():
        kappa, leniency = format_score(alike.kappa), _format_leniency(alike.leniency)
        table.add_row(make_text(tag), f"{alike.documents:,}", kappa, leniency)
    return table


def _lay_out_ranks(ranks: RequestRanks) -> Iterator[RenderableType]:
    measure = printable(f"mean {ranks.measure}")
    table = make_table("request", align_right(f"{measure} by people"), align_right("by the machine"))
    for means in ranks.means:
        table.add_row(make_text(means.request), format_score(means.by_people), format_score(means.by_machine))
    yield table
    yield Text(f"Kendall's tau of the two orders: {ranks.tau:.2f}, over {count(ranks.queries, 'query')}")
