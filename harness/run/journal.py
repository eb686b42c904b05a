"""
The journal of a run: a file of JSON lines that holds each response as soon as it is there, so that a run that was
killed can go on, and the parts of a run can be put together.

The file has a section for each cell, which is a suite with one request on one index. A section begins with a `Header`,
has a line for each query, of which the last one holds, and ends with what else the run found out. A last line that was
cut short is dropped, and so is a damaged one, which `sealing` finds by its checksum. A section of the same cell that
comes later goes on with the earlier one if its header says so, and takes its place if not. Secrets are masked, and only
the user can read a new file.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from harness.errors import FormatError, UsageError
from harness.files.beside import BesideFile
from harness.files.writing import PRIVATE, create_part, lock_open_file
from harness.gate.stability import explain_changed_target
from harness.masking import Masker, redact
from harness.model.run import Engine, Failure, IndexState, Ranking, Response, Run
from harness.model.suite import Json, Query
from harness.options import ALL_QUERIES, Shard
from harness.run.header import COMPARED, SCHEMA, CellKey, Header, find_problem
from harness.run.sealing import BEGINNING, JournalLine, Seal, split_lines
from harness.words import count, listed

if TYPE_CHECKING:
    from pydantic import TypeAdapter


MOST_READ = 2**32
"""Bytes of a journal: a run of a hundred thousand queries has a tenth of that."""

NO_JOURNAL = "found no line of a journal of `relevance run`"
_VERSION = re.compile(re.escape(BEGINNING) + rb"([0-9]{1,9})[,}]")


@dataclass(frozen=True, slots=True)
class Recorded:
    """The records of one cell in a journal; *rest* is the run without its responses, None if it did not end."""

    header: Header
    responses: dict[str, Response]
    rest: Run | None = None

    @property
    def run(self) -> Run:
        """The run, as far as it was recorded."""
        return replace(self.rest or Run({}, self.header.engine), responses=self.responses)

    @property
    def answered(self) -> int:
        """The number of queries with a ranking."""
        return sum(isinstance(response, Ranking) for response in self.responses.values())


@dataclass(frozen=True, slots=True)
class ParsedJournal:
    """The content of a journal, without its damaged lines."""

    cells: list[Recorded]
    """The records of each cell, in the order of their first sections."""
    is_reported: bool
    """Whether the run was reported."""
    damaged: tuple[int, ...]
    """The numbers of the damaged lines."""
    sound: bytes
    """The other lines."""
    seal: Seal
    """Adds lines."""

    def describe_damage(self) -> str:
        """The damaged lines, for a sentence; empty if there are none."""
        if not self.damaged:
            return ""
        noun = "line" if len(self.damaged) == 1 else "lines"
        return f"{noun} {listed([str(number) for number in self.damaged])}"


def parse_journal(content: bytes, path: str) -> ParsedJournal:
    """
    Read a journal.

    Args:
        content: The bytes of the file.
        path: The file's name in errors.

    Raises:
        FormatError: It is no journal, or one of another version.
    """
    seal = Seal()
    reader = _RecordReader(path)
    damaged: list[int] = []
    sound: list[bytes] = []
    for line in split_lines(content, seal):
        if line.number == 1:
            _refuse_other_version(line.content, path)
        if line.is_sound:
            sound.append(line.content + b"\n")
            reader.read_line(line)
        else:
            damaged.append(line.number)
            reader.lacks_line = True
    if damaged and not sound:
        raise FormatError.at(path, 1, 1, f"{NO_JOURNAL} with the checksum of its content")
    return ParsedJournal(list(reader.cells.values()), reader.is_reported, tuple(damaged), b"".join(sound), seal)


class _RecordReader:
    """Reads the lines of a journal one after the other."""

    def __init__(self, path: str) -> None:
        self.cells: dict[CellKey, Recorded] = {}
        self.is_reported = False
        self.lacks_line = False
        """Whether a line of the section is damaged."""
        self._path = path
        self._cell: CellKey | None = None

    def read_line(self, line: JournalLine) -> None:
        """
        Add what *line* records.

        Raises:
            FormatError: It is no line of a journal.
        """
        try:
            raw = json.loads(line.content)
            if "journal" in raw:
                self._begin_section(_read_header(raw, self._path, line.number))
            elif self._cell is None:
                raise FormatError.at(self._path, line.number, 1, NO_JOURNAL)
            elif "query" in raw:
                self.cells[self._cell].responses[raw["query"]] = _read_response(raw)
            elif "reported" in raw:
                self.is_reported = True
            else:
                rest = _adapter(Run).validate_python({"responses": {}, **raw["end"]})
                # Where a line is lost, a query lacks its last answer: the run did not end, and is to go on.
                if not self.lacks_line:
                    self.cells[self._cell] = replace(self.cells[self._cell], rest=rest)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise FormatError.at(self._path, line.number, 1, NO_JOURNAL) from None

    def _begin_section(self, header: Header) -> None:
        self._cell = header.cell_key
        self.is_reported = False
        self.lacks_line = False
        before = self.cells.get(self._cell)
        if header.continues and before is not None and before.answered:
            continued = replace(before.header, begun=header.begun)
            self.cells[self._cell] = replace(before, header=continued, rest=None)
        else:
            self.cells[self._cell] = Recorded(header, {})


def _refuse_other_version(line: bytes, path: str) -> None:
    """Refuse a journal whose first *line* has another version, whose checksums may be others."""
    version = _VERSION.match(line)
    if version is not None and int(version[1]) != SCHEMA:
        raise FormatError.at(path, 1, 1, f"found version {int(version[1])} of a journal, expected {SCHEMA}")


def _read_header(raw: Json, path: str, number: int) -> Header:
    header: Header = _adapter(Header).validate_python(raw)
    if header.begun and datetime.fromisoformat(header.begun).tzinfo is None:
        raise ValueError("a time without a zone")
    problem = find_problem(header)
    if problem:
        raise FormatError.at(path, number, 1, f"{problem}; the journal was not written by `relevance run`")
    return header


def _read_response(raw: Json) -> Response:
    response: Response
    if "ranking" in raw:
        ranking: Ranking = _adapter(Ranking).validate_python(raw["ranking"])
        if len({hit.id for hit in ranking.hits}) < len(ranking.hits):
            raise ValueError("a document is in a ranking twice")
        response = ranking
    else:
        response = _adapter(Failure).validate_python(raw["failure"])
    return response


def _write_line(value: Json) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _write_response(query: str, response: Response) -> bytes:
    if isinstance(response, Ranking):
        name, adapter = "ranking", _adapter(Ranking)
    else:
        name, adapter = "failure", _adapter(Failure)
    # json.dumps escapes a lone surrogate, which pydantic's own writer refuses.
    return _write_line({"query": query, name: adapter.dump_python(response, mode="json", exclude_defaults=True)})


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


class RunRecord(Protocol):
    """
    Has an earlier run of a cell, and keeps the one that continues it::

        earlier = record.earlier
        continued = record.continue_on(engine, state)   # the target as it is now
        record.begin(engine, state, continued)
        record.add(query, response)                     # each response as soon as it is there
        record.end(run)

    `Section` is that of a journal: of a `Journal`, which a run writes, or of a `MergedJournal`, for which nothing is
    sent or written. `Rerun` has a run of this process.
    """

    @property
    def earlier(self) -> Run | None:
        """The earlier run, whatever became of its target since; None without one."""
        ...

    @property
    def has_all_answers(self) -> bool:
        """Whether *earlier* leaves no query to send."""
        ...

    @property
    def sends_queries(self) -> bool:
        """Whether queries without a ranking are sent again; if not, *earlier* is the whole run."""
        ...

    @property
    def cluster(self) -> str | None:
        """The name in reports of the server of *earlier*; None if it is that of the cell."""
        ...

    def continue_on(self, engine: Engine, state: IndexState | None) -> Run | None:
        """
        The earlier run as it is continued on a target of this *engine* and *state*, with `target_unknown` if too little
        is known to compare them. None without an earlier run, or if its target was another one.
        """
        ...

    def begin(self, engine: Engine, state: IndexState | None, continued: Run | None) -> None:
        """Begin a run on *engine*, whose target has this *state* before the searches; it goes on with *continued*."""
        ...

    def add(self, query: str, response: Response) -> None:
        """Keep the *response* to *query*."""
        ...

    def end(self, run: Run) -> None:
        """Keep the whole *run*, which has begun."""
        ...


class Rerun:
    """
    An earlier run of the same cell in this process, such as that of a pytest item that is run again. Nothing is
    written.
    """

    sends_queries = True
    cluster = None

    def __init__(self, earlier: Run | None = None, queries: Sequence[Query] = ()) -> None:
        """
        Args:
            earlier: The earlier run; None without one.
            queries: The queries that run.
        """
        self.earlier = earlier
        self._queries = queries

    @property
    def has_all_answers(self) -> bool:
        """Whether each query has a ranking."""
        if self.earlier is None:
            return False
        responses = self.earlier.responses
        return all(isinstance(responses.get(query.id), Ranking) for query in self._queries)

    def continue_on(self, engine: Engine, state: IndexState | None) -> Run | None:  # noqa: ARG002
        """Return *earlier*: the target is not compared."""
        return self.earlier

    def begin(self, engine: Engine, state: IndexState | None, continued: Run | None) -> None:
        """Keep nothing."""

    def add(self, query: str, response: Response) -> None:
        """Keep nothing."""

    def end(self, run: Run) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class SectionOutput:
    """Where a section is written, and who is told about it."""

    write: Callable[[bytes], None]
    """Appends lines to the journal."""
    tell: Callable[[str], None]
    """Called with a line for the user."""


class Section:
    """The section of a journal for one cell, as it is written, and what an earlier section of the same cell has."""

    def __init__(
        self,
        header: Header,
        masker: Masker,
        recorded: Recorded | None,
        output: SectionOutput,
        *,
        sends_queries: bool = True,
    ) -> None:
        """
        Args:
            header: The section's header.
            masker: Hides secrets.
            recorded: An unfinished run of the same cell.
            output: Where the section is written.
            sends_queries: Whether queries without a ranking are sent again; if not, *recorded* is the whole run.
        """
        self.sends_queries = sends_queries
        self._header = header
        self._masker = masker
        self._write = output.write
        self._tell = output.tell
        self._recorded = recorded
        self._written: dict[str, Response] = {}
        """The last response to each query in the file, in this section or in the one that it continues."""

    @property
    def earlier(self) -> Run | None:
        """The recorded run; without the states of its target where it goes on, and sees these anew."""
        if self._recorded is None:
            return None
        run = self._recorded.run
        if self.has_all_answers or explain_changed_target(run):
            return run
        return replace(run, states=())

    @property
    def has_all_answers(self) -> bool:
        """Whether *earlier* ended with a ranking for each query, or nothing is to be sent."""
        recorded = self._recorded
        if recorded is None or recorded.rest is None:
            return False
        return recorded.answered == self._header.own_searches or not self.sends_queries

    @property
    def cluster(self) -> str | None:
        """The name in reports of the server of *earlier*, masked; None without *earlier*."""
        return None if self._recorded is None else self._recorded.header.cluster

    def continue_on(self, engine: Engine, state: IndexState | None) -> Run | None:
        """
        *earlier*, if *engine* and *state* are those of its target, as far as that is known; else None.

        A run that ended is compared with the state that it ended with; one that goes on, with that of its header, as it
        may have been killed before it knew any other.
        """
        recorded, earlier = self._recorded, self.earlier
        if recorded is None or earlier is None:
            return None
        recorded_header = recorded.header
        if self.has_all_answers:
            recorded_header = replace(recorded_header, state=earlier.states[-1] if earlier.states else None)
        header = self._mask_header(replace(self._header, engine=engine, state=state))
        change = header.describe_change_since(recorded_header)
        if change:
            self._tell(f"{header.name}: starting anew: {change}")
            return None
        # Where nothing is sent, whoever merged the parts has compared their targets.
        if self.sends_queries and earlier.has_rankings and header.known_facts != list(COMPARED):
            return replace(earlier, target_unknown=True)
        return earlier

    def begin(self, engine: Engine, state: IndexState | None, continued: Run | None) -> None:
        """Write the header, with the *state* of the target before the searches."""
        header = self._mask_header(replace(self._header, engine=engine, state=state))
        if continued is not None:
            self._written.update(continued.responses)
            rankings = sum(isinstance(response, Ranking) for response in continued.responses.values())
            answered = f"{rankings:,} of {count(header.own_searches, 'query')} answered"
            self._tell(f"{header.name}: going on with an earlier run: {answered}")
        header = replace(header, continues=continued is not None)
        self._write(_write_line(_adapter(Header).dump_python(header, mode="json")))

    def add(self, query: str, response: Response) -> None:
        """Write the *response* to *query*."""
        self._written[query] = response
        masked = redact(response, self._masker.mask) if self._masker else response
        self._write(_write_response(query, masked))

    def end(self, run: Run) -> None:
        """Write the rest of the whole *run*, and those of its responses that changed since they were written."""
        for query, response in run.responses.items():
            if self._written.get(query) != response:
                self.add(query, response)
        masked = self._mask_run(run)
        repeats = tuple(replace(repeat, responses=dict(repeat.responses)) for repeat in masked.repeats)
        plain = replace(masked, responses={}, repeats=repeats)
        rest = _adapter(Run).dump_python(plain, mode="json", exclude_defaults=True)
        self._write(_write_line({"end": {name: value for name, value in rest.items() if name != "responses"}}))

    def _mask_header(self, header: Header) -> Header:
        """*header* without secrets in the names of indexes; `make_header` masked the rest."""
        if not self._masker:
            return header
        return replace(
            header,
            options={name: self._masker.mask_json(value) for name, value in header.options.items()},
            matrix={name: self._masker.mask_json(value) for name, value in header.matrix.items()},
            state=None if header.state is None else redact(header.state, self._masker.mask),
        )

    def _mask_run(self, run: Run) -> Run:
        if not self._masker:
            return run
        if run.index is not None:
            run = replace(run, index=self._masker.mask(run.index))
        return redact(run, self._masker.mask)


class Journal:
    """
    The file that a run writes, and what an earlier run left in it.

    The file appears with the header of the first section, which is written when the first request is about to be sent,
    or when a run ends without any. Until then a file of an earlier run stays as it is.
    """

    def __init__(
        self, path: Path, *, resume: bool = False, is_kept: bool = True, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """
        Args:
            path: Of the file.
            resume: Whether to continue an unfinished run in it.
            is_kept: Whether the file stays when the run is finished.
            tell: Called with a line for the user, such as why a run starts anew.

        Raises:
            UsageError: There is a file that is no journal, or it cannot be read.
        """
        self._path = path
        self._place = BesideFile(path)
        self._is_kept = is_kept
        self._resumes = resume
        self._tell = tell
        self._file: IO[bytes] | None = None
        self._recorded: dict[CellKey, Recorded] = {}
        self._size = 0
        """Of the file of an earlier run, in bytes."""
        self._end_of_lines = 0
        """The place in that file behind its last line that was not cut short, in bytes."""
        self._repaired = b""
        """The sound lines of that file, if it has damaged ones; they are kept when the run goes on."""
        self._seal = Seal()
        if path.exists() and not (path.is_file() and _is_journal(self._place)):
            raise UsageError(f"{path} is there and is no journal; remove it, or name another file")
        self._refusal = self._read_earlier() if resume else ""

    @property
    def has_begun(self) -> bool:
        """Whether this run has written a line: no other run may write the file any more, where the system has locks."""
        return self._file is not None

    def _read_earlier(self) -> str:
        """Read the file; returns why the run in it cannot be continued, empty if it may."""
        if not self._path.exists():
            return f"there is no journal {self._path}"
        content = self._read_content()
        try:
            journal = parse_journal(content, str(self._path))
        except FormatError as error:
            return str(error)
        if journal.is_reported:
            return f"the run in {self._path} is finished"
        self._size = len(content)
        self._end_of_lines = content.rfind(b"\n") + 1
        self._recorded = {cell.header.cell_key: cell for cell in journal.cells}
        self._seal = journal.seal
        if journal.damaged:
            self._repaired = journal.sound
            damage = journal.describe_damage()
            self._tell(f"{self._path}: left out what is damaged, {damage}; what it answered is sent again")
        return ""

    def _read_content(self) -> bytes:
        try:
            return self._place.read(MOST_READ)
        except OSError as error:
            raise UsageError(f"{self._path}: the journal cannot be read: {error.strerror or error}") from None

    def refuse_other_part(self, suites: Sequence[Path], shard: Shard) -> None:
        """
        Refuse to replace answers that `relevance merge` may be waiting for.

        Args:
            suites: The files of the suites that are about to run.
            shard: The part of their queries that runs.

        Raises:
            UsageError: The file has answers of another part, or of a part of another suite.
        """
        if not self._path.exists():
            return
        try:
            journal = parse_journal(self._read_content(), str(self._path))
        except FormatError:
            return  # no merge takes it
        files = set(map(str, suites))
        held = []
        for cell in journal.cells:
            header = cell.header
            is_other = header.shard != shard or header.suite not in files
            if is_other and header.shard != ALL_QUERIES and cell.answered:
                answered = f"{cell.answered:,} of {count(header.own_searches, 'query')} answered"
                held.append(f"part {header.shard} of {header.name} ({answered})")
        if held:
            raise UsageError(
                f"{self._path} holds {listed(held)}, which this run would replace; name another file with --journal,"
                f" or remove {self._path} if `relevance merge` does not need it any more"
            )

    def open_section(self, header: Header, masker: Masker) -> Section:
        """The section of the cell of *header*, with the records of an earlier run of the same cell."""
        recorded = self._recorded.get(header.cell_key)
        if recorded is None:
            reason = self._refusal or f"there is no run of it in {self._path}"
        else:
            names = recorded.header.list_differences(header)
            reason = f"the run in {self._path} differs in {listed(names)}" if names else ""
        if reason:
            recorded = None
            if self._resumes:
                self._tell(f"{header.name}: starting anew: {reason}")
        return Section(header, masker, recorded, SectionOutput(self._write, self._tell))

    def finish(self, *, is_complete: bool) -> None:
        """The run was reported: remove the file, or mark it as finished, if *is_complete*; else it can be continued."""
        if self._file is None and not self._recorded:
            return
        if is_complete and self._is_kept:
            self._write(_write_line({"reported": True}))
        if is_complete and not self._is_kept:
            self._place.remove()
        self.close()

    def close(self) -> None:
        """Let other runs write the file, which stays as it is."""
        if self._file is not None:
            self._file.close()

    def _write(self, line: bytes) -> None:
        data = self._seal.seal_line(line)
        try:
            if self._file is not None:
                self._file.write(data)
            elif self._recorded and not self._repaired:
                self._file = self._open_existing()
                self._file.write(data)
            else:
                if self._path.exists():
                    # A run that writes the file that is about to be replaced holds its lock.
                    with self._place.open_to_read(MOST_READ) as existing:
                        self._lock(existing)
                        self._check_size(existing)
                self._file = self._create(self._repaired + data)
            self._file.flush()
            # Where the system has no locks, another run may have put its file in this place.
            if self._path.exists() and not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno())):
                raise self._refuse_second_writer()
        except OSError as error:
            raise UsageError(f"{self._path}: the journal could not be written: {error.strerror or error}") from None

    def _lock(self, file: IO[bytes]) -> None:
        """Keep other runs from *file* until it is closed, where the system and its disk can."""
        try:
            lock_open_file(file)
        except BlockingIOError:
            raise self._refuse_second_writer() from None
        except OSError:
            return  # a disk without locks

    def _check_size(self, file: IO[bytes]) -> None:
        """Refuse *file*, which this run goes on with, if another run wrote it since it was read."""
        if self._recorded and os.fstat(file.fileno()).st_size != self._size:
            raise self._refuse_second_writer()

    def _refuse_second_writer(self) -> UsageError:
        return UsageError(f"{self._path}: another run writes this journal; wait for it, or name another file")

    def _open_existing(self) -> IO[bytes]:
        """The existing file, without a last line that was cut short."""
        file = self._place.open_to_update(MOST_READ)
        self._lock(file)
        self._check_size(file)
        file.truncate(self._end_of_lines)
        file.seek(self._end_of_lines)
        return file

    def _create(self, data: bytes) -> IO[bytes]:
        """A new file with *data*, which is never visible without it."""
        with self._place.hold_folder() as folder:
            part = create_part(folder, self._path.name, PRIVATE)
            try:
                self._lock(part.file)
                part.file.write(data)
                part.file.flush()
                part.replace()
            except BaseException:
                part.remove()
                raise
        return part.file


def read_content(path: Path) -> bytes:
    """
    The content of the journal at *path*, which the user named: it may be a pipe.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: the journal cannot be read: {error.strerror or error}") from None


def _is_journal(place: BesideFile) -> bool:
    """Whether the file at *place* begins as a journal does, or is empty."""
    try:
        with place.open_to_read(MOST_READ) as file:
            return file.read(len(BEGINNING)) in (BEGINNING, b"")
    except OSError as error:
        raise UsageError(f"{place.path}: the journal cannot be read: {error.strerror or error}") from None
