"""
Import of Quepid files.

It reads the ratings of a case (CSV, LTR or JSON), whole cases, snapshots and books.

Source: Quepid's export views and `caseCSVSvc`, which writes a blank before a text that begins with ``=``, ``+``, ``-``
or ``@``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from harness.drafts.draft import Draft, DraftQuery
from harness.errors import FormatError
from harness.extensions.migrate.json_nodes import JsonNode, note_unread, parse_members, parse_text, read_node
from harness.extensions.migrate.ltr import read_ltr
from harness.extensions.migrate.table import InputTable, import_table
from harness.extensions.migrate.templates import convert_placeholders
from harness.files.tables import read_number
from harness.model.suite import Mark, Profile
from harness.suites.placeholders import RESERVED
from harness.words import format_exactly

_SCORERS = {
    "nDCG": "nDCG", "NDCG_CUT": "nDCG(ideal=cut)", "DCG": "DCG", "CG": "CG", "P": "P", "AP": "AP", "RR": "RR",
    "ERR": "ERR(max={max})",
}  # fmt: skip
"""Quepid's own scorers and their measures, without the cutoff; in names of scorers case is ignored."""

_USUAL_MAX = 3.0
"""The highest grade of the scale of Quepid's own scorers."""

_ROWS = 10
"""The number of hits that a try requests by default."""

_ENGINES = ("es", "os", "elasticsearch", "opensearch")
_THEIRS = re.compile(r"#\$query##|#\$qOption(?:\.([A-Za-z_]\w*)|\[['\"]([A-Za-z_]\w*)['\"]\])##", re.ASCII)
_QUERY_SYNTAX = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read one suite from all *sources* together; entries with the same text are one query.

    Args:
        sources: Files. A .json file is a case, ratings, a snapshot or a book; a .txt file has ratings in the LTR
            format; any other file is CSV with ratings or information needs.

    Raises:
        InputError: A file cannot be read, two grades of a document contradict each other, or there are no queries.
    """
    draft = Draft(Profile.QUEPID)
    for path in map(Path, sources):
        if path.suffix.lower() == ".json":
            _read_json(read_node(path), draft)
        elif path.suffix.lower() == ".txt":
            read_ltr(path, draft)
        else:
            _read_csv(import_table(path), draft)
        draft.name = draft.name or path.stem
    if not draft.queries:
        raise FormatError.at(sources[0], 0, 0, "the file has no queries")
    draft.note_grades_below_0()
    return [draft]


def _rate(draft: Draft, query: DraftQuery, document: str, grade: float | None, place: Mark) -> None:
    """Set the grade of *document*; without a rating it stays unjudged, which is noted."""
    if grade is None:
        draft.add_document_leftover(query, document, place, "documents without a rating; they stay unjudged")
    else:
        draft.add_judgment(query, document, grade, place)


def _remark(query: DraftQuery, label: str, text: str) -> None:
    """Add *text* as a remark on *query*, unless it is blank or there already."""
    remark = f"{label}: {text.strip()}"
    if text.strip() and remark not in query.remarks:
        query.remarks.append(remark)


def _add_need(query: DraftQuery, text: str) -> None:
    """Take *text* as the need of *query*; where it has another one, as a remark."""
    need = " ".join(text.split())
    if not query.need:
        query.need = need
    elif need != query.need:
        _remark(query, "information need", text)


def _add_remarks(query: DraftQuery, entry: JsonNode) -> None:
    """Keep the information need of a query, and its notes as a remark."""
    need, notes = entry.get("information_need"), entry.get("notes")
    if need is not None:
        _add_need(query, need.text())
    if notes is not None:
        _remark(query, "notes", notes.text())


def _read_csv(table: InputTable, draft: Draft) -> None:
    """Read the ratings of a case, the information needs of its queries, or a book."""
    text = table.require("query", "Query Text")
    document, rating = table.column("docid", "doc_id", "Doc ID"), table.column("rating")
    need, notes = table.column("Information Need"), table.column("notes")
    name = table.column("Case Name")
    # A book has no column of ratings, but one for each judge, named after them.
    is_book = rating is None and table.columns[:2] == ["query", "docid"]
    judges = _find_judges(table) if is_book else []
    table.used.update(judges)
    for row in table.rows:
        with table.collect_problems():
            query = draft.find_or_add_text(row.require(text))
            if need is not None:
                _add_need(query, row.cells[need])
            if notes is not None:
                _remark(query, "notes", row.cells[notes])
            document_id = row.trim(document) if document else ""
            if document_id and rating:
                _rate(draft, query, document_id, row.grade(rating), row.place)
            elif document_id:
                _rate_agreed(draft, query, document_id, [row.grade(judge) for judge in judges], row.place)
            elif rating and row.cells[rating].strip():
                row.refuse("the document is empty beside a rating; expected an id")
            if name:
                draft.name = draft.name or row.cells[name].strip()
    table.raise_problems()
    table.note_unread(draft.leftovers)


def _find_judges(table: InputTable) -> list[str]:
    """The columns of a book's judges: those after the first two that contain only ratings."""
    judges = []
    for column in table.columns[2:]:
        cells = (row.cells[column].strip() for row in table.rows)
        if all(read_number(cell) is not None for cell in cells if cell):
            judges.append(column)
    return judges


