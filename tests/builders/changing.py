"""A suite with two requests, baselines of it, and what answers, which a test changes between two commands."""

import json

import harness.search.dialects
from harness.cli import main
from harness.model.run import IndexFacts
from harness.search.testing import FakeSearch
from harness.store.baseline_files import read_baselines

SUITE = """\
suite: {name}
target: {{index: products}}
requests:
  current: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
  candidate: {{query: {{match_phrase: {{title: "{{{{text}}}}"}}}}}}
measures: ["RR@3"]
thresholds: ["drop RR@3 <= 0.1"]
queries:
  - {{id: q, text: one, tags: [head], judgments: {{a: 1}}}}
  - {{id: r, text: two, tags: [tail], judgments: {{b: 1}}}}
"""
ANOTHER_QUESTION = "r (its text was 'two' and is 'zwei')"
"""What is said after `ask_otherwise`."""


class ChangingSearch(FakeSearch):
    """Answers two queries; its rankings may be changed."""

    def __init__(self):
        super().__init__({"q": ["a"], "r": ["x", "b"]})
        self.facts = IndexFacts("m", None, 3, ("settings",))

    def now(self, **rankings):
        """From now on these are the rankings."""
        self._rankings.update(rankings)


def answer_changing(monkeypatch):
    """Have a search answer that can change."""
    search = ChangingSearch()
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: search)
    return search


def write_shop(folder):
    """Write the suite to *folder*, and where it is searched."""
    (folder / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    (folder / "shop.relevance.yaml").write_text(SUITE.format(name="shop"))
    return folder


def harness_baseline(*words):
    """Run a command of `relevance baseline`."""
    return main(["baseline", *words])


def kept(folder, name="shop"):
    """What the baseline keeps, by request."""
    return read_baselines(folder / f"{name}.baseline.json").requests


def ask_otherwise(folder):
    """Change the text of the second query."""
    path = folder / "shop.relevance.yaml"
    path.write_text(path.read_text().replace("text: two", "text: zwei"))


def contradict(folder, capsys):
    """Let the baseline of the first request say of r what cannot be, and give the sentence; the second's is sound."""
    harness_baseline("save", "shop.relevance.yaml", "-q", "--all-requests")
    path = folder / "shop.baseline.json"
    content = json.loads(path.read_text())
    content["requests"]["current"]["queries"]["r"]["ranking"] = []
    path.write_text(json.dumps(content))
    capsys.readouterr()
    return "shop.baseline.json contradicts itself: request current, query r: it is scored, and its ranking is empty"
