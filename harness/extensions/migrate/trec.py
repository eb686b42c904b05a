"""
Import and export of TREC files: topics as SGML, XML or one on each line, qrels, and runs.

Source: the topics of the Ad hoc (SGML), Web (XML) and Million Query (one on each line) tracks; trec_eval for qrels and
runs.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from harness.drafts.draft import Draft, DraftQuery
from harness.errors import FormatError
from harness.extensions.migrate.exported import Exported
from harness.extensions.migrate.json_nodes import LARGEST_IMPORT
from harness.extensions.migrate.table import import_table
from harness.files.judgments import read_subtopic_judgments
from harness.files.opening import FileFormat, TextSource, decode, detect_format, open_bytes
from harness.files.records import COMMENT
from harness.files.runs import read_run
from harness.files.tables import read_number
from harness.model.suite import Mark, Profile, Suite
from harness.store.baseline import read_entry
from harness.store.baseline_files import has_baseline
from harness.suites.names import strip_suite_suffix
from harness.words import format_exactly, listed, one_of, shorten

_KINDS = ("topics", "qrels", "run")
# Quantifiers of one character are possessive, and a tag ends where another begins: else a text of tags that are not
# closed takes the square of its length. Those of groups are not: Python before 3.11.5 matches them wrongly.
_TAG_BEGINS = r"<(?=/?[A-Za-z])"
_IN_TAG = r"[^<>]*+(?:<(?!/?[A-Za-z])[^<>]*+)*"
_TOPIC_TAG = re.compile(rf"<(/?)(top|topic)(?![\w.-])({_IN_TAG})>", re.IGNORECASE)
_TAG = re.compile(rf"{_TAG_BEGINS}(/?)([A-Za-z][\w.-]*+)({_IN_TAG})>(.*?)(?={_TAG_BEGINS}|\Z)", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(?<![\w.-])([\w.-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>/]++))""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|\w+);")
_CDATA = re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")
_COMMENT = re.compile(r"<!--"), re.compile(r"-->")
_DECLARATIONS = (
    (re.compile(r"<\?xml\b"), re.compile(r"\?>")),
    (re.compile(r"<!DOCTYPE\b[^\[<>]*+(?=>)"), re.compile(r">")),
    (re.compile(r"<!DOCTYPE\b[^\[<>]*+\["), re.compile(r"\]\s*+>")),
)
"""The beginning and the end of each."""

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
_OPENED_TEXT = re.compile(rf"<({'|'.join(_TEXTS)})(?![\w.-]){_IN_TAG}>", re.IGNORECASE)
_FIELD_BEGINS = re.compile(rf"<(?:{'|'.join((*_NUMBERS, *_TEXTS, *_LABELS))})(?![\w.-])", re.IGNORECASE)
_WITH_PRIORITY = re.compile(r"(\d+):\d:(\S.*)")
_LINES = (
    re.compile(r"(\S++)[^\S\t]*+\t\s*+(\S.*)"),
    _WITH_PRIORITY,
    re.compile(r"([^\s:]++):\s*+(\S.*)"),
    re.compile(r"(\d++) ++(\S.*)"),
)
"""
Forms of a topic on one line, without blanks at its end: a tab, a priority, a colon or blanks separate its number from
its text.
"""

_Markers: TypeAlias = tuple[re.Pattern[str], re.Pattern[str]]
"""How a span of text begins and ends."""

NEEDS = ("desc", "description", "narr", "narrative")
"""Tags of a topic, and fields of a dataset, that say what would satisfy the searcher."""


@dataclass(frozen=True, slots=True)
class _Topic:
    """A topic with its *number*, and the *place* where it begins."""

    number: str
    text: str
    need: str
    remarks: list[str]
    place: Mark


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
    draft = Draft(Profile.TREC, stranger_remark="judgments of queries that the topics do not have")
    files: dict[str, list[Path]] = {kind: [] for kind in _KINDS}
    for source in sources:
        kind, path = _detect_kind(source)
        files[kind].append(path)
        draft.name = draft.name or path.name.split(".")[0]
    queries: dict[str, DraftQuery] = {}
    for path in files["topics"]:
        _read_topics(path, draft, queries)
    draft.names_judgments = bool(files["qrels"])
    for path in files["qrels"]:
        _read_qrels(path, draft, queries, has_topics=bool(files["topics"]))
    for path in files["run"]:
        _read_run(path, draft, queries)
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "expected topics or qrels; a run alone has no queries to judge")
    return [draft]


def _detect_kind(source: str) -> tuple[str, Path]:
    """The kind and the path of a file, ``KIND=FILE`` or ``FILE``."""
    kind, separator, given_path = source.partition("=")
    if separator and kind in _KINDS:
        return kind, Path(given_path)
    path = Path(source)
    lines = [line for line in _read_source(path).lines if line.strip() and not line.startswith("#")][:_SHOWN_LINES]
    if not lines:
        raise FormatError.at(source, 0, 0, "the file is empty; expected topics, qrels or a run")
    if "qrel" in path.name.lower():
        return "qrels", path
    rows = [line.split() for line in lines]
    if all(len(row) == 4 and read_number(row[3]) is not None for row in rows):
        return "qrels", path
    if all(len(row) >= 6 and row[3].isdigit() and read_number(row[4]) is not None for row in rows):
        return "run", path
    return "topics", path


def _read_source(path: Path) -> TextSource:
    """The text of a file, decompressed if it is compressed."""
    with open_bytes(path, str(path)) as file:
        content = file.read(LARGEST_IMPORT + 1)
    if len(content) > LARGEST_IMPORT:
        raise FormatError.at(str(path), 0, 0, f"the file is larger than {LARGEST_IMPORT // 2**20} MiB, the limit")
    return decode(content, str(path))


def _read_topics(path: Path, draft: Draft, queries: dict[str, DraftQuery]) -> None:
    source = _read_source(path)
    _refuse_other_form(source)
    first_line = next((line.strip() for line in source.lines if line.strip()), "")
    # A line of tab-separated topics may begin with "<".
    has_tags = (first_line.startswith("<") and "\t" not in first_line) or any(map(_TOPIC_TAG.match, source.lines))
    topics = _read_tagged_topics(source, draft) if has_tags else _read_topic_lines(source, draft)
    for topic in topics:
        if topic.number in queries:
            message = f"topic {topic.number!r} is there twice"
            raise source.make_error(topic.place.line, topic.place.column, message)
        query = draft.add(topic.number, topic.place, topic.text)
        query.need, query.remarks = topic.need, topic.remarks
        queries[topic.number] = query


_FORMS = (
    "topics are read as SGML or XML (<top> or <topic>), or one on each line: NUMBER, a tab or a colon, and TEXT, also "
    "with a header"
)

_LABELED_LINE = re.compile(
    r"\W{0,4}(?:number|num|title|desc(?:ription)?|narr(?:ative)?|topic|query|question|turn|utterance)\s*[:=](?!\S*\t).*",
    re.IGNORECASE,
)
"""A line that says what it holds, such as "Number: 1" or "- title: tent"."""

_JSON_BEGINS = re.compile(r"[\[{]\s*(?:[\[{\"]|$)")


def _refuse_other_form(source: TextSource) -> None:
    """
    Refuse topics in a form that is not read, whose lines may look like topics on one line.

    Raises:
        FormatError: The file is JSON, CSV with commas, or has labels such as "Number:", alone or before turns.
    """
    lines = [(number, line.strip()) for number, line in enumerate(source.lines, start=1) if line.strip()]
    if not lines:
        return
    first_number, first_line = lines[0]
    form = remedy = ""
    labeled = [line for _, line in lines if _LABELED_LINE.fullmatch(line)]
    labels = {re.split(r"[:=]", line)[0].strip("\"'- *#").lower() for line in labeled}
    if _JSON_BEGINS.match(first_line):
        form = "JSON, as conversational tracks write topics"
        remedy = "; `relevance import jsonl` reads queries as JSON lines with query_id and text"
        if first_line.startswith("{") and _is_json(first_line):
            form = "JSON lines"
    elif _LABELED_LINE.fullmatch(first_line) and len(labels) > 1:
        form = 'blocks with labels such as "Number:" and "Title:"'
        if len(labeled) < len(lines):
            form += ", with numbered turns or texts below, as conversational topics have"
        remedy = "; write each query as a line of its own"
    elif "\t" not in first_line and _is_comma_header(first_line):
        form, remedy = "CSV with commas", "; `relevance import csv` reads it"
    if form:
        raise source.make_error(first_number, 1, f"this looks like {form}, which is not read; {_FORMS}{remedy}")


def _is_comma_header(line: str) -> bool:
    names = [name.strip().strip('"').lower() for name in line.split(",")]
    return len(names) > 1 and names[0] in _NUMBER_COLUMNS and not set(_TEXT_COLUMNS).isdisjoint(names)


def _read_topic_lines(source: TextSource, draft: Draft) -> Iterator[_Topic]:
    """The topics of a file with one on each line, and with a header or none."""
    lines = [(number, line.rstrip()) for number, line in enumerate(source.lines, start=1) if line.strip()]
    # Where only some lines look as if they had a priority, 1:2:text is number 1 with the text "2:text".
    have_priority = all(_WITH_PRIORITY.fullmatch(line) for _, line in lines)
    forms = [form for form in _LINES if have_priority or form is not _WITH_PRIORITY]
    header: list[str] = []
    for number, line in lines:
        place = Mark(source.path, number, 1)
        match = next(filter(None, (form.fullmatch(line) for form in forms)), None)
        if match is None or _is_json(line):
            message = f"found a line that is no topic, expected the number, a tab or a colon, and the text; {_FORMS}"
            raise source.make_error(number, 1, message)
        if have_priority:
            draft.add_leftover(place, "the priority of topics")
        text, *other_cells = (cell.strip() for cell in match[2].split("\t"))
        if number == lines[0][0] and match[1].lower() in _NUMBER_COLUMNS and text.lower() in _TEXT_COLUMNS:
            header = other_cells
            continue
        needs, remarks = [], []
        for index, cell in enumerate(other_cells):
            if not cell:
                continue
            name = header[index] if index < len(header) else f"column {index + 3}"
            if name.lower() in NEEDS:
                needs.append(cell)
            else:
                remarks.append(f"{name}: {cell}")
        yield _Topic(match[1], text, " ".join(needs), remarks, place)


def _is_json(line: str) -> bool:
    """Whether *line* is a JSON object or list, whose beginning would be taken for the number of a topic."""
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _read_tagged_topics(source: TextSource, draft: Draft) -> Iterator[_Topic]:
    """The topics of SGML or XML, whose tags need not be closed."""
    for begin, end in _find_spans(source.text, _COMMENT):
        place = Mark(source.path, *source.find_place(begin))
        comment = source.text[begin + len("<!--") : end - len("-->")]
        draft.add_leftover(place, "comments of the XML", first=repr(shorten(" ".join(comment.split()))))
    text = source.text
    for markers in (_COMMENT, *_DECLARATIONS):
        text = _replace_spans(text, markers, _make_blanks)
    topics = []
    for attributes, content, place in _split_topics(source, text, draft):
        fields, remarks = _read_fields(attributes, content, draft, place)
        topics.append((fields, remarks, place))
    if not topics:
        raise source.make_error(1, 1, "found no <top> or <topic> that is closed")
    # Early tracks write "Topic:" before each title. A title that happens to begin with it has others beside it.
    titles = [fields["title"] for fields, _, _ in topics if "title" in fields]
    are_labeled = all(map(_TITLE_LABEL.match, titles))
    for fields, remarks, place in topics:
        if are_labeled and "title" in fields:
            draft.add_leftover(place, "the label of titles", first=repr(fields["title"]))
            fields["title"] = _TITLE_LABEL.sub("", fields["title"], count=1)
        yield _make_topic(source, fields, remarks, draft, place)


def _find_spans(text: str, markers: _Markers) -> Iterator[tuple[int, int]]:
    """Begin and end of each span of *text* with these *markers*, which are a part of it."""
    beginning, ending = markers
    place = 0
    while (first := beginning.search(text, place)) is not None:
        last = ending.search(text, first.end())
        # Where one span does not end no later one does, and to look for each takes the square of the length.
        if last is None:
            return
        yield first.start(), last.end()
        place = last.end()


def _replace_spans(text: str, markers: _Markers, replace: Callable[[str], str]) -> str:
    """*text*, in which *replace* gives the text for each span with these *markers*."""
    parts: list[str] = []
    place = 0
    for begin, end in _find_spans(text, markers):
        parts += (text[place:begin], replace(text[begin:end]))
        place = end
    parts.append(text[place:])
    return "".join(parts)


def _make_blanks(span: str) -> str:
    """Blanks of the same length as *span*, so that places stay the same."""
    return re.sub(r"\S", " ", span)


def _escape_cdata(span: str) -> str:
    """The text in *span*, a CDATA section, as XML writes it elsewhere."""
    return html.escape(span.removeprefix("<![CDATA[").removesuffix("]]>"), quote=False)


def _split_topics(source: TextSource, text: str, draft: Draft) -> Iterator[tuple[str, str, Mark]]:
    """
    The attributes as written, the content and the place of each topic.

    Raises:
        FormatError: A topic is not closed.
    """
    opened: re.Match[str] | None = None
    end = 0
    for tag in _TOPIC_TAG.finditer(text):
        is_closing = tag[1] != ""
        if opened is None:
            if is_closing:
                continue
            _note_between(text[end : tag.start()], draft, Mark(source.path, *source.find_place(end)))
            if tag[3].endswith("/"):
                yield tag[3], "", Mark(source.path, *source.find_place(tag.start()))
                end = tag.end()
            else:
                opened = tag
            continue
        # Within <topic> a field may be named <top>, and the reverse.
        if tag[2].lower() != opened[2].lower():
            continue
        if not is_closing:
            break
        yield opened[3], text[opened.end() : tag.start()], Mark(source.path, *source.find_place(opened.start()))
        opened, end = None, tag.end()
    if opened is not None:
        raise source.make_error(*source.find_place(opened.start()), f"this <{opened[2]}> is not closed")
    _note_between(text[end:], draft, Mark(source.path, *source.find_place(end)))


def _note_between(outside: str, draft: Draft, place: Mark) -> None:
    """Note text and attributes before, between or after topics."""
    text = " ".join(re.sub(r"<[^<>]*+>", " ", outside).split())
    if text:
        draft.add_leftover(place, "text outside of topics", first=repr(shorten(text)))
    for _, tag, attributes, _ in _TAG.findall(outside):
        for name, _ in _list_attributes(attributes):
            draft.add_leftover(place, f"the attribute {name!r} of <{tag}>")


def _read_fields(attributes: str, content: str, draft: Draft, place: Mark) -> tuple[dict[str, str], list[str]]:
    """The texts of a topic by tag, with "" for text outside tags; and remarks with other texts of repeated tags."""
    fields: dict[str, str] = {}
    remarks: list[str] = []
    for name, value in _list_attributes(attributes):
        if name in (*_NUMBERS, *_TEXTS):
            fields[name] = _simplify(value)
        else:
            draft.add_leftover(place, f"the attribute {name!r} of topics")
    # What CDATA holds is text, even where it looks like a tag.
    content = _replace_spans(content, _CDATA, _escape_cdata)
    content = _remove_markup(content, draft, place)
    outside_tags = [re.split(_TAG_BEGINS, content)[0]]
    for closing, tag, tag_attributes, text in _TAG.findall(content):
        name = tag.lower()
        if closing:
            outside_tags.append(text)
            continue
        if name == "subtopic":
            draft.add_leftover(place, "subtopics; a suite judges documents for the whole query")
            continue
        for attribute, _ in _list_attributes(tag_attributes):
            draft.add_leftover(place, f"the attribute {attribute!r} of <{tag}>")
        value = text
        if name in _LABELS:
            value = re.sub(rf"^\s*{_LABELS[name]}\s*:", "", text, flags=re.IGNORECASE)
        value = _simplify(value)
        if value and fields.setdefault(name, value) != value:
            remarks.append(f"{name}: {value}")
    fields[""] = _simplify(" ".join(outside_tags))
    return fields, remarks


def _remove_markup(content: str, draft: Draft, place: Mark) -> str:
    """*content* without tags inside a text, such as ``<b>``; they are noted."""
    parts: list[str] = []
    end = 0
    for text_begin, text_end in _find_closed_texts(content):
        parts.append(content[end:text_begin])
        text = content[text_begin:text_end]
        end = text_end
        # A text that holds another field is not closed; the closing tag is that of a later one.
        if _FIELD_BEGINS.search(text):
            parts.append(text)
            continue
        for tag in re.findall(rf"{_TAG_BEGINS}([A-Za-z][\w.-]*)", text):
            draft.add_leftover(place, f"the tag <{tag}> in the text of topics; what is in it is kept")
        parts.append(re.sub(rf"{_TAG_BEGINS}{_IN_TAG}>", " ", text))
    parts.append(content[end:])
    return "".join(parts)


def _find_closed_texts(content: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each text between a tag of `_TEXTS` and the next tag that closes it."""
    unclosed: set[str] = set()
    place = 0
    while (opening := _OPENED_TEXT.search(content, place)) is not None:
        place = opening.end()
        name = opening[1].lower()
        # Where one is not closed no later one is, and to look for each takes the square of the length.
        if name in unclosed:
            continue
        closing = re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(content, place)
        if closing is None:
            unclosed.add(name)
            continue
        yield opening.end(), closing.start()
        place = closing.start()


