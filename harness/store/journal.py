"""
The journal of a run: a file of JSON lines that holds each response as soon as it is there, so that a run that was
killed can go on, and the parts of a run can be put together.

The file has a section for each cell, which is a suite with one request on one index. A section begins with a `Header`,
has a line for each query, of which the last one holds, and ends with what else the run found out. A last line that was
cut short is dropped, and so is a damaged one, which `journal_lines` finds by its checksum. A section of the same cell
that comes later goes on with the earlier one if its header says so, and takes its place if not. Secrets are masked, and
only the user can read a new file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol

from harness.errors import FormatError, UsageError
from harness.extensions import Remedy, find_remedy
from harness.files.beside import BesideFile
from harness.files.locks import lock_open_file
from harness.files.writing import PRIVATE, create_part
from harness.gate.stability import explain_changed_target
from harness.masking import Masker
from harness.model.run import Engine, IndexState, Ranking, Response, Run
from harness.options import ALL_QUERIES, Shard
from harness.redaction import redact
from harness.store.header import COMPARED, NOT_ASKED, CellKey, Header
from harness.store.journal_lines import (
    BEGINNING,
    Recorded,
    Seal,
    make_adapter,
    parse_journal,
    write_line,
    write_response,
)
from harness.words import count, listed

_MOST_READ = 2**32
"""Bytes of a journal: a run of a hundred thousand queries has a tenth of that."""


class RunRecord:
    """
    Has an earlier run of a cell, and keeps the one that continues it::

        record.rankings                     # of the earlier run: these queries are not sent
        record.begin(engine, state)         # the target as it is now; nothing is kept of an earlier run of another
        record.add(query, response)         # each response as soon as it is there
        run = record.complete(run)          # with what else the earlier run found
        record.end(run)

    This one writes nothing: its earlier run is one of this process, such as that of a pytest item that is run again.
    """

    sends_queries = True
    """Whether queries without a ranking are sent again; if not, the earlier run is the whole run."""
    cluster: str | None = None
    """The name in reports of the server of the earlier run; None if it is that of the cell."""

    def __init__(self, earlier: Run | None = None, *, is_whole: bool = False) -> None:
        """
        Args:
            earlier: The earlier run; None without one.
            is_whole: Whether it leaves no query to send.
        """
        self._earlier = earlier
        self._is_whole = is_whole

    @property
    def whole_run(self) -> Run | None:
        """The earlier run, if it leaves no query to send."""
        return self._earlier if self._is_whole else None

    @property
    def rankings(self) -> dict[str, Ranking]:
        """The rankings of the earlier run, by query."""
        if self._earlier is None:
            return {}
        responses = self._earlier.responses
        return {query: response for query, response in responses.items() if isinstance(response, Ranking)}

    def keep_if_same(self, engine: Engine, state: IndexState | None) -> bool:  # noqa: ARG002
        """
        Whether there is an earlier run of a target of this *engine* and *state*, as far as that is known. If not,
        nothing is kept of it.
        """
        return self._earlier is not None

    def begin(self, engine: Engine, state: IndexState | None) -> None:
        """Begin a run on *engine*, whose target has this *state* before the searches."""

    def add(self, query: str, response: Response) -> None:
        """Keep the *response* to *query*."""

    def complete(self, run: Run) -> Run:
        """*run*, which has the rankings of the earlier run, with its other findings."""
        earlier = self._earlier
        if earlier is None or not earlier.has_rankings:
            return run
        return replace(
            earlier,
            responses=run.responses,
            request=run.request,
            index=run.index,
            seconds=earlier.seconds + run.seconds,
            resent={**earlier.resent, **run.resent},
            deepened={**earlier.deepened, **run.deepened},
            titles={**earlier.titles, **run.titles},
            checks=run.checks or earlier.checks,
            window_is_full=run.window_is_full or earlier.window_is_full,
            limits_hits=run.limits_hits or earlier.limits_hits,
        )

    def end(self, run: Run) -> None:
        """Keep the whole *run*, which has begun."""


class RunRecords(Protocol):
    """The records of all cells of a run: a `Journal`, or those of the parts of a run."""

    @property
    def begun(self) -> datetime | None:
        """When the run was begun; None if it is begun now."""
        ...

    @property
    def sends_queries(self) -> bool:
        """Whether queries without a ranking are sent; if not, the records are the whole run."""
        ...

    @property
    def is_offline(self) -> bool:
        """Whether no server is asked for anything."""
        ...

    def open_section(self, header: Header, masker: Masker) -> RunRecord:
        """The records of the cell of *header*."""
        ...


@dataclass(frozen=True, slots=True)
class SectionOutput:
    """Where a section is written, and who is told about it."""

    write: Callable[[bytes], None]
    """Appends lines to the journal."""
    tell: Callable[[str], None]
    """Called with a line for the user."""


class Section(RunRecord):
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
        self._recorded_header = None if recorded is None else recorded.header
        self._written: dict[str, Response] = {}
        """The last response to each query in the file, in this section or in the one that it continues."""
        if recorded is None:
            super().__init__()
            return
        self.cluster = recorded.header.cluster
        earlier = recorded.run
        has_all_answers = recorded.answered == header.own_searches or not sends_queries
        is_whole = recorded.rest is not None and has_all_answers
        if not is_whole and not explain_changed_target(earlier):
            # It goes on, and sees the states of its target anew.
            earlier = replace(earlier, states=())
        super().__init__(earlier, is_whole=is_whole)

    def keep_if_same(self, engine: Engine, state: IndexState | None) -> bool:
        """
        See `RunRecord.keep_if_same`.

        A run that ended is compared with the state that it ended with; one that goes on, with that of its header, as it
        may have been killed before it knew any other.
        """
        recorded_header, earlier = self._recorded_header, self._earlier
        if recorded_header is None or earlier is None:
            return False
        if self._is_whole:
            recorded_header = replace(recorded_header, state=earlier.states[-1] if earlier.states else None)
        header = self._mask_header(replace(self._header, engine=engine, state=state))
        change = header.describe_change_since(recorded_header)
        if change:
            self._tell(f"{header.name}: starting anew: {change}")
            # A merge sends nothing: it reports what its parts have.
            if self.sends_queries:
                self._earlier = None
            return False
        # Where nothing is sent, whoever merged the parts has compared their targets.
        if self.sends_queries and earlier.has_rankings and header.known_facts != list(COMPARED):
            self._earlier = replace(earlier, target_unknown=True)
        return True

    def begin(self, engine: Engine, state: IndexState | None) -> None:
        """Write the header, with the *state* of the target before the searches."""
        # Where nothing was asked, the earlier run is kept for the next one.
        if engine != NOT_ASKED:
            self.keep_if_same(engine, state)
        header = self._mask_header(replace(self._header, engine=engine, state=state))
        if self._earlier is not None:
            self._written.update(self._earlier.responses)
            answered = f"{len(self.rankings):,} of {count(header.own_searches, 'query')} answered"
            self._tell(f"{header.name}: going on with an earlier run: {answered}")
        header = replace(header, continues=self._earlier is not None)
        self._write(write_line(make_adapter(Header).dump_python(header, mode="json")))

    def add(self, query: str, response: Response) -> None:
        """Write the *response* to *query*."""
        self._written[query] = response
        masked = redact(response, self._masker.mask) if self._masker else response
        self._write(write_response(query, masked))

    def end(self, run: Run) -> None:
        """Write the rest of the whole *run*, and those of its responses that changed since they were written."""
        for query, response in run.responses.items():
            written = self._written.get(query)
            # To compare a ranking with itself would make its hits.
            if written is not response and written != response:
                self.add(query, response)
        masked = self._mask_run(run)
        repeats = tuple(replace(repeat, responses=dict(repeat.responses)) for repeat in masked.repeats)
        plain = replace(masked, responses={}, repeats=repeats)
        rest = make_adapter(Run).dump_python(plain, mode="json", exclude_defaults=True)
        self._write(write_line({"end": {name: value for name, value in rest.items() if name != "responses"}}))

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

    begun: datetime | None = None
    sends_queries = True
    is_offline = False

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
            return self._place.read(_MOST_READ)
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
            condition = find_remedy(Remedy.MERGE, " if `{command}` does not need it any more")
            raise UsageError(
                f"{self._path} holds {listed(held)}, which this run would replace; name another file with --journal,"
                f" or remove {self._path}{condition}"
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
            self._write(write_line({"reported": True}))
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
                    with self._place.open_to_read(_MOST_READ) as existing:
                        self._lock(existing)
                        self._check_size(existing)
                self._file = self._create(self._repaired + data)
            self._file.flush()
            # Where the system has no locks, another run may have put its file in this place.
            with suppress(FileNotFoundError, NotADirectoryError):
                if not os.path.samestat(self._path.stat(), os.fstat(self._file.fileno())):
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
        file = self._place.open_to_update(_MOST_READ)
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
        with place.open_to_read(_MOST_READ) as file:
            return file.read(len(BEGINNING)) in (BEGINNING, b"")
    except OSError as error:
        raise UsageError(f"{place.path}: the journal cannot be read: {error.strerror or error}") from None
