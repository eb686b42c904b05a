"""Judged documents that are in an index under other ids, by the titles that were kept when they were graded."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from harness.errors import InputError, SearchError
from harness.extensions.judging.graded_documents import build_record_path, read_graded_documents
from harness.extensions.judging.remap.pairing import pair_documents
from harness.extensions.judging.texts import TITLE
from harness.files.beside import BesideFile
from harness.files.judge_files import read_judge_files
from harness.masking import fingerprint
from harness.model.suite import Suite
from harness.search.hits import make_printable
from harness.search.protocol import Search


def find_moved_titles(
    suite: Suite, missing: Collection[str], search: Search, index: str, id_field: str | None
) -> dict[str, str]:
    """
    The new ids of those of the *missing* documents whose title one other document of *index* has.

    Only files of judges and the record of graded documents say what a title was, as a fingerprint. Where nothing does,
    or *index* cannot be read, nothing is found: this only explains what is missing.
    """
    field = suite.display.title or TITLE
    try:
        before = _read_titles(suite, field)
        known = {document: before[document] for document in missing if document in before}
        if not known:
            return {}
        after = {}
        for document in search.inspector.read_values(index, [field], id_field):
            titles = document.values.get(field)
            after[document.id] = (fingerprint(make_printable(titles[0])),) if titles else None
    except (InputError, SearchError, OSError):
        return {}
    return dict(pair_documents(dict.fromkeys(known, ()), before, after).moved)


def _read_titles(suite: Suite, field: str) -> dict[str, tuple[str, ...] | None]:
    """The fingerprint of the title of each document of which one was kept; None where it changed meanwhile."""
    path = Path(suite.path)
    kept: list[tuple[str, str | None]] = []
    for file in read_judge_files(path, roots=suite.roots).values():
        kept += [(document, answer.shown.get(field)) for (_, document), answer in file.answers.items()]
    for record in read_graded_documents(BesideFile(build_record_path(path), suite.roots)).values():
        kept.append((record.document, record.shown.get(field)))
    titles: dict[str, tuple[str, ...] | None] = {}
    for document, title in kept:
        if title is not None:
            titles[document] = (title,) if titles.get(document, (title,)) == (title,) else None
    return titles
