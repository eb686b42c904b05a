"""A suite of twelve queries on a scripted engine that ranks by the weight of the title, and a session on it."""

from contextlib import ExitStack, contextmanager
from pathlib import Path

from builders.engine import ScriptedEngine
from harness.extensions.workbench.actions import Actions
from harness.extensions.workbench.bench import Bench
from harness.extensions.workbench.grading import Grading
from harness.extensions.workbench.opening import TryOptions, open_material
from harness.extensions.workbench.scored_tries import ScoredTries
from harness.extensions.workbench.tries import TriesFile
from harness.options import RunOptions
from harness.run import Runner
from harness.run.connections import FixtureBuilds

QUERIES = [f"q{number}" for number in range(12)]

REQUEST = """\
query:
  multi_match:
    query: "{{text}}"
    # The title counts most.
    fields: [title^3, brand]
    tie_breaker: 0.2
"""

SUITE = """\
suite: shop
target: {index: products}
measures: [nDCG@5]
depth: 5
grades: {bad: 0, fair: 1, good: 2}
thresholds: ["mean nDCG@5 >= 0.9"]
requests:
  # What is sent today.
  current:
    query:
      multi_match:
        query: "{{text}}"
        # The title counts most.
        fields: [title^3, brand]
        tie_breaker: 0.2
  other:
    query: {multi_match: {query: "{{text}}", fields: [title^9, brand]}}

# The queries.
queries:
"""


class ShopEngine(ScriptedEngine):
    """
    Ranks the good document of each query second, and first from a weight of 5 on; from 8 on there is an unjudged hit.

    A tie_breaker above 1 is an error. *bodies* are the bodies that were sent. Documents that are looked up by their ids
    have the fields of *sources*.
    """

    def __init__(self):
        super().__init__()
        self.bodies = []
        self.sources = {}
        for query in QUERIES:
            self.rankings[query] = [f"{query}-b", f"{query}-a", f"{query}-c"]
            self.rankings[f"{query} good"] = [f"{query}-a", f"{query}-b", f"{query}-c"]
            self.rankings[f"{query} new"] = [f"{query}-new", f"{query}-a", f"{query}-b"]

    def search(self, body, index):
        clause = body["query"].get("multi_match")
        if clause is None:
            item = super().search(body, index)
            for hit in item["hits"]["hits"] if "ids" in body["query"] else ():
                hit["_source"] = self.sources.get(hit["_id"], {})
            return item
        self.bodies.append(body)
        if clause.get("tie_breaker", 0) > 1:
            return {"status": 400, "error": {"type": "illegal", "reason": "[tie_breaker] is above 1"}}
        weight = float(clause["fields"][0].partition("^")[2] or 1)
        kind = " new" if weight >= 8 else " good" if weight >= 5 else ""
        text = clause["query"] + kind
        return super().search({**body, "query": {"match": {"title": text}}}, index)


def write_suite(folder: Path, text: str = SUITE) -> Path:
    path = folder / "shop.relevance.yaml"
    lines = [f"  - {{id: {q}, text: {q}, judgments: {{{q}-a: good, {q}-b: fair, {q}-c: bad}}}}\n" for q in QUERIES]
    path.write_text(text + "".join(lines))
    return path


@contextmanager
def open_actions(path, url, *, judge=None, hold_out=False, environ=None, **options):
    """The actions of a session on the suite at *path*, searched at *url*."""
    run = RunOptions(url=url, **options.pop("run", {}))
    options = TryOptions(path, run, judge=judge, hold_out=hold_out, **options)
    environ = {} if environ is None else environ
    with ExitStack() as resources:
        builds = FixtureBuilds()
        runner = resources.enter_context(Runner(environ, builds=builds))
        material = open_material(options, environ, runner)
        tries = TriesFile.read(path, material.suite.roots)
        grading = Grading.prepare(material.suite, judge, material.configs, resources)

        def reopen():
            builds.forget()
            return open_material(options, environ, runner)

        bench = Bench(ScoredTries(material, tries), reopen, runner)
        resources.callback(bench.close)
        yield Actions(bench, grading, runner, environ)


def begin(actions, text, **sent):
    """The answer to a text that is sent."""
    return actions.begin("", {"text": text, "first": [], **sent})


def follow(actions, run):
    """All rows of a run by query, and its last answer."""
    rows, since = {}, 0
    while True:
        answer = actions.wait_for_answers("", {"run": run, "since": str(since)})
        since = answer["since"]
        rows |= {row["query"]: row for row in answer["rows"]}
        if answer["over"] or answer["superseded"]:
            return rows, answer


def send(actions, text, **sent):
    """As `follow`, of a text."""
    return follow(actions, begin(actions, text, **sent)["run"])