def _rate_agreed(draft: Draft, query: DraftQuery, document: str, ratings: Sequence[float | None], place: Mark) -> None:
    """Set the grade of a book's *document* if its judges agree; if not, it stays unjudged, which is noted."""
    grades = [rating for rating in ratings if rating is not None]
    if len(set(grades)) > 1:
        details = f": {', '.join(format_exactly(grade) for grade in grades)}"
        draft.add_document_leftover(
            query, document, place, "documents on which judges differ; they stay unjudged", details
        )
    else:
        _rate(draft, query, document, grades[0] if grades else None, place)


def _read_json(root: JsonNode, draft: Draft) -> None:
    """Read a case, a snapshot, a book, or the ratings of a case; their keys distinguish them."""
    name = root.get("case_name", "name")
    if name is not None and name.text().strip():
        draft.name = draft.name or name.text().strip()
    pairs = root.get("query_doc_pairs")
    if pairs is not None:
        _read_book(root, pairs, draft)
    else:
        _read_case(root, draft)
    note_unread(draft, root)


def _read_case(root: JsonNode, draft: Draft) -> None:
    texts: set[str] = set()
    for entry in root.require("queries").elements():
        _read_query(entry, draft, texts)
    _read_scorer(root.get("scorer"), draft)
    attempt = root.get("try")
    endpoint = None
    if attempt is not None:
        _read_try(attempt, draft)
        endpoint = attempt.get("search_endpoint")
    # The first that has an option takes precedence.
    for holder in (endpoint, attempt, root):
        if holder is not None:
            _read_common_options(holder.members().get("options"), draft)


def _read_query(entry: JsonNode, draft: Draft, texts: set[str]) -> None:
    """Add a query of a case; if its text is in *texts*, those of the case so far, it is a separate query."""
    text = entry.require("query_text", "query").words()
    query = draft.add_text(text) if text in texts else draft.find_or_add_text(text)
    texts.add(text)
    _add_remarks(query, entry)
    options = parse_members(entry.members().get("options"))
    if options:
        query.params = {_make_option_name(key): value.json() for key, value in options.items()}
        query.place = entry.require("options").place
    ratings = entry.get("ratings")
    if ratings is None:
        return
    # A snapshot has an object of grades by document, a case a list of pairs.
    if isinstance(ratings.value, dict):
        for document, rating in ratings.items():
            _rate(draft, query, document, None if rating.value is None else rating.number(), rating.place)
    else:
        for pair in ratings.elements():
            _rate(draft, query, pair.require("doc_id").text(), _read_rating(pair), pair.place)


def _read_rating(entry: JsonNode) -> float | None:
    rating = entry.get("rating")
    return None if rating is None else rating.number()


def _make_option_name(name: str) -> str:
    """The name of the param for the option *name*; an underscore avoids the names of the suite's own placeholders."""
    return f"{name}_" if name.rstrip("_") in RESERVED else name


def _read_common_options(options: JsonNode | None, draft: Draft) -> None:
    """Add the options of a case, a try or an endpoint that the request uses as params to the queries without them."""
    request = json.dumps(draft.request)
    for key, value in parse_members(options).items():
        name = _make_option_name(key)
        if f"{{{{{name}}}}}" not in request:
            continue
        for query in draft.queries:
            if name not in query.params:
                query.params[name] = value.json()


