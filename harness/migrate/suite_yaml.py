"""Writes a draft as the files of a suite: YAML with a TODO line for each missing value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.representer import SafeRepresenter

from harness.migrate.draft import Draft, DraftQuery
from harness.migrate.exported import format_json_lines, simplify_number, strip_suite_suffix
from harness.model import Json, Mark
from harness.report.sentences import printable
from harness.suites.yaml import resolve

INLINE_JUDGMENTS = 2_000
"""The largest number of judgments in the suite itself; with more, queries and judgments get their own files."""

_LONGEST_LINE = 100


def render_suite(draft: Draft, path: Path) -> dict[Path, str]:
    """
    The texts, by path, of the suite at *path* and of the files that it names.

    A line to fill in has no value and a comment with TODO, so `harness validate` reports its place.
    """
    stem = strip_suite_suffix(str(path))
    queries, judgments = f"{stem}.queries.jsonl", f"{stem}.judgments.jsonl"
    large = sum(len(query.judgments) for query in draft.queries) > INLINE_JUDGMENTS
    sections = [*_head(draft, stem)]
    if large:
        remarked = [query for query in draft.queries if query.remarks]
        if remarked:
            draft.leave(Mark(str(path)), "the remarks on queries; a file of queries has no comments", len(remarked))
        sections.append(_dumped({"queries": queries}))
        sections.append(_dumped({"judgments": judgments}))
    else:
        sections.append("queries:\n" + "\n".join(_query_lines(draft.queries)))
    files = {path: "\n".join(section.rstrip("\n") + "\n" for section in sections)}
    if draft.documents is not None:
        files[path.with_name(_documents(stem))] = draft.documents
    if large:
        files[path.with_name(queries)] = format_json_lines(_entry(query, judged=False) for query in draft.queries)
        files[path.with_name(judgments)] = format_json_lines(
            {"query": query.id, "document": document, "grade": grade}
            for query in draft.queries
            for document, grade in _grades(query.judgments).items()
        )
    return files


def _documents(stem: str) -> str:
    return f"{stem}.documents.jsonl"


def _head(draft: Draft, stem: str) -> Iterator[str]:
    target = _target(draft)
    yield _dumped({"suite": _text(draft.name or stem)}) + target + _dumped({"profile": str(draft.profile)})
    if draft.documents is not None:
        yield _dumped({"fixture": {"documents": _text(_documents(stem))}})
    if draft.grades:
        yield _dumped({"grades": _grades(draft.grades)})
    remarks = "".join(f"# {printable(remark)}\n" for remark in draft.request_remarks)
    if draft.requests:
        yield _dumped({"requests": _escaped(draft.requests)})
    elif draft.request is not None:
        yield remarks + _dumped({"request": _escaped(draft.request)})
    else:
        yield (
            'request:   # TODO the body of _search, with "{{text}}" where the query\'s text belongs, such as\n'
            '#  {query: {multi_match: {query: "{{text}}", fields: [title, description]}}}\n'
        )
    yield _measured(draft)
    if draft.title_field:
        yield _dumped({"title_field": draft.title_field})


def _measured(draft: Draft) -> str:
    """Measures, with thresholds as a comment; if nothing is judged yet, a latency threshold, so that the suite runs."""
    if not draft.is_measured:
        return (
            "# Nothing is judged yet. Collect what to judge with harness judgments pool, and name the graded file:\n"
            "# judgments: judged.csv\n"
            '# measures: ["nDCG@10", "Judged@10"]\n'
            "# Run the suite once, then require what it reaches today, such as\n"
            '# thresholds: ["mean nDCG@10 >= 0.8"]\n'
            "thresholds:\n"
            '  - {threshold: "p95 latency <= 1000 ms", severity: warn}\n'
        )
    measured: dict[str, Json] = {"depth": draft.depth} if draft.depth else {}
    return _dumped({**measured, "measures": draft.measures or ["nDCG@10"]}) + (
        "# The source has no thresholds. Run the suite once, then require what it reaches today, such as\n"
        f'# thresholds: ["mean {(draft.measures or ["nDCG@10"])[0]} >= 0.8"]\n'
    )


def _target(draft: Draft) -> str:
    named = [one for one in draft.requests.values() if "index" in one]
    if draft.documents is not None or (draft.requests and len(named) == len(draft.requests) and not draft.id_field):
        return _dumped({"target": {"cluster": draft.cluster}}) if draft.cluster else ""
    lines = ["target:"]
    if draft.cluster:
        lines.append("  " + _dumped({"cluster": _text(draft.cluster)}).rstrip())
    if draft.index:
        lines.append("  " + _dumped({"index": _text(draft.index)}).rstrip())
    else:
        lines.append("  index:   # TODO the index, alias or pattern to search")
    if draft.id_field:
        lines.append("  " + _dumped({"id_field": _text(draft.id_field)}).rstrip())
    return "\n".join(lines) + "\n"


def _query_lines(queries: list[DraftQuery]) -> Iterator[str]:
    for query in queries:
        yield from (f"  # {printable(line)}" for remark in query.remarks for line in remark.splitlines())
        written = _dumped([_entry(query)])
        yield from (f"  {line}" for line in written.rstrip("\n").split("\n"))


def _entry(query: DraftQuery, *, judged: bool = True) -> dict[str, Json]:
    """The query as an entry of a suite, or, if not *judged*, of a file of queries, without judgments."""
    found: dict[str, Json] = {"id": _text(query.id) if judged else query.id}
    if query.text is not None:
        found["text"] = _text(query.text) if judged else query.text
    if query.params:
        found["params"] = _escaped(query.params) if judged else query.params
    if query.weight is not None:
        found["weight"] = query.weight
    if query.tags:
        tags = [printable(" ".join(tag.split())) for tag in query.tags]
        found["tags"] = [_text(tag) for tag in tags] if judged else tags
    if judged and query.judgments:
        found["judgments"] = _grades(query.judgments)
    return found


def _grades(grades: Mapping[str, float]) -> dict[str, float]:
    return {document: simplify_number(grade) for document, grade in grades.items()}


def _text(text: str) -> str:
    """*text* with ``$`` escaped, as ``${`` and ``$$`` have a meaning in a suite."""
    return text.replace("$", "$$") if "${" in text or "$$" in text else text


def _escaped(value: Json) -> Json:
    """*value* with the strings in it escaped by `_text`; keys cannot have variables."""
    if isinstance(value, Mapping):
        return {key: _escaped(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_escaped(child) for child in value]
    return _text(value) if isinstance(value, str) else value


class _Representer(SafeRepresenter):
    """Quotes strings that the reader of suites takes for numbers, although YAML 1.1 does not, such as 1e3."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Write no aliases: repeated values are easier to edit."""
        return True

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """Quote *data* if it would not be read as the same string without quotes."""
        style = None if isinstance(resolve(data), str) and data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Representer.add_representer(str, _Representer.represent_str)


def _dumped(value: Json) -> str:
    """*value* as YAML; short collections are on one line."""
    root = _Representer(default_flow_style=False, sort_keys=False).represent_data(value)
    for child in _children(root):
        _put_in_lines(child)
    text: str = yaml.serialize(root, Dumper=yaml.SafeDumper, allow_unicode=True, width=math.inf)
    return text


def _put_in_lines(node: yaml.Node) -> int:
    """Put collections that fit on one line on one line; returns the length of *node* in characters."""
    if isinstance(node, yaml.ScalarNode):
        return len(node.value) + 4
    length = sum(map(_put_in_lines, _children(node)))
    assert isinstance(node, yaml.CollectionNode)
    node.flow_style = not node.value or length <= _LONGEST_LINE
    return length


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
