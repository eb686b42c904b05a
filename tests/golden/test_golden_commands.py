"""The commands that run no suite through the gate: comparisons, judgments, files, and what is refused."""

from __future__ import annotations

import pytest

from builders.golden import json_lines, page_lines

QRELS = "q1 0 a 3\nq1 0 b 1\nq1 0 c 0\nq2 0 d 2\nq2 0 e 1\nq3 0 f 1\nq4 0 g 0\nq5 0 h 2\n"
FIRST = {"q1": "abcx", "q2": "dey", "q3": "fz", "q4": "g", "q5": "hi"}
SECOND = {"q1": "bxac", "q2": "edy", "q3": "zf", "q4": "g", "q6": "k"}


@pytest.fixture
def files(folder):
    """Judgments, and two runs over them."""
    (folder / "judged.qrels").write_text(QRELS)
    for name, run in (("first.run", FIRST), ("second.run", SECOND)):
        lines = [f"{q} Q0 {d} {r} {10 - r} tag" for q, found in run.items() for r, d in enumerate(found, start=1)]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def written(folder, **kinds):
    """The files that a command wrote, by name and how they are brought into lines."""
    return {name: lines((folder / name).read_text(encoding="utf-8")) for name, lines in kinds.items()}


def test_evaluate(files, harness, golden):
    asked = ("evaluate", "--qrels", "judged.qrels", "--run", "first.run")
    golden(
        {
            "means": harness(*asked, "--measure", "nDCG@3", "--measure", "AP", "--measure", "Judged@2"),
            "per-query": harness(*asked, "--measure", "nDCG@3", "--measure", "RR", "--per-query"),
            "json": harness(*asked, "--measure", "nDCG@3", "--gain", "linear", "--json"),
            "gain": harness(*asked, "--measure", "DCG@3", "--gain", "{0: 0, 1: 1, 2: 3, 3: 9}"),
            "complete": harness(*asked[:3], "--run", "second.run", "--measure", "nDCG@3", "--complete"),
            **{
                f"profile-{profile}": harness(*asked, "--measure", "nDCG@3", "--measure", "P@3", "--profile", profile)
                for profile in ("trec", "rank_eval", "opensearch-srw", "quepid", "rre")
            },
        }
    )


def test_significance(files, harness, golden):
    asked = ("significance", "first.run", "second.run", "--qrels", "judged.qrels", "--measure", "nDCG@3")
    golden(
        {
            "sign-flip": harness(*asked, "--measure", "RR", "--complete"),
            "t": harness(*asked, "--test", "t", "--alternative", "less", "--complete"),
            "wilcoxon": harness(*asked, "--test", "wilcoxon", "--complete"),
            "sign": harness(*asked, "--test", "sign", "--correction", "none"),
            "json": harness(*asked, "--measure", "RR", "--json", "--complete"),
        }
    )


def test_compare_files(files, harness, golden):
    asked = ("compare", "run:first.run", "run:second.run", "--qrels", "judged.qrels", "--measure", "nDCG@3")
    outputs = [word for name in ("html=c.html", "json=c.json", "markdown=c.md") for word in ("--output", name)]
    printed = harness(*asked, "--threshold", "drop nDCG@3 <= 0.02", "--threshold", "mean RBO >= 0.2", *outputs)
    golden(
        {
            "terminal": printed,
            **written(files, **{"c.html": page_lines, "c.json": json_lines, "c.md": str}),
            "complete": harness(*asked, "--complete", "-q", "--threshold", "worse nDCG@3 by 0.1 <= 1 queries"),
            "rankings-alone": harness("compare", "first.run", "second.run", "--depth", "2", "-p", "0.5"),
        }
    )


def test_compare_suites(engine, folder, harness, golden):
    at = ("--suite", "weights.relevance.yaml", "--url", engine.url)
    harness("baseline", "save", "weights.relevance.yaml", "--all-requests", "--url", engine.url)
    harness("run", *at[1:], "--request", "current", "--output", "json=then.json")
    two = ("index:products", "index:next")
    golden(
        {
            "requests": harness("compare", "request:current", "request:candidate", *at),
            "indexes": harness("compare", *two, *at, "--request", "current", "--threshold", "drop nDCG@3 <= 0.01"),
            "baseline": harness("compare", "baseline", "index:next", *at, "--request", "current"),
            "report": harness("compare", "report:then.json", "index:next", *at, "--request", "current", "--json"),
        }
    )


