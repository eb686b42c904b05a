"""
Import of BEIR folders: ``queries.jsonl``, ``qrels/SPLIT.tsv`` and ``corpus.jsonl``.

Source: BEIR's `GenericDataLoader`, its lexical search, which is a multi_match query on title and text, and its
`EvaluateRetrieval`, which ignores identical ids of query and document.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.drafts.draft import Draft, DraftQuery, make_error
from harness.errors import UsageError
from harness.extensions.migrate.json_nodes import JsonNode, parse_lines, read_import
from harness.extensions.migrate.table import import_table
from harness.files.border import check_found
from harness.files.opening import read_source
from harness.files.tables import format_json_lines
from harness.model.suite import Display, Json, Mark, Profile
from harness.words import count, listed

_MEASURES = ["nDCG@10", "R@100"]
_USUAL_SPLIT = "test.tsv"
_LARGEST_CORPUS = 64 * 2**20
"""The largest corpus, in bytes, that becomes the suite's own index."""

_FIELDS = ("title", "text")
"""The fields that BEIR searches."""

_OWN_DOCUMENT = "own_document"
"""The param with the id of the document that a query is."""

_Judged: TypeAlias = tuple[str, float, Mark]
"""A judged document, its grade, and the place of the judgment."""


def _make_query(fields: Sequence[str]) -> dict[str, Json]:
    """BEIR's lexical query on *fields*, those of title and text that the documents have."""
    if len(fields) == 1:
        return {"match": {fields[0]: "{{text}}"}}
    return {"multi_match": {"query": "{{text}}", "fields": list(fields), "tie_breaker": 0.5}}


def read(sources: Sequence[str]) -> list[Draft]:
    """
    Read a suite from each of *sources*.

    Args:
        sources: BEIR folders, or files of a split in such a folder. Of a folder, the only file in ``qrels`` is read, or
            ``qrels/test.tsv``.

    Raises:
        InputError: A file cannot be read, or lacks a column, an id or a score.
        UsageError: A folder has several splits or none, and no ``test.tsv``.
    """
    return [_read_folder(Path(source)) for source in sources]


def _read_folder(path: Path) -> Draft:
    """Read the folder *path*, or the split *path* in such a folder."""
    if path.is_dir():
        folder = path
        qrels = _choose_split(folder)
        check_found(qrels, folder)
    else:
        folder, qrels = path.parent.parent, path
    for name in ("queries.jsonl", "corpus.jsonl"):
        check_found(folder / name, folder)
    draft = Draft(Profile.TREC, name=folder.resolve().name, measures=list(_MEASURES))
    draft.stranger_remark = "judgments of queries that queries.jsonl does not have"
    for split in sorted(qrels.parent.glob("*.tsv")):
        if split != qrels:
            draft.add_leftover(Mark(str(split)), f"the split {split.stem!r}; to import it, name this file")
    _add_queries(folder / "queries.jsonl", draft, _read_qrels(qrels, draft))
    _add_corpus(folder / "corpus.jsonl", draft)
    return draft


def _choose_split(folder: Path) -> Path:
    """The file of the only split, or of the usual one."""
    splits = sorted((folder / "qrels").glob("*.tsv"))
    if len(splits) == 1:
        return splits[0]
    for split in splits:
        if split.name == _USUAL_SPLIT:
            return split
    names = ", ".join(split.name for split in splits) or "none"
    raise UsageError(f"{folder / 'qrels'}: found {names}, expected {_USUAL_SPLIT}; else name one of them as the source")


def _read_qrels(path: Path, draft: Draft) -> dict[str, list[_Judged]]:
    """The judged documents of each query."""
    judged: dict[str, list[_Judged]] = {}
    table = import_table(path)
    query, document = table.require("query-id", "query_id"), table.require("corpus-id", "corpus_id")
    score = table.require("score")
    for row in table.rows:
        with table.collect_problems():
            grade = row.grade(score)
            if grade is None:
                row.refuse("the score is empty; expected a number")
            judged.setdefault(row.require(query), []).append((row.require(document), grade, row.place))
    table.raise_problems()
    table.note_unread(draft.leftovers)
    return judged


