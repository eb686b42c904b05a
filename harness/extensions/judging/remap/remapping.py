"""The ids of judged documents in another index: which moved, what that changes, and the writing of the new ones."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.config import Configs
from harness.errors import SearchError, UsageError
from harness.extensions.judging.findings import JudgedSuite
from harness.extensions.judging.pools_and_lint import read_judged
from harness.extensions.judging.remap.files import (
    MAPS,
    IdFiles,
    KeptRemap,
    KeptRemaps,
    build_map_path,
    explain_repeated,
    read_maps,
)
from harness.extensions.judging.remap.pairing import Documents, Fate, Fates, Key, pair_documents
from harness.extensions.judging.writing import GradedFiles
from harness.files.beside import BesideFile
from harness.files.judge_files import fingerprint_questions, read_judge_files
from harness.files.opening import FileProblems, open_bytes
from harness.files.tables import iterate_lines, read_json_rows
from harness.gate.conditions import list_named_documents
from harness.means import mean_of
from harness.metrics.grammar import parse_measure
from harness.metrics.measures import DEFAULT_MEASURE
from harness.metrics.run_scores import failure_text, score_of
from harness.model.run import Failure, Run
from harness.model.suite import Json, Suite
from harness.options import RunOptions
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.run.connections import move_to_target
from harness.search.hits import find_scalars, is_text
from harness.search.protocol import Inspector, SampledDocument
from harness.store.baseline_files import build_baseline_path
from harness.suites import load_suites
from harness.suites.requests import choose_template


@dataclass(frozen=True, slots=True)
class RemapOptions:
    """Where documents were and are (*run*, with the index of today), and what tells them apart."""

    run: RunOptions
    fields: tuple[str, ...] = ()
    """The title of the suite where there are none."""
    before: Path | None = None
    """An export of the documents as they were; None where the suite's own index still has them."""
    folder: Path | None = None
    """Has the files of judges; they are beside the suite where None."""