def test_judgments(engine, folder, harness, golden):
    at = ("--url", engine.url)
    outputs = ("--output", "csv=unjudged.csv", "--output", "yaml=unjudged.yaml")
    golden(
        {
            "pool": harness("judgments", "pool", "outcomes.relevance.yaml", *at, *outputs),
            **written(folder, **{"unjudged.csv": str, "unjudged.yaml": str}),
            "pool-of-indexes": harness(
                "judgments", "pool", "weights.relevance.yaml", *at, "--all-requests", "--index", "products",
                "--index", "next", "--depth", "2",
            ),
            "pool-of-errors": harness("judgments", "pool", "broken.relevance.yaml", *at),
            "lint": harness("judgments", "lint", "outcomes.relevance.yaml", *at),
            "lint-offline": harness("judgments", "lint", "outcomes.relevance.yaml", "--offline", "--scale", "0..2"),
            "lint-json": harness("judgments", "lint", "outcomes.relevance.yaml", *at, "--json"),
            "lint-sound": harness("judgments", "lint", "held.relevance.yaml", "--offline"),
        }
    )  # fmt: skip


def test_validate(folder, harness, golden):
    golden({"sound": harness("validate", "."), "quiet": harness("validate", ".", "--quiet")})


# ------------------------------------------------------------------------------------------------ what is refused

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
    found = {}
    for name, (before, after) in CHANGES.items():
        assert before in SOUND
        (folder / f"{name}.relevance.yaml").write_text(SOUND.replace(before, after), encoding="utf-8")
        found[name] = harness("run", f"{name}.relevance.yaml", "--url", "http://127.0.0.1:9")
    golden({**found, "validate": harness("validate", "."), "pytest": inner_pytest(".")})


def test_wrong_command_lines(files, harness, inner_pytest, golden):
    suite = "outcomes.relevance.yaml"
    nobody = "http://127.0.0.1:9"
    lines = [
        ("rum",),
        ("run",),
        ("run", suite, "--jsn"),
        ("run", "nowhere.yaml"),
        ("run", suite, "--url", nobody, "--embedded"),
        ("run", suite, "--engine-version", "3.8"),
        ("run", suite, "--url", "http://me:secret@127.0.0.1"),
        ("run", suite, "--url", "127.0.0.1:9200"),
        ("run", suite, "--url", nobody, "--tag", "haed"),
        ("run", suite, "--url", nobody, "--request", "candidate"),
        ("run", suite, "--request", "a", "--all-requests"),
        ("run", suite, "--output", "xml=report.xml"),
        ("run", suite, "--output", "json=nowhere/report.json"),
        ("run", suite, "--budget", "soon"),
        ("run", suite, "--github"),
        ("baseline", "save", "held.relevance.yaml", "--url", nobody),
        ("baseline", "save", "held.relevance.yaml", "--url", nobody, "--index", "a", "--index", "b"),
        ("baseline", "shwo", suite),
        ("compare", "first.run"),
        ("compare", "first.run", "nowhere.run"),
        ("compare", "request:current", "request:candidate"),
        ("compare", "first.run", "second.run", "--qrels", "judged.qrels", "--threshold", "mean nDCG@5 > 0.1"),
        ("evaluate", "--qrels", "judged.qrels", "--run", "first.run", "--measure", "nDGC@5"),
        ("evaluate", "--qrels", "judged.qrels", "--run", "first.run", "--measure", "nDCG@5", "--gain", "linaer"),
        ("evaluate", "--qrels", "first.run", "--run", "judged.qrels", "--measure", "nDCG@5"),
        ("significance", "first.run", "second.run", "--qrels", "judged.qrels", "--measure", "RR", "--level", "2"),
        ("judgments", "lint", suite, "--offline", "--url", nobody),
        ("judgments", "lint", suite, "--offline", "--scale", "3..0"),
        ("schema", "--reprot"),
    ]
    options = [
        ("--relevance-url", nobody, "--relevance-embedded"),
        ("--relevance-url", "http://me:secret@127.0.0.1"),
        ("--relevance-engine-version", "3.8"),
        ("--relevance-tag", "haed"),
        ("--relevance-request", "candidate"),
        ("--relevance-report", "report.xml"),
        ("--relevance-budget", "soon"),
        ("--relevance-github",),
        ("--relevance-update-baseline", "--relevance-index", "a", "--relevance-index", "b"),
    ]
    golden(
        {
            "command": "\n".join(harness(*line) for line in lines),
            "pytest": "\n".join(inner_pytest(suite, "-q", "--no-header", *chosen) for chosen in options),
        }
    )