def _read_book(root: JsonNode, pairs: JsonNode, draft: Draft) -> None:
    _read_labels(root, draft)
    for pair in pairs.elements():
        query = draft.find_or_add_text(pair.require("query_text").words())
        _add_remarks(query, pair)
        judgements = pair.get("judgements")
        ratings = [] if judgements is None else [_read_rating(judgement) for judgement in judgements.elements()]
        _rate_agreed(draft, query, pair.require("doc_id").text(), ratings, pair.place)


def _read_labels(holder: JsonNode, draft: Draft) -> None:
    """Read the names of grades, ``{"0": "Poor"}``; a name or a grade that was already used is noted and left out."""
    for grade_text, label in parse_members(holder.members().get("scale_with_labels")).items():
        if not isinstance(label.value, str):
            continue
        grade, name = read_number(grade_text), label.text().strip()
        # A name that is the grade itself, or that another scale of the case has for it, says nothing new.
        if not name or name == grade_text or draft.grades.get(name, math.nan) == grade:
            continue
        if grade is None or not math.isfinite(grade) or read_number(name) is not None:
            draft.add_leftover(label.place, "labels that cannot name a grade", first=f"{name!r} of {grade_text!r}")
        elif name in draft.grades or grade in draft.grades.values():
            draft.add_leftover(
                label.place, "labels that are given twice", first=f"{name!r} of grade {format_exactly(grade)}"
            )
        else:
            draft.grades[name] = grade


def _read_scorer(scorer: JsonNode | None, draft: Draft) -> None:
    if scorer is None:
        return
    name = scorer.require("name")
    scale = scorer.get("scale")
    grades = [] if scale is None else [grade.number() for grade in scale.elements()]
    top = max(grades, default=_USUAL_MAX)
    _read_labels(scorer, draft)
    match = re.fullmatch(r"(\w+)@([1-9]\d*)", name.text().strip())
    measures = {own_name.lower(): text.format(max=format_exactly(top)) for own_name, text in _SCORERS.items()}
    if match and match[1].lower() in measures:
        draft.measures = [f"{measures[match[1].lower()]}@{int(match[2])}"]
        # What else Quepid writes of its own scorers is the same for each; of others it would be lost.
        for key in ("code", "scorer_id", "communal", "show_scale_labels"):
            scorer.get(key)
    else:
        draft.add_leftover(
            name.place, f"the scorer {name.text()!r}, which is not one of Quepid's own; nDCG@10 is measured"
        )


def _read_try(attempt: JsonNode, draft: Draft) -> None:
    """Read the request, index, cluster and depth of a try."""
    endpoint = attempt.get("search_endpoint")
    # A snapshot has the engine and the address in the try itself.
    engine = attempt.get("search_engine")
    url = attempt.get("search_url", "endpoint_url")
    if endpoint is not None:
        endpoint_engine = endpoint.get("search_engine")
        endpoint_url = endpoint.get("search_url", "endpoint_url")
        engine = endpoint_engine if engine is None else engine
        url = endpoint_url if url is None else url
    params = attempt.get("query_params")
    _read_fields(attempt.get("field_spec"), draft)
    if engine is not None and engine.text().lower() not in _ENGINES:
        draft.add_leftover(engine.place, f"the request, which is for {engine.text()}")
        return
    if url is not None:
        _read_address(url, draft)
    if params is not None:
        _read_request(params, attempt, draft)
    rows = attempt.get("number_of_rows")
    if rows is not None and rows.integer() != _ROWS:
        measures = draft.measures or [f"nDCG@{_ROWS}"]  # what a suite without a scorer has
        deepest = max(int(measure.rpartition("@")[2]) for measure in measures)
        # A suite's depth is at least its largest cutoff.
        if rows.number() < deepest:
            draft.add_leftover(
                rows.place, f"'number_of_rows' {format_exactly(rows.number())}, fewer hits than {measures[0]} looks at"
            )
        else:
            draft.depth = rows.integer()
    escape = attempt.get("escape_query")
    if escape is not None and escape.value is True and draft.request is not None:
        escaped = [query for query in draft.queries if query.text and _QUERY_SYNTAX.search(query.text)]
        if escaped:
            what = f"'escape_query', a backslash before characters such as those of {escaped[0].text!r}"
            draft.add_leftover(escape.place, what, len(escaped))


