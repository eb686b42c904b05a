"""
The gate on real engines, with the product suite and a baseline of its own.

A request that lost its best field fails and names what fell; an index that was built in another order passes, and its
ties are named; judgments that changed are named and are no regression.
"""

import json
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
import yaml

from builders.extension_cases import needs_extension
from harness.cli import main
from harness.model.run import Status
from harness.report.json import loads_report
from harness.store.baseline_files import read_baselines

ROOT = Path(__file__).parents[2]
SUITES = ROOT / "suites"
MAKE_CRANFIELD = ROOT / "scripts" / "make-cranfield"


@pytest.fixture
def shop(tmp_path, engine_url, search):
    """A copy of the product suite without its ties broken, held to nothing but its baseline; removes its indexes."""
    shutil.copytree(SUITES, tmp_path / "suites")
    shop = _Suite(tmp_path / "suites", "products.relevance.yaml", engine_url)
    shop.suite["suite"] = f"baseline-test-{uuid.uuid4().hex[:8]}"
    shop.suite["thresholds"] = ["drop nDCG@10 <= 0.02", "drop every nDCG@10 <= 0.3"]
    shop.suite["requests"] = {"current": {"query": shop.suite["requests"]["current"]["query"]}}
    kept = ("id", "text", "tags", "judgments")
    shop.suite["queries"] = [{key: query[key] for key in kept if key in query} for query in shop.suite["queries"]]
    shop.write()
    yield shop
    for index in shop.indexes:
        search.connection.perform("DELETE", f"/{index}")


