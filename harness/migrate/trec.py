"""
Import and export of TREC files: topics as SGML, XML or one on each line, qrels, and runs.

Source: the topics of the Ad hoc (SGML), Web (XML) and Million Query (one on each line) tracks; trec_eval for qrels and
runs.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.baseline import read_entry
from harness.baseline.files import has_baseline
from harness.errors import FormatError
from harness.files.judgments import read_subtopic_judgments
from harness.files.opening import FileFormat, TextSource, decode, detect_format, open_bytes
from harness.files.records import read_number
from harness.files.runs import read_run
from harness.migrate.draft import Draft, DraftQuery
from harness.migrate.exported import Exported, strip_suite_suffix
from harness.migrate.json_nodes import MOST_BYTES
from harness.migrate.table import read_table
from harness.model import Mark, Profile, Suite
from harness.words import shortened

_KINDS = ("topics", "qrels", "run")
_TOPIC_TAG = re.compile(r"<(/?)(top|topic)(?![\w.-])([^>]*)>", re.IGNORECASE)
_TAG_BEGINS = r"<(?=/?[A-Za-z])"
_TAG = re.compile(rf"{_TAG_BEGINS}(/?)([A-Za-z][\w.-]*)([^>]*)>((?:(?!{_TAG_BEGINS}).)*)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>/]+))""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_DECLARATION = re.compile(r"<\?xml\b.*?\?>|<!DOCTYPE\b[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_NUMBERS = ("num", "number", "id", "qid", "identifier", "topic_id")
_TEXTS = ("title", "query", "text")
_NUMBER_COLUMNS = (*_NUMBERS, "query_id", "query-id", "topic", "topic-id")
_TEXT_COLUMNS = (*_TEXTS, "query_text", "topic_title")
"""Names of columns in the header of topics that are one on each line."""

_DESCRIPTIONS = ("desc", "description")
_LABELS = {
    "num": "Number", "number": "Number", "desc": "Description", "description": "Description", "narr": "Narrative",
    "narrative": "Narrative", "dom": "Domain", "smry": "Summary", "con": r"Concept(?:s|\(s\))?",
    "def": r"Definition(?:s|\(s\))?", "fac": r"Factor(?:s|\(s\))?",
}  # fmt: skip
"""Tag to the label that early tracks write after it, before a colon, as a regular expression."""

_TITLE_LABEL = re.compile(r"Topic\s*:\s*", re.IGNORECASE)
_CLOSED_TEXT = re.compile(rf"(<({'|'.join(_TEXTS)})(?![\w.-])[^>]*>)(.*?)(?=</\2\s*>)", re.DOTALL | re.IGNORECASE)
_FIELD_BEGINS = re.compile(rf"<(?:{'|'.join((*_NUMBERS, *_TEXTS, *_LABELS))})(?![\w.-])", re.IGNORECASE)
_WITH_PRIORITY = re.compile(r"(\d+):\d:(\S.*?)\s*")
_LINES = (
    re.compile(r"(\S+)\s*\t\s*(\S.*?)\s*"),
    _WITH_PRIORITY,
    re.compile(r"([^\s:]+):\s*(\S.*?)\s*"),
    re.compile(r"(\d+) +(\S.*?)\s*"),
)
"""Forms of a topic on one line: a tab, a priority, a colon or blanks separate its number from its text."""

_Topic: TypeAlias = tuple[str, str, list[str], Mark]
"""Number, text, remarks and place."""

_SHOWN_LINES = 50
"""The number of lines from which the kind of a file is detected."""


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read one suite from topics, qrels and runs.

    Args:
        sources: Files. The kind of a file is detected from its lines; ``topics=FILE``, ``qrels=FILE`` and ``run=FILE``
            set it.

    Raises:
        InputError: A file cannot be read, or there are neither topics nor qrels.
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
    shown = [line for line in _source(path_of).lines if line.strip() and not line.startswith("#")][:_SHOWN_LINES]
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


def _source(path: Path) -> TextSource:
    """The text of a file, decompressed if it is compressed."""
    with open_bytes(path, str(path)) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise FormatError.at(str(path), 0, 0, f"the file is larger than {MOST_BYTES // 2**20} MiB, the limit")
    return decode(content, str(path))


def _read_topics(path: Path, draft: Draft, known: dict[str, DraftQuery]) -> None:
    source = _source(path)
    begin = next((line.strip() for line in source.lines if line.strip()), "")
    has_tags = (begin.startswith("<") and "\t" not in begin) or any(map(_TOPIC_TAG.match, source.lines))
    found = _tagged(source, draft) if has_tags else _one_a_line(source, draft)
    for number, text, remarks, place in found:
        if number in known:
            raise source.make_error(place.line, place.column, f"topic {number!r} is there twice")
        known[number] = query = draft.add(number, place, text)
        query.remarks = remarks


def _one_a_line(source: TextSource, draft: Draft) -> Iterator[_Topic]:
    lines = [(number, line) for number, line in enumerate(source.lines, start=1) if line.strip()]
    have_priority = all(_WITH_PRIORITY.fullmatch(line) for _, line in lines)
    forms = [form for form in _LINES if have_priority or form is not _WITH_PRIORITY]
    header: list[str] = []
    for number, line in lines:
        place = Mark(source.path, number, 1)
        match = next((found for form in forms if (found := form.fullmatch(line))), None)
        if match is None or _is_json(line):
            message = "found a line that is no topic, expected the number, a tab or a colon, and the text"
            raise source.make_error(number, 1, message)
        if have_priority:
            draft.leave(place, "the priority of topics")
        text, *others = (cell.strip() for cell in match[2].split("\t"))
        if number == lines[0][0] and match[1].lower() in _NUMBER_COLUMNS and text.lower() in _TEXT_COLUMNS:
            header = others
            continue
        names = [*header, *(f"column {column}" for column in range(len(header) + 3, len(others) + 3))]
        remarks = [f"{name}: {other}" for name, other in zip(names, others, strict=False) if other]
        yield match[1], text, remarks, place


def _is_json(line: str) -> bool:
    """Whether *line* is a JSON object or list, whose beginning would be taken for the number of a topic."""
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _tagged(source: TextSource, draft: Draft) -> Iterator[_Topic]:
    """The topics of SGML or XML, whose tags need not be closed."""
    text = _DECLARATION.sub(_blank, _COMMENT.sub(_blank, source.text))
    for comment in _COMMENT.finditer(source.text):
        place = Mark(source.path, *source.find_place(comment.start()))
        draft.leave(place, "comments of the XML", first=repr(shortened(" ".join(comment[0][4:-3].split()))))
    found = [
        (*_fields(written, content, draft, place), place) for written, content, place in _parts(source, text, draft)
    ]
    if not found:
        raise source.make_error(1, 1, "found no <top> or <topic> that is closed")
    are_labeled = all(_TITLE_LABEL.match(fields["title"]) for fields, _, _ in found if "title" in fields)
    for fields, remarks, place in found:
        if are_labeled and "title" in fields:
            draft.leave(place, "the label of titles", first=repr(fields["title"]))
            fields["title"] = _TITLE_LABEL.sub("", fields["title"], count=1)
        yield _topic(source, fields, remarks, draft, place)


def _blank(found: re.Match[str]) -> str:
    """Blanks of the same length as the match, so that places stay the same."""
    return re.sub(r"\S", " ", found[0])


def _parts(source: TextSource, text: str, draft: Draft) -> Iterator[tuple[str, str, Mark]]:
    """
    The attributes as written, the content and the place of each topic.

    Raises:
        FormatError: A topic is not closed.
    """
    opened: re.Match[str] | None = None
    end = 0
    for tag in [*_TOPIC_TAG.finditer(text), None]:
        if opened is None and (tag is None or not tag[1]):
            _leave_between(text[end : tag.start() if tag else None], draft, Mark(source.path, *source.find_place(end)))
            opened = tag
            if tag is not None and tag[3].endswith("/"):
                yield tag[3], "", Mark(source.path, *source.find_place(tag.start()))
                opened, end = None, tag.end()
        elif opened is not None and (tag is None or (not tag[1] and tag[2].lower() == opened[2].lower())):
            message = f"this <{opened[2]}> is not closed"
            raise source.make_error(*source.find_place(opened.start()), message)
        elif opened is not None and tag is not None and tag[1] and tag[2].lower() == opened[2].lower():
            yield opened[3], text[opened.end() : tag.start()], Mark(source.path, *source.find_place(opened.start()))
            opened, end = None, tag.end()


def _leave_between(outside: str, draft: Draft, place: Mark) -> None:
    """Note text and attributes before, between or after topics."""
    text = " ".join(re.sub(r"<[^>]*>", " ", outside).split())
    if text:
        draft.leave(place, "text outside of topics", first=repr(shortened(text)))
    for _, tag, written, _ in _TAG.findall(outside):
        for name, _ in _attributes(written):
            draft.leave(place, f"the attribute {name!r} of <{tag}>")


def _fields(written: str, content: str, draft: Draft, place: Mark) -> tuple[dict[str, str], list[str]]:
    """The texts of a topic by tag, with "" for text outside tags; and remarks with other texts of repeated tags."""
    fields: dict[str, str] = {}
    remarks: list[str] = []
    for name, value in _attributes(written):
        if name in (*_NUMBERS, *_TEXTS):
            fields[name] = _plain(value)
        else:
            draft.leave(place, f"the attribute {name!r} of topics")
    content = _without_markup(_CDATA.sub(lambda found: html.escape(found[1], quote=False), content), draft, place)
    direct = [re.split(_TAG_BEGINS, content)[0]]
    for closing, tag, attributes, text in _TAG.findall(content):
        name = tag.lower()
        if closing:
            direct.append(text)
            continue
        if name == "subtopic":
            draft.leave(place, "subtopics; a suite judges documents for the whole query")
            continue
        for attribute, _ in _attributes(attributes):
            draft.leave(place, f"the attribute {attribute!r} of <{tag}>")
        plain = _plain(re.sub(rf"^\s*{_LABELS[name]}\s*:", "", text, flags=re.IGNORECASE) if name in _LABELS else text)
        if plain and fields.setdefault(name, plain) != plain:
            remarks.append(f"{name}: {plain}")
    fields[""] = _plain(" ".join(direct))
    return fields, remarks


def _without_markup(content: str, draft: Draft, place: Mark) -> str:
    """*content* without tags inside a text, such as ``<b>``; they are noted."""

    def unmarked(text: re.Match[str]) -> str:
        if _FIELD_BEGINS.search(text[3]):
            return text[0]
        for tag in re.findall(rf"{_TAG_BEGINS}([A-Za-z][\w.-]*)", text[3]):
            draft.leave(place, f"the tag <{tag}> in the text of topics; what is in it is kept")
        return text[1] + re.sub(rf"{_TAG_BEGINS}[^>]*>", " ", text[3])

    return _CLOSED_TEXT.sub(unmarked, content)


def _attributes(written: str) -> Iterator[tuple[str, str]]:
    for name, *values in _ATTRIBUTE.findall(written):
        yield name.lower(), "".join(values)


def _topic(source: TextSource, fields: dict[str, str], remarks: list[str], draft: Draft, place: Mark) -> _Topic:
    """
    The topic of *fields*; fields that are neither its number nor its text are added to its remarks.

    Raises:
        FormatError: It has no number or no text.
    """
    number = next((name for name in _NUMBERS if fields.get(name)), None)
    text = next((name for name in (*_TEXTS, "", *_DESCRIPTIONS) if fields.get(name)), None)
    if number is None or text is None:
        lacking = "number" if number is None else "title or query"
        raise source.make_error(place.line, place.column, f"this topic has no {lacking}")
    if text in _DESCRIPTIONS:
        draft.leave(place, "that the text of a topic is its description; it has no title")
    if text != "" and fields[""]:
        draft.leave(place, "text of topics outside of their tags", first=repr(shortened(fields[""])))
    used = (fields[number], fields[text])
    others = [f"{name}: {said}" for name, said in fields.items() if name not in ("", number, text) and said not in used]
    return fields[number], fields[text], others + remarks, place


def _plain(text: str) -> str:
    """*text* on one line, with entities such as ``&amp;`` replaced."""
    return " ".join(_ENTITY.sub(lambda entity: html.unescape(entity[0]), text).split())


def _read_qrels(path: Path, draft: Draft, known: dict[str, DraftQuery], *, has_topics: bool) -> None:
    """Add judgments; a document that is judged for several subtopics or iterations gets the highest of its grades."""
    judgments = read_subtopic_judgments(path)
    place = Mark(str(path))
    if detect_format(path) is FileFormat.CSV:
        table = read_table(path)
        table.used.update(("query", "document", "grade", "subtopic"))
        table.leave_unread(draft.leftovers)
    lines = [
        (number, document, subtopic)
        for number, judged in judgments.items()
        for document, by_subtopic in judged.items()
        for subtopic in by_subtopic
    ]
    if len({subtopic.removeprefix("Q") for *_, subtopic in lines}) > 1:
        number, document, subtopic = lines[0]
        first = f"{subtopic!r} of document {document!r} for query {number!r}"
        draft.leave(place, "the second column of qrels, an iteration or a subtopic", len(lines), first)
    for number, judged in judgments.items():
        if number not in known and has_topics:
            what = "judgments of queries that the topics do not have"
            draft.leave(place, what, sum(map(len, judged.values())), f"query {number!r}")
            continue
        query = known.get(number)
        if query is None:
            query = known[number] = draft.add(number, place)
        for document, by_subtopic in judged.items():
            draft.judge_highest(query, document, by_subtopic.values(), place)


def _read_run(path: Path, draft: Draft, known: dict[str, DraftQuery]) -> None:
    """Set the depth and the measures from a run; its rankings are not carried over."""
    rankings = read_run(path)
    draft.depth = max([draft.depth or 0, *(len(ranking.documents) for ranking in rankings.values())])
    draft.measures = ["nDCG@10", "AP"] if draft.depth >= 10 else ["AP"]
    other = len(rankings.keys() - known.keys())
    if other:
        draft.leave(Mark(str(path)), "queries of the run without topics and judgments", other)
    what = "rankings of the run; score them with 'harness evaluate', compare with 'harness compare', --profile trec"
    draft.leave(Mark(str(path)), what, len(rankings))


def write(suite: Suite, form: str) -> Exported:  # noqa: ARG001
    """
    Write ``NAME.topics.tsv`` (number, tab, text), ``NAME.qrels``, and ``NAME.run`` if the suite has a baseline.

    The scores in the run are those of the engine if they decrease from hit to hit; otherwise they are numbers that keep
    the order of the hits.

    Args:
        suite: The suite.
        form: Not used.

    Raises:
        BaselineError: The baseline cannot be read, contradicts itself, or lacks the suite's first request.
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
    name = strip_suite_suffix(suite.path)
    exported.files[f"{name}.topics.tsv"] = "".join(topics)
    exported.files[f"{name}.qrels"] = "".join(qrels)
    if has_baseline(suite, None):
        exported.files[f"{name}.run"] = "".join(_run_lines(suite, exported))
    return exported


def _is_column(text: str) -> bool:
    """Whether *text* can be a column of a TREC line: it is read back unchanged, and the line is not a comment."""
    return text.encode().split() == [text.encode()] and not text.startswith(("#", "\ufeff")) and "\0" not in text


def _run_lines(suite: Suite, exported: Exported) -> Iterator[str]:
    entry = read_entry(suite, next(iter(suite.requests)), None)
    for number, kept in entry.queries.items():
        scores = [score for _, score in kept.ranking]
        known = [float(score) for score in scores if score is not None]  # trec_eval reads them as floats
        falling = len(known) == len(scores) and sorted(set(known), reverse=True) == known
        for rank, (document, score) in enumerate(kept.ranking, start=1):
            if _is_column(number) and _is_column(document):
                shown = score if falling and score is not None else len(scores) - rank + 1
                yield f"{number} Q0 {document} {rank} {shown!r} {re.sub(chr(92) + 's+', '-', suite.name)}\n"
            else:
                exported.leave(suite.mark, f"document {document!r} of query {number!r} in the run; an id has no blank")
