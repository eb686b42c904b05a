"""
TREC: topics as SGML, XML or one a line, qrels, and runs.

Source: the topics of the Ad hoc (SGML), Web (XML) and Million Query (one a line) tracks; trec_eval for the others.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.baseline import has_baseline, read_entry
from harness.errors import FormatError
from harness.files.judgments import read_judgments
from harness.files.opening import Source, read_source
from harness.files.records import read_number
from harness.files.runs import read_run
from harness.migrate.draft import Draft, DraftQuery, Place
from harness.migrate.exported import Exported, suite_stem
from harness.migrate.placed import MOST_BYTES
from harness.model import Profile, Suite

__all__ = ["read", "write"]

_KINDS = ("topics", "qrels", "run")
_TOPIC = re.compile(r"<(top|topic)\b([^>]*)>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG_BEGINS = r"<(?=/?[A-Za-z])"
_TAG = re.compile(rf"{_TAG_BEGINS}(/?)([A-Za-z][\w.-]*)([^>]*)>((?:(?!{_TAG_BEGINS}).)*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w.-]+)\s*=\s*["']([^"']*)["']""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_LABEL = re.compile(
    r"^\s*(?:Number|Topic|Description|Narrative|Domain|Summary|Concepts?|Definitions?)\s*:\s*", re.IGNORECASE
)
_WITH_PRIORITY = re.compile(r"(\d+):\d:(\S.*?)\s*")
_LINES = (
    re.compile(r"(\S+)\s*\t\s*(\S.*?)\s*"),
    _WITH_PRIORITY,
    re.compile(r"([^\s:]+):\s*(\S.*?)\s*"),
    re.compile(r"(\d+) +(\S.*?)\s*"),
)
"""A topic a line, by what parts its number from its text: a tab, a priority, a colon, or blanks."""

_NUMBERS = ("num", "number", "id", "qid", "identifier", "topic_id")
_TEXTS = ("title", "query", "text")
_Topic: TypeAlias = tuple[str, str, list[str], Place]
"""Number, text, what is for people, and where it stands."""

_SHOWN_LINES = 50
"""Lines that tell the kind of a file."""


def read(sources: Sequence[str]) -> list[Draft]:
    """
    One suite of topics, qrels and runs.

    Args:
        sources: Files. ``topics=FILE``, ``qrels=FILE`` and ``run=FILE`` say what a file is where its lines do not.
    """
    draft = Draft(Profile.TREC)
    files: dict[str, list[Path]] = {kind: [] for kind in _KINDS}
    for source in sources:
        kind, path = _kind_of(source)
        files[kind].append(path)
        draft.name = draft.name or path.name.split(".")[0]
    known: dict[str, DraftQuery] = {}
    for path in files["topics"]:
        _read_topics(path, draft, known)
    for path in files["qrels"]:
        _read_qrels(path, draft, known, has_topics=bool(files["topics"]))
    for path in files["run"]:
        _read_run(path, draft, known)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "expected topics or qrels; a run alone has no queries to judge")
    return [draft]


def _kind_of(source: str) -> tuple[str, Path]:
    kind, separator, path = source.partition("=")
    if separator and kind in _KINDS:
        return kind, Path(path)
    path_of = Path(source)
    if path_of.suffix.lower() in (".gz", ".zst"):
        return ("run" if "run" in path_of.name else "qrels"), path_of
    lines = read_source(path_of, source, limit=MOST_BYTES).lines
    shown = [line for line in lines if line.strip() and not line.startswith("#")][:_SHOWN_LINES]
    if not shown:
        raise FormatError.at(source, 0, 0, "the file is empty; expected topics, qrels or a run")
    if "qrel" in path_of.name.lower():
        return "qrels", path_of
    rows = [line.split() for line in shown]
    if all(len(row) == 4 and read_number(row[3]) is not None for row in rows):
        return "qrels", path_of
    if all(len(row) >= 6 and row[3].isdigit() and read_number(row[4]) is not None for row in rows):
        return "run", path_of
    return "topics", path_of


def _read_topics(path: Path, draft: Draft, known: dict[str, DraftQuery]) -> None:
    source = read_source(path, str(path), limit=MOST_BYTES)
    begin = next((line for line in source.lines if line.strip()), "")
    has_tags = begin.lstrip().startswith("<") and "\t" not in begin.strip()
    found = _tagged(source, draft) if has_tags else _one_a_line(source, draft)
    for number, text, remarks, place in found:
        if number in known:
            raise FormatError([source.problem(*place[1:], f"topic {number!r} is there twice")])
        known[number] = query = draft.add(number, place, text)
        query.remarks = remarks


def _one_a_line(source: Source, draft: Draft) -> Iterator[_Topic]:
    for number, line in enumerate(source.lines, start=1):
        match = next((found for form in _LINES if (found := form.fullmatch(line))), None)
        if match is not None:
            if match.re is _WITH_PRIORITY:
                draft.leave((source.path, number, 1), "the priority of topics")
            yield match[1], match[2], [], (source.path, number, 1)
        elif line.strip():
            message = "found a line that is no topic, expected the number, a tab or a colon, and the text"
            raise FormatError([source.problem(number, 1, message)])


def _tagged(source: Source, draft: Draft) -> Iterator[_Topic]:
    """The topics of SGML or XML, whose tags need not be closed."""
    topics = list(_TOPIC.finditer(source.text))
    if not topics:
        raise FormatError([source.problem(1, 1, "found no <top> or <topic> that is closed")])
    for topic in topics:
        place = (source.path, *source.place(topic.start()))
        fields, remarks = _fields(topic, draft, place)
        number = next((fields[name] for name in _NUMBERS if fields.get(name)), "")
        text = next((fields[name] for name in (*_TEXTS, "") if fields.get(name)), "")
        if not number or not text:
            lacking = "number" if not number else "title or query"
            raise FormatError([source.problem(*place[1:], f"this topic has no {lacking}")])
        others = {name: fields.get(name) for name in (*_NUMBERS, *_TEXTS)}
        remarks += [f"{name}: {other}" for name, other in others.items() if other and other not in (number, text)]
        yield number, text, remarks, place


def _fields(topic: re.Match[str], draft: Draft, place: Place) -> tuple[dict[str, str], list[str]]:
    """The topic's texts by tag, "" for what stands directly in it; what is for people only."""
    fields = {name.lower(): _plain(value) for name, value in _ATTRIBUTE.findall(topic[2])}
    attributes = set(fields)
    fields[""] = _plain(re.split(_TAG_BEGINS, topic[3])[0])
    remarks = []
    for closing, tag, _, content in _TAG.findall(topic[3]):
        name, text = tag.lower(), _plain(content)
        if closing or not text:
            continue
        if name == "subtopic":
            draft.leave(place, "subtopics; a suite judges documents for the whole query")
        elif name in fields and name not in ("", *attributes):
            fields[name] += f" {text}"
        else:
            fields[name] = text
    for name, text in fields.items():
        if name in attributes and name not in _NUMBERS:
            draft.leave(place, f"the attribute {name!r} of topics")
        elif name not in ("", *_NUMBERS, *_TEXTS):
            remarks.append(f"{name}: {text}")
    return fields, remarks


