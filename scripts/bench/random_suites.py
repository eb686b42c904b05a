"""What scripts/bench/compare-checkouts runs: suites made up from a seed, and an engine that answers them."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from builders.engine import ScriptedEngine, filtered_ids, item_of  # noqa: E402

DOCUMENTS = [*(f"sku-{number}" for number in range(36)), "sku 36", "schuh|37", "靴-38", "<b>39"]
INDEXES = ("products", "products-next")
TAGS = ("head", "tail", "navigational", "seasonal")
WORDS = ("red shoes", "rubber boots", "rain coat", "tent", "climbing rope", "café chairs", "water bottle", "Läufer 靴")
ODD = ("nothing", "twice", "counted")
"""A query with one of these words in its text gets an odd answer; `refused` and `partial` get an error."""

MEASURES = (
    "nDCG@10", "nDCG@3", "nDCG(gain=linear)@5", "DCG@5", "CG@5", "AP", "AP(rel=2)@10", "RR", "RR@5", "P@5",
    "P(rel=2)@3", "R@10", "F", "Rprec", "Success@3", "ERR(max=3)@10", "RBP(p=0.8)", "Bpref", "infAP", "Judged@10",
    "Judged@3", "Compat", "IPrec@0.2", "SetP", "SetAP", "NumRelRet",
)  # fmt: skip
BOUNDED = ("nDCG@10", "nDCG@3", "AP", "RR@5", "P@5", "R@10", "ERR(max=3)@10", "Success@3", "Judged@10")

SUITE_EXPECTATIONS = (
    "hits >= 1", "every hit in top 5 has title", "no hit in top 3 has price > 450", "distinct brand >= 2 in top 10",
    "no repeated title in top 10", "in_stock = true in top 3", "brand in {Acme, 'Big Co'} in top 5",
)  # fmt: skip
QUERY_EXPECTATIONS = (
    "hits >= 3", "hits < 12", "price <= 100 in top 5", "price in 10..200 in top 3", "size = 42 in top 5",
    "every hit in top 4 has in_stock = true",
)  # fmt: skip


class ShopEngine(ScriptedEngine):
    """
    An engine, or a search *service* at `/find`, whose rankings follow from the number in a query's text.

    Each text with the same number has nearly the same ranking, so that variants agree in part. One that has *moved*
    returns some of the documents in another order.
    """

    def __init__(self, *, moved: bool = False, service: bool = False) -> None:
        super().__init__()
        self.moved = moved
        if service:
            self.root = {"shop": "open"}
            self.headers = {}

    def reply(self, method: str, path: str, body: bytes) -> tuple[int, object]:
        """The answer to a search of the service, or that of the engine."""
        if urlsplit(path).path != "/find":
            return super().reply(method, path, body)
        params = parse_qs(urlsplit(path).query)
        text = params.get("q", [""])[0]
        if "refused" in text:
            return 400, {"error": "no such thing"}
        ranking = self.rank("service", text)
        rows = int(params.get("limit", ["10"])[0])
        hits = [{"id": document, "score": score, **describe(document)} for document, score in ranking[:rows]]
        return 200, {"hits": hits, "total": len(ranking), "took": 1 + len(text) % 7}

    def field_caps(self, path: str) -> object:
        """The types of the fields that documents have."""
        types = {"title": "text", "price": "double", "in_stock": "boolean", "brand": "keyword", "size": "integer"}
        [names] = parse_qs(urlsplit(path).query)["fields"]
        wanted = set(types) if names == "*" else set(names.split(","))
        fields = {name: {kind: {"type": kind}} for name, kind in types.items() if name in wanted}
        return {"indices": ["i"], "fields": fields}

    def search(self, body: dict[str, Any], index: str) -> object:
        """The item of an `_msearch` for one search."""
        body = self.fill(body)
        size = body.get("size", 10)
        if "ids" in body["query"]:
            item = item_of([name for name in body["query"]["ids"]["values"] if name in DOCUMENTS], size=size)
        elif "match_all" in body["query"]:
            item = item_of(sorted(DOCUMENTS), size=size)
        else:
            text = body["query"]["match"]["title"]
            if "refused" in text:
                return {"status": 400, "error": {"type": "parsing_exception", "reason": "no such thing"}}
            wanted = filtered_ids(body)
            ranking = self.rank(index, text)
            if wanted is not None:
                ranking = [pair for pair in ranking if pair[0] in wanted]
            item = item_of(ranking, size=size, index=index)
            item["took"] = 1 + len(text) % 40
            if "counted" in text:
                item["hits"]["total"] = {"value": 10_000, "relation": "gte"}
            if "partial" in text:
                item["_shards"] = {"total": 2, "successful": 1, "skipped": 0, "failed": 1}
        for hit in item["hits"]["hits"]:
            add_fields(hit, body)
        return item

    def rank(self, index: str, text: str) -> list[tuple[str, float]]:
        """The documents that *text* finds, best first, with their scores, of which some are equal."""
        if "nothing" in text:
            return []
        number = re.search(r"\d+", text)
        ranking = rank_documents(int(number[0]) if number else 0)
        draw = random.Random(f"{index} {text}" if index != INDEXES[0] else text)
        swap_some(ranking, draw, 1)
        if self.moved:
            swap_some(ranking, random.Random(f"moved {text}"), 2)
        step = draw.choice((0.0, 0.5, 1.0))
        scores = [9.0 - step * (rank // 2) for rank in range(len(ranking))]
        ranked = list(zip(ranking, scores, strict=True))
        return [*ranked[:3], ranked[0], *ranked[3:]] if "twice" in text else ranked


def rank_documents(number: int) -> list[str]:
    """The documents of the ranking with this number, before anything moves in it."""
    draw = random.Random(number)
    return draw.sample(DOCUMENTS, draw.choice((3, 6, 10, 14)))


def swap_some(ranking: list[str], draw: random.Random, times: int) -> None:
    """Swap so many pairs of neighbours but one in *ranking*."""
    for _ in range(times):
        place = draw.randrange(len(ranking))
        other = (place + 2) % len(ranking)
        ranking[place], ranking[other] = ranking[other], ranking[place]


def describe(document: str) -> dict[str, Any]:
    """The fields of *document*; some have no price."""
    draw = random.Random(document)
    fields: dict[str, Any] = {
        "title": f"Title of {document}",
        "in_stock": draw.random() < 0.8,
        "brand": draw.choice(("Acme", "Big Co", "Zeta")),
        "size": draw.sample(range(36, 48), draw.randint(1, 3)),
    }
    if draw.random() < 0.9:
        fields["price"] = round(draw.uniform(5, 500), 2)
    return fields


def add_fields(hit: dict[str, Any], body: Mapping[str, Any]) -> None:
    """Give *hit* the source and the fields that *body* asks for."""
    document = describe(hit["_id"])
    if body.get("_source"):
        wanted = body["_source"]
        hit["_source"] = document if wanted is True else {key: document[key] for key in wanted if key in document}
    names = [name if isinstance(name, str) else name["field"] for name in body.get("fields", [])]
    found = {name: document[name] for name in names if name in document}
    if found:
        hit["fields"] = {name: value if isinstance(value, list) else [value] for name, value in found.items()}


@dataclass
class RandomSuite:
    """
    The suite with this *number*, which was written to *path*, relative to the folder of all suites.

    *options* are those of its runs. *wrong* says that the suite is refused.
    """

    number: int
    path: str
    queries: list[str]
    requests: list[str]
    options: list[str] = field(default_factory=list)
    wrong: bool = False
    is_service: bool = False


def write_suites(folder: Path, count: int, seed: int) -> list[RandomSuite]:
    """Write so many suites below *folder*, each in a folder of its own with its files."""
    return [SuiteMaker(folder, number, random.Random(f"{seed} {number}")).write() for number in range(count)]


class SuiteMaker:
    """Makes up one suite and the files that it names."""

    def __init__(self, folder: Path, number: int, draw: random.Random) -> None:
        self.number = number
        self.draw = draw
        self.name = f"suite-{number:02}"
        self.base = folder / self.name
        self.base.mkdir(parents=True)
        self.is_service = number % 5 == 4
        self.named_grades = draw.random() < 0.3

    def write(self) -> RandomSuite:
        """Write the suite and its files."""
        draw = self.draw
        queries = [self.make_query(place) for place in range(draw.choice((2, 4, 6, 10)))]
        if draw.random() < 0.4:
            for query in queries:
                query["weight"] = draw.choice((1, 2.5, 40, 1200))
        requests = self.make_requests()
        suite: dict[str, Any] = {"suite": self.name, "target": {} if self.is_service else {"index": INDEXES[0]}}
        suite.update(self.make_settings())
        suite.update(requests)
        suite["measures"] = draw.sample(MEASURES, draw.randint(1, 5))
        has_variants = "variants" in suite or any("variants" in query or "same_as" in query for query in queries)
        tags = sorted({tag for query in queries for tag in query.get("tags", [])})
        suite["thresholds"] = self.make_thresholds(tags, has_variants=has_variants)
        if self.number % 6 != 0 and draw.random() < 0.5:
            suite["expect"] = [self.wrap("expect", text) for text in draw.sample(SUITE_EXPECTATIONS, 2)]
        if self.number % 8 == 5:
            suite["judges"] = ["people", "gpt"]
            suite["thresholds"] += ["machine nDCG@10 <= 30%", "kappa gpt >= 0.2 over 3 documents"]
            self.write_machine_grades(queries)
        if self.number % 7 == 3:
            self.move_judgments(suite, queries)
        suite["queries"] = self.move_queries(queries) if self.number % 6 == 2 else queries
        wrong = self.number % 12 == 11
        if wrong:
            self.spoil(suite, queries)
        path = self.base / f"{self.name}.relevance.yaml"
        path.write_text(json.dumps(suite, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        names = list(requests.get("requests", requests))
        ids = [query["id"] for query in queries]
        shown = f"{self.name}/{path.name}"
        return RandomSuite(self.number, shown, ids, names, self.draw_options(names, tags), wrong, self.is_service)

    def draw_options(self, requests: list[str], tags: list[str]) -> list[str]:
        """Options for the runs of the suite."""
        options = ["--all-requests"] if len(requests) > 1 and self.draw.random() < 0.7 else []
        further = [["--no-intervals"], ["--strict-xfail"], ["--report-only"], ["--repeat", "2"], ["--no-checks"]]
        further += [["--tag", tag] for tag in tags]
        if not self.is_service:
            further.append(["--index", INDEXES[1]])
        return options + self.draw.choice(further) if self.draw.random() < 0.5 else options

    def make_settings(self) -> dict[str, Any]:
        """Some of the keys of a suite that change how it is scored and shown."""
        draw = self.draw
        settings: dict[str, Any] = {}
        if self.named_grades:
            settings["grades"] = {"perfect": 3, "good": 2, "fair": 1, "bad": 0}
        if draw.random() < 0.2:
            settings["gain"] = {"perfect": 10, "good": 5, "fair": 1, "bad": 0} if self.named_grades else "linear"
        if draw.random() < 0.2:
            settings["profile"] = draw.choice(("trec", "rank_eval", "quepid", "opensearch-srw"))
        if draw.random() < 0.6:
            settings["undefined"] = "skip"
        if draw.random() < 0.5:
            settings["baseline"] = "optional"
        if draw.random() < 0.3:
            settings["depth"] = draw.choice((12, 20))
        if draw.random() < 0.5:
            settings["display"] = {"title": "title", "fields": ["brand", "price"]}
        if draw.random() < 0.2:
            settings["variants"] = {"typos": 1, "case": True}
        return settings

    def make_requests(self) -> dict[str, Any]:
        """One request, or several of which one may decide nothing."""
        if self.is_service:
            fields = {name: f"$.{name}" for name in ("title", "price", "in_stock", "brand", "size")}
            service = {
                "path": "/find", "params": {"q": "{{text}}"}, "hits": "$.hits[*]", "ids": "$.id", "scores": "$.score",
                "titles": "$.title", "total": "$.total", "took": "$.took", "size": "limit", "fields": fields,
            }  # fmt: skip
            return {"request": {"http": service}}
        plain = {"query": {"match": {"title": "{{text}}"}}}
        if self.draw.random() < 0.6:
            return {"request": plain}
        other = {"index": INDEXES[1], "body": plain}
        if self.draw.random() < 0.3:
            other["gate"] = False
        return {"requests": {"current": plain, "candidate": other}}

    def make_query(self, place: int) -> dict[str, Any]:
        """A query with judgments of documents that it finds, and of others that it does not."""
        draw = self.draw
        number = 100 * self.number + place
        word = draw.choice(ODD) if draw.random() < 0.12 else ""
        if draw.random() < 0.015:
            word = draw.choice(("refused", "partial"))
        query: dict[str, Any] = {"id": f"q{place}", "text": f"{draw.choice(WORDS)} {number} {word}".strip()}
        if draw.random() < 0.7:
            query["tags"] = draw.sample(TAGS, draw.randint(1, 2))
        query["judgments"] = self.make_judgments(number)
        is_strict = self.number % 6 != 0 and draw.random() < 0.4
        if is_strict:
            query["thresholds"] = [self.wrap("threshold", text) for text in draw.sample(self.query_thresholds(), 2)]
        if is_strict:
            query["expect"] = [self.wrap("expect", text) for text in draw.sample(self.query_expectations(number), 2)]
        if draw.random() < 0.15:
            query["variants"] = [f"{query['text']} please", query["text"].upper()]
        if place and draw.random() < 0.05:
            query["same_as"] = "q0"
        for key in ("xfail", "skip"):
            if draw.random() < 0.06:
                query[key] = self.make_reason()
        return query

    def make_judgments(self, number: int) -> dict[str, Any]:
        """Grades of some of what is found; seldom none above 0, so that measures are undefined."""
        draw = self.draw
        found = rank_documents(number)
        judged = draw.sample(found, draw.randint(1, len(found)))
        judged += draw.sample([name for name in DOCUMENTS if name not in found], draw.randint(0, 4))
        if draw.random() < 0.1:
            judged.append("sku-gone")
        grades: tuple[Any, ...] = ("bad", "fair", "good", "perfect") if self.named_grades else (0, 1, 2, 3)
        if draw.random() < 0.08:
            grades = grades[:1]
        return {document: draw.choice(grades) for document in dict.fromkeys(judged)}

    def make_reason(self) -> dict[str, Any]:
        """The value of `xfail` and `skip`: in force, or over."""
        reason = {"reason": self.draw.choice(("waits for synonyms", "not sold in winter"))}
        if self.draw.random() < 0.5:
            reason["until"] = self.draw.choice(("2999-12-31", "2020-12-31"))
        return reason

    def wrap(self, key: str, text: str) -> str | dict[str, Any]:
        """A threshold or an expectation as text, or with more keys."""
        chance = self.draw.random()
        if chance < 0.7:
            return text
        if chance < 0.8:
            return {key: text, "severity": "warn"}
        return {key: text, self.draw.choice(("xfail", "xfail", "skip")): self.make_reason()}

    def make_thresholds(self, tags: list[str], *, has_variants: bool) -> list[Any]:
        """Thresholds of the kinds that a suite may have, and some of them for a tag."""
        draw = self.draw
        measure, other = draw.sample(BOUNDED, 2)
        limit = draw.choice((0.1, 0.3, 0.5, 0.7))
        if self.number % 6 == 0:
            # Without these no suite of several thresholds passes.
            easy = [f"mean {measure} >= 0", f"drop {measure} <= 90%", "mean RBO >= 0.01", "p95 latency <= 900 ms"]
            return [self.wrap("threshold", text) for text in easy]
        tag = f" for {draw.choice(tags)}" if tags and draw.random() < 0.4 else ""
        kinds = [
            f"mean {measure} >= {limit}{tag}",
            f"median {measure} > {limit}{tag}",
            f"every {other} >= {limit / 2}{tag}",
            f"{draw.choice((50, 80, 95))}% {measure} >= {limit}",
            f"{draw.choice(('p50', 'p95', 'max'))} latency <= {draw.choice((20, 100))} ms",
            f"drop {measure} <= 0.02{tag}",
            f"drop {other} <= {draw.choice((2, 20))}%",
            f"drop every {measure} <= 0.2{tag}",
            f"drop {measure} is not significant at 5%",
            f"worse {measure} by 0.1 <= {draw.choice((0, 1, 2))} queries",
            f"worse {other} by 0.05 <= 25%{tag}",
            "mean RBO >= 0.5",
            "every overlap@5 >= 0.6",
            "80% RBO(p=0.8)@5 >= 0.7",
            # Scores that are fractions of few parts meet their limit exactly.
            f"every P@5 {draw.choice(('>=', '>', '<', '='))} {draw.choice((0.2, 0.4, 0.6))}",
            f"median RR@5 {draw.choice(('>=', '<='))} {draw.choice((0.5, 1))}",
            f"50% Success@3 >= 1{tag}",
        ]
        if self.number % 3 == 0:
            kinds += [f"drop {measure} <= 0.05 since 2 runs", f"drop every {other} <= 0.3 since 1 runs"]
        if has_variants:
            kinds += [
                "mean RBO of variants >= 0.8",
                "every overlap@3 of variants >= 0.5",
                f"loss {measure} of variants <= 0.1",
                f"loss every {measure} of variants <= 0.2",
            ]
        return [self.wrap("threshold", text) for text in draw.sample(kinds, draw.randint(4, 12))]

    def query_thresholds(self) -> list[str]:
        """Thresholds that a query may have."""
        measure = self.draw.choice(BOUNDED)
        return [
            f"{measure} >= 0.5", f"{measure} < 0.9", f"drop {measure} <= 0.1", "overlap@10 >= 0.5", "RBO >= 0.8",
            "max latency <= 15 ms",
        ]  # fmt: skip

    def query_expectations(self, number: int) -> list[str]:
        """Expectations that the query with this number may have."""
        found = rank_documents(number)
        first, second = (f"'{document}'" for document in self.draw.sample(found, 2))
        found_here = [f"{first} in top 3", f"{second} not in top 2", f"{first} before {second}"]
        return [*found_here, *QUERY_EXPECTATIONS]

    def move_judgments(self, suite: dict[str, Any], queries: list[dict[str, Any]]) -> None:
        """Put the judgments of each second query into files of two formats, which have a query too many."""
        rows = []
        for query in queries[::2]:
            rows += [(query["id"], document, grade) for document, grade in query.pop("judgments").items()]
        rows.append(("no-such-query", DOCUMENTS[0], rows[0][2]))
        half = len(rows) // 2
        table = "query,document,grade\n" + "".join(f'{query},"{name}",{grade}\n' for query, name, grade in rows[:half])
        (self.base / "some.csv").write_text(table, encoding="utf-8")
        keys = ("query", "document", "grade")
        lines = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows[half:])
        (self.base / "more.jsonl").write_text(lines, encoding="utf-8")
        suite["judgments"] = {"files": ["some.csv", "more.jsonl"], "other_queries": "ignore"}

    def write_machine_grades(self, queries: list[dict[str, Any]]) -> None:
        """Let the machine `gpt` grade documents beside those that people graded, and some of the same."""
        machine = {"model": "gpt-made-up", "version": "1", "prompt": "a31b", "shown": "77e0", "reason": "A light tent."}
        machine |= {"input_tokens": 702, "output_tokens": 41}
        lines = []
        for place, query in enumerate(queries):
            for document in self.draw.sample(rank_documents(100 * self.number + place), 3):
                line = {"query": query["id"], "document": document, "grade": self.draw.randint(0, 3)}
                lines.append({**line, "suite": self.name, "machine": machine})
        written = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (self.base / f"{self.name}.judged-by.gpt.jsonl").write_text(written, encoding="utf-8")

    def move_queries(self, queries: list[dict[str, Any]]) -> dict[str, Any]:
        """Put the texts of the queries into a file, and leave the rest inline."""
        lines = "".join(f"{query['id']}\t{query.pop('text')}\n" for query in queries)
        (self.base / "queries.tsv").write_text(lines, encoding="utf-8")
        return {"file": "queries.tsv", "inline": queries}

    def spoil(self, suite: dict[str, Any], queries: list[dict[str, Any]]) -> None:
        """Make an error or two for which the suite is refused."""
        errors = (
            lambda: suite.update(thresholds=["maen nDCG@10 >= 0.8"]), lambda: suite.update(mesures=["AP"]),
            lambda: suite.update(judgments="no-such-file.csv"), lambda: queries[0].update(weight=-1),
            lambda: queries[0].update(judgments={"sku-1": "godo"}), lambda: queries[-1].update(id=queries[0]["id"]),
            lambda: suite.update(measures=["nDGC@10"]), lambda: suite.pop("queries"),
        )  # fmt: skip
        for error in self.draw.sample(errors, 2):
            error()