def _add_queries(path: Path, draft: Draft, judged: Mapping[str, Sequence[_Judged]]) -> None:
    """Add the queries that the split judges; note the others, and judgments without a query."""
    ids: dict[str, None] = {}
    for entry in parse_lines(read_import(path)):
        query_id = _claim_id(entry, ids, draft)
        # All splits of a dataset share one file of queries.
        if query_id not in judged:
            text = entry.require("text").words()
            draft.candidates[query_id] = DraftQuery(query_id, text, place=entry.place)
            continue
        query = draft.add(query_id, entry.place, entry.require("text").words())
        for key, value in entry.unread():
            draft.add_leftover(value.place, f"{key!r} of queries")
        for document, grade, place in judged[query_id]:
            draft.add_judgment(query, document, grade, place)
    unjudged = len(ids.keys() - judged.keys())
    if unjudged:
        draft.add_leftover(Mark(str(path)), "queries that the split does not judge", unjudged)
    for query_id, documents in judged.items():
        if query_id not in ids:
            stranger = draft.find_or_add_stranger(query_id, documents[0][-1])
            for document, grade, place in documents:
                draft.add_judgment(stranger, document, grade, place)


def _claim_id(entry: JsonNode, taken: dict[str, None], draft: Draft) -> str:
    """The id of *entry*, which is added to *taken*; an id that is taken already raises FormatError."""
    node = entry.require("_id")
    if node.words() in taken:
        raise node.source.make_error(*node.source.find_place(node.offset), f"the id {node.words()!r} is there twice")
    taken[node.words()] = None
    draft.leftovers.add_trimmed(node.place, node.text())
    return node.words()


def _add_corpus(path: Path, draft: Draft) -> None:
    """Make the documents the suite's own index, with BEIR's lexical request; the user must index a larger corpus."""
    if not path.is_file():
        return
    if path.stat().st_size > _LARGEST_CORPUS:
        what = f"the corpus, which is larger than {_LARGEST_CORPUS // 2**20} MiB; index it and name the index"
        draft.add_leftover(Mark(str(path)), what)
        return
    lines = []
    used: set[str] = set()
    ids: dict[str, None] = {}  # in the order of the corpus
    for entry in parse_lines(read_source(path, str(path), limit=_LARGEST_CORPUS)):
        if "id" in entry.members():
            draft.add_leftover(
                entry.place, "the field 'id' of documents, which is that of '_id' in a suite's own index"
            )
        fields = {key: value.json() for key, value in entry.items() if key not in ("_id", "id")}
        used.update(name for name in _FIELDS if str(fields.get(name) or "").strip())
        lines.append({"id": _claim_id(entry, ids, draft), **fields})
    _remove_missing_documents(draft, ids)
    draft.documents = format_json_lines(lines)
    # The corpora of some datasets have no titles: a request over a field that no document has finds nothing there.
    searched = [name for name in _FIELDS if name in used]
    if not searched:
        draft.add_leftover(Mark(str(path)), "a request, as no document has a title or a text")
        return
    query = _make_query(searched)
    draft.request = {"query": query}
    if any(entry.id in ids for entry in draft.queries):
        _exclude_own_documents(draft, query)
    if "title" in used:
        draft.display = Display(title="title")


def _exclude_own_documents(draft: Draft, lexical: Json) -> None:
    """
    Let the request leave out the document that has the id of its query, as BEIR's evaluation does.

    In ArguAna and Quora each query is a document of the corpus, and would find itself first.
    """
    own_document = {"ids": {"values": [f"{{{{{_OWN_DOCUMENT}}}}}"]}}
    draft.request = {"query": {"bool": {"must": [lexical], "must_not": [own_document]}}}
    draft.request_remarks.append("As BEIR does, the request leaves out the document that has the id of its query.")
    for query in draft.queries:
        query.params[_OWN_DOCUMENT] = query.id


def _remove_missing_documents(draft: Draft, ids: Collection[str]) -> None:
    """
    Remove judgments of documents whose *ids* the corpus does not have: a suite with its own index refuses them.

    Raises:
        InputError: Most queries would have no judgment left.
    """
    missing: dict[str, Mark] = {}
    emptied = 0
    for query in draft.queries:
        for document in sorted(query.judgments.keys() - ids):
            what = "judgments of documents that corpus.jsonl does not have"
            draft.add_document_leftover(query, document, query.places[document], what)
            missing.setdefault(document, query.places[document])
            del query.judgments[document]
        if not query.judgments:
            emptied += 1
    if emptied * 2 <= len(draft.queries):
        return
    judged = listed([repr(document) for document in missing])
    have = listed([repr(document) for document in ids]) or "no document"
    message = f"found judgments of {judged}, which corpus.jsonl does not have: it has {have}"
    message += f"; {count(emptied, 'query')} of {len(draft.queries)} would have no judgment"
    remedy = "give the corpus that was judged, or leave corpus.jsonl out and index the documents"
    raise make_error(next(iter(missing.values())), f"{message}; {remedy}")
