"""A suite's own index on real engines: built, reused, left alone, removed."""

from __future__ import annotations

import json
import multiprocessing
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.errors import FixtureError, HarnessError, SuiteError
from harness.model.request import Cluster, SearchRequest
from harness.model.run import Ranking
from harness.model.suite import Fixture
from harness.search.dialects import open_search
from harness.search.engine import EngineSearch
from harness.search.fixtures import Times, ensure_index, read_recipe
from harness.search.indexes import KEY, Marker, read_marker
from harness.search.testing import FakeSearch

MAPPINGS = {"properties": {"title": {"type": "text", "analyzer": "english"}, "price": {"type": "long"}}}


@pytest.fixture
def name(search: EngineSearch) -> Iterator[str]:
    """A suite's name; all its indexes are removed in the end."""
    made = f"relevance-test-{uuid.uuid4().hex[:8]}"
    yield made
    answer = search.connection.perform("GET", f"/{made}*/_settings")
    for index in json.loads(answer.body):
        search.connection.perform("DELETE", f"/{index}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, 12)
    return tmp_path


def write(folder: Path, count: int, **more: Any) -> None:
    lines = [json.dumps({"id": f"sku-{n}", "title": f"running shoes {n}", "price": n, **more}) for n in range(count)]
    (folder / "documents.jsonl").write_text("\n".join(lines), encoding="utf-8")


def fixture(**more: Any) -> Fixture:
    return Fixture(**{"documents": "documents.jsonl", "mappings": MAPPINGS, **more})


def meta(call: Callable[..., Any], index: str) -> Any:
    return call("GET", f"/{index}/_mapping")[index]["mappings"].get("_meta")


def count(call: Callable[..., Any], index: str) -> int:
    return int(call("GET", f"/{index}/_count")["count"])


def uid(call: Callable[..., Any], index: str) -> str:
    return str(call("GET", f"/{index}/_settings")[index]["settings"]["index"]["uuid"])


def test_is_built_named_marked_and_searchable_at_once(
    search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
) -> None:
    write(folder, 1200)
    own = {**MAPPINGS, "_meta": {"owner": "search team"}}

    index = ensure_index(search, fixture(mappings=own), folder, name, allow_write=True)

    recipe = read_recipe(fixture(mappings=own), folder, name)
    assert index == f"{name}-{recipe.fingerprint[:12]}"
    [response] = search.search([SearchRequest("q", index, {"query": {"match": {"title": "shoe 7"}}, "size": 1})])
    assert isinstance(response, Ranking)
    assert [hit.id for hit in response.hits] == ["sku-7"]
    settings = call("GET", f"/{index}/_settings")[index]["settings"]["index"]
    assert (settings["number_of_shards"], settings["number_of_replicas"]) == ("1", "0")
    marker = read_marker(meta(call, index))
    assert marker is not None
    assert (marker.name, marker.fingerprint, marker.indexed, marker.complete) == (name, recipe.fingerprint, 1200, True)
    assert meta(call, index)["owner"] == "search team"


def test_is_reused_while_nothing_changes_without_leave_to_write(
    search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
) -> None:
    index = ensure_index(search, fixture(), folder, name, allow_write=True)
    built, mark = uid(call, index), meta(call, index)

    assert ensure_index(search, fixture(), folder, name, allow_write=False) == index
    assert ensure_index(search, fixture(), folder, name, allow_write=True) == index
    assert (uid(call, index), meta(call, index)) == (built, mark)


def test_is_not_built_without_leave_to_write(search: EngineSearch, name: str, folder: Path) -> None:
    with pytest.raises(FixtureError, match="only with allow_write"):
        ensure_index(search, fixture(), folder, name, allow_write=False)
    assert search.connection.perform("HEAD", f"/{read_recipe(fixture(), folder, name).index}").status == 404


@pytest.mark.parametrize("mark", [None, {"owner": "somebody"}, {KEY: {"made_by": "another tool"}}])
def test_an_index_that_is_not_ours_is_left_as_it_is(
    search: EngineSearch, name: str, folder: Path, call: Callable[..., Any], mark: Any
) -> None:
    index = read_recipe(fixture(), folder, name).index
    call("PUT", f"/{index}", {"mappings": {} if mark is None else {"_meta": mark}})
    call("PUT", f"/{index}/_doc/1?refresh=true", {"theirs": True})
    built = uid(call, index)

    with pytest.raises(FixtureError, match="the harness did not create it and will not change it"):
        ensure_index(search, fixture(), folder, name, allow_write=True)
    assert (uid(call, index), count(call, index), meta(call, index)) == (built, 1, mark)


def test_an_alias_of_that_name_is_left_as_it_is(
    search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
) -> None:
    index = read_recipe(fixture(), folder, name).index
    call("PUT", f"/{name}-theirs", {"aliases": {index: {}}})

    with pytest.raises(FixtureError, match="the harness did not create it"):
        ensure_index(search, fixture(), folder, name, allow_write=True)
    assert count(call, index) == 0


def test_an_index_that_somebody_wrote_to_is_not_reused(
    search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
) -> None:
    index = ensure_index(search, fixture(), folder, name, allow_write=True)
    call("PUT", f"/{index}/_doc/more?refresh=true", {"title": "more"})

    with pytest.raises(FixtureError, match="12 documents, but has 13"):
        ensure_index(search, fixture(), folder, name, allow_write=True)


class TestRemoval:
    @pytest.fixture
    def old(self, search: EngineSearch, name: str, folder: Path) -> str:
        index = ensure_index(search, fixture(), folder, name, allow_write=True)
        write(folder, 3)
        return index

    def later(self, **more: float) -> Times:
        return Times(today=lambda: datetime.now(UTC) + timedelta(**more))

    def there(self, search: EngineSearch, index: str) -> bool:
        return search.connection.perform("HEAD", f"/{index}").status == 200

    def test_an_old_build_that_nobody_used_makes_room(
        self, search: EngineSearch, name: str, folder: Path, old: str
    ) -> None:
        index = ensure_index(search, fixture(), folder, name, allow_write=True, times=self.later(minutes=61))

        assert index != old
        assert self.there(search, index)
        assert not self.there(search, old)

    @pytest.mark.one_engine
    def test_a_build_that_was_used_of_late_stays(self, search: EngineSearch, name: str, folder: Path, old: str) -> None:
        ensure_index(search, fixture(), folder, name, allow_write=True, times=self.later(minutes=59))

        assert self.there(search, old)

    @pytest.mark.one_engine
    def test_use_is_noted(self, search: EngineSearch, name: str, folder: Path, old: str) -> None:
        write(folder, 12)
        ensure_index(search, fixture(), folder, name, allow_write=True, times=self.later(minutes=50))
        write(folder, 3)

        ensure_index(search, fixture(), folder, name, allow_write=True, times=self.later(minutes=100))

        assert self.there(search, old)

    @pytest.mark.one_engine
    def test_without_leave_to_write_nothing_is_removed(
        self, search: EngineSearch, name: str, folder: Path, old: str
    ) -> None:
        index = ensure_index(search, fixture(), folder, name, allow_write=True)

        assert ensure_index(search, fixture(), folder, name, allow_write=False, times=self.later(days=9)) == index
        assert self.there(search, old)

    def test_another_suites_build_and_an_index_of_somebody_stay(
        self, search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
    ) -> None:
        other = ensure_index(search, fixture(), folder, f"{name}-head", allow_write=True)
        theirs = [f"{name}-0123456789ab", f"{name}-theirs"]
        for index in theirs:
            call("PUT", f"/{index}", {})
        write(folder, 3)

        ensure_index(search, fixture(), folder, name, allow_write=True, times=self.later(days=9))

        assert all(self.there(search, index) for index in [other, *theirs])


class TestRefusedByTheEngine:
    def test_documents_are_named_by_their_lines_and_no_half_of_an_index_stays(
        self, search: EngineSearch, name: str, folder: Path
    ) -> None:
        lines = ['{"id": "a", "price": 1}', '{"id": "b", "price": "cheap"}', '{"id": "c", "price": [1, "dear"]}']
        (folder / "documents.jsonl").write_text("\n".join(lines))

        with pytest.raises(SuiteError) as caught:
            ensure_index(search, fixture(), folder, name, allow_write=True)
        first, second = str(caught.value).splitlines()
        assert first.startswith(f"{folder / 'documents.jsonl'}:2:1: ")
        assert second.startswith(f"{folder / 'documents.jsonl'}:3:1: ")
        assert "failed to parse field [price]" in first
        assert search.connection.perform("HEAD", f"/{read_recipe(fixture(), folder, name).index}").status == 404

    @pytest.mark.parametrize(
        ("change", "words", "status"),
        [
            ({"mappings": {"properties": {"title": {"type": "txt"}}}}, r"\[txt\]", 2),
            ({"settings": {"number_of_shards": 0}}, "number_of_shards", 3),
            ({"mappings": {"properties": {"t": {"type": "text", "analyzer": "englisch"}}}}, "englisch", 2),
        ],
    )
    def test_mappings_and_settings(
        self, search: EngineSearch, name: str, folder: Path, change: dict[str, Any], words: str, status: int
    ) -> None:
        with pytest.raises(HarnessError, match=words) as caught:
            ensure_index(search, fixture(**change), folder, name, allow_write=True)
        assert caught.value.exit_status == status

    @pytest.mark.parametrize("setting", ["default_pipeline", "final_pipeline"])
    def test_a_pipeline_of_an_index_template_does_not_change_the_documents(
        self,
        search: EngineSearch,
        name: str,
        folder: Path,
        call: Callable[..., Any],
        setting: str,
        skip_without_module: Callable[..., Any],
    ) -> None:
        with skip_without_module("processor", "No processor type exists"):
            call("PUT", f"/_ingest/pipeline/{name}", {"processors": [{"set": {"field": "title", "value": "stolen"}}]})
        template = {"index_patterns": [f"{name}-*"], "priority": 900, "template": {"settings": {setting: name}}}
        call("PUT", f"/_index_template/{name}", template)
        try:
            index = ensure_index(search, fixture(), folder, name, allow_write=True)
            assert call("GET", f"/{index}/_doc/sku-7")["_source"]["title"] == "running shoes 7"
        finally:
            call("DELETE", f"/_index_template/{name}")
            call("DELETE", f"/_ingest/pipeline/{name}")

    def test_a_file_that_is_wrong_reaches_no_engine(self, search: EngineSearch, name: str, folder: Path) -> None:
        (folder / "documents.jsonl").write_text('{"id": "a"}\n{"title": "no id"}\n')

        with pytest.raises(SuiteError, match=r"documents\.jsonl:2:1"):
            ensure_index(search, fixture(), folder, name, allow_write=True)


class TestOthersAtWork:
    def unfinished(self, call: Callable[..., Any], folder: Path, name: str) -> tuple[str, Marker]:
        recipe = read_recipe(fixture(), folder, name)
        marker = Marker(name, recipe.fingerprint, "somebody-else", 0, False, datetime.now(UTC).isoformat())
        call("PUT", f"/{recipe.index}", {"mappings": {**MAPPINGS, "_meta": marker.as_meta({})}})
        return recipe.index, marker

    def test_what_a_builder_left_half_built_is_built_again(
        self, search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
    ) -> None:
        index, _ = self.unfinished(call, folder, name)
        call("PUT", f"/{index}/_doc/half?refresh=true", {"title": "half"})

        times = Times(abandoned=0.3, poll=0.05)
        assert ensure_index(search, fixture(), folder, name, allow_write=True, times=times) == index
        assert count(call, index) == 12

    def test_what_was_left_half_built_is_no_index_to_search(
        self, search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
    ) -> None:
        self.unfinished(call, folder, name)

        with pytest.raises(FixtureError, match="is incomplete"):
            ensure_index(search, fixture(), folder, name, allow_write=False, times=Times(abandoned=0.3, poll=0.05))

    def test_a_builder_at_work_is_waited_for(
        self, search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
    ) -> None:
        index, marker = self.unfinished(call, folder, name)
        steps = iter([replace(marker, indexed=0, complete=True)])

        def work(seconds: float) -> None:
            step = next(steps, None)
            if step is not None:
                call("PUT", f"/{index}/_mapping", {"_meta": step.as_meta({})})

        times = Times(poll=0.01)
        times = replace(times, clock=replace(times.clock, sleep=work))
        assert ensure_index(search, fixture(), folder, name, allow_write=False, times=times) == index
        assert count(call, index) == 0

    def test_builders_that_begin_together_build_one_index(
        self, engine_url: str, search: EngineSearch, name: str, folder: Path, call: Callable[..., Any]
    ) -> None:
        write(folder, 1200)
        context = multiprocessing.get_context("spawn")
        with context.Pool(3) as pool:
            indexes = pool.starmap(build, [(engine_url, str(folder), name)] * 3)

        assert len(set(indexes)) == 1
        assert count(call, indexes[0]) == 1200
        marker = read_marker(meta(call, indexes[0]))
        assert marker is not None
        assert marker.complete


def build(url: str, folder: str, name: str) -> str:
    """What one of several processes does."""
    with open_search(Cluster("test", url=url), {}) as search:
        return ensure_index(search, fixture(), Path(folder), name, allow_write=True)


def test_only_an_engine_can_have_one(folder: Path) -> None:
    with pytest.raises(FixtureError, match="needs an engine"):
        ensure_index(FakeSearch({}), fixture(), folder, "products", allow_write=True)
