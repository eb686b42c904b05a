"""Writes a draft as the files of a suite: YAML with a TODO line for each missing value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.drafts.draft import Draft, DraftQuery
from harness.extensions import Remedy, find_remedy
from harness.files.judge_files import build_judge_path, format_machine_file
from harness.files.tables import format_json_lines
from harness.model.suite import PEOPLE, Display, Json, Mark
from harness.report.safe_text import printable
from harness.suites.dumping import escape_dollars, format_block, format_members
from harness.suites.names import strip_suite_suffix
from harness.suites.schema_file import SCHEMA_COMMENT
from harness.words import simplify_number

INLINE_JUDGMENTS = 2_000
"""The largest number of judgments in the suite itself; with more, queries and judgments get their own files."""


def name_tables(path: Path) -> tuple[Path, Path]:
    """The files with the queries and the judgments of the suite at *path*, where they are not in the suite itself."""
    stem = strip_suite_suffix(str(path))
    return path.with_name(f"{stem}.queries.jsonl"), path.with_name(f"{stem}.judgments.jsonl")


def render_suite(draft: Draft, path: Path, *, is_separate: bool = False) -> dict[Path, str]:
    """
    The texts, by path, of the suite at *path* and of the files that it names.

    A line to fill in has no value and a comment with TODO, so `relevance validate` reports its place. If *is_separate*,
    queries and judgments get their own files, however few they are.
    """
    stem = strip_suite_suffix(str(path))
    files: dict[Path, str] = {}
    if draft.documents is not None:
        files[path.with_name(_name_documents(stem))] = draft.documents
    sections = [*_list_sections(draft, stem)]
    if is_separate or sum(len(query.judgments) for query in draft.queries) > INLINE_JUDGMENTS:
        remarked = [query for query in draft.queries if query.remarks]
        if remarked:
            draft.add_leftover(
                Mark(str(path)), "the remarks on queries; a file of queries has no comments", len(remarked)
            )
        queries, judgments = name_tables(path)
        sections.append(format_members({"queries": queries.name}))
        sections.append(format_members({"judgments": judgments.name}))
        files[queries] = format_json_lines(_build_record(query) for query in draft.queries)
        files[judgments] = format_json_lines(_list_judgments(draft.queries))
    else:
        sections.append("queries:\n" + "\n".join(_list_query_lines(draft.queries)))
    files |= _list_machine_files(draft, path)
    suite = "\n".join(section.rstrip("\n") + "\n" for section in sections)
    return {path: SCHEMA_COMMENT + suite, **files}


def _list_machines(draft: Draft) -> list[str]:
    """The machines that graded documents of *draft*."""
    machines: dict[str, None] = {}
    for query in draft.queries:
        machines |= dict.fromkeys(query.machine_judgments)
    return list(machines)


def _list_machine_files(draft: Draft, path: Path) -> dict[Path, str]:
    """The grades of each machine in a file of its own beside the suite at *path*, so that they are not people's."""
    files = {}
    for machine in _list_machines(draft):
        grades: dict[tuple[str, str], float] = {}
        for query in draft.queries:
            for document, grade in query.machine_judgments.get(machine, {}).items():
                grades[query.id, document] = grade
        files[build_judge_path(path, machine)] = format_machine_file(grades, machine)
    return files


def _list_judgments(queries: Sequence[DraftQuery]) -> Iterator[Json]:
    """The judgments of *queries* as lines of a file of judgments."""
    for query in queries:
        for document, grade in query.judgments.items():
            yield {"query": query.id, "document": document, "grade": simplify_number(grade)}


def _name_documents(stem: str) -> str:
    """The name of the file with the documents of a suite, whose own name begins with *stem*."""
    return f"{stem}.documents.jsonl"