def _plain(text: str) -> str:
    """*text* on one line, without the label that the early tracks repeat behind a tag."""
    unescaped = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return " ".join(_LABEL.sub("", unescaped).split())


def _read_qrels(path: Path, draft: Draft, known: dict[str, DraftQuery], *, has_topics: bool) -> None:
    for number, judged in read_judgments(path).items():
        if number not in known and has_topics:
            draft.leave((str(path), 0, 0), "judgments of queries that the topics do not have", len(judged))
            continue
        query = known.get(number)
        if query is None:
            query = known[number] = draft.add(number, (str(path), 0, 0))
        for document, grade in judged.items():
            draft.judge(query, document, grade, (str(path), 0, 0))


def _read_run(path: Path, draft: Draft, known: dict[str, DraftQuery]) -> None:
    """A run says how deep it looks; its rankings are no part of a suite."""
    rankings = read_run(path)
    draft.depth = max([draft.depth or 0, *(len(ranking.documents) for ranking in rankings.values())])
    draft.measures = ["nDCG@10", "AP"] if draft.depth >= 10 else ["AP"]
    other = len(rankings.keys() - known.keys())
    if other:
        draft.leave((str(path), 0, 0), "queries of the run without topics and judgments", other)
    what = "rankings of the run; score them with 'harness evaluate', compare with 'harness compare', --profile trec"
    draft.leave((str(path), 0, 0), what, len(rankings))


def write(suite: Suite, form: str) -> Exported:  # noqa: ARG001
    """
    ``NAME.topics.tsv`` (number, tab, text), ``NAME.qrels``, and ``NAME.run`` where the suite has a baseline.

    A run's scores are those of the engine where they fall from hit to hit, else numbers that keep its order.
    """
    exported = Exported()
    exported.leave_others(suite, Profile.TREC)
    topics, qrels = [], []
    for query in suite.queries:
        if not _is_column(query.id):
            exported.leave(query.mark, f"query {query.id!r}; an id in TREC files has no blank")
            continue
        if query.text:
            topics.append(f"{query.id}\t{' '.join(query.text.split())}\n")
        for document, grade in query.judgments.items():
            if _is_column(document):
                qrels.append(f"{query.id} 0 {document} {grade:g}\n")
            else:
                exported.leave(query.mark, f"document {document!r} of query {query.id!r}; an id has no blank")
            if grade != int(grade):
                exported.leave(query.mark, "fractional grades; they are written, and trec_eval cuts them")
        if query.text and query.text.split() != [query.text] and " ".join(query.text.split()) != query.text:
            exported.leave(query.mark, f"the blanks in the text of query {query.id!r}")
    name = suite_stem(suite.path)
    exported.files[f"{name}.topics.tsv"] = "".join(topics)
    exported.files[f"{name}.qrels"] = "".join(qrels)
    if has_baseline(suite, None):
        exported.files[f"{name}.run"] = "".join(_run_lines(suite, exported))
    return exported


def _is_column(text: str) -> bool:
    """Whether *text* is one column of a TREC line that is no comment, and is read back as it is."""
    return text.encode().split() == [text.encode()] and not text.startswith(("#", "\ufeff")) and "\0" not in text


def _run_lines(suite: Suite, exported: Exported) -> Iterator[str]:
    entry = read_entry(suite, next(iter(suite.requests)), None)
    for number, kept in entry.queries.items():
        scores = [score for _, score in kept.ranking]
        known = [score for score in scores if score is not None]
        falling = len(known) == len(scores) and sorted(set(known), reverse=True) == known
        for rank, (document, score) in enumerate(kept.ranking, start=1):
            if _is_column(number) and _is_column(document):
                shown = score if falling and score is not None else len(scores) - rank + 1
                yield f"{number} Q0 {document} {rank} {shown!r} {re.sub(chr(92) + 's+', '-', suite.name)}\n"
            else:
                exported.leave(suite.mark, f"document {document!r} of query {number!r} in the run; an id has no blank")
