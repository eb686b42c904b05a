"""
An engine that plays the example suites' searches: what the embedded node found for each, kept in a file.

It takes the suites' documents as an engine does, so that their fixtures are built on it; what a search finds stands in
the file, all of it, so that any number of hits may be asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from builders.engine import SHARDS, ScriptedEngine, filtered_ids, item_of

__all__ = ["RECORDED", "Finds", "RecordedEngine", "read_recorded", "written"]

RECORDED = Path(__file__).parents[1] / "golden" / "found.tsv"

Finds: TypeAlias = dict[tuple[str, str], list[tuple[str, float]]]
"""By the suite and what ranks in the body, as JSON: the documents that match, best first, with their scores."""


@dataclass
class _Index:
    mappings: dict[str, Any]
    settings: dict[str, Any]
    documents: dict[str, dict[str, Any]]


class RecordedEngine(ScriptedEngine):
    """Answers from *finds*; *find*, where it is given, is asked for what they lack."""

    def __init__(self, finds: Finds, find: Callable[[str, dict[str, Any]], list[tuple[str, float]]] | None = None):
        self.finds = finds
        self._find = find
        self._indexes: dict[str, _Index] = {}
        super().__init__()

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        name, _, action = path.partition("?")[0].strip("/").partition("/")
        # A run names the index of its searches in the path.
        if path.startswith(("/_", "/?")) or not name or action.startswith("_msearch"):
            return super().reply(method, path, body)
        if method == "PUT" and not action:
            content = json.loads(body)
            self._indexes[name] = _Index(content["mappings"], content["settings"], {})
            return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}
        index = self._indexes.get(name)
        if index is None:
            return (200, {}) if "*" in name else (404, {"error": {"type": "index_not_found_exception"}, "status": 404})
        if action == "_field_caps":
            return 200, self.field_caps(path)
        return 200, self._on_index(name, index, f"{method} {action}", body)

    def _on_index(self, name: str, index: _Index, action: str, body: bytes) -> object:
        match action:
            case "PUT _mapping":
                index.mappings |= json.loads(body)
            case "POST _bulk":
                lines = list(map(json.loads, body.splitlines()))
                sources = dict(zip((head["index"]["_id"] for head in lines[::2]), lines[1::2], strict=True))
                index.documents |= sources
                return {"errors": False, "items": [{"index": {"_id": one, "status": 201}} for one in sources]}
            case "GET _count":
                return {"count": len(index.documents), "_shards": dict(SHARDS)}
            case "GET _settings/index.uuid":
                return {name: {"settings": {"index": {"uuid": f"uuid-of-{name}"}}}}
            case "GET _search_shards":
                return {"indices": {name: {}}, "shards": [[{"index": name, "shard": 0, "node": "n1"}]]}
            case "GET _stats/docs":
                copy = {"docs": {"count": len(index.documents), "deleted": 0}, "routing": {"node": "n1"}}
                return {"indices": {name: {"uuid": f"uuid-of-{name}", "shards": {"0": [copy]}}}}
            case "GET _mapping":
                return {name: {"mappings": index.mappings}}
            case "GET _settings":
                return {name: {"settings": {"index": index.settings}}}
        return {"acknowledged": True}

    def search(self, body: dict[str, Any], index: str) -> object:
        documents = self._indexes[index].documents
        size = body.get("size", 10)
        if "ids" in body["query"]:
            item = item_of([one for one in body["query"]["ids"]["values"] if one in documents], size=size, score=1.0)
        elif "match_all" in body["query"]:
            item = item_of(sorted(documents), size=size, score=1.0)
        else:
            wanted = filtered_ids(body)
            item = item_of([one for one in self._found(index, body) if wanted is None or one[0] in wanted], size=size)
        for hit in item["hits"]["hits"]:
            hit["_index"] = index
        for hit in item["hits"]["hits"] if body.get("_source") else ():
            source = documents[hit["_id"]]
            wanted = body["_source"]
            hit["_source"] = {key: source[key] for key in wanted if key in source} if wanted is not True else source
        keys = [key if isinstance(key, str) else next(iter(key)) for key in body.get("sort", [])]
        for hit in item["hits"]["hits"] if keys else ():
            hit["sort"] = [hit["_score"] if key == "_score" else documents[hit["_id"]].get(key) for key in keys]
        return item

    def _found(self, index: str, body: Mapping[str, Any]) -> list[tuple[str, float]]:
        ranks = {key: body[key] for key in ("query", "sort") if key in body}
        key = (index.rpartition("-")[0], json.dumps(ranks, ensure_ascii=False, separators=(",", ":")))
        if key not in self.finds:
            if self._find is None:
                raise KeyError(f"{RECORDED} does not hold what {key} finds; see tests/cluster/test_golden_engines.py")
            self.finds[key] = self._find(index, ranks)
        return self.finds[key]


def read_recorded(text: str) -> Finds:
    """What `written` wrote."""
    finds: Finds = {}
    for line in text.splitlines():
        suite, ranks, found = line.split("\t")
        pairs = (one.rsplit(":", 1) for one in found.split())
        finds[suite, ranks] = [(document, float(score)) for document, score in pairs]
    return finds


def written(finds: Finds) -> str:
    """*finds* as text: a line a search, with tabs between the suite, what ranks, and documents with their scores."""
    rows = ((*key, " ".join(f"{document}:{score!r}" for document, score in found)) for key, found in finds.items())
    return "".join("\t".join(row) + "\n" for row in sorted(rows))