def _list_sections(draft: Draft, stem: str) -> Iterator[str]:
    """The sections of the suite before its queries."""
    name = format_members({"suite": escape_dollars(draft.name or stem)})
    yield name + _format_target(draft) + format_members({"profile": str(draft.profile)})
    if draft.documents is not None:
        yield format_members({"fixture": {"documents": escape_dollars(_name_documents(stem))}})
    if draft.grades:
        yield format_members({"grades": _simplify_grades(draft.grades)})
    machines = _list_machines(draft)
    if machines:
        yield format_members({"judges": [PEOPLE, *machines]})
    if draft.requests:
        yield format_members({"requests": escape_dollars(draft.requests)})
    elif draft.request is not None:
        section = ""
        for remark in draft.request_remarks:
            section += f"# {printable(remark)}\n"
        yield section + format_members({"request": escape_dollars(draft.request)})
    else:
        yield (
            'request:   # TODO the body of _search, with "{{text}}" where the query\'s text belongs, such as\n'
            '#  {query: {multi_match: {query: "{{text}}", fields: [title, description]}}}\n'
        )
    yield _format_measures(draft)
    display = _build_display(draft.display)
    if display:
        yield format_members({"display": display})


def _build_display(display: Display) -> dict[str, Json]:
    """The keys of `display` that have a value."""
    content: dict[str, Json] = {}
    if display.title:
        content["title"] = escape_dollars(display.title)
    if display.fields:
        content["fields"] = escape_dollars(list(display.fields))
    if display.image:
        content["image"] = escape_dollars(display.image)
    return content


def _format_measures(draft: Draft) -> str:
    """Measures, with thresholds as a comment; if nothing is judged yet, a latency threshold, so that the suite runs."""
    if not draft.is_measured:
        way = find_remedy(Remedy.GRADE, " with `{command}`, which writes to this file")
        return (
            f"# Nothing is judged yet. Grade{way or ' documents'}, and add\n"
            '# measures: ["nDCG@5", "RR@5", "Judged@5"]\n'
            "# Run the suite once more, then require what it reaches today, such as\n"
            '# thresholds: ["mean nDCG@5 >= 0.8"]\n'
            "thresholds:\n"
            '  - {threshold: "p95 latency <= 1000 ms", severity: warn}\n'
        )
    content: dict[str, Json] = {}
    if draft.depth:
        content["depth"] = draft.depth
    measures = draft.measures or ["nDCG@10"]
    content["measures"] = measures
    return format_members(content) + (
        "# The source has no thresholds. Run the suite once, then require what it reaches today, such as\n"
        f'# thresholds: ["mean {measures[0]} >= 0.8"]\n'
    )


def _format_target(draft: Draft) -> str:
    """The target, with a TODO line for its index; it has none if the fixture or each request has its own."""
    requests_name_indexes = draft.requests and all("index" in request for request in draft.requests.values())
    if draft.documents is not None or (requests_name_indexes and not draft.id_field):
        if not draft.cluster:
            return ""
        return format_members({"target": {"cluster": draft.cluster}})
    lines = ["target:"]
    if draft.cluster:
        lines.append("  " + format_members({"cluster": escape_dollars(draft.cluster)}).rstrip())
    if draft.index:
        lines.append("  " + format_members({"index": escape_dollars(draft.index)}).rstrip())
    else:
        lines.append("  index:   # TODO the index, alias or pattern to search")
    if draft.id_field:
        lines.append("  " + format_members({"id_field": escape_dollars(draft.id_field)}).rstrip())
    return "\n".join(lines) + "\n"


def _list_query_lines(queries: Sequence[DraftQuery]) -> Iterator[str]:
    """The entries of *queries* in a suite, each below its remarks as comments."""
    for query in queries:
        for remark in query.remarks:
            for line in remark.splitlines():
                yield f"  # {printable(line)}"
        yield f"  - {format_block(_build_entry(query), 4, 0).lstrip()}"


def _build_record(query: DraftQuery) -> dict[str, Json]:
    """The query as a line of a file of queries, which has no judgments."""
    record: dict[str, Json] = {"id": query.id}
    if query.text is not None:
        record["text"] = query.text
    if query.need:
        record["need"] = query.need
    if query.params:
        record["params"] = query.params
    if query.weight is not None:
        record["weight"] = query.weight
    if query.tags:
        record["tags"] = [printable(" ".join(tag.split())) for tag in query.tags]
    return record


def _build_entry(query: DraftQuery) -> dict[str, Json]:
    """The query as an entry of a suite, where ``$`` is escaped."""
    entry: dict[str, Json] = escape_dollars(_build_record(query))
    if query.judgments:
        entry["judgments"] = _simplify_grades(query.judgments)
    return entry


def _simplify_grades(grades: Mapping[str, float]) -> dict[str, float]:
    """*grades* by name or document, with whole numbers as integers."""
    return {name: simplify_number(grade) for name, grade in grades.items()}
