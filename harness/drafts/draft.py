"""Drafts: suites read from the files of another system, with what is missing and what a suite cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from harness.errors import FormatError, InputError
from harness.files.judge_files import JUDGE_NAME
from harness.files.query_ids import make_query_id
from harness.files.tables import find_damage
from harness.model.suite import Display, Json, Mark, Profile
from harness.words import choose_unused, format_exactly


def make_error(place: Mark, message: str) -> InputError:
    """The error for what stands at *place*."""
    return FormatError.at(place.path, place.line, place.column, message)


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that was not carried over, with its first *place* and the number of occurrences."""

    place: Mark
    what: str
    count: int = 1
    first: str = ""
    """The first occurrence, if *what* does not describe it."""

    def __str__(self) -> str:
        details = []
        if self.count > 1:
            details.append(f"{self.count:,} times")
        if self.first:
            details.append(f"first {self.first}" if details else self.first)
        suffix = f" ({', '.join(details)})" if details else ""
        return f"{self.place}: {self.what}{suffix}"


class Leftovers(dict[tuple[str, str], Leftover]):
    """Leftovers by file and `Leftover.what`, in the order in which they were found."""

    def add(self, place: Mark, what: str, count: int = 1, first: str = "") -> None:
        """Add *count* occurrences of *what*; only the first one in a file keeps its *place* and *first*."""
        key = place.path, what
        if key in self:
            self[key] = replace(self[key], count=self[key].count + count)
        else:
            self[key] = Leftover(place, what, count, first)

    def add_trimmed(self, place: Mark, text: str) -> None:
        """Add the blanks around *text*, an id or the text of a query, if there are any."""
        if text != text.strip():
            self.add(place, "blanks around an id or text", first=repr(text))


@dataclass(slots=True)
class DraftQuery:
    """A query of a draft; *remarks* become comments above it."""

    id: str
    text: str | None = None
    params: dict[str, Json] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    judgments: dict[str, float] = field(default_factory=dict)
    machine_judgments: dict[str, dict[str, float]] = field(default_factory=dict)
    """Document id to grade by each machine, by its name."""
    weight: float | None = None
    need: str = ""
    """What would satisfy the user."""
    remarks: list[str] = field(default_factory=list)
    place: Mark = field(default_factory=Mark)
    """The place of the query, or of its params if they have their own."""
    places: dict[str, Mark] = field(default_factory=dict, repr=False)
    """Document id to the place of its grade."""


