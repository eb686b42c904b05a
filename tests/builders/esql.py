"""A scripted Elasticsearch that answers ES|QL in the documented form: columns, values, `is_partial` and errors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from builders.engine import ScriptedEngine

__all__ = ["EsqlEngine", "table_of"]


class EsqlEngine(ScriptedEngine):
    """
    *tables* maps a query's text to the answer to it; without one the rows are those of its ranking. *asked_esql* has
    what was sent to `_query`, in the order in which it came.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, Any] = {}
        self.asked_esql: list[dict[str, Any]] = []

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        if path != "/_query":
            return super().reply(method, path, body)
        content = json.loads(body)
        self.asked_esql.append(content)
        named = {name: value for param in content["params"] for name, value in param.items()}
        text = named["text"]
        if text in self.tables:
            answer = self.tables[text]
            return answer.get("status", 200), answer
        found = [one if isinstance(one, str) else one[0] for one in self.rankings[text]]
        return 200, table_of([[name, 9.0 - rank] for rank, name in enumerate(found)])


def table_of(
    rows: Sequence[Sequence[Any]], columns: Sequence[str] = ("_id", "_score"), **members: Any
) -> dict[str, Any]:
    """An answer to `_query`, of which *members* change or add some."""
    named = [{"name": name, "type": "double" if name == "_score" else "keyword"} for name in columns]
    answer = {"took": 4, "is_partial": False, "documents_found": len(rows), "columns": named, "values": list(rows)}
    return {**answer, **members}
