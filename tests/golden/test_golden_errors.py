"""What is refused, with its place and its remedy."""

from __future__ import annotations

SOUND = """\
suite: wrong
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@5"]
thresholds: ["mean nDCG@5 >= 0.5"]
queries:
  - {id: q, text: red shoes, tags: [head], judgments: {a: 3}, expect: ["a in top 1"]}
"""
CHANGES = {
    "unknown-key": ("measures:", "mesures:"),
    "unknown-measure": ("nDCG@5", "nDCG5"),
    "unreachable-number": (">= 0.5", ">= 7"),
    "threshold-grammar": ("mean nDCG@5 >=", "average nDCG@5 =>"),
    "unknown-tag": (">= 0.5", ">= 0.5 for tail"),
    "expectation-grammar": ("a in top 1", "a on top 1"),
    "unquoted-placeholder": ('"{{text}}"', "{{text}}"),
    "unknown-placeholder": ("{{text}}", "{{txet}}"),
    "grade-that-is-none": ("{a: 3}", "{a: perfect}"),
    "duplicate-key": ("suite: wrong", "suite: wrong\nsuite: wrong"),
    "no-queries": (SOUND[SOUND.index("queries") :], "queries: []\n"),
    "flow-that-does-not-end": ("[head]", "[head"),
    "two-documents": ("suite: wrong", "--- {}\n---\nsuite: wrong"),
    "login-in-a-url": ("{index: products}", "{cluster: 'http://me:secret@127.0.0.1:9200', index: products}"),
    "unset-variable": ("{index: products}", '{index: "${RELEVANCE_NOT_SET_ANYWHERE}"}'),
    "file-that-is-not-there": ("queries:", "judgments: nowhere.qrels\nqueries:"),
}


def test_wrong_suites(folder, harness, inner_pytest, golden):
    for path in folder.glob("*.relevance.yaml"):
        path.unlink()
    printed = {}
    for name, (before, after) in CHANGES.items():
        assert before in SOUND
        (folder / f"{name}.relevance.yaml").write_text(SOUND.replace(before, after), encoding="utf-8")
        printed[name] = harness("run", f"{name}.relevance.yaml", "--url", "http://127.0.0.1:9")
    golden({**printed, "validate": harness("validate", "."), "pytest": inner_pytest(".")})