@dataclass(frozen=True, slots=True)
class Moved:
    """The mean score of a suite on the index of today, with the ids of before and with the new ones."""

    measure: str
    before: float | None
    after: float | None
    queries: int
    """The number of queries with a score."""
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class Remap:
    """What became of the judged ids of a suite, and the files that can have the new ones."""

    suite: Suite
    index: str
    fields: tuple[str, ...]
    fates: Fates
    moved: Moved
    files: IdFiles
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files that name documents which moved, and are not edited, with these documents."""

    @property
    def map_file(self) -> BesideFile:
        """The file that keeps the map."""
        return BesideFile(build_map_path(Path(self.suite.path)), self.suite.roots)

    def explain_repeated(self) -> str:
        """Why the new ids were written before; empty if they were not. Raises FormatError for a broken map."""
        return explain_repeated(self.map_file, self.fates.moved, self.files.graded.contents.keys())


def find_remap(
    path: Path, options: RemapOptions, *, environ: Mapping[str, str], progress: Progress | None = None
) -> Remap:
    """
    Find the new ids of the judged documents of a suite; nothing is written.

    Args:
        path: The suite file.
        options: What the user asked for.
        environ: Where variables and logins are looked up.
        progress: Receives how far the run is.

    Raises:
        InputError: The suite, the export, or a file of a judge is wrong.
        UsageError: An option asks for what cannot be.
        SearchError: The documents could not be read.
    """
    configs = Configs.from_options(options.run, environ)
    judged, _ = read_judged(path, None, configs=configs)
    graded = GradedFiles.read(path, configs)
    judges = read_judge_files(path, options.folder, fingerprint_questions(judged.suite), judged.suite.roots)
    [suite] = load_suites([path], environ, needs_judgments=False, machines=False, configs=configs)
    suite = move_to_target(suite, options.run.request)
    fields = options.fields or tuple(filter(None, [suite.display.title]))
    if not fields:
        raise UsageError(f"{path}: name the fields that tell a document apart: --by FIELD")
    own_index = choose_template(suite, options.run.request).index or suite.target.index
    index = options.run.index or own_index
    if index is None or (options.before is None and index == own_index):
        raise UsageError(
            f"{path}: name the index that has the documents now, --index NEW, or a file with the documents as they "
            "were, --before FILE"
        )
    before = {} if options.before is None else read_export(options.before, fields, suite.target.id_field)
    with Runner(environ, progress) as runner:
        # A target without the judged documents is no error here.
        run_options = replace(options.run, unjudged=True)
        matrix = Matrix.from_options(run_options)
        [answered] = runner.answer([replace(suite, checks=False)], run_options, matrix=matrix, configs=configs)
        if answered.search is None:
            raise SearchError(f"{path}: {_explain_no_answer(answered)}")
        inspector, id_field = answered.search.inspector, suite.target.id_field
        if options.before is None and own_index is not None:
            before = _read_documents(inspector, own_index, fields, id_field)
        after = _read_documents(inspector, index, fields, id_field)
        _refuse_without_fields(before, str(options.before or own_index), fields)
        _refuse_without_fields(after, index, fields)
        fates = pair_documents(_list_judging(judged), before, after)
        moved = _score(suite, answered.mask_run(), fates.moved)
    files = IdFiles.read(graded, judges, judged.suite.roots)
    names = {str(path), *graded.named}
    return Remap(judged.suite, index, fields, fates, moved, files, _find_elsewhere(judged, fates.moved, names))


def _list_judging(judged: JudgedSuite) -> dict[str, set[str]]:
    """The documents that are judged or named in expectations, each with the queries for which it is judged."""
    judging: dict[str, set[str]] = {}
    for judgment in judged.judged:
        judging.setdefault(judgment.document, set()).add(judgment.query)
    for _, document in _iterate_expected(judged.suite):
        judging.setdefault(document, set())
    return dict(sorted(judging.items()))


def _iterate_expected(suite: Suite) -> Iterator[tuple[str, str]]:
    """The documents that expectations name, each with the file of the expectation."""
    for query in suite.queries:
        for threshold in query.thresholds:
            for document in list_named_documents(threshold.condition):
                yield threshold.mark.path or suite.path, document


def _find_elsewhere(judged: JudgedSuite, moved: Mapping[str, str], names: set[str]) -> dict[str, tuple[str, ...]]:
    places = [(judgment.mark.path, judgment.document) for judgment in judged.judged]
    found: dict[str, dict[str, None]] = {}
    for path, document in [*places, *_iterate_expected(judged.suite)]:
        is_expectation_of_file = path not in names
        if document in moved and is_expectation_of_file:
            found.setdefault(path, {})[document] = None
    return {path: tuple(documents) for path, documents in found.items()}


def _explain_no_answer(answered: AnsweredCell) -> str:
    for response in answered.mask_run().responses.values():
        if isinstance(response, Failure):
            return failure_text(response)
    return "the server did not answer"


# Documents.


def _make_key(values: Iterable[Sequence[str]]) -> Key | None:
    """The key of a document with these *values* of the fields; None where a field has none but blanks."""
    parts = []
    for texts in values:
        if not any(text.strip() for text in texts):
            return None
        parts.append("\0".join(texts))
    return tuple(parts)


def _read_documents(inspector: Inspector, index: str, fields: Sequence[str], id_field: str | None) -> Documents:
    return _collect(inspector.read_values(index, fields, id_field), fields)


def _collect(documents: Iterable[SampledDocument], fields: Sequence[str]) -> dict[str, Key | None]:
    keys: dict[str, Key | None] = {}
    for document in documents:
        key = _make_key(document.values.get(name, ()) for name in fields)
        # Of two documents with one id, nothing says which one is judged.
        keys[document.id] = key if keys.get(document.id, key) == key else None
    return keys


def _refuse_without_fields(documents: Documents, place: str, fields: Sequence[str]) -> None:
    """Raise UsageError where nothing tells any of *documents* apart: all of them would be gone, or ambiguous."""
    if documents and all(key is None for key in documents.values()):
        names = " and ".join(repr(name) for name in fields)
        raise UsageError(f"{place}: no document has a value in {names}; name the fields that it has: --by FIELD")


def read_export(path: Path, fields: Sequence[str], id_field: str | None) -> Documents:
    """
    The documents of an export: JSON lines, each a document with its id under `_id`, `id` or the *id_field*, and its
    fields beside it or under `_source`.

    Raises:
        FormatError: A line is none.
    """
    findings = FileProblems(str(path))
    documents: list[SampledDocument] = []
    with open_bytes(path, str(path)) as file:
        for line, entry, text in read_json_rows(iterate_lines(file, findings), findings, [], needed=False):
            source = entry["_source"] if isinstance(entry.get("_source"), Mapping) else entry
            identity = _find_id(entry, source, id_field)
            if identity is None:
                names = "the id_field of the target" if id_field else "'_id' or 'id'"
                findings.add(line, f"the document has no id; expected a text or a whole number under {names}", text)
                continue
            values = {name: tuple(map(str, find_scalars(source, name))) for name in fields}
            documents.append(SampledDocument(identity, values))
    findings.raise_any(path)
    return _collect(documents, fields)


def _find_id(entry: Mapping[str, Json], source: Mapping[str, Json], id_field: str | None) -> str | None:
    """The id of a document: a text that is not empty, or a whole number; None where it has none."""
    values: list[Json] = [entry.get("_id"), source.get("id")]
    if id_field is not None:
        values = list(find_scalars(source, id_field)[:1])
    for value in values:
        if is_text(value) or type(value) is int:
            return str(value)
    return None


# What it changes.


def _score(suite: Suite, run: Run, moved: Mapping[str, str]) -> Moved:
    """The mean score of *run* by the judgments as they are, and with the ids that *moved*."""
    measure = parse_measure(DEFAULT_MEASURE)
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    weights: dict[str, float] = {}
    for query in suite.queries:
        judgments = {moved.get(document, document): grade for document, grade in query.judgments.items()}
        old = score_of(suite, query, measure, run).value
        new = score_of(suite, replace(query, judgments=judgments), measure, run).value
        if old is not None and new is not None:
            before[query.id], after[query.id], weights[query.id] = old, new, query.weight
    unanswered = sum(isinstance(response, Failure) for response in run.responses.values())
    if not before:
        return Moved(measure.text, None, None, 0, unanswered)
    return Moved(measure.text, mean_of(before, weights), mean_of(after, weights), len(before), unanswered)


# What is written.


def write_remap(remap: Remap, options: RemapOptions) -> list[str]:
    """
    Write the new ids to all files, and the map beside the suite; returns sentences on them.

    Raises:
        UsageError: Nothing was written, unless it says so: a file cannot have the ids, or has other content by now.
        FormatError: The map of before cannot be read.
    """
    new_ids = remap.fates.moved
    if not new_ids:
        return ["no id moved; nothing was written"]
    if remap.elsewhere:
        [path, documents] = next(iter(remap.elsewhere.items()))
        raise UsageError(
            f"{path}: names {documents[0]!r}, and ids are not edited in a file of queries; edit it by hand"
        )
    repeated = remap.explain_repeated()
    if repeated:
        raise UsageError(repeated)
    contents = remap.files.edit(new_ids)
    kept = read_maps(remap.map_file)
    folder = Path(remap.suite.path).parent
    entry = KeptRemap(
        day=options.run.day().isoformat(),
        index=remap.index,
        fields=remap.fields,
        ids=dict(sorted(new_ids.items())),
        files=tuple(Path(os.path.relpath(path, folder)).as_posix() for path in contents),
    )
    # The map comes first: what was written in part can be told from it, and is not written twice.
    MAPS.write(remap.map_file, KeptRemaps((*kept.remaps, entry)))
    try:
        remap.files.graded.replace_all(contents)
    except UsageError:
        if not any(path.read_bytes() == content for path, content in contents.items()):
            _restore_map(remap.map_file, kept)
        raise
    lines = [f"wrote {len(new_ids):,} new ids to {' and '.join(map(str, contents))}"]
    lines.append(f"kept the map in {remap.map_file.path}")
    baseline = build_baseline_path(remap.suite.path)
    if baseline.exists():
        lines.append(f"{baseline} has the ids of before: save it again with relevance baseline save")
    return lines


def _restore_map(file: BesideFile, kept: KeptRemaps) -> None:
    """Put the maps of before into *file*, as no id was written."""
    if kept.remaps:
        MAPS.write(file, kept)
    else:
        file.remove()


def list_fates(fates: Fates) -> Iterator[tuple[Fate, list[str]]]:
    """The ids of each fate, the moved ones first; none is left out."""
    yield Fate.MOVED, list(fates.moved)
    for fate in (Fate.STAYS, Fate.AMBIGUOUS, Fate.GONE, Fate.UNKNOWN):
        yield fate, fates.list_ids(fate)
