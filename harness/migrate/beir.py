"""
Import and export of BEIR folders: ``queries.jsonl`` and ``qrels/SPLIT.tsv``; ``corpus.jsonl`` is only imported.

Source: BEIR's `GenericDataLoader`, and its lexical search: a multi_match query on title and text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from harness.errors import UsageError
from harness.files.border import check_found
from harness.files.opening import read_source
from harness.migrate.draft import Draft
from harness.migrate.exported import Exported, json_lines
from harness.migrate.json_nodes import JsonNode, node_lines, source_of
from harness.migrate.table import read_table
from harness.model import Mark, Profile, Suite

_MEASURES = ["nDCG@10", "R@100"]
_USUAL_SPLIT = "test.tsv"
_LARGEST_CORPUS = 64 * 2**20
"""The largest corpus, in bytes, that becomes the suite's own index."""

_Judged: TypeAlias = tuple[str, float, Mark]
"""A judged document, its grade, and the place of the judgment."""

_REQUEST = {"query": {"multi_match": {"query": "{{text}}", "fields": ["title", "text"], "tie_breaker": 0.5}}}


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
    return [_draft(Path(source)) for source in sources]


def _draft(path: Path) -> Draft:
    folder = path if path.is_dir() else path.parent.parent
    qrels = _qrels(path) if path.is_dir() else path
    for found in (folder / "queries.jsonl", folder / "corpus.jsonl", *([qrels] if path.is_dir() else [])):
        check_found(found, folder)
    draft = Draft(Profile.TREC, name=folder.resolve().name, measures=list(_MEASURES))
    for other in sorted(qrels.parent.glob("*.tsv")):
        if other != qrels:
            draft.leave(Mark(str(other)), f"the split {other.stem!r}; to import it, name this file")
    judged: dict[str, list[_Judged]] = {}
    table = read_table(qrels)
    query, document = table.need("query-id", "query_id"), table.need("corpus-id", "corpus_id")
    score = table.need("score")
    for row in table.rows:
        with table.told_together():
            grade = row.grade(score)
            if grade is None:
                row.refuse("the score is empty; expected a number")
            judged.setdefault(row.need(query), []).append((row.need(document), grade, row.place))
    table.raise_problems()
    table.leave_unread(draft.leftovers)
    _add_queries(folder / "queries.jsonl", draft, judged)
    _add_corpus(folder / "corpus.jsonl", draft)
    return draft


def _qrels(folder: Path) -> Path:
    found = sorted((folder / "qrels").glob("*.tsv"))
    usual = [path for path in found if path.name == _USUAL_SPLIT]
    if len(found) == 1 or usual:
        return (usual or found)[0]
    names = ", ".join(path.name for path in found) or "none"
    raise UsageError(f"{folder / 'qrels'}: found {names}, expected {_USUAL_SPLIT}; else name one of them as the source")


def _add_queries(path: Path, draft: Draft, judged: Mapping[str, Sequence[_Judged]]) -> None:
    """Add the queries that the split judges; note the others, and judgments without a query."""
    numbers: set[str] = set()
    for one in node_lines(source_of(path)):
        number = _new_id(one, numbers)
        if number not in judged:
            continue
        query = draft.add(number, one.place, one.need("text").words())
        _leave_metadata(one, draft)
        for document, grade, place in judged[number]:
            draft.judge(query, document, grade, place)
    others = len(numbers - judged.keys())
    if others:
        draft.leave(Mark(str(path)), "queries that the split does not judge", others)
    for number, documents in judged.items():
        if number not in numbers:
            what = f"judgments of query {number!r}, which queries.jsonl does not have"
            draft.leave(documents[0][-1], what, len(documents))


def _new_id(one: JsonNode, known: set[str]) -> str:
    """The id of *one*, which is added to *known*; an id that is known already raises FormatError."""
    node = one.need("_id")
    if node.words() in known:
        raise node.source.error(*node.source.place(node.offset), f"the id {node.words()!r} is there twice")
    known.add(node.words())
    return node.words()


def _leave_metadata(one: JsonNode, draft: Draft) -> None:
    for path, rest in one.unread():
        draft.leave(rest.place, f"{path!r} of queries")


def _add_corpus(path: Path, draft: Draft) -> None:
    """Make the documents the suite's own index, with BEIR's lexical request; the user must index a larger corpus."""
    if not path.is_file():
        return
    if path.stat().st_size > _LARGEST_CORPUS:
        what = f"the corpus, which is larger than {_LARGEST_CORPUS // 2**20} MiB; index it and name the index"
        draft.leave(Mark(str(path)), what)
        return
    lines = []
    ids: set[str] = set()
    for one in node_lines(read_source(path, str(path), limit=_LARGEST_CORPUS)):
        if "id" in one.members():
            draft.leave(one.place, "the field 'id' of documents, which is that of '_id' in a suite's own index")
        fields = {key: value.json() for key, value in one.items() if key not in ("_id", "id")}
        lines.append({"id": _new_id(one, ids), **fields})
    for query in draft.queries:
        for document in sorted(query.judgments.keys() - ids):
            what = "judgments of documents that corpus.jsonl does not have"
            draft.leave_document(query, document, query.places[document], what)
            del query.judgments[document]
    draft.documents = json_lines(lines)
    draft.request = _REQUEST
    draft.title_field = "title"


def write(suite: Suite, form: str) -> Exported:  # noqa: ARG001
    """Write ``queries.jsonl`` and ``qrels/test.tsv``; *form* is not used."""
    exported = Exported()
    exported.leave_others(suite, Profile.TREC)
    queries, rows = [], ["query-id\tcorpus-id\tscore\n"]
    for query in suite.queries:
        if not query.text:
            exported.leave(query.mark, f"query {query.id!r}, which has no text")
            continue
        queries.append({"_id": query.id, "text": query.text, "metadata": {}})
        for document, grade in query.judgments.items():
            if any(not text or set(text) & set('\t\r\n"') or text != text.strip() for text in (query.id, document)):
                exported.leave(
                    query.mark, f"document {document!r} of query {query.id!r}; ids have no tab or line break"
                )
            elif grade != int(grade):
                what = f"grade {grade:g} of document {document!r} for query {query.id!r}; BEIR has whole numbers only"
                exported.leave(query.mark, what)
            else:
                rows.append(f"{query.id}\t{document}\t{int(grade)}\n")
    exported.files["queries.jsonl"] = json_lines(queries)
    exported.files["qrels/test.tsv"] = "".join(rows)
    return exported
