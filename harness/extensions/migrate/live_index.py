"""Drafts a suite for an existing index: a request that searches its text fields, and queries from a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from statistics import mean

from harness.config import Configs
from harness.drafts.draft import Draft
from harness.errors import EngineUnreachable, LoginRefused, RequestRefused, SearchError, UsageError
from harness.extensions.migrate import records, trec
from harness.extensions.migrate.json_nodes import read_import
from harness.model.suite import Display, Json, Mark, Profile
from harness.options import RunOptions
from harness.run.connections import Connections
from harness.search.dialects import find_dialect
from harness.search.fields import list_parents
from harness.search.protocol import IndexField, Inspector, SampledDocument
from harness.words import did_you_mean, listed

_TEXT_TYPES = frozenset({"text", "match_only_text", "annotated_text", "search_as_you_type"})
TITLES = ("title", "name", "headline", "subject", "heading", "label", "caption")
"""Names of fields that hold the title of a document, the likeliest first."""

NO_PROSE = re.compile(
    r"(?:^|[._-])(?:id|ids|sku|isbn|issn|ean|gtin|upc|asin|uuid|guid|code|url|uri|link|href|slug|path|hash|checksum|etag"
    r"|email|phone|image|img|thumbnail|icon|mime|ip|host|password|token)(?:$|[._-])|(?:Id|Url|Uri|Uuid)$|_id$",
)
"""Matches names of fields whose text users do not search by words, such as ids and URLs."""

IDENTITY = re.compile(r"^(?:.*[._-])?(?:id|uuid|guid|sku|isbn|asin|ean|gtin|key|docid|docno|slug)$|[a-z]Id$|_id$")
"""Matches names of fields that identify documents, without a suffix such as ``.keyword``."""

MISREAD = re.compile(r"[*^]|\{\{|\$[{$]")
"""
Matches characters that have a meaning in the name of a field: wildcards and boosts in a request, placeholders and
variables in a suite.
"""

SORTED_BY = frozenset({"keyword", "long", "integer", "unsigned_long"})
"""Types of fields that can break ties."""

_CLOSED = "/4/index closed"
"""In the reason of a `cluster_block_exception`: the block of a closed index, as a search of some versions meets it."""

UNAVAILABLE = 503
"""The status of an answer that a shard lacks."""

MOST_FIELDS = 12
"""The largest number of fields that the request searches."""

MOST_OTHER_KEYS = 20
"""The largest number of keywords whose values are read to see whether they tell documents apart."""

SHORT = 8
"""The largest mean number of words of a short field."""

_TOPIC_LINE = re.compile(r"\S+\s*\t\s*\S|\d+:\s*\S")
"""Matches a TREC topic on one line: a number, a tab or a colon, and the text."""

_EXAMPLES = 5
"""The number of titles used as queries if there is no file of queries."""


@contextmanager
def open_cluster(folder: Path, options: RunOptions, environ: Mapping[str, str]) -> Iterator[tuple[str, Inspector]]:
    """
    The cluster that *options* name, opened for a suite in *folder* with the login in relevance.toml: its name, or its
    URL, and what asks it for its indexes.

    Raises:
        SearchError: The cluster cannot be reached.
        UsageError: The cluster is an HTTP service or is not known, or a variable of its login is not set.
    """
    with Connections(environ, options) as connections:
        cluster = connections.open_chosen(folder / "init.relevance.yaml", Configs.from_options(options, environ))
        if cluster.search is None:
            raise cluster.error or SearchError("the cluster could not be reached")
        if not find_dialect(cluster.search.service).has_indexes:
            raise UsageError("an HTTP service has no index to write a suite from")
        yield cluster.cluster.name, cluster.search.inspector


def list_index_names(folder: Path, options: RunOptions, *, environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """
    The names that a suite could search: indexes, aliases and data streams, by kind.

    Args:
        folder: Where the search for relevance.toml starts; parent folders follow.
        options: Name the cluster.
        environ: Where the variables of logins are looked up.

    Raises:
        SearchError: The cluster did not answer, or the login may not list the names.
        UsageError: The cluster is not known or is an HTTP service, or a variable of its login is not set.
    """
    with open_cluster(folder, options, environ) as (_, inspector):
        return inspector.read_names()


def read_live_documents(
    folder: Path, indexes: Sequence[str], options: RunOptions, *, environ: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Json], Mark]]:
    """
    All documents of *indexes*, read on iteration, each with the index as its place.

    Args:
        folder: Where the search for relevance.toml starts; parent folders follow.
        indexes: Names of indexes.
        options: Name the cluster.
        environ: Where the variables of logins are looked up.

    Raises:
        SearchError: The cluster did not answer, or has no such index.
        UsageError: The cluster is not known or is an HTTP service, or a variable of its login is not set.
    """
    with open_cluster(folder, options, environ) as (_, inspector):
        for index in indexes:
            try:
                yield from ((document, Mark(index)) for document in inspector.read_documents(index))
            except SearchError as error:
                raise _explain_unreadable(inspector, index, "SOURCE", error) from None


def draft_suite(
    folder: Path, index: str, queries: Path | None, options: RunOptions, *, environ: Mapping[str, str]
) -> Draft:
    """
    Draft a suite that searches *index*, which is only read.

    Args:
        folder: Where the suite will be; the search for relevance.toml starts there, and parent folders follow.
        index: An index, an alias, a data stream or a pattern.
        queries: A file of queries: plain lines, CSV, JSON lines or TREC topics. None to use titles of documents.
        options: Name the cluster.
        environ: Where the variables of logins are looked up.

    Raises:
        InputError: The file of queries cannot be read.
        UsageError: The index has no text field or no documents to make queries from, the file has no queries, the
            cluster is not known or is an HTTP service, or a variable of its login is not set.
        SearchError: The cluster did not answer, or has no such index.
    """
    with open_cluster(folder, options, environ) as (cluster, inspector):
        all_fields = _read_fields(inspector, index)
        fields = {name: field for name, field in all_fields.items() if not MISREAD.search(name)}
        texts = _find_text_fields(fields)
        if not texts:
            known = listed(sorted(all_fields)) if all_fields else "none"
            condition = " whose name can stand in a suite" if _find_text_fields(all_fields) else ""
            raise UsageError(f"index {index!r} has no field with text to search{condition}; its fields are {known}")
        keys = _find_keys(fields, texts)
        sample, unread = _read_sample(inspector, index, [*texts, *keys])
    draft = Draft(Profile.STANDARD, name=re.sub(r"\W+", "-", index).strip("-") or "suite", index=index)
    draft.cluster = None if cluster == "default" else cluster
    draft.unread = unread
    misread = [name for name in _find_text_fields(all_fields) if name not in fields]
    if misread:
        draft.request_remarks.append(
            f"Not searched, as *, ^, {{{{, ${{ and $$ have a meaning in a suite: {listed(misread)}."
        )
    boosts = _choose_fields(texts, sample, draft)
    draft.display = Display(title=next(filter(_is_title, boosts), None))
    draft.request = _build_request(boosts, _choose_tie_break(keys, sample, unread, draft))
    _add_queries(draft, queries, sample, unread)
    draft.is_measured = any(query.judgments for query in draft.queries)
    return draft


def _read_fields(inspector: Inspector, index: str) -> dict[str, IndexField]:
    """The fields of *index* by name; raises SearchError if they cannot be read."""
    try:
        fields = inspector.read_fields(index)
        if not fields:
            inspector.read_sample(index, [])  # OpenSearch has no fields of a closed index, and refuses to search it
    except SearchError as error:
        raise _explain_unreadable(inspector, index, "--index", error) from None
    return fields


def _explain_unreadable(inspector: Inspector, index: str, argument: str, error: SearchError) -> SearchError:
    """What *error*, of reading the *index* that the user gave as *argument*, says of that index, and what to do."""
    # These say it already: the cluster is at fault, not the index.
    if isinstance(error, (EngineUnreachable, LoginRefused)):
        return error
    shown_index, reason = f"{argument} {index}", str(error).rstrip(".")
    kinds = error.kinds if isinstance(error, RequestRefused) else frozenset()
    if "index_not_found_exception" in kinds:
        guess = did_you_mean(index, _list_other_names(inspector, index))
        return SearchError(
            f"{shown_index}: the server has no index, alias or data stream of that name; correct it{guess}"
        )
    if "index_closed_exception" in kinds or _CLOSED in reason:
        return SearchError(f"{shown_index}: the index is closed; open it, or name another index")
    if isinstance(error, RequestRefused) and error.status == UNAVAILABLE and "cluster_block_exception" not in kinds:
        remedy = "wait until `GET /_cat/shards` shows all as started, or name another index"
        return SearchError(f"{shown_index}: a shard of the index is not available ({reason}); {remedy}")
    return SearchError(f"{shown_index}: the index cannot be read: {reason}; name an index whose documents can be read")


def _list_other_names(inspector: Inspector, index: str) -> list[str]:
    """The names that can be searched, without *index*; none if they cannot be read."""
    try:
        names_by_kind = inspector.read_names()
    except SearchError:
        return []
    return [name for name in chain.from_iterable(names_by_kind.values()) if name != index]


def _find_text_fields(fields: Mapping[str, IndexField]) -> list[str]:
    """The names of text fields, without fields of nested objects and without subfields of other text fields."""
    # A plain query does not match in nested objects.
    nested = {name for name, field in fields.items() if "nested" in field.types}
    texts = set()
    for name, field in fields.items():
        if not field.searchable or not field.types & _TEXT_TYPES:
            continue
        # A pattern may have indexes in which the field is a keyword, or is not there; numbers refuse words.
        if field.types <= _TEXT_TYPES | {"keyword", "unmapped"} and not nested.intersection(list_parents(name)):
            texts.add(name)
    return sorted(name for name in texts if not texts.intersection(list_parents(name)))


def _names_identity(name: str, fields: Mapping[str, IndexField]) -> bool:
    """Whether the *name* of one of *fields*, or of the field whose subfield it is, suggests that it identifies."""
    names = [re.sub(r"\.(?:keyword|raw|exact)$", "", name)]
    names += [parent for parent in list_parents(name) if _has_value(parent, fields)]
    return any(IDENTITY.search(part) is not None for part in names)


def _has_value(name: str, fields: Mapping[str, IndexField]) -> bool:
    """Whether *name* is one of *fields*, and no object: what stands below it is a subfield."""
    return name in fields and not fields[name].types & {"object", "nested"}


def _find_keys(fields: Mapping[str, IndexField], texts: Sequence[str]) -> dict[str, bool]:
    """
    The sortable fields that may identify documents, the shortest names first, and whether their names suggest it.

    Those whose names suggest it come before other keywords, and subfields of *texts* last: titles may repeat.
    """
    named, others, subfields = [], [], []
    for name, field in fields.items():
        if not field.sortable or not field.types <= SORTED_BY:
            continue
        if _names_identity(name, fields):
            named.append(name)
        elif field.types == {"keyword"} and set(texts).intersection(list_parents(name)):
            subfields.append(name)
        elif field.types == {"keyword"}:
            others.append(name)

    def rank_name(name: str) -> tuple[int, int, str]:
        return name.count("."), len(name), name

    keys = dict.fromkeys(sorted(named, key=rank_name), True)
    for names in (others, subfields):
        keys |= dict.fromkeys(sorted(names, key=rank_name)[:MOST_OTHER_KEYS], False)
    return keys


def _read_sample(inspector: Inspector, index: str, names: Sequence[str]) -> tuple[list[SampledDocument], str]:
    """A sample of documents with the values of the fields *names*; or none, and why no value is known."""
    try:
        sample = inspector.read_sample(index, names)
    except SearchError as error:
        if isinstance(error, RequestRefused) and error.status == UNAVAILABLE:
            raise _explain_unreadable(inspector, index, "--index", error) from None
        return [], f"the documents of the index cannot be read: {str(error).rstrip('.')}"
    if not sample:
        return [], "the index shows no documents"
    if not any(document.values for document in sample):
        return [], "its documents show no values of their fields, as in an index without `_source`"
    return sample, ""


def _is_title(name: str) -> bool:
    """Whether the field *name* is likely the title of a document; a title of an object in it is none, but a.title."""
    last = name.rpartition(".")[2].lower()
    if last.endswith(("_title", "_name")) or last == "title":
        return True
    return last in TITLES and "." not in name


def _rank_title(name: str) -> tuple[int, int, str]:
    """A key that sorts the likeliest title first: the order of `TITLES`, then those that are not inside an object."""
    last = name.rpartition(".")[2].lower()
    rank = TITLES.index(last) if last in TITLES else len(TITLES)
    return rank, name.count("."), name


def _choose_fields(texts: Sequence[str], sample: Sequence[SampledDocument], draft: Draft) -> dict[str, int]:
    """The fields that the request searches, with their boosts; the others are listed in comments of *draft*."""
    lengths = {name: _count_words(name, sample) for name in texts}
    empty = [name for name in texts if sample and lengths[name] is None]
    technical = [name for name in texts if name not in empty and NO_PROSE.search(name)]
    # Rather one of these than no field.
    candidates = [name for name in texts if name not in empty and name not in technical] or list(texts)
    titles = sorted(filter(_is_title, candidates), key=_rank_title)
    titles_first = titles + [name for name in candidates if name not in titles]
    chosen = titles_first[:MOST_FIELDS]
    reasons = {
        f"empty in the {len(sample)} documents that were looked at": empty,
        "ids, addresses and the like by their names": technical,
        f"beyond the first {MOST_FIELDS}": titles_first[MOST_FIELDS:],
    }
    for reason, names in reasons.items():
        not_searched = [name for name in names if name not in chosen]
        if not_searched:
            draft.request_remarks.append(f"Not searched, as {reason}: {listed(not_searched)}.")
    boosts: dict[str, int] = {}
    for name in chosen:
        words = lengths[name]
        if name in titles:
            boosts[name] = 3
        elif words is not None and words <= SHORT:
            boosts[name] = 2
        else:
            boosts[name] = 1
    return boosts


def _count_words(name: str, sample: Sequence[SampledDocument]) -> float | None:
    """The mean number of words in a value of the field *name*; None if no document has a value."""
    counts = []
    for document in sample:
        counts += [len(value.split()) for value in document.values.get(name, ()) if value.strip()]
    return mean(counts) if counts else None


def _build_request(boosts: Mapping[str, int], tie_break: str | None) -> Json:
    """A request over the fields of *boosts*, in which equal scores are sorted by the field *tie_break*, if any."""
    fields = [name if boost == 1 else f"{name}^{boost}" for name, boost in boosts.items()]
    query: dict[str, Json] = {"query": "{{text}}", "fields": fields}
    if len(fields) > 1:
        query |= {"type": "best_fields", "tie_breaker": 0.3}
    body: dict[str, Json] = {"query": {"multi_match": query}}
    if tie_break is not None:
        body["sort"] = ["_score", {tie_break: "asc"}]
    return body


def _choose_tie_break(
    keys: Mapping[str, bool], sample: Sequence[SampledDocument], unread: str, draft: Draft
) -> str | None:
    """
    The first of *keys*, as `_find_keys` returns them, with exactly one value in each document, all different, as far as
    the sample shows.

    *unread* says why there is no sample.
    """
    for name, is_named in keys.items():
        values = [document.values.get(name, ()) for document in sample]
        have_one_each = all(len(values_of_document) == 1 for values_of_document in values)
        if sample and have_one_each and len(set(values)) == len(values):
            remark = f"Documents with the same score are sorted by {name}, so that runs repeat"
            if not is_named:
                remark += f"; it tells the {len(sample)} documents apart that were looked at"
            draft.request_remarks.append(f"{remark}.")
            return name
    named = [name for name, is_named in keys.items() if is_named]
    if named and unread:
        draft.request_remarks.append(
            f"The engine orders documents with the same score as it likes; {named[0]} may tell them apart, which was "
            f"not seen: {unread}."
        )
    else:
        draft.request_remarks.append(
            "No field tells documents apart, so the engine orders those with the same score as it likes."
        )
    return None


def _add_queries(draft: Draft, path: Path | None, sample: Sequence[SampledDocument], unread: str) -> None:
    """Add the queries of the file *path*, or else titles of documents in *sample* as queries to replace."""
    if path is not None:
        _read_queries(path, draft)
        return
    title = draft.display.title or next(iter(draft.request["query"]["multi_match"]["fields"])).partition("^")[0]
    documents: dict[str, SampledDocument] = {}
    for document in sample:
        for text in document.values.get(title, ()):
            documents[" ".join(text.split()[:SHORT])] = document
    if not documents:
        reason = unread or f"none of {len(sample)} documents that were looked at has a text in {title}"
        problem = f"no queries can be made from documents of index {draft.index!r}: {reason}"
        raise UsageError(f"{problem}; give queries with --queries FILE")
    for text, document in list(documents.items())[:_EXAMPLES]:
        query = draft.find_or_add_text(text)
        query.remarks.append(f"TODO: the {title} of document {document.id}; replace it by what your users type.")


def _read_queries(path: Path, draft: Draft) -> None:
    """
    Add the queries of CSV, JSON lines or TREC topics, read as `relevance import` reads them.

    Any other file has one query on each line.
    """
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".jsonl", ".ndjson"):
        _move_queries(records.read([str(path)]), draft)
        return
    source = read_import(path)
    lines = {number: line for number, line in enumerate(source.lines, start=1) if line.strip()}
    if not lines:
        raise UsageError(f"{path}: the file has no queries")
    first = next(iter(lines.values())).lstrip()
    if first.startswith("[") or suffix == ".json":
        raise UsageError(f"{path}: found JSON, expected JSON lines (.jsonl), CSV, TREC topics or a query a line")
    if first.startswith("<") or all(map(_TOPIC_LINE.match, lines.values())):
        _move_queries(trec.read([f"topics={path}"]), draft)
        return
    for number, line in lines.items():
        text = " ".join(line.split())
        if draft.has_text(text):
            draft.add_leftover(Mark(str(path), number, 1), "a query that is there twice")
        else:
            draft.find_or_add_text(text)


def _move_queries(drafts: Sequence[Draft], draft: Draft) -> None:
    """Move the queries of the only one of *drafts* to *draft*."""
    [imported] = drafts
    draft.queries, draft.leftovers = imported.queries, imported.leftovers
