"""``relevance compare --why`` on a real Solr: the fields and functions of its parameters are differences."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("scipy", reason="comparisons need the extra statistics")

from builders.solr import CORE
from extensions.compare.builders.comparing import told
from harness.extensions.compare.why.model import Finding, WhyReport
from harness.extensions.compare.why.sentences import describe_why

PRODUCTS = Path(__file__).parents[4] / "suites" / "products.relevance.yaml"
SELECT = {
    "path": f"/{CORE}/select",
    "sort": ["$.score", "$.popularity", "$.id"],
    "fields": {"title": "$.title"},
}
PARAMS = {
    "q": "{{text}}",
    "defType": "edismax",
    "fl": "id,score,title,popularity",
    "sort": "score desc,popularity desc,id asc",
}
OLD = {
    "qf": "title^3 brand^2 category colour tags description",
    "pf": "title^2",
    "bf": "log(sum(popularity,1))^0.1",
}
NEW = {
    "qf": "title_shop^3 brand category_shop colour tags_shop description_shop",
    "pf": "title^4 description",
    "bf": "log(sum(popularity,1))^0.2",
    "mm": "1",
}


def write_suite(folder: Path, requests: dict[str, Any]) -> Path:
    shutil.copytree(PRODUCTS.parent / "products", folder / "products")
    suite = yaml.safe_load(PRODUCTS.read_text(encoding="utf-8"))
    del suite["fixture"], suite["tune"], suite["thresholds"]
    suite["target"] = {"cluster": "solr"}
    suite["requests"] = requests
    path = folder / PRODUCTS.name
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
    return path


def explain(capsys: pytest.CaptureFixture[str], path: Path, *words: str) -> WhyReport:
    status, report = told(capsys, *words, "--suite", str(path), "--why")
    assert status == 0
    assert report.why is not None
    return report.why


@pytest.fixture
def folder(tmp_path: Path, solr_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("solr", "other"):
        with Path("relevance.toml").open("a", encoding="utf-8") as file:
            file.write(f'[clusters.{name}]\nurl = "{solr_url}/solr"\nservice = "solr"\n')
    return tmp_path


def test_parameters_of_solr_are_taken_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of `qf`, `pf` and `bf` each field and weight is a difference; the analyzed fields are the cause."""
    requests = {
        name: {"http": {**SELECT, "params": {**PARAMS, **params}}} for name, params in (("old", OLD), ("new", NEW))
    }
    path = write_suite(folder, requests)
    why = explain(capsys, path, "request:old", "request:new")
    assert sorted((difference.name, difference.places[0]) for difference in why.differences) == [
        ("brand^2 → brand", "/params/qf/1"),
        ("log(sum(popularity,1))^0.1 → log(sum(popularity,1))^0.2", "/params/bf/0"),
        ("mm + 1", "/params/mm"),
        ("pf + description", "/params/pf/1"),
        ("title → title_shop, and 3 alike", "/params/qf/0"),
        ("title^2 → title^4", "/params/pf/0"),
    ]
    assert all(difference.finding is not Finding.REFUSED for difference in why.differences)
    assert [cause.name for cause in why.causes] == ["title → title_shop, and 3 alike"]
    assert any(query.causes for query in why.moved)
    assert why.whole.is_certain


def test_two_solr_servers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four runs; a Solr does not say what it holds. Here both are one, by two names."""
    fields = {**OLD, "qf": NEW["qf"]}
    requests = {
        name: {"http": {**SELECT, "params": {**PARAMS, **params}}} for name, params in (("old", OLD), ("new", fields))
    }
    path = write_suite(folder, requests)
    why = explain(capsys, path, "request:old", "request:new", "cluster:solr", "cluster:other")
    assert [difference.places[0] for difference in why.differences] == ["/params/qf/0", "/params/qf/1", "/server"]
    assert [part.finding for part in why.parts] == [Finding.CAUSE, Finding.NOTHING]
    assert why.indexes == ("how they differ is not known: such a server does not say what it holds",)
    assert any("the request and the index together" in sentence for sentence in describe_why(why))
