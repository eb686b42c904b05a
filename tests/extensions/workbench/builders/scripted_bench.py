"""
What the page of ``relevance try`` asks of its command, answered from a script: made queries, hits and scores, which
arrive in batches at a pace of the test's choice.
"""

import json
import random
import re
import threading
import time
from dataclasses import dataclass, field

from harness.errors import UsageError
from harness.extensions.workbench.page import ASSETS
from harness.local_server import LocalServer, RefusedAction, Site
from harness.local_server.access import OneUser

LIVE = """\
{
  "query": {
    "multi_match": {
      "query": "{{text}}",
      "fields": ["title^3", "brand", "description^0.5"],
      "tie_breaker": 0.2
    }
  }
}"""
DIALS = {
    "/query/multi_match/fields/0": ("title", r"(?<=title\^)-?[\d.]+", 0.5),
    "/query/multi_match/fields/2": ("description", r"(?<=description\^)-?[\d.]+", 0.1),
    "/query/multi_match/tie_breaker": ("tie_breaker", r'(?<="tie_breaker": )[\d.]+', 0.1),
}
"""By pointer: a name, where the value stands in the text, and the step."""
CHOICES = [
    {"grade": float(grade), "name": name, "key": str(grade), "description": ""}
    for grade, name in enumerate(("bad", "fair", "good", "perfect"))
]
KINDS = ("tent", "boots", "jacket", "lamp", "stove", "rope", "bottle", "map")
COLOURS = ("red", "blue", "green", "black", "light", "warm", "small", "waterproof")
DEPTH = 10
MOST_WAITING = 1.0
"""Seconds that a request for answers waits."""


@dataclass
class ScriptedRun:
    """The queries of a text, in the order in which they are answered, from *start* on."""

    text: str
    order: list[str]
    start: float
    is_again: bool = False
    is_superseded: bool = False
    is_over: bool = False