def _list_attributes(text: str) -> Iterator[tuple[str, str]]:
    """The names and values of the attributes in a tag."""
    for name, *values in _ATTRIBUTE.findall(text):
        yield name.lower(), "".join(values)


def _make_topic(source: TextSource, fields: dict[str, str], remarks: list[str], draft: Draft, place: Mark) -> _Topic:
    """
    The topic of *fields*; description and narrative are its need, other fields are added to its remarks.

    Raises:
        FormatError: It has no number or no text.
    """
    number_name = next((name for name in _NUMBERS if fields.get(name)), None)
    text_name = next((name for name in (*_TEXTS, "", *_DESCRIPTIONS) if fields.get(name)), None)
    if number_name is None or text_name is None:
        lacking, expected = "number", one_of([f"<{name}>" for name in _NUMBERS])
        if number_name is not None:
            lacking, expected = "title or query", one_of([f"<{name}>" for name in _TEXTS])
        found = listed([f"<{name}>" for name, value in fields.items() if name and value]) or "no tag with a text"
        message = f"this topic has no {lacking}; found {found}, expected {expected}"
        raise source.make_error(place.line, place.column, message)
    if text_name in _DESCRIPTIONS:
        draft.add_leftover(place, "that the text of a topic is its description; it has no title")
    if text_name != "" and fields[""]:
        draft.add_leftover(place, "text of topics outside of their tags", first=repr(shorten(fields[""])))
    number, text = fields[number_name], fields[text_name]
    needs = []
    other_fields = []
    for name, value in fields.items():
        # A field may repeat the number or the text, such as <query> the <title>.
        if name in ("", number_name, text_name) or value in (number, text):
            continue
        if name in NEEDS:
            needs.append(value)
        else:
            other_fields.append(f"{name}: {value}")
    return _Topic(number, text, " ".join(needs), other_fields + remarks, place)


