"""A file of documents, and the name of the index that it becomes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SuiteError
from harness.model.suite import Fixture
from harness.search.fixtures import make_slug, read_recipe
from harness.search.indexes import KEY, Document, Marker, read_documents, read_ids, read_marker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "d.jsonl").write_text('{"id": "a", "title": "A"}\n\n{"id": 7}\n', encoding="utf-8")
    return tmp_path


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "d.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class TestReading:
    def test_lines_become_documents_as_they_are_written(self, folder: Path) -> None:
        assert read_documents(folder / "d.jsonl", "d.jsonl", "id") == [
            Document(1, "a", b'{"id": "a", "title": "A"}'),
            Document(3, "7", b'{"id": 7}'),
        ]

    def test_ids_alone(self, folder: Path) -> None:
        assert read_ids(folder / "d.jsonl", "d.jsonl", "id") == {"a", "7"}

    def test_the_field_that_was_meant_as_id(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError) as caught:
            read_ids(write(tmp_path, '{"sku": "a"}\n'), "d", "skuu")
        message = "d:1:1: the document has no field \"skuu\", which holds its id; did you mean 'sku'?"
        assert str(caught.value).splitlines()[0] == message

    def test_line_ends_of_windows(self, tmp_path: Path) -> None:
        path = write(tmp_path, '{"id": "a"}\r\n{"id": "b"}\r\n')

        assert [document.id for document in read_documents(path, "d", "id")] == ["a", "b"]

    def test_another_member_can_be_the_id(self, tmp_path: Path) -> None:
        path = write(tmp_path, '{"sku": "s-1", "id": 3}\n')

        assert read_documents(path, "d", "sku")[0].id == "s-1"

    @pytest.mark.parametrize(
        ("line", "column", "words"),
        [
            ('{"id": "b",}', 11 if sys.version_info >= (3, 13) else 12, "not JSON"),  # at the comma, or behind it
            ("{'id': 1}", 2, "not JSON"),
            ('["b"]', 1, "object"),
            ('{"title": "B"}', 1, 'no field "id"'),
            ('{"id": null}', 1, 'no field "id"'),
            ('{"id": 1.5}', 1, "1.5"),
            ('{"id": true}', 1, "true"),
            ('{"id": ""}', 1, "whole number"),
            ('{"id": "\\ud800"}', 1, "ud800"),
            ('{"id": ' + "9" * 5000 + "}", 8, "too many digits"),
            ('{"id": ["b"]}', 1, "whole number"),
            ('{"id": "a"}', 1, "used in line 1"),
            ('{"id": "b", "price": NaN}', 22, "NaN"),
            ('{"id": "' + "ä" * 257 + '"}', 1, "512 bytes"),
            (b'{"id": "\xff"}', 9, "UTF-8"),
            ("[" * 100_000, 1, "nested too deeply"),
        ],
    )
    def test_what_is_wrong_is_named_by_line_and_column(
        self, tmp_path: Path, line: str | bytes, column: int, words: str
    ) -> None:
        content = b'{"id": "a"}\n' + (line if isinstance(line, bytes) else line.encode()) + b"\n"

        with pytest.raises(SuiteError) as caught:
            read_documents(write(tmp_path, content), "data/d.jsonl", "id")
        [problem] = caught.value.problems
        assert (problem.path, problem.line, problem.column) == ("data/d.jsonl", 2, column)
        assert words in problem.message

    def test_all_problems_are_told_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError) as caught:
            read_documents(write(tmp_path, "x\n{}\n[]\n"), "d", "id")
        assert [problem.line for problem in caught.value.problems] == [1, 2, 3]

    def test_a_file_of_another_kind_does_not_flood(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError) as caught:
            read_documents(write(tmp_path, "text\n" * 5000), "d", "id")
        others, *told = caught.value.problems
        assert [problem.line for problem in told] == list(range(1, 21))
        assert str(others) == "d: 4980 more problems are not shown"
        assert sum(problem.count for problem in caught.value.problems) == 5000

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_no_documents_are_an_error(self, tmp_path: Path, content: str) -> None:
        with pytest.raises(SuiteError, match="no documents"):
            read_documents(write(tmp_path, content), "d", "id")

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(SuiteError, match="cannot be read"):
            read_documents(tmp_path / "none.jsonl", "none.jsonl", "id")


class TestName:
    def fingerprint(self, folder: Path, **changes: Any) -> str:
        return read_recipe(Fixture(**{"documents": "d.jsonl", **changes}), folder, "products").fingerprint

    def test_tells_the_suite_and_what_it_is_built_from(self, folder: Path) -> None:
        recipe = read_recipe(Fixture("d.jsonl"), folder, "Products, DE")

        assert recipe.index == f"products-de-{recipe.fingerprint[:12]}"
        assert len(recipe.fingerprint) == 64

    def test_is_the_same_for_the_same(self, folder: Path) -> None:
        one = self.fingerprint(folder, mappings={"a": 1, "b": 2})
        other = self.fingerprint(folder, mappings={"b": 2, "a": 1})

        assert one == other

    @pytest.mark.parametrize(
        "changes",
        [{"mappings": {"properties": {}}}, {"settings": {"number_of_replicas": 1}}, {"id_field": "title"}],
    )
    def test_changes_with_what_it_is_built_from(self, folder: Path, changes: dict[str, Any]) -> None:
        write(folder, '{"id": "a", "title": "A"}\n')

        assert self.fingerprint(folder, **changes) != self.fingerprint(folder)

    @pytest.mark.parametrize("content", ['{"id": "a", "title": "B"}\n', '{"id": "a", "title": "A"}\n{"id": "b"}\n'])
    def test_changes_with_the_documents(self, folder: Path, content: str) -> None:
        before = self.fingerprint(folder)
        write(folder, content)

        assert self.fingerprint(folder) != before

    @given(st.text())
    def test_is_one_that_engines_take(self, name: str) -> None:
        made = make_slug(name)

        assert made
        assert made == made.lower()
        assert not set(made) & set('\\/*?"<>| ,#:+')
        assert made[0] not in "-_+."
        assert len(made.encode()) <= 200


class TestSettings:
    @pytest.mark.parametrize(
        ("given_settings", "added"),
        [
            ({}, {"index.number_of_shards": 1, "index.number_of_replicas": 0}),
            ({"number_of_shards": 2}, {"index.number_of_replicas": 0}),
            ({"index": {"number_of_shards": 2, "number_of_replicas": 1}}, {}),
            ({"index.number_of_replicas": 1}, {"index.number_of_shards": 1}),
            ({"analysis": {"analyzer": {}}}, {"index.number_of_shards": 1, "index.number_of_replicas": 0}),
        ],
    )
    def test_one_shard_and_no_replica_where_the_suite_does_not_say(
        self, folder: Path, given_settings: dict[str, Any], added: dict[str, Any]
    ) -> None:
        recipe = read_recipe(Fixture("d.jsonl", settings=given_settings), folder, "p")

        assert recipe.settings == {**given_settings, **added}


class TestMarker:
    MARKER = Marker("products", "f" * 64, "b", 3, True, "2026-11-21T06:00:00+00:00")

    def test_is_read_as_it_was_written_beside_the_suites_own(self) -> None:
        meta = json.loads(json.dumps(self.MARKER.as_meta({"owner": "search team"})))

        assert meta["owner"] == "search team"
        assert read_marker(meta) == self.MARKER

    @pytest.mark.parametrize(
        "meta",
        [
            None,
            {},
            {"owner": "somebody"},
            {KEY: "yes"},
            {KEY: {}},
            {KEY: {"made_by": "another tool", "name": "products"}},
            {KEY: {"made_by": "relevance-harness", "name": "products"}},
        ],
    )
    def test_whatever_else_is_not_ours(self, meta: Any) -> None:
        assert read_marker(meta) is None
