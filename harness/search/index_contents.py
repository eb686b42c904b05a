"""What an index holds of single documents, and what it makes of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.errors import SearchError
from harness.model.suite import Json
from harness.search.batches import split_into_batches
from harness.search.bodies import make_ids_query
from harness.search.connected import ConnectedSearch, ask_json
from harness.search.connection import Connection
from harness.search.hits import MalformedAnswer, read_id
from harness.search.msearch import make_index_path

SOURCES_AT_ONCE = 20
"""Documents of one answer, which may be large."""

COPIES = 10
"""Indexes behind a name that may have the same id."""


def read_sources(
    search: ConnectedSearch[Connection], index: str, ids: Sequence[str], id_field: str | None
) -> dict[str, Json]:
    """
    The `_source` of those of *ids* that *index* has, None of one whose source is not kept.

    Args:
        search: Of the server.
        index: A name, alias or pattern. Of several documents with one id, the first is taken.
        ids: Of documents.
        id_field: The field that holds them; None where that is `_id`.

    Raises:
        SearchError: The look-up was refused, is not answered by all shards, or its answer cannot be read.
    """
    # A shard that does not answer would make its documents absent.
    path = f"{make_index_path(index)}/_search?allow_partial_search_results=false"
    sources: dict[str, Json] = {}
    for part in split_into_batches(ids, SOURCES_AT_ONCE):
        body = {"query": make_ids_query(part, id_field), "size": len(part) * COPIES, "_source": True}
        content: Json = ask_json(search, "POST", path, body)
        try:
            for hit in content["hits"]["hits"]:
                document = hit["_id"] if id_field is None else read_id(hit, id_field)
                sources.setdefault(document, hit.get("_source"))
        except MalformedAnswer as error:
            raise SearchError(search.connection.mask(f"malformed answer: {error}")) from None
        except (AttributeError, KeyError, TypeError):
            raise SearchError("malformed answer: the look-up of documents has no hits with _id") from None
    return sources


def list_tokens(
    search: ConnectedSearch[Connection], index: str, text: str, analysis: Mapping[str, str]
) -> tuple[str, ...]:
    """
    The tokens of *text*, one for each position; those that share one are joined by a bar, as are synonyms.

    Args:
        search: Of the server.
        index: The name of one index, or an alias for one.
        text: Is analyzed.
        analysis: Names the `field` or the `analyzer`.

    Raises:
        SearchError: It is refused, or its answer cannot be read.
    """
    content: Json = ask_json(search, "POST", f"{make_index_path(index)}/_analyze", {**analysis, "text": text})
    by_position: dict[int, list[str]] = {}
    try:
        for token in content["tokens"]:
            by_position.setdefault(token["position"], []).append(str(token["token"]))
    except (AttributeError, KeyError, TypeError):
        raise SearchError("malformed answer: `_analyze` has no tokens with a position") from None
    # An analyzer gives synonyms in any order.
    return tuple("|".join(sorted(by_position[position])) for position in sorted(by_position))