def _simplify(text: str) -> str:
    """*text* on one line, with entities such as ``&amp;`` replaced."""
    return " ".join(_ENTITY.sub(lambda match: html.unescape(match[0]), text).split())


def _read_qrels(path: Path, draft: Draft, queries: dict[str, DraftQuery], *, has_topics: bool) -> None:
    """Add judgments; a document that is judged for several subtopics or iterations gets the highest of its grades."""
    judgments = read_subtopic_judgments(path)
    place = Mark(str(path))
    if detect_format(path) is FileFormat.CSV:
        table = import_table(path)
        table.used.update(("query", "document", "grade", "subtopic"))
        table.note_unread(draft.leftovers)
    _note_subtopics(judgments, draft, place)
    for number, documents in judgments.items():
        if number in queries:
            query = queries[number]
        elif has_topics:
            query = draft.find_or_add_stranger(number, place)
        else:
            query = queries[number] = draft.add(number, place)
        for document, by_subtopic in documents.items():
            draft.add_highest_judgment(query, document, by_subtopic.values(), place)


def _note_subtopics(judgments: Mapping[str, Mapping[str, Mapping[str, float]]], draft: Draft, place: Mark) -> None:
    """Note the second column of qrels, unless it is the same in all lines, such as 0 or Q0."""
    lines = []
    for number, documents in judgments.items():
        for document, by_subtopic in documents.items():
            lines += [(number, document, subtopic) for subtopic in by_subtopic]
    if len({subtopic.removeprefix("Q") for _, _, subtopic in lines}) > 1:
        number, document, subtopic = lines[0]
        first = f"{subtopic!r} of document {document!r} for query {number!r}"
        draft.add_leftover(place, "the second column of qrels, an iteration or a subtopic", len(lines), first)


