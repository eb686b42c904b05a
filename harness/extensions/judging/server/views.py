"""The judges of a server: what each sees, who is done, and what changed since a page looked last."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from harness.agreement import Pair
from harness.extensions.judging.session import JudgeView, find_differing_answers, shuffle_documents
from harness.files.judge_files import JudgeFile


@dataclass(slots=True)
class ServedJudge:
    """A judge at work: each request of the judge's pages holds *lock*."""

    view: JudgeView
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_done: bool = False
    """Whether the judge said so, and has changed nothing since."""
    _version: int = 0
    """Another one after each change."""
    _progress: tuple[int, dict[str, Any]] | None = None
    """How far the judge is, with the version: all pages ask for it every two seconds, and documents may be many."""

    def mark_changed(self, *, is_done: bool) -> None:
        """Say that the judge changed a grade, sees other documents, or is done."""
        self.is_done = is_done
        self._version += 1

    def build_progress(self) -> dict[str, Any]:
        """How far the judge is, as JSON values."""
        # Before anything is counted: what changes meanwhile is counted the next time.
        version = self._version
        if self._progress is not None and self._progress[0] == version:
            return self._progress[1]
        view = self.view
        progress = {
            "judge": view.judge,
            "graded": view.graded_count,
            "documents": len(view.list_documents()),
            "done": self.is_done,
        }
        self._progress = (version, progress)
        return progress


@dataclass(slots=True)
class ServedJudges:
    """All judges of a server."""

    by_name: Mapping[str, ServedJudge]
    settler: str | None = None
    """The judge who sees only documents on which all others differ."""
    absent: Mapping[str, JudgeFile] = field(default_factory=dict)
    """What judges graded who are not served, by their names."""
    _start: str = field(default_factory=lambda: secrets.token_hex(4))
    """Tells this server from an earlier one that a page may have asked."""
    _changes: list[tuple[str, Pair | None]] = field(default_factory=list)
    """
    Each document of which a judge changed the grade, in the order in which that happened; None where the judge who
    settles was given other documents.
    """
    _refreshed: int = 0
    """The number of changes after which the judge who settles was given documents the last time."""

    @classmethod
    def from_views(
        cls, views: Mapping[str, JudgeView], settler: str | None = None, absent: Mapping[str, JudgeFile] | None = None
    ) -> ServedJudges:
        """Serve *views*."""
        return cls({name: ServedJudge(view) for name, view in views.items()}, settler, absent or {})

    @contextmanager
    def work_as(self, name: str) -> Iterator[ServedJudge]:
        """Keep all other requests of the judge *name* waiting until the block ends."""
        judge = self.by_name[name]
        with judge.lock:
            yield judge

    def add_change(self, name: str, pair: Pair) -> None:
        """Say that the judge *name*, who is at work, changed the grade of a document."""
        self.by_name[name].mark_changed(is_done=False)
        # Appending needs no lock: the place in the list is all that counts.
        self._changes.append((name, pair))

    @property
    def since(self) -> str:
        """What a page sends with its next question for changes."""
        return f"{self._start}-{len(self._changes)}"

    def list_changes(self, name: str, since: str) -> list[Pair] | None:
        """
        The documents of which the judge *name* changed the grade since a page read *since*, each once.

        Returns:
            None if the page has to read everything again: it asks another server than before, or it is that of the
            judge who settles, who was given other documents.
        """
        start, _, number = since.rpartition("-")
        # No page sends more digits, and Python reads no number of some thousands.
        if start != self._start or not number.isdecimal() or len(number) > 12:
            return None
        pairs: dict[Pair, None] = {}
        for judge, pair in self._changes[int(number) :]:
            if judge != name:
                continue
            if pair is None:
                return None
            pairs[pair] = None
        return list(pairs)

    def refresh_settler(self) -> None:
        """Let the judge who settles see on what the others differ by now."""
        if self.settler is None or self._refreshed == len(self._changes):
            return
        self._refreshed = len(self._changes)
        files = dict(self.absent)
        for name, judge in self.by_name.items():
            if name == self.settler:
                continue
            # A copy: the judge may grade while it is read.
            with judge.lock:
                file = judge.view.file
                files[name] = replace(file, grades=dict(file.grades), answers=dict(file.answers))
        differing = find_differing_answers(files, self.settler)
        settler = self.by_name[self.settler]
        with settler.lock:
            task = settler.view.task
            known = [*task.documents, *list(task.found.values())]
            documents = [document for document in known if document.pair in differing]
            if settler.view.blind:
                documents = shuffle_documents(documents, seed=settler.view.order_seed)
            if differing != settler.view.others:
                settler.view = replace(settler.view, documents=documents, others=differing)
                settler.mark_changed(is_done=False)
                self._changes.append((self.settler, None))

    def build_progress(self) -> list[dict[str, Any]]:
        """How far each judge is, as JSON values."""
        return [judge.build_progress() for judge in self.by_name.values()]
