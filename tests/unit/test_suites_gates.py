"""Which requests a threshold is for, and which gate nothing: read from a suite, and decided."""

from datetime import date

import pytest

from harness.errors import SuiteError
from harness.gate.conditions import gates_anything
from harness.gate.decide import decide
from harness.gate.selection import collect_thresholds, needs_baseline
from harness.metrics.run_scores import score_run
from harness.model.run import Engine, Hit, Ranking, Run
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
requests:
  current: {query: {match: {title: "{{text}}"}}}
  candidate: {index: next, body: {query: {match: {title: "{{text}}"}}}}
  helper: {body: {query: {match: {brand: "{{text}}"}}}, gate: false}
thresholds:
  - {threshold: "mean nDCG@3 >= 0.8", requests: [current]}
  - {threshold: "mean nDCG@3 >= 0.2", requests: [current, candidate], xfail: {reason: later}}
  - mean P@1 >= 0
  - {threshold: "drop nDCG@3 <= 0.1", requests: [candidate]}
queries:
  - id: shoes
    text: red shoes
    judgments: {a: 3}
    thresholds: [{threshold: "nDCG@3 >= 0.5", requests: [candidate]}]
    expect: [{expect: "a in top 1", requests: [current]}, "a in top 3"]
"""
IDS = {
    "current": ["mean nDCG@3 >= 0.8", "mean nDCG@3 >= 0.2", "mean P@1 >= 0", "a in top 1", "a in top 3"],
    "candidate": ["mean nDCG@3 >= 0.2", "mean P@1 >= 0", "drop nDCG@3 <= 0.1", "nDCG@3 >= 0.5", "a in top 3"],
    "helper": [],
}


@pytest.fixture
def write(tmp_path):
    def write(*changes):
        text = SUITE
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "shop.relevance.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def problems(path):
    with pytest.raises(SuiteError) as caught:
        load_suite(path, None)
    assert caught.value.exit_status == 2
    return [f"{problem.line}:{problem.column}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize("request_name", ["current", "candidate", "helper"])
def test_a_threshold_is_decided_for_its_requests_only(write, request_name):
    suite = load_suite(write(), {})
    run = Run({"shoes": Ranking((Hit("a", 1.0),), total=1)}, Engine("elasticsearch"), request=request_name)
    verdicts = decide(suite, run, score_run(suite, run), today=date(2026, 1, 1))
    assert [verdict.threshold for verdict in verdicts] == IDS[request_name]
    # Ids are those of the whole suite, whichever request runs.
    assert {verdict.id for verdict in verdicts} <= {threshold.id for threshold in collect_thresholds(suite)}


def test_a_request_gates_something_unless_it_says_not_or_all_thresholds_are_for_others(write):
    suite = load_suite(write(), {})
    assert [gates_anything(suite, name) for name in suite.requests] == [True, True, False]
    only_current = write(("  - mean P@1 >= 0\n", ""), (', "a in top 3"]', "]"), ("[current, candidate]", "[current]"))
    others = ("requests: [candidate]", "requests: [current]")
    only_current.write_text(only_current.read_text().replace(*others))
    suite = load_suite(only_current, {})
    assert [gates_anything(suite, name) for name in suite.requests] == [True, False, False]
    without_thresholds = write((SUITE[SUITE.index("thresholds:") : SUITE.index("queries:")], ""))
    without_thresholds.write_text(without_thresholds.read_text().partition("    thresholds:")[0], encoding="utf-8")
    suite = load_suite(without_thresholds, {})
    assert [gates_anything(suite, name) for name in suite.requests] == [True, True, False]


def test_a_baseline_is_needed_by_the_requests_that_compare_with_one(write):
    suite = load_suite(write(), {})
    assert [needs_baseline(suite, name) for name in suite.requests] == [False, True, False]
    assert not needs_baseline(suite, None)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "requests: [current]}\n  - {t",
            "requests: [curent]}\n  - {t",
            "8:50: found no request 'curent', known are current, candidate, helper; did you mean 'current'?",
        ),
        (
            'a in top 1", requests: [current]',
            'a in top 1", requests: [nxt]',
            "17:48: found no request 'nxt', known are current, candidate, helper",
        ),
        ("requests: [current]}\n  - {t", "requests: current}\n  - {t", "8:49: found 'current', expected a list"),
        (
            "requests: [current]}\n  - {t",
            "requests: []}\n  - {t",
            "8:17: found no name in 'requests', expected the",
        ),
        ("[current, candidate]", "[current, current]", "9:59: the request 'current' is named twice"),
        (
            "[current, candidate]",
            "[helper]",
            "9:50: the request 'helper' has 'gate: false': nothing is decided for it; remove either",
        ),
        (
            "[current, candidate]",
            '["${RELEVANCE_REQUEST:-current}"]',
            "9:50: found '${RELEVANCE_REQUEST:-current}', expected a name without variables",
        ),
        ("gate: false", "gate: no", "6:63: found 'no', expected true or false"),
        ("gate: false", 'gate: "${RELEVANCE_GATE:-false}"', "6:63: found '${RELEVANCE_GATE:-false}', expected true or"),
        (
            "gate: false",
            "gates: false",
            "6:57: unknown key 'gates', expected target, index, body, file, routing, url_params, http",
        ),
        (
            '{body: {query: {match: {brand: "{{text}}"}}}, gate: false}',
            '{query: {match: {brand: "{{text}}"}}, gate: false}',
            "6:49: found 'gate' among the keys of a body; expected it beside the key 'body': {gate: false, body: …}",
        ),
    ],
)
def test_a_wrong_gate_is_an_error_with_its_place(write, old, new, sentence):
    [found] = problems(write((old, new)))
    assert found.startswith(sentence)


def test_a_key_of_a_body_is_no_gate(write):
    nested = ("helper: {body: {query: {match: {brand: ", "helper: {body: {gate: false, query: {match: {brand: ")
    assert load_suite(write(nested), {}).requests["helper"].body["gate"] is False
    beside = write(('{body: {query: {match: {brand: "{{text}}"}}}, gate: false}', '{query: "{{text}}", gate: {a: 1}}'))
    helper = load_suite(beside, {}).requests["helper"]
    assert (helper.body["gate"], helper.gates) == ({"a": 1}, True)


def test_some_request_gates_something(write):
    path = write(
        (', gate: false}', "}"), ("requests: [current]", "requests: [helper]"), ("[current, candidate]", "[helper]"),
        ("requests: [candidate]", "requests: [helper]"),
    )  # fmt: skip
    assert load_suite(path, {}).requests["helper"].gates
    text = SUITE.replace(", requests: [current]", "").replace(", requests: [candidate]", "")
    text = text.replace(", requests: [current, candidate]", "")
    text = text[: text.index("  current:")] + text[text.index("  helper:") :]
    path.write_text(text, encoding="utf-8")
    assert problems(path) == [
        "3:1: each request has 'gate: false', so that no threshold is decided; remove it from one"
    ]


def test_a_request_in_a_file_may_gate_nothing(write, tmp_path):
    (tmp_path / "helper.json").write_text('{"query": {"match": {"brand": "{{text}}"}}}')
    whole = '{body: {query: {match: {brand: "{{text}}"}}}, gate: false}'
    helper = load_suite(write((whole, "{file: helper.json, gate: false}")), {}).requests["helper"]
    assert (helper.gates, helper.body["query"]) == (False, {"match": {"brand": "{{text}}"}})