def _read_run(path: Path, draft: Draft, queries: dict[str, DraftQuery]) -> None:
    """Set the depth and the measures from a run; its rankings are not carried over."""
    rankings = read_run(path)
    longest = max((len(ranking.documents) for ranking in rankings.values()), default=0)
    draft.depth = max(draft.depth or 0, longest)
    draft.measures = ["nDCG@10", "AP"] if draft.depth >= 10 else ["AP"]
    unknown = len(rankings.keys() - queries.keys())
    if unknown:
        draft.add_leftover(Mark(str(path)), "queries of the run without topics and judgments", unknown)
    what = "rankings of the run; score them with 'relevance evaluate', compare with 'relevance compare', --profile trec"
    draft.add_leftover(Mark(str(path)), what, len(rankings))


def write(suite: Suite, kind: str) -> Exported:  # noqa: ARG001
    """
    Write ``NAME.topics.tsv`` (number, tab, text), ``NAME.qrels``, and ``NAME.run`` if the suite has a baseline.

    The scores in the run are those of the engine if they decrease from hit to hit; otherwise they are numbers that keep
    the order of the hits.

    Args:
        suite: The suite.
        kind: Not used.

    Raises:
        BaselineError: The baseline cannot be read, contradicts itself, or lacks the suite's first request.
    """
    exported = Exported()
    exported.note_missing_parts(suite, Profile.TREC)
    topics, qrels = [], []
    for query in suite.queries:
        reason = _find_reason_against_query(query.id)
        if reason is not None:
            exported.add_leftover(query.mark, f"query {query.id!r}; {reason}")
            continue
        text = " ".join(query.text.split())
        if query.text:
            topics.append(f"{query.id}\t{text}\n")
        for document, grade in query.judgments.items():
            reason = _find_reason_against_column(document)
            if reason is None:
                qrels.append(f"{query.id} 0 {document} {format_exactly(grade)}\n")
            else:
                exported.add_leftover(query.mark, f"document {document!r} of query {query.id!r}; {reason}")
            if grade != int(grade):
                exported.add_leftover(query.mark, "fractional grades; they are written, and trec_eval cuts them")
        if text != query.text:
            exported.add_leftover(query.mark, f"the blanks in the text of query {query.id!r}")
    name = strip_suite_suffix(suite.path)
    exported.files[f"{name}.topics.tsv"] = "".join(topics)
    exported.files[f"{name}.qrels"] = "".join(qrels)
    if has_baseline(suite, None):
        exported.files[f"{name}.run"] = "".join(_format_run(suite, exported))
    return exported