@dataclass
class ScriptedBench:
    """
    Answers of a command that tries requests on *count* queries: *batch* of them each *pace* seconds.

    Args:
        stop: As many queries of a run are answered, and no more until the test takes it away.
        failing: Each query with a number that this divides has no answer; none with 0.
        spoiled: Put into each text that could come from an engine, a suite or a file.
        moves: The share of the queries that a text moves.
        variants: Of each query.
    """

    count: int = 45
    batch: int = 15
    pace: float = 0.0
    stop: int | None = None
    failing: int = 0
    spoiled: str = ""
    moves: float = 0.6
    variants: int = 0
    judge: str | None = "anna"
    choices: list[dict] = field(default_factory=lambda: CHOICES)
    is_manual: bool = False
    has_hold_out: bool = True
    breaks_at: str = "\0"
    """A text that has this cannot be answered."""
    texts: list[str] = field(default_factory=list)
    """Of which a run began, in this order."""
    whole: list[str] = field(default_factory=list)
    """Those of which all queries were answered."""
    written: list[str] = field(default_factory=list)
    tries: list[dict] = field(default_factory=list)
    grades: dict[tuple[str, str], float] = field(default_factory=dict)
    given: list[tuple[str, str]] = field(default_factory=list)
    """The pairs that were graded, for undo."""
    news: list[dict] = field(default_factory=list)
    """What is answered to a page that asks for changes on the disk."""
    watches: bool = False
    is_changed: bool = False
    """Whether the suite is found changed when it is written."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self):
        self.queries = [self._make_query(number) for number in range(self.count)]
        self.by_id = {query["id"]: query for query in self.queries}
        self.by_id |= {variant["id"]: variant for query in self.queries for variant in query["variants"]}
        self.runs = {}
        self.server = None

    def _make_query(self, number):
        chance = random.Random(number)
        words = f"{chance.choice(COLOURS)} {chance.choice(KINDS)} {number}{self.spoiled}"
        tags = ["head"] if number % 3 == 0 else ["tail"]
        return {
            "id": f"q{number}",
            "text": words,
            "tags": [tag + self.spoiled for tag in tags],
            "weight": float(1 + number % 4),
            "live": round(chance.uniform(0.3, 0.95), 4),
            "live_error": None,
            "variants": [self._make_variant(number, place) for place in range(1, self.variants + 1)],
        }

    def _make_variant(self, number, place):
        figures = {"live": round(0.3 + number % 7 / 10, 4), "live_error": None, "live_agreement": 0.8}
        text = f"variant {place} of {number}{self.spoiled}"
        return {"id": f"q{number}~{place}", "text": text, "rule": "typo", "agreement": "RBO", **figures}

    def serve(self):
        """A server of it, which is not started yet."""
        actions = {
            ("GET", "/session"): self.show_session,
            ("GET", "/changes"): self.show_changes,
            ("POST", "/try"): self.begin,
            ("GET", "/answers"): self.wait_for_answers,
            ("GET", "/try"): self.show_try,
            ("GET", "/query"): self.show_query,
            ("POST", "/explain"): self.explain,
            ("POST", "/grade"): self.grade,
            ("POST", "/undo"): self.undo,
            ("POST", "/again"): self.again,
            ("POST", "/why"): self.explain_why,
            ("POST", "/keep"): self.keep,
            ("POST", "/write"): self.write,
            ("POST", "/finish"): self.finish,
        }
        self.server = LocalServer(Site(ASSETS, actions, 2**20), OneUser("anna"))
        return self.server

    def show_session(self, user, sent):
        hold_out = {"queries": 12, "looks": 0, "sentence": "12 queries are held out." + self.spoiled}
        return {
            "suite": "shop" + self.spoiled,
            "request": "current",
            "against": "live",
            "measure": "nDCG@10",
            "depth": DEPTH,
            "manual": self.is_manual,
            "judge": self.judge,
            "choices": self.choices,
            "text": LIVE,
            "live_text": LIVE,
            "dials": find_dials(LIVE),
            "queries": self.queries,
            "live": self._mean([query["live"] for query in self.queries]),
            "has_explain": True,
            "has_why": True,
            "hold_out": hold_out if self.has_hold_out else None,
            "tries": [one["row"] for one in self.tries],
            "shown": None,
            "watches": self.watches,
            "notes": [self.spoiled] if self.spoiled else [],
        }

    def show_changes(self, user, sent):
        return self.news.pop() if self.news else {"said": None, "reload": False}

    @staticmethod
    def _mean(values):
        return sum(values) / max(len(values), 1)

    # Runs.

    def begin(self, user, sent):
        text = set_values(sent["text"], sent.get("values", {}))
        try:
            json.loads(text)
        except RecursionError:
            raise UsageError("too many levels") from None
        except ValueError as error:
            answer = {"error": f"{error.msg}{self.spoiled}", "line": error.lineno, "column": error.colno}
            raise RefusedAction(422, answer) from None
        with self.lock:
            known = [one for one in self.tries if one["text"] == text]
            if known and not sent.get("force"):
                return {"try": known[0]["row"]["number"], "text": text, "dials": find_dials(text)}
            for run in self.runs.values():
                run.is_superseded = run.is_superseded or not run.is_over
            first = [query for query in sent["first"] if query in self.by_id]
            order = first + [query for query in self.by_id if query not in set(first)]
            self.texts.append(text)
            return {
                "run": self._add_run(ScriptedRun(text, order, time.monotonic())),
                "text": text,
                "dials": find_dials(text),
            }

    def _add_run(self, run):
        name = f"run-{len(self.runs) + 1}"
        self.runs[name] = run
        return name

    def again(self, user, sent):
        text = self.tries[sent["try"] - 1]["text"] if sent["try"] else LIVE
        return {"run": self._add_run(ScriptedRun(text, [sent["query"]], time.monotonic(), is_again=True))}

    def _count_answered(self, run):
        if not self.pace:
            return len(run.order[: self.stop])
        batches = int((time.monotonic() - run.start) / self.pace)
        return min(batches * self.batch, len(run.order))

    def wait_for_answers(self, user, sent):
        run, since = self.runs[sent["run"]], int(sent["since"])
        deadline = time.monotonic() + MOST_WAITING
        while self._count_answered(run) <= since and time.monotonic() < deadline and not run.is_superseded:
            time.sleep(0.005)
        done = self._count_answered(run)
        numbers = [one["row"]["number"] for one in self.tries if one["text"] == run.text]
        answer = {"run": sent["run"], "part_of": (numbers or [0])[0] if run.is_again else None}
        answer |= {"since": done, "done": done, "total": len(run.order), "superseded": run.is_superseded, "error": None}
        answer |= {"rows": [], "over": False, "try": None, "summary": None}
        if run.is_superseded:
            return answer
        if self.breaks_at in run.text:
            return {**answer, "over": True, "error": "the engine does not answer" + self.spoiled}
        answer["rows"] = [self.make_row(query, run.text) for query in run.order[since:done]]
        if done < len(run.order):
            return answer
        with self.lock:
            run.is_over = answer["over"] = True
            if run.is_again:
                kept = next((one for one in self.tries if one["text"] == run.text), None)
            else:
                self.whole.append(run.text)
                kept = self._keep_try(run.text)
        if kept is not None:
            answer |= {"try": kept["row"], "summary": self.summarize(kept["text"])}
        return answer

    def _keep_try(self, text):
        known = [one for one in self.tries if one["text"] == text]
        if known:
            return known[0]
        summary = self.summarize(text)
        row = {
            "number": len(self.tries) + 1,
            "name": describe_change(text) + self.spoiled,
            "kept": False,
            "difference": summary["difference"],
            "is_grey": summary["is_grey"],
            "summary_line": summary["sentence"],
            "time": "2026-11-29T12:00:00+00:00",
            "stale": None,
        }
        self.tries.append({"text": text, "row": row})
        return self.tries[-1]

    def show_try(self, user, sent):
        kept = self.tries[int(sent["number"]) - 1]
        rows = [self.make_row(query, kept["text"]) for query in self.by_id]
        summary = self.summarize(kept["text"])
        shown = {"text": kept["text"], "dials": find_dials(kept["text"]), "rows": rows, "summary": summary}
        return {**shown, "stale": kept["row"]["stale"], "row": kept["row"]}

    # Figures.

    def make_row(self, query, text):
        number = int(query[1:].partition("~")[0])
        row = {"query": query, "unjudged": 0, "live_unjudged": 0, "moved": False, "error": None, "agreement": None}
        if "~" in query:
            row["agreement"] = 0.9
        if self.failing and number % self.failing == 0:
            error = f"the engine closed the connection{self.spoiled}"
            return {**row, "score": None, "low": None, "high": None, "error": error}
        chance = random.Random(f"{query} {text}")
        score = self.by_id[query]["live"]
        if text != LIVE and chance.random() < self.moves:
            score = min(max(score + chance.gauss(0.02, 0.12), 0.0), 1.0)
            row |= {"moved": True, "unjudged": chance.choice((0, 0, 1, 3))}
        score += 0.01 * sum(1 for pair in self.given if pair[0] == query)
        band = 0.03 if chance.random() < 0.05 else 0.0
        return {**row, "score": score, "low": score - band, "high": score + band}

    def summarize(self, text):
        rows = [self.make_row(query["id"], text) for query in self.queries]
        answered = [row for row in rows if row["score"] is not None]
        differences = [row["score"] - self.by_id[row["query"]]["live"] for row in answered]
        live, tried = (
            self._mean([query["live"] for query in self.queries]),
            self._mean([row["score"] for row in answered]),
        )
        difference, half = self._mean(differences), 0.015
        seconds = 0.21
        wins, losses = sum(one > 1e-9 for one in differences), sum(one < -1e-9 for one in differences)
        return {
            "live": live,
            "try": tried,
            "difference": difference,
            "interval": [difference - half, difference + half],
            "is_grey": abs(difference) <= half,
            "wins": wins,
            "losses": losses,
            "same": len(rows) - wins - losses,
            "failing": [{"text": "nDCG@10 >= 0.9" + self.spoiled, "live_too": True}],
            "unjudged": sum(row["unjudged"] for row in rows),
            "range": [difference - 0.03, difference + 0.04],
            "graded_here": {"count": len(self.given), "without": difference - 0.01} if self.given else None,
            "best": {"of": max(len(self.tries), 1), "interval": [difference - 0.03, difference + 0.02]},
            "searches": len(rows),
            "seconds": seconds,
            "latency": {"live": [4.1, 9.8], "try": [4.4, 11.2]},
            "sentence": f"{difference:+.4f}, {wins} won, {losses} lost.{self.spoiled}",
        }

    # Rankings and hits.

    def show_query(self, user, sent):
        text = None
        if "try" in sent:
            text = self.tries[int(sent["try"]) - 1]["text"]
        elif "run" in sent:
            run = self.runs[sent["run"]]
            if sent["id"] in run.order[: self._count_answered(run)]:
                text = run.text
        return self.rank(sent["id"], text)

    def list_documents(self, query, text):
        """The ids of the documents of a ranking: five change places, and one is new."""
        documents = [f"{query}-d{place}" for place in range(DEPTH)]
        if text is not None and text != LIVE:
            chance = random.Random(f"{query} {text}")
            documents[3:8] = chance.sample(documents[3:8], 5)
            documents.insert(2, f"{query}-new")
        return documents[:DEPTH]

    def rank(self, query, text):
        live = self.list_documents(query, None)
        answer = {"query": query, "try": None, "params": {"season": "summer" + self.spoiled}}
        tried = live if text is None else self.list_documents(query, text)
        answer["live"] = [self._make_hit(query, document, rank, tried) for rank, document in enumerate(live, 1)]
        for hit in answer["live"]:
            hit |= {"move": None, "is_new": False, "is_gone": hit["document"] not in tried}
        has_answer = not self.failing or int(query[1:].partition("~")[0]) % self.failing
        if text is not None and has_answer:
            answer["try"] = [self._make_hit(query, document, rank, live) for rank, document in enumerate(tried, 1)]
        where = "live not found, try not found: the text does not match" + self.spoiled
        answer["missing"] = [
            self._make_missing(query, f"{query}-far", "live rank 31, try rank 14"),
            self._make_missing(query, f"{query}-never", where),
        ]
        return answer

    def _title(self, document):
        return f"{COLOURS[len(document) % 8].title()} {document.replace('-', ' ')} for long trips{self.spoiled}"

    def _list_texts(self, document):
        return {"brand": f"Peak{self.spoiled}", "description": f"{self._title(document)}. " * 8}

    def _grade(self, query, document):
        if (query, document) in self.grades:
            return self.grades[query, document]
        place = document.rpartition("-d")[2]
        return float(int(place) % 4) if place.isdigit() and int(place) % 5 else None

    def _make_hit(self, query, document, rank, others):
        grade = self._grade(query, document)
        return {
            "rank": rank,
            "document": document,
            "title": self._title(document),
            "texts": self._list_texts(document),
            "move": others.index(document) + 1 - rank if document in others else None,
            "is_new": document not in others,
            "is_gone": False,
            "grade": grade,
            "is_own": (query, document) in self.given,
            "gain": None if grade is None else round(grade / (3 * (rank + 1)), 4),
            "tied": rank in (6, 7),
        }

    def _make_missing(self, query, document, where):
        return {
            "document": document,
            "title": self._title(document),
            "texts": self._list_texts(document),
            "grade": self.grades.get((query, document), 3.0),
            "is_own": (query, document) in self.given,
            "where": where,
        }

    def explain(self, user, sent):
        words = "against the hit above" if sent["above"] else "sum of:"
        lines = [{"depth": 0, "value": 7.25, "text": words + self.spoiled}]
        return {
            "lines": [
                *lines,
                {"depth": 1, "value": 4.5, "text": "title^3: tent"},
                {"depth": 1, "value": 2.75, "text": "brand: tent"},
            ]
        }

    # Grades.

    def grade(self, user, sent):
        pair = (sent["query"], sent["document"])
        if sent["grade"] is None:
            self.grades.pop(pair, None)
            self.given.remove(pair)
        else:
            self.grades[pair] = sent["grade"]
            self.given.append(pair)
        return self._describe_grade(pair, sent["try"], f"Graded {sent['grade']}.")

    def undo(self, user, sent):
        if not self.given:
            raise UsageError("There is nothing to undo.")
        pair = self.given.pop()
        self.grades.pop(pair, None)
        return self._describe_grade(pair, sent["try"], "Undone.")

    def _describe_grade(self, pair, number, said):
        text = self.tries[number - 1]["text"] if number else None
        answer = {
            "query": pair[0],
            "live": {pair[0]: self.by_id[pair[0]]["live"]},
            "ranking": self.rank(pair[0], text),
            "said": said,
        }
        answer |= {"rows": [], "summary": None, "tries": [one["row"] for one in self.tries]}
        if text is not None:
            answer |= {"rows": [self.make_row(pair[0], text)], "summary": self.summarize(text)}
        return answer

    # What is kept.

    def keep(self, user, sent):
        row = self.tries[sent["try"] - 1]["row"]
        row |= {"name": sent["name"], "kept": True}
        return row

    def write(self, user, sent):
        text = self.tries[sent["try"] - 1]["text"]
        if sent["how"] == "values" and not sent["name"]:
            raise UsageError("expected a name")
        diff = ["--- shop.relevance.yaml", "+++ shop.relevance.yaml", "@@ -3,0 +4,9 @@"]
        diff += [f"+  {line}{self.spoiled}" for line in (f"{sent['name']}:", *text.splitlines())]
        if not sent.get("write"):
            return {"diff": diff, "file": "shop.relevance.yaml", "token": "seen"}
        if self.is_changed:
            self.is_changed = False
            raise RefusedAction(409, {"error": "shop.relevance.yaml was changed meanwhile; nothing was written."})
        self.written.append(sent["name"])
        return {"written": "shop.relevance.yaml", "sentence": f"Wrote {sent['name']} to shop.relevance.yaml."}

    def explain_why(self, user, sent):
        found = describe_change(self.tries[sent["try"] - 1]["text"]) + self.spoiled
        if sent["send"]:
            return {"lines": [f"{found}: +0.0400 alone, +0.0300 reverted"], "searches": 0}
        return {"lines": [found], "searches": 360}

    def finish(self, user, sent):
        sentence = f"A gain on 12 queries that were held out: +0.0400 (+0.0100 to +0.0700).{self.spoiled}"
        return {"verdict": "gain", "sentence": sentence, "interval": [0.01, 0.07], "looks": 1}


def find_dials(text):
    """The dials of a text."""
    dials = []
    for pointer, (name, pattern, step) in DIALS.items():
        found, live = re.search(pattern, text), re.search(pattern, LIVE)
        if found:
            value = float(found[0].rstrip("."))
            dials.append({"pointer": pointer, "name": name, "value": value, "live": float(live[0]), "step": step})
    return dials


def set_values(text, values):
    """The text with *values*, by pointer, in the places of those it has."""
    for pointer, value in values.items():
        text = re.sub(DIALS[pointer][1], f"{value:g}", text, count=1)
    return text


def describe_change(text):
    """What a text changes."""
    changes = []
    live = {dial["pointer"]: dial["value"] for dial in find_dials(LIVE)}
    for dial in find_dials(text):
        if dial["value"] != live[dial["pointer"]]:
            changes.append(f"{dial['name']} {live[dial['pointer']]:g} → {dial['value']:g}")
    return ", ".join(changes) or "other text"