@pytest.fixture
def collection(tmp_path, engine_url, search, cranfield):
    """Cranfield, held to nothing but its baseline; removes its indexes."""
    made = subprocess.run([sys.executable, MAKE_CRANFIELD, cranfield, tmp_path], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    collection = _Suite(tmp_path, "cranfield.relevance.yaml", engine_url)
    collection.suite["suite"] = f"baseline-cranfield-test-{uuid.uuid4().hex[:8]}"
    collection.suite["thresholds"] = ["drop nDCG@10 <= 0.005", "drop every nDCG@10 <= 0.5"]
    collection.write()
    yield collection
    for index in collection.indexes:
        search.connection.perform("DELETE", f"/{index}")


class _Suite:
    """A suite that is changed, saved and run."""

    def __init__(self, folder, name, url):
        self.folder, self.url, self.indexes = folder, url, set()
        self.path = folder / name
        self.suite = yaml.safe_load(self.path.read_text(encoding="utf-8"))

    def write(self):
        self.path.write_text(yaml.safe_dump(self.suite, sort_keys=False), encoding="utf-8")

    def save(self):
        assert main(["baseline", "save", str(self.path), "--url", self.url, "--allow-write", "-q"]) == 0

    def run(self):
        """The exit status, and the report on the suite."""
        output = self.folder / "report.json"
        output.unlink(missing_ok=True)
        words = ["--url", self.url, "--allow-write", "-q", "--output", f"json={output}"]
        status = main(["run", str(self.path), *words])
        [report] = loads_report(output.read_text(encoding="utf-8")).suites
        self.indexes.add(report.index)
        return status, report


def ndcg(report):
    return {query.id: query.scores["nDCG@10"] for query in report.queries}


def reverse_documents(path):
    """The same documents, to be stored in the opposite order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(reversed(lines)) + "\n", encoding="utf-8")


def test_the_same_search_fell_by_nothing(shop):
    shop.save()
    status, report = shop.run()
    assert (status, [verdict.observed for verdict in report.verdicts]) == (0, [0.0, 0.0])
    assert not any("since the baseline" in note for note in report.notes)
    entry = read_baselines(shop.folder / "products.baseline.json").requests["current"]
    assert (entry.index.documents, entry.index.missing) == (321, ())
    [mapping], [settings] = entry.index.mapping_json, entry.index.settings_json
    assert mapping["properties"]["title"]["type"] == "text"
    assert settings["number_of_shards"] == "1"
    assert not settings.keys() & {"uuid", "creation_date", "provided_name", "version"}
    assert entry.request == {"body": shop.suite["requests"]["current"]}
    assert {query: kept.text for query, kept in entry.queries.items()} == {
        query["id"]: query["text"] for query in shop.suite["queries"]
    }


@pytest.mark.one_engine
def test_a_query_that_asks_something_else_is_compared_with_nothing(shop):
    shop.save()
    query = shop.suite["queries"][0]
    before, query["text"] = query["text"], "a bicycle bell"
    shop.write()
    status, report = shop.run()
    assert (status, {verdict.status for verdict in report.verdicts}) == (1, {Status.FAILED})
    for verdict in report.verdicts:
        assert f"{query['id']} (its text was {before!r} and is 'a bicycle bell')" in verdict.reason


@pytest.mark.one_engine
def test_a_request_that_lost_the_title_fails_and_names_the_queries_that_fell(shop):
    shop.save()
    _, before = shop.run()
    fields = shop.suite["requests"]["current"]["query"]["multi_match"]["fields"]
    fields.remove("title^3")
    shop.write()
    status, report = shop.run()
    mean, every = report.verdicts
    assert (status, mean.status, every.status) == (1, Status.FAILED, Status.FAILED)
    was, now = ndcg(before), ndcg(report)
    falls = sorted(
        (query for query in was if was[query] > now[query]), key=lambda query: (now[query] - was[query], query)
    )
    assert mean.blamed == tuple(falls)
    assert mean.observed == pytest.approx(sum(was.values()) / len(was) - sum(now.values()) / len(now))
    worst = falls[0]
    assert f"fell most: {worst} {was[worst]:.4f} -> {now[worst]:.4f}" in mean.reason
    assert every.blamed == tuple(query for query in falls if was[query] - now[query] > 0.3)
    assert any(note.endswith("the request changed") for note in report.notes)
    assert "ties" not in mean.reason


def test_an_index_that_was_built_in_another_order_passes_and_its_ties_are_named(shop):
    shop.save()
    _, before = shop.run()
    reverse_documents(shop.folder / "products" / "documents.jsonl")
    status, report = shop.run()
    assert report.index != before.index
    was, now = ndcg(before), ndcg(report)
    moved = [query for query in was if abs(was[query] - now[query]) > 1e-9]
    assert moved, "ties must have changed places for this to show anything"
    assert (status, {verdict.status for verdict in report.verdicts}) == (0, {Status.PASSED})
    assert {verdict.observed for verdict in report.verdicts} == {0.0}
    for verdict in report.verdicts:
        assert f"only the order of ties changed in {len(moved)} quer" in verdict.reason
    [note] = [note for note in report.notes if "since the baseline" in note]
    assert "tie" in note, note


@pytest.mark.one_engine
def test_judgments_that_changed_are_named_and_are_no_regression(shop):
    shop.save()
    _, before = shop.run()
    changed = [query["id"] for query in shop.suite["queries"] if query.get("judgments")]
    for query in shop.suite["queries"]:
        if query["id"] in changed:
            query["judgments"] = dict.fromkeys(query["judgments"], "bad") | {"sku-3101": "perfect"}  # a bike lock
    shop.write()
    status, report = shop.run()
    means = [one.summaries[0].mean for one in (before, report)]
    assert means[1] < means[0] - 0.02, "the scores fell by more than is allowed, for the judgments are others"
    assert (status, [verdict.observed for verdict in report.verdicts]) == (0, [0.0, 0.0])
    [note] = [note for note in report.notes if "since the baseline" in note]
    assert note.endswith(f"the judgments changed: {len(changed)} queries ({', '.join(changed)})")


@pytest.mark.one_engine
def test_an_index_that_lost_documents_is_named(shop):
    shop.save()
    shop.run()
    products = shop.folder / "products"
    files = [shop.path, *(products / name for name in ("head.qrels", "navigational.jsonl", "tail.csv"))]
    judged = set(re.findall(r"sku-[0-9]+", "".join(file.read_text(encoding="utf-8") for file in files)))
    documents = products / "documents.jsonl"
    lines = documents.read_text(encoding="utf-8").splitlines()
    lost = next(line for line in lines if json.loads(line)["id"] not in judged)
    documents.write_text("\n".join(line for line in lines if line != lost) + "\n", encoding="utf-8")
    _, report = shop.run()
    assert any(note.endswith("the index changed: it had 321 documents and has 320") for note in report.notes)


@pytest.mark.cranfield
@pytest.mark.one_engine
def test_on_cranfield_ties_move_the_mean_further_than_is_allowed_and_pass(collection):
    collection.save()
    _, before = collection.run()
    reverse_documents(collection.folder / "documents.jsonl")
    status, report = collection.run()
    means = [one.summaries[0].mean for one in (before, report)]
    assert abs(means[0] - means[1]) > 0.005, "or the threshold would have held without regard to ties"
    was, now = ndcg(before), ndcg(report)
    moved = [query for query in was if abs(was[query] - now[query]) > 1e-9]
    assert (status, {verdict.observed for verdict in report.verdicts}) == (0, {0.0})
    assert f"only the order of ties changed in {len(moved)} queries" in report.verdicts[0].reason
    cut = [query for query in report.queries if query.tail]
    assert len(cut) == 31
    assert all(query.closed for query in report.queries), "so that nothing can be inconclusive"
    assert any(note.startswith("31 queries repeated for ties below rank 10: at most 100 hits") for note in report.notes)


@pytest.mark.cranfield
@pytest.mark.one_engine
def test_on_cranfield_a_request_without_the_title_fails_with_the_queries_that_it_cost(collection):
    """The texts hold their titles too, so the mean hardly falls, and single queries do."""
    collection.save()
    _, before = collection.run()
    collection.suite["request"]["query"]["multi_match"]["fields"] = ["text"]
    collection.write()
    status, report = collection.run()
    was, now = ndcg(before), ndcg(report)
    every = report.verdicts[1]
    cost = sorted(
        (query for query in was if was[query] - now[query] > 0.5), key=lambda query: (now[query] - was[query], query)
    )
    assert (status, every.status, every.blamed) == (1, Status.FAILED, tuple(cost))
    assert cost


def test_documents_have_titles_whatever_the_request_returns_and_ranks_as_before(shop):
    shop.save()
    as_it_is, plain = shop.run()
    for own in ([], ["brand"], {"excludes": ["title"]}, False):
        body = shop.suite["requests"]["current"]
        body["_source"] = own
        shop.write()
        status, selected = shop.run()
        assert status == as_it_is
        rankings = [[[(hit.id, hit.score) for hit in one.ranking] for one in run.queries] for run in (plain, selected)]
        assert rankings[0] == rankings[1]
        titles = [[hit.title for one in run.queries for hit in one.ranking] for run in (plain, selected)]
        assert titles[0] == titles[1]
        assert all(titles[0])


@needs_extension("compare")
@pytest.mark.one_engine
def test_documents_that_left_a_ranking_have_titles(shop, capsys, monkeypatch):
    shop.save()
    field = shop.suite["requests"]["current"]["query"]["multi_match"]
    field["fields"] = ["brand", "description"]
    shop.write()
    _, report = shop.run()
    left = [one for query in report.queries for one in query.baseline.documents if one.candidate is None]
    assert len(left) > 20
    assert all(one.title for one in left)
    output = shop.folder / "compared.json"
    words = ["compare", "baseline", "request:current", "--suite", str(shop.path), "--url", shop.url, "--allow-write"]
    assert main([*words, "-q", "--output", f"json={output}"]) == 0
    compared = [one for query in json.loads(output.read_text())["queries"] for one in query["documents"]]
    gone = [one for one in compared if one["candidate"] is None]
    assert len(gone) >= len(left)
    assert all(one["title"] for one in gone)
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "160")
    assert main(["baseline", "diff", str(shop.path), "--url", shop.url, "--allow-write", "-q"]) == 0
    shown = capsys.readouterr().out
    rows = [row for row in shown.splitlines() if re.match(r" +\d+  sku-.* left ", row)]
    assert len(rows) > 20
    assert all(any(f"{one.id} {one.title[:20]}" in row for one in left) for row in rows)  # long titles are cut
