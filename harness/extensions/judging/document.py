"""The documents of pools, of the agreement of judges and of machines beside people; and findings as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from harness.extensions.judging.model import JudgmentFinding, MachineTrust, Pool, RequestRanks
from harness.extensions.judging.sentences import describe_unanswered, describe_zero_hits
from harness.files.versioned import escape_json_commands
from harness.model.judging import JudgeAgreement
from harness.model.suite import Json
from harness.report.document import (
    Block,
    Column,
    ColumnKind,
    Document,
    Notes,
    Section,
    Span,
    Table,
    Tone,
    make_columns,
    make_name,
    make_notes,
    make_row,
    make_words,
)
from harness.report.safe_text import make_loggable
from harness.report.sentences import format_score
from harness.words import count, format_exactly

_NAME, _FIGURE, _WORD = ColumnKind.NAME, ColumnKind.FIGURE, ColumnKind.WORD


# Pools.


_QUERIES_SHOWN = 10


def build_pool_document(pools: Sequence[Pool]) -> Document:
    """The unjudged documents of each suite in all, in each run, and in the queries whose score may change most."""
    return Document("", (), tuple(map(_build_pool, pools)))


def _build_pool(pool: Pool) -> Section:
    """The coverage of each request, the queries whose score may change most, and notes."""
    blocks: list[Block] = [_build_coverage(pool)]
    if pool.queries:
        blocks.append(_build_queries(pool))
    notes = [
        *make_notes(pool.notes, Tone.QUIET),
        *make_notes(list(describe_zero_hits(pool)), Tone.NOTED),
        *make_notes(list(describe_unanswered(pool)), Tone.BAD),
    ]
    if notes:
        blocks.append(Notes(tuple(notes)))
    return Section((Span(pool.suite, Tone.STRONG), Span(f"  {_describe_total(pool)}")), tuple(blocks))


def _describe_total(pool: Pool) -> str:
    """How many documents are to be judged, in words."""
    if not pool.documents:
        if any(coverage.judged is not None for coverage in pool.coverage):
            return f"no hit of the top {pool.depth} is unjudged"
        return "no query was answered"
    queries = count(len({document.query for document in pool.documents}), "query")
    documents = count(len(pool.documents), "document")
    return f"{documents} to judge in {queries}, of the top {pool.depth}"


def _build_coverage(pool: Pool) -> Table:
    """A row for each request: how many hits are judged, and its mean today and at worst and best."""
    figures = (f"Judged@{pool.depth}", "unjudged hits", f"mean {pool.measure}", "if worst", "if best")
    rows = []
    for coverage in pool.coverage:
        unjudged = f"{coverage.unjudged:,} of {coverage.hits:,}"
        bounds = (coverage.as_judged, coverage.if_worst, coverage.if_best)
        rows.append(make_row(coverage.run, format_score(coverage.judged), unjudged, *map(format_score, bounds)))
    return Table((Column("request"), *make_columns(_FIGURE, *figures)), tuple(rows))


def _build_queries(pool: Pool) -> Table:
    """The first queries of *pool*, each with its unjudged hits and its score today and at worst and best."""
    has_runs = len(pool.coverage) > 1
    names = ["judge first"]
    if has_runs:
        names.append("request")
    rows = []
    for query in pool.queries[:_QUERIES_SHOWN]:
        texts = [query.query]
        if has_runs:
            texts.append(query.run)
        bounds = (query.bounds.as_judged, query.bounds.if_worst, query.bounds.if_best)
        rows.append(make_row(*texts, f"{query.unjudged:,}", *map(format_score, bounds)))
    remarks = []
    if len(pool.queries) > len(rows):
        remarks.append(f"and {count(len(pool.queries) - len(rows), 'ranking')} more")
    columns = make_columns(_NAME, *names) + make_columns(_FIGURE, "unjudged", pool.measure, "if worst", "if best")
    return Table(columns, tuple(rows), tuple(remarks))


# Findings.


def format_findings(findings: Sequence[JudgmentFinding]) -> Iterator[str]:
    """A line per finding, which begins with its place."""
    return (make_loggable(str(finding)) for finding in findings)


def list_findings(findings: Sequence[JudgmentFinding]) -> list[Json]:
    """Each finding with path, line, column, kind and message, for JSON; *line* and *column* are 0 for a whole file."""
    return [{**asdict(finding.mark), "kind": finding.kind.value, "message": finding.message} for finding in findings]


def write_findings_closing(findings: Sequence[JudgmentFinding], judgments: int, suites: int) -> str:
    """The numbers of judgments and suites checked, and of findings."""
    number = count(len(findings), "finding") if findings else "no findings"
    return f"{count(judgments, 'judgment')} of {count(suites, 'suite')} checked: {number}"


# Agreement of judges.


def build_agreement_document(
    agreement: JudgeAgreement | None, machines: Sequence[MachineTrust], names: Mapping[float, str]
) -> Document:
    """How far judges agree, where several graded, and each of *machines* beside people; *names* are those of grades."""
    sections = []
    if agreement is not None:
        sections.append(_build_agreement(agreement))
    sections += [_build_trust(trust, names) for trust in machines]
    return Document("", (), tuple(sections))


def _build_agreement(agreement: JudgeAgreement) -> Section:
    """How much each judge graded, the coefficients with their numbers of documents, and the disagreements."""
    lines = []
    for judge, size in agreement.graded.items():
        line = f"{judge} graded {count(size, 'document')}"
        if judge in agreement.alone:
            line += ", none of which another judge graded: left out below"
        lines.append(line)
    shared = f"{count(agreement.shared, 'document')} graded by several judges, {agreement.same:,} of them alike"
    blocks: list[Block] = [Notes(make_notes(lines, Tone.PLAIN)), _build_coefficients(agreement)]
    if agreement.disagreements:
        blocks.append(_build_disagreements(agreement))
    return Section(make_words(shared), tuple(blocks))


def _build_coefficients(agreement: JudgeAgreement) -> Table:
    """A row for each coefficient of agreement, with the number of documents that it is computed from."""
    rows = []
    for weights, kappa in agreement.cohen.items():
        rows.append(make_row("Cohen's kappa", weights, format_score(kappa), f"{agreement.complete:,}"))
    if agreement.complete:
        rows.append(make_row("Fleiss' kappa", "", format_score(agreement.fleiss), f"{agreement.complete:,}"))
    for level, alpha in agreement.alpha.items():
        rows.append(make_row("Krippendorff's alpha", level, format_score(alpha), f"{agreement.shared:,}"))
    remarks = []
    if not agreement.complete:
        judges = len(agreement.graded) - len(agreement.alone)
        remarks.append(f"Fleiss' kappa needs documents that all {judges} judges graded, and there is none")
    if None in (*agreement.cohen.values(), *agreement.alpha.values()):
        remarks.append("a dash is for what is undefined, because only one grade was given")
    columns = (*make_columns(_WORD, "coefficient", "weights"), *make_columns(_FIGURE, "value", "documents"))
    return Table(columns, tuple(rows), tuple(remarks))


def _build_disagreements(agreement: JudgeAgreement) -> Table:
    """A row for each document on which judges differ, with a column for each judge who shares documents."""
    judges = [judge for judge in agreement.graded if judge not in agreement.alone]
    rows = []
    for disagreement in agreement.disagreements:
        row = [make_words(f"{disagreement.spread:g}"), make_name(disagreement.query), make_name(disagreement.document)]
        for judge in judges:
            grade = disagreement.grades.get(judge)
            row.append(make_words("–" if grade is None else format_exactly(grade)))
        rows.append(tuple(row))
    columns = (Column("apart", _FIGURE), Column("query"), Column("document"), *make_columns(_FIGURE, *judges))
    return Table(columns, tuple(rows))


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


def _build_trust(trust: MachineTrust, names: Mapping[float, str]) -> Section:
    """A machine beside people: kappa, leniency, the confusion matrix, tags, and how requests rank."""
    shared = trust.shared
    both = count(shared.documents, "document")
    graded = f"{trust.machine}, a machine, graded {count(trust.graded, 'document')}; people too: {both}"
    if not shared.documents:
        remark = "nothing says how far its grades may be trusted: let people grade what it graded"
        return Section(make_words(graded), (Notes((Span(remark, Tone.NOTED),)),))
    rows = (
        make_row("Cohen's kappa, quadratic", format_score(shared.kappa), "1 is as people, 0 is by chance"),
        make_row("Krippendorff's alpha, interval", format_score(trust.alpha), ""),
        make_row("same grade", f"{shared.same:,}", f"of {both}"),
        make_row("leniency", _format_leniency(shared.leniency), _describe_leniency(trust)),
    )
    blocks: list[Block] = [
        Table((Column("figure"), Column("value", _FIGURE), Column("meaning")), rows, tuple(_list_doubts(trust))),
        _build_confusion(trust, names),
    ]
    if trust.by_tag:
        blocks.append(_build_tags(trust))
    if trust.ranks is not None:
        blocks.append(_build_ranks(trust.ranks))
    return Section(make_words(graded), tuple(blocks))


_FEW_ZEROS = 0.1
"""The least share of documents with grade 0: these are where a machine can be most too kind."""


def _list_doubts(trust: MachineTrust) -> Iterator[str]:
    """Why the leniency of a machine says little."""
    kappa, documents = trust.shared.kappa, trust.shared.documents
    zeros = sum(alike.documents for grade, alike in trust.by_grade.items() if grade <= 0)
    if kappa is not None and kappa <= 0:
        yield "leniency says little: by kappa the grades agree no better than chance, so it only compares two means"
    if zeros < _FEW_ZEROS * documents:
        yield (
            f"leniency says little: people gave the grade 0 to {zeros:,} of {count(documents, 'document')}, so how "
            "kind the machine is to bad hits is not known; let people grade all hits of some queries"
        )


def _format_leniency(leniency: float | None) -> str:
    """A mean difference of grades with its sign; a dash where there is none."""
    if leniency is None:
        return "–"
    return f"{leniency:+.2f}"


def _describe_leniency(trust: MachineTrust) -> str:
    """What leniency is, and the interval that it is in."""
    sentence = "the mean of its grade minus people's"
    if trust.leniency_range is None:
        return sentence
    low, high = trust.leniency_range
    return f"{sentence}; between {low:+.2f} and {high:+.2f} at 95%"


def _build_confusion(trust: MachineTrust, names: Mapping[float, str]) -> Table:
    """
    How many documents got which grades: a row for each grade by people, a column for each grade by either.

    The last column is the mean of the machine's grade minus people's. *names* are those of grades.
    """
    numbers: dict[tuple[float, float], int] = {}
    all_grades: set[float] = set()
    for people_grade, machine_grade, number in trust.confusion:
        numbers[people_grade, machine_grade] = number
        all_grades.update((people_grade, machine_grade))
    machine_grades = sorted(all_grades)
    rows = []
    for people_grade, graded in trust.by_grade.items():
        cells = [_name_grade(people_grade, names)]
        cells += [f"{numbers.get((people_grade, machine_grade), 0):,}" for machine_grade in machine_grades]
        rows.append(make_row(*cells, _format_leniency(graded.leniency)))
    headings = [_name_grade(grade, names) for grade in machine_grades]
    columns = (Column("people gave"), *make_columns(_FIGURE, *headings, "mean difference"))
    return Table(columns, tuple(rows))


def _name_grade(grade: float, names: Mapping[float, str]) -> str:
    """The grade, followed by its name if it has one."""
    number = format_exactly(grade)
    if grade not in names:
        return number
    return f"{number} {names[grade]}"


def _build_tags(trust: MachineTrust) -> Table:
    """A row for each tag: how the machine graded the documents of its queries."""
    rows = []
    for tag, alike in trust.by_tag.items():
        kappa, leniency = format_score(alike.kappa), _format_leniency(alike.leniency)
        rows.append(make_row(tag, f"{alike.documents:,}", kappa, leniency))
    return Table((Column("tag"), *make_columns(_FIGURE, "documents", "kappa", "leniency")), tuple(rows))


def _build_ranks(ranks: RequestRanks) -> Table:
    """A row for each request: its mean by people's grades, and by the machine's."""
    rows = []
    for means in ranks.means:
        scores = (means.by_people, means.by_machine)
        rows.append(make_row(means.request, *map(format_score, scores)))
    columns = (Column("request"), *make_columns(_FIGURE, f"mean {ranks.measure} by people", "by the machine"))
    tau = f"Kendall's tau of the two orders: {ranks.tau:.2f}, over {count(ranks.queries, 'query')}"
    return Table(columns, tuple(rows), (tau,))