def _find_reason_against_column(text: str) -> str | None:
    """Why *text* cannot be a column of a TREC line, which is read back unchanged; None if it can be one."""
    if "\0" in text:
        return "a text file has no NUL"
    # TREC files are split at ASCII blanks alone.
    if text.encode().split() != [text.encode()]:
        return "an id in TREC files has no blank"
    return None


def _find_reason_against_query(query_id: str) -> str | None:
    """Why *query_id* cannot be the first column of a TREC line; None if it can be."""
    if query_id.startswith(COMMENT):
        return f"a line of TREC files that begins with {COMMENT} is a comment"
    if query_id.startswith("\ufeff"):
        return "U+FEFF at the beginning of a file is no part of its text"
    return _find_reason_against_column(query_id)


def _format_run(suite: Suite, exported: Exported) -> Iterator[str]:
    """The lines of the baseline of the first request as a run."""
    entry = read_entry(suite, next(iter(suite.requests)), None)
    tag = re.sub(r"\s+", "-", suite.name)
    for query_id, kept in entry.queries.items():
        scores = kept.engine_scores or ()
        # trec_eval sorts by score, and orders hits with equal scores by their ids.
        numbers = [float(score) for score in scores if score is not None]
        are_falling = len(numbers) == len(scores) and sorted(set(numbers), reverse=True) == numbers
        for rank, (document, score) in enumerate(zip(kept.ranking, scores, strict=True), start=1):
            reason = _find_reason_against_query(query_id) or _find_reason_against_column(document)
            if reason is None:
                shown_score = score if are_falling else len(scores) - rank + 1
                yield f"{query_id} Q0 {document} {rank} {shown_score!r} {tag}\n"
            else:
                exported.add_leftover(suite.mark, f"document {document!r} of query {query_id!r} in the run; {reason}")