@dataclass(slots=True)
class Draft:
    """
    A suite that is read from another system, and is to be written.

    A field that is None or empty was not in the source. If there is no request, the suite gets a TODO line instead.
    """

    profile: Profile
    name: str | None = None
    cluster: str | None = None
    index: str | None = None
    id_field: str | None = None
    """The field with the ids of documents, if it is not ``_id``."""
    request: Json = None
    requests: dict[str, Json] = field(default_factory=dict)
    """Requests by name; if there are any, they replace *request*."""
    request_remarks: list[str] = field(default_factory=list)
    """Comments above *request*."""
    unread: str = ""
    """Why the *request* is not made from values of documents, if it would be."""
    measures: list[str] = field(default_factory=list)
    is_measured: bool = True
    """Whether the suite gets measures; a suite without them can run before anything is judged."""
    names_judgments: bool = False
    """Whether a source is a file of judgments, whatever stands in it."""
    is_unjudged: bool = False
    """Whether no document of an imported suite has a grade."""
    depth: int | None = None
    display: Display = field(default_factory=Display)
    documents: str | None = None
    """The documents of the suite's own index as JSON lines, each with a field "id"."""
    grades: dict[str, float] = field(default_factory=dict)
    queries: list[DraftQuery] = field(default_factory=list)
    strangers: dict[str, DraftQuery] = field(default_factory=dict)
    """Queries that only judgments name, by the ids in these; `match_strangers` finds out which queries they are."""
    stranger_remark: str = ""
    """What is listed of strangers that are no query of the source; if it is empty, they become queries."""
    candidates: dict[str, DraftQuery] = field(default_factory=dict)
    """Queries by their ids that belong to the suite only if judgments are of them."""
    leftovers: Leftovers = field(default_factory=Leftovers)
    _by_text: dict[str, DraftQuery] = field(default_factory=dict, repr=False)
    _ids: set[str] = field(default_factory=set, repr=False)

    def add_leftover(self, place: Mark, what: str, count: int = 1, first: str = "") -> None:
        """Note that *what* at *place* is not carried over; *first* describes the first occurrence."""
        self.leftovers.add(place, what, count, first)

    def add_document_leftover(
        self, query: DraftQuery, document: str, place: Mark, what: str, details: str = ""
    ) -> None:
        """Note *what* about *document*; the first document is named, followed by *details*."""
        self.leftovers.add(place, what, first=f"document {document!r} of query {query.text or query.id!r}{details}")

    def note_damage(self, place: Mark, text: str) -> None:
        """Note that *text*, an id or the text of a query, is what a spreadsheet made of another one."""
        damage = find_damage(text)
        if damage is not None:
            what = f"an id or text that a spreadsheet has changed, {damage}; it is kept as it is here"
            self.add_leftover(place, what, first=repr(text))

    def note_grades_below_0(self) -> None:
        """Note documents with a grade below 0 if the first measure uses gains: other systems compute 2^grade - 1."""
        first_measure = self.measures[0] if self.measures else "nDCG"
        if not first_measure.startswith(("CG", "DCG", "nDCG", "ERR")):
            return
        for query in self.queries:
            for document, grade in query.judgments.items():
                if grade < 0:
                    what = "the gain of grades below 0; in a suite it is 0"
                    self.add_document_leftover(
                        query, document, query.places[document], what, f": {format_exactly(grade)}"
                    )

    def add(self, wanted: str, place: Mark, text: str | None = None) -> DraftQuery:
        """Add a query with the id *wanted*; if that is taken or cannot be an id, use a similar one and note it."""
        self.note_damage(place, wanted)
        query = DraftQuery(self._choose_id(wanted), text, place=place)
        if query.id != wanted:
            what = "ids of queries that are repeated, empty, not printable, or have blanks around them"
            self.add_leftover(place, what, first=f"{wanted!r}, which is {query.id!r} in the suite")
        self.queries.append(query)
        return query

    def add_text(self, text: str) -> DraftQuery:
        """Add a query with *text* and an id derived from it, even if another query has the same text."""
        query = DraftQuery(self._choose_id(make_query_id(text)), text)
        self.queries.append(query)
        return query

    def has_text(self, text: str) -> bool:
        """Whether `find_or_add_text` knows a query with *text*."""
        return text in self._by_text

    def add_alias(self, query: DraftQuery, text: str) -> None:
        """Let `find_or_add_text` return *query* for *text* too, unless it returns another query for it."""
        self._by_text.setdefault(text, query)

    def find_or_add_text(self, text: str) -> DraftQuery:
        """The query with *text*; added, with an id derived from the text, if there is none."""
        query = self._by_text.get(text)
        if query is None:
            query = self.add_text(text)
            self._by_text[text] = query
        return query

    def find_or_add_stranger(self, query_id: str, place: Mark) -> DraftQuery:
        """The stranger *query_id*, a query that only the judgments at *place* name."""
        return self.strangers.setdefault(query_id, DraftQuery(query_id, place=place))

    def add_judgment(self, query: DraftQuery, document: str, grade: float, place: Mark) -> None:
        """
        Set the grade of *document* for *query*; the same grade again is noted.

        Raises:
            FormatError: The document's id is empty, or it already has another grade.
        """
        if not document.strip():
            raise make_error(place, f"the document's id is empty for query {query.id!r}")
        self.note_damage(place, document)
        earlier = query.judgments.get(document)
        if earlier is None:
            query.judgments[document] = grade
            query.places[document] = place
        elif earlier == grade:
            self.add_document_leftover(
                query, document, place, "a document that is judged twice for its query, with the same grade"
            )
        else:
            first = f"{format_exactly(earlier)} at {query.places[document]}"
            message = (
                f"document {document!r} has grade {format_exactly(grade)} for query {query.id!r} here, and {first}"
            )
            raise make_error(place, f"{message}; keep the right one")

    def add_machine_judgment(self, query: DraftQuery, document: str, grade: float, machine: str, place: Mark) -> None:
        """
        Set the grade of *document* for *query* by *machine*, which is not people's.

        Raises:
            FormatError: The document's id is empty, it has another grade by that machine, or *machine* is no name.
        """
        if not JUDGE_NAME.fullmatch(machine):
            raise make_error(place, f"found {machine!r} as the name of a machine, expected letters, digits, _ and -")
        if not document.strip():
            raise make_error(place, f"the document's id is empty for query {query.id!r}")
        grades = query.machine_judgments.setdefault(machine, {})
        if grades.setdefault(document, grade) != grade:
            message = f"document {document!r} has two grades of {machine} for query {query.id!r}; keep the right one"
            raise make_error(place, message)

    def add_highest_judgment(self, query: DraftQuery, document: str, grades: Iterable[float], place: Mark) -> None:
        """
        Set the grade of *document* to the highest of *grades*, such as those for subtopics; see `judge`.

        That there are lower grades is noted.
        """
        distinct = sorted(set(grades))
        self.add_judgment(query, document, distinct[-1], place)
        if len(distinct) > 1:
            details = f": {', '.join(format_exactly(grade) for grade in distinct)}"
            self.add_document_leftover(
                query, document, place, "other grades of a document; the highest is kept", details
            )

    def _choose_id(self, wanted: str) -> str:
        base = "".join(character if character.isprintable() else "-" for character in wanted).strip() or "query"
        return choose_unused(base, self._ids)
