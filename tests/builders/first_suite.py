"""A folder with a suite as a user writes the first one: graded queries, a request, thresholds."""

from pathlib import Path

NAME = "products.relevance.yaml"
SUITE = """\
suite: products
target: {cluster: default, index: products}
grades: {perfect: 3, good: 2, bad: 0}
request:
  query:
    multi_match: {query: "{{text}}", fields: [title^3, description]}
measures: ["nDCG@10", "P@3", "RR@10"]
thresholds:
  - "mean nDCG@10 >= 0.85"
  - "every nDCG@10 >= 0.6"
queries:
  - id: tent
    text: tent
    tags: [head]
    judgments: {p07: perfect, p08: good, p22: bad}
    expect: ["hits >= 2"]
  - {id: lamp, text: lamp}
judgments: products.qrels
"""
JUDGMENTS = "lamp 0 p30 2\n"


def write_first_suite(folder: Path) -> None:
    """Write the suite, its file of judgments, and the relevance.toml with its cluster, to *folder*."""
    (folder / NAME).write_text(SUITE, encoding="utf-8")
    (folder / "products.qrels").write_text(JUDGMENTS, encoding="utf-8")
    (folder / "relevance.toml").write_text('[clusters.default]\nurl = "http://localhost:9200"\n', encoding="utf-8")