def _read_fields(spec: JsonNode | None, draft: Draft) -> None:
    """
    Read the field spec, ``id:_id, title:name, thumb:image, overview``: the fields that identify a document and are
    shown.
    """
    if spec is None:
        return
    fields: list[str] = []
    for field in re.split(r"[\s,]+", spec.text()):
        role, _, name = field.rpartition(":")
        if role == "title":
            draft.display = replace(draft.display, title=name)
        elif role in ("thumb", "image"):
            draft.display = replace(draft.display, image=name)
        elif role == "id" and name != "_id":
            draft.id_field = name
        elif name and role == "":
            fields.append(name)
        elif name and role != "id":
            draft.add_leftover(spec.place, f"{role!r} of {field!r} in 'field_spec'; the field is shown as others are")
            fields.append(name)
    draft.display = replace(draft.display, fields=tuple(dict.fromkeys(fields)))


def _read_address(url: JsonNode, draft: Draft) -> None:
    """Read the cluster and the index of ``SERVER/INDEX/_search``; from another address only the server."""
    try:
        parts = urlsplit(url.text())
        host = parts.hostname
    except ValueError:
        draft.add_leftover(url.place, "the address of the search endpoint, which is no URL")
        return
    folders = [part for part in parts.path.split("/") if part]
    path, separator, suffix = "/".join(["", *folders]).rpartition("/_search")
    if separator and suffix in ("", "/template"):
        # A proxy may have a path before the index, which belongs to the address of the cluster.
        path, _, index = path.rpartition("/")
        draft.index = unquote(index) or None
    else:
        path = ""
        if folders:
            what = f"the path {parts.path!r} of the search endpoint, which does not end with INDEX/_search"
            draft.add_leftover(url.place, f"{what}; name the index, and the path before it behind the URL of 'cluster'")
    if parts.query:
        draft.add_leftover(url.place, "the parameters of the address of the search endpoint")
    if parts.scheme in ("http", "https") and host:
        server = parts.netloc.rpartition("@")[2]
        if server != parts.netloc:
            draft.add_leftover(url.place, "the login in the URL; relevance.toml names the variables that hold one")
        draft.cluster = urlunsplit((parts.scheme, server, path, "", ""))
    else:
        draft.add_leftover(url.place, "the address of the search endpoint, which has no scheme or no host")


def _read_request(params: JsonNode, attempt: JsonNode, draft: Draft) -> None:
    """
    Read the request in ``query_params``.

    It contains ``#$query##``, curator variables ``##name##`` and options ``#$qOption.name##``.
    """
    text = params.text() if isinstance(params.value, str) else json.dumps(params.json())
    for name, value in _list_curator_variables(attempt):
        text = text.replace(f"##{name}##", value)
    text, _ = convert_placeholders(text, _THEIRS, _name_placeholder)
    unknown = re.search(r"#\$[^#]*##|##[^#]+##", text)
    try:
        body = parse_text(text)
    except ValueError as error:
        draft.add_leftover(params.place, f"the request in 'query_params', which is not JSON: {error}")
        return
    if unknown is not None or not isinstance(body, dict):
        reason = f"it has {unknown[0]}" if unknown is not None else "it is no object"
        draft.add_leftover(params.place, f"the request in 'query_params': {reason}")
        return
    if body.pop("size", None) is not None:
        draft.add_leftover(params.place, "'size' in 'query_params'; a suite's depth is the number of hits")
    if body.pop("from", None) is not None:
        draft.add_leftover(params.place, "'from' in 'query_params'; a suite looks at the first hits")
    if body.keys() & {"id", "source"}:  # Quepid sends these to _search/template
        what = 'the number of hits, which a search template has; see to "size": "{{size}}" in it'
        draft.add_leftover(params.place, what)
        body = {"template": body}
    draft.request = body


def _name_placeholder(match: re.Match[str]) -> str:
    """The placeholder of a suite for one of Quepid's: that of an option, or else of the text of the query."""
    option = match[1] or match[2]
    return _make_option_name(option) if option else "text"


def _list_curator_variables(attempt: JsonNode) -> Iterator[tuple[str, str]]:
    """The names and values of the variables, which a case has in a list and a snapshot in an object."""
    variables, values_by_name = attempt.get("curator_variables"), attempt.get("curator_vars")
    if variables is not None:
        for variable in variables.elements():
            yield variable.require("name").text(), str(variable.require("value").json())
    if values_by_name is not None:
        for name, value in values_by_name.items():
            yield name, str(value.json())
