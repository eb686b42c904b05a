"""Suites whose queries have quotes: what is refused, what runs say, and what baselines, histories and reports keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from builders.catalogue_service import CatalogueService
from builders.commands import run_to_report
from builders.extension_cases import needs_extension
from harness.cli import main
from harness.errors import SuiteError
from harness.suites import load_suite

SUITE = """\
suite: manuals
display: {text: body}
request:
  http:
    path: /search
    params: {q: "{{text}}"}
    hits: $.hits
    ids: $.id
    scores: $.score
    total: $.total
    fields: {body: $.body}
    size: rows
depth: 3
THRESHOLDS
queries:
  - id: valve
    text: valve
    quotes:
      - {text: "the valve opens at 3 bar", document: manual-7, grade: 3}
      - {text: "Close it by hand", document: manual-9}
"""
THRESHOLDS = 'thresholds: ["mean St_nDCG@3 >= 0.9", "mean StRecall@3 >= 0.9", "mean alpha_nDCG@3 >= 0.5"]'

SMALL = {
    "m7-1": "All about it. The valve opens at",
    "m7-2": "3 bar. It has a spring.",
    "m9-1": "To be safe close it by hand.",
    "m9-2": "Nothing else.",
}
"""Chunks of which one holds a part of the first quote."""
LARGE = {"a": "All about it. The valve opens at 3 bar. It has a spring.", "b": "To be safe close  it by HAND."}


@pytest.fixture
def shop(httpserver: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogueService:
    """A service with the large chunks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    toml = f'[clusters.default]\nurl = "{httpserver.url_for("/api")}"\nservice = "http"\n'
    Path("relevance.toml").write_text(toml, encoding="utf-8")
    service = CatalogueService()
    fill(service, LARGE)
    service.serve(httpserver)
    return service


def fill(service: CatalogueService, chunks: dict[str, str]) -> None:
    service.documents = {name: {"body": text} for name, text in chunks.items()}
    service.rankings["valve"] = [(name, 10.0 - place) for place, name in enumerate(chunks)]


def write(text: str = SUITE, thresholds: str = THRESHOLDS) -> Path:
    path = Path("shop.relevance.yaml")
    path.write_text(text.replace("THRESHOLDS", thresholds), encoding="utf-8")
    return path


def scores(suite: dict[str, Any]) -> dict[str, float]:
    [query] = suite["queries"]
    return {measure: round(value, 4) for measure, value in query["scores"].items()}


def test_quotes_are_found_whatever_the_chunks_are_called(shop: CatalogueService) -> None:
    write()
    status, suite = run_to_report()
    assert (status, scores(suite)) == (0, {"St_nDCG@3": 1, "StRecall@3": 1, "alpha_nDCG@3": 1})
    assert [(quote["document"], quote["hits"]) for quote in suite["queries"][0]["quotes"]] == [
        ("manual-7", [[1, 1.0]]),
        ("manual-9", [[2, 1.0]]),
    ]
    assert "2 of 2 quotes are in hits" in suite["notes"]


def test_a_quote_that_a_border_cuts_counts_by_its_share(shop: CatalogueService, capsys) -> None:
    fill(shop, SMALL)
    write()
    status, suite = run_to_report()
    # The first hit holds 18 of 24 characters, and the third the other quote.
    assert (status, scores(suite)["StRecall@3"]) == (1, round((18 / 24 + 1) / 2, 4))
    assert scores(suite)["St_nDCG@3"] == round((7 * 0.75 + 0.5) / (7 + 0.6309297535714575), 4)
    said = "2 of 2 quotes are in hits, 1 of them cut by the border of a hit, which count by the share that it holds"
    assert said in suite["notes"]
    assert main(["run", "shop.relevance.yaml"]) == 1
    printed = capsys.readouterr().out
    assert "75% of it at rank 1" in printed
    assert main(["show", "shop.relevance.yaml", "valve"]) == 0
    assert "the valve opens at 3 bar" in capsys.readouterr().out


def test_a_quote_in_no_chunk_is_named(shop: CatalogueService, capsys) -> None:
    fill(shop, {"x": "nothing", "b": LARGE["b"]})
    write()
    assert main(["run", "shop.relevance.yaml"]) == 1
    printed = capsys.readouterr().out
    assert "in no hit" in printed
    assert "1 of 2 quotes are in hits" in printed


@pytest.mark.parametrize("kind", ["terminal", "html", "markdown"])
def test_a_hit_is_shown_with_the_quotes_that_it_holds_and_not_as_unjudged(
    shop: CatalogueService, capsys, kind: str
) -> None:
    fill(shop, SMALL)
    write()
    assert main(["run", "shop.relevance.yaml", "--output", "html=report.html", "--output", "markdown=report.md"]) == 1
    text = {
        "terminal": capsys.readouterr().out,
        "html": Path("report.html").read_text(encoding="utf-8"),
        "markdown": Path("report.md").read_text(encoding="utf-8").replace("<span>#</span>", "#"),
    }[kind]
    assert "75% of #1" in text
    assert "2 of 2 quotes are in hits" in text
    assert "are judged" not in text
    # The style sheet of a page has classes of this name.
    assert not [sign for sign in ("unjudged</", "| unjudged", "  unjudged") if sign in text]


def test_where_documents_are_judged_too_hits_have_grades(shop: CatalogueService, capsys) -> None:
    text = SUITE.replace("    quotes:", "    judgments: {b: 1}\n    quotes:")
    write(text, 'thresholds: ["mean P@1 >= 1"]')
    assert main(["run", "shop.relevance.yaml"]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 hits are judged" in printed
    assert "unjudged" in printed


def test_no_hits_score_0(shop: CatalogueService) -> None:
    fill(shop, {})
    write()
    status, suite = run_to_report()
    assert (status, set(scores(suite).values())) == (1, {0.0})


def test_hits_without_the_field_are_an_error_and_no_score_of_0(shop: CatalogueService) -> None:
    shop.documents = {name: {"title": text} for name, text in LARGE.items()}
    write()
    status, suite = run_to_report()
    assert status == 3
    assert suite["queries"][0]["outcome"] == "error"


def test_quotes_stand_beside_judgments_of_ids(shop: CatalogueService) -> None:
    text = SUITE.replace("    quotes:", "    judgments: {b: 1, z: 1}\n    quotes:")
    write(text, 'thresholds: ["mean P@1 >= 0", "mean StRecall@3 >= 1"]')
    status, suite = run_to_report()
    assert (status, scores(suite)) == (0, {"P@1": 0, "StRecall@3": 1})


def test_a_suite_of_quotes_alone_has_a_measure_of_its_own(shop: CatalogueService) -> None:
    write(SUITE.replace("depth: 3\n", ""), thresholds="")
    assert scores(run_to_report()[1]) == {"St_nDCG@10": 1}


def test_ties_between_chunks_give_a_range(shop: CatalogueService) -> None:
    fill(shop, {"x": "nothing", **LARGE})
    shop.rankings["valve"] = [("x", 1.0), ("a", 1.0), ("b", 0.5)]
    write(thresholds='thresholds: ["mean St_nDCG@3 >= 0.5"]')
    verdict = run_to_report()[1]["verdicts"][0]
    assert verdict["ties"][0] == pytest.approx(verdict["observed"])
    assert verdict["ties"][0] < verdict["ties"][1]


@pytest.mark.parametrize(
    ("line", "place", "problem"),
    [
        ("{text: ' \u00a0 '}", "21:16", "found blank text"),
        ("{text: ''}", "21:16", "found blank text"),
        (r'{text: "\u200b\u00ad"}', "21:16", "the quote has no visible character"),
        ("{document: manual-7}", "21:9", "text"),
        ("{text: 'The VALVE opens at\u00a0\uff13 bar'}", "21:16", "the quote 'The VALVE opens at"),
        ("{text: a, grade: great}", "21:26", "found 'great' as a grade"),
        ("{text: a, quote: b}", "21:19", "unknown key 'quote'"),
        ("a text", "21:9", "expected a mapping"),
    ],
)
def test_wrong_quotes_are_refused_at_their_place(tmp_path: Path, line: str, place: str, problem: str) -> None:
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE.replace("THRESHOLDS", THRESHOLDS) + f"      - {line}\n", encoding="utf-8")
    with pytest.raises(SuiteError) as error:
        load_suite(path, {})
    assert f":{place}: " in str(error.value)
    assert problem in str(error.value)


def test_a_repeated_quote_names_the_first(tmp_path: Path) -> None:
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SUITE.replace("THRESHOLDS", THRESHOLDS) + "      - {text: close it BY hand}\n", encoding="utf-8")
    with pytest.raises(SuiteError, match=r"21:16: the quote 'close it BY hand' is given twice, first at .*:20:16"):
        load_suite(path, {})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("display: {text: body}\n", "", "18:16: quotes are looked for in the field `text` of `display`"),
        ("display: {text: body}", "display: {text: text}", "has no path for the field 'text'"),
        ("    quotes:\n", "    judgments: {a: 1}\n", "St_nDCG@3 needs 'quotes', and no query that it scores has any"),
    ],
)
def test_what_quotes_need_is_said(tmp_path: Path, old: str, new: str, problem: str) -> None:
    path = tmp_path / "shop.relevance.yaml"
    text = SUITE.replace("THRESHOLDS", THRESHOLDS).replace(old, new)
    if "quotes:" not in text:
        text = "\n".join(line for line in text.splitlines() if "- {text" not in line) + "\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SuiteError, match=problem):
        load_suite(path, {})


def test_validate_counts_quotes(shop: CatalogueService, capsys) -> None:
    write()
    assert main(["validate", "shop.relevance.yaml"]) == 0
    assert "1 query, 2 quotes, 3 measures, 3 thresholds, 1 request" in capsys.readouterr().out


def test_quotes_of_a_query_file_and_of_the_suite_are_joined(tmp_path: Path) -> None:
    query = {"id": "valve", "text": "valve", "quotes": [{"text": "one", "grade": 2, "document": "d"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(query) + "\n", encoding="utf-8")
    head = SUITE.replace("THRESHOLDS", THRESHOLDS).partition("queries:")[0]
    path = tmp_path / "shop.relevance.yaml"
    inline = "{id: valve, quotes: [{text: ONE, grade: 2, document: d}, {text: two}]}"
    path.write_text(f"{head}queries: {{file: q.jsonl, inline: [{inline}]}}\n", encoding="utf-8")
    [query] = load_suite(path, {}).queries
    assert [(quote.text, quote.grade, quote.document) for quote in query.quotes] == [("one", 2, "d"), ("two", 1, "")]
    path.write_text(path.read_text(encoding="utf-8").replace("grade: 2", "grade: 1"), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"the quote 'ONE' has another grade or document at .*q\.jsonl:1:1"):
        load_suite(path, {})


DROP = 'thresholds: ["drop St_nDCG@3 <= 0.01"]'


def test_a_baseline_keeps_which_quotes_were_in_hits(shop: CatalogueService) -> None:
    """The kept ids mean nothing in another chunking."""
    write(thresholds=DROP)
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    kept = Path("shop.baseline.json").read_text(encoding="utf-8")
    assert "spring" not in kept
    assert run_to_report()[0] == 0
    fill(shop, SMALL)
    status, suite = run_to_report()
    assert status == 1
    [verdict] = suite["verdicts"]
    assert verdict["observed"] == pytest.approx(1 - (7 * 0.75 + 0.5) / (7 + 0.6309297535714575))


def test_a_drop_names_the_quotes_that_were_lost(shop: CatalogueService, capsys) -> None:
    write(thresholds='thresholds: ["drop every StRecall@1 <= 0", "drop StRecall@3 <= 0.1"]')
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    fill(shop, {"b": LARGE["b"], "x": SMALL["m7-1"]})
    status, suite = run_to_report()
    reasons = [verdict["reason"] for verdict in suite["verdicts"]]
    assert status == 1
    # Of one hit the first quote is lost, and the other is won; of three a quarter of the first is lost.
    assert "lost: " not in reasons[0]
    assert reasons[1].endswith("; lost: valve 'the valve opens at 3 bar' 100% -> 75%")
    [query] = suite["queries"]
    assert [(quote["was"], quote["hits"]) for quote in query["quotes"]] == [
        ([[1, 1.0]], [[2, 0.75]]),
        ([[2, 1.0]], [[1, 1.0]]),
    ]
    capsys.readouterr()
    assert main(["run", "shop.relevance.yaml"]) == 1
    [row] = [line for line in capsys.readouterr().out.splitlines() if line.lstrip().startswith("#1")]
    assert row.split("manual-7")[1].split("  ") == ["", "at rank 1", "75% of it at rank 2"]


def test_a_quote_of_a_high_grade_cannot_be_made_up_for_by_another(shop: CatalogueService) -> None:
    text = SUITE + "  - {id: hand, text: hand, quotes: [{text: close it by hand}]}\n"
    shop.rankings["hand"] = [("b", 1.0)]
    fill(shop, {"b": LARGE["b"]})
    write(f"undefined: skip\n{text}", 'thresholds: ["every StRecall(rel=3)@3 >= 1", "every StRecall@3 >= 0.5"]')
    verdicts = run_to_report()[1]["verdicts"]
    assert [(verdict["status"], verdict["blamed"]) for verdict in verdicts] == [("failed", ["valve"]), ("passed", [])]
    assert verdicts[0]["left_out"] == 1


def test_a_quote_below_the_cutoff_is_lost(shop: CatalogueService) -> None:
    fill(shop, {"a": LARGE["a"], "x": "nothing"})
    write(thresholds='thresholds: ["drop every StRecall@1 <= 0"]')
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    fill(shop, {"x": "nothing", "a": LARGE["a"]})
    [verdict] = run_to_report()[1]["verdicts"]
    assert verdict["reason"].endswith("; lost: valve 'the valve opens at 3 bar' 100% -> 0%")


def test_a_grade_of_a_quote_may_change_after_a_baseline(shop: CatalogueService) -> None:
    write(thresholds=DROP)
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    write(SUITE.replace("grade: 3", "grade: 2"), thresholds=DROP)
    status, suite = run_to_report()
    assert status == 0
    assert any("the judgments changed: 1 query (valve)" in change for change in suite["baseline"]["changes"])


def test_a_quote_that_is_added_after_a_baseline_leaves_its_query_out(shop: CatalogueService) -> None:
    """No text is kept, so that it is not known whether the hits of before had it."""
    write(thresholds=DROP)
    assert main(["baseline", "save", "shop.relevance.yaml"]) == 0
    write(SUITE + "      - {text: All about it}\n", thresholds=DROP)
    status, suite = run_to_report()
    assert status == 1
    assert "it did not look for all quotes of 1 query (valve)" in suite["verdicts"][0]["reason"]
    assert "the quotes, for which kept hits are not searched again, changed: 1 query (valve)" in str(suite["baseline"])


def test_a_history_keeps_which_quotes_were_in_hits(shop: CatalogueService) -> None:
    write(thresholds='thresholds: ["drop St_nDCG@3 <= 0.01 since 2 runs"]')
    for _ in range(2):
        main(["run", "shop.relevance.yaml", "-q", "--history", "kept"])
    fill(shop, SMALL)
    status, suite = run_to_report("--history", "kept")
    assert (status, suite["verdicts"][0]["status"]) == (1, "failed")


@needs_extension("history")
def test_a_history_shows_measures_of_quotes(shop: CatalogueService, capsys) -> None:
    write()
    main(["run", "shop.relevance.yaml", "-q", "--history", "kept"])
    capsys.readouterr()
    assert main(["history", "shop.relevance.yaml", "--history", "kept"]) == 0
    assert "St_nDCG@3" in capsys.readouterr().out


@needs_extension("compare")
def test_two_chunkings_compare_by_reports_and_with_a_suite(shop: CatalogueService, capsys) -> None:
    write()
    assert run_to_report()[0] == 0
    Path("report.json").rename("large.json")
    fill(shop, SMALL)
    assert run_to_report()[0] == 1
    for words in ([], ["--suite", "shop.relevance.yaml"]):
        capsys.readouterr()
        assert main(["compare", "large.json", "report.json", *words, "--output", "html=compare.html"]) == 0
        page = Path("compare.html").read_text(encoding="utf-8")
        assert "<h5>Changed quotes</h5>" in page
        assert "<td>75% of #1</td>" in page
        printed = capsys.readouterr().out
        assert "St_nDCG@3 1.0000 → 0.7535; StRecall@3 1.0000 → 0.8750" in printed
        assert "not judged alike" not in printed
        assert "unjudged" not in printed
        assert "no judgment" not in printed
        [row] = [line for line in printed.splitlines() if line.lstrip().startswith("#1")]
        assert row.split("manual-7")[1].split("  ") == ["", "at rank 1", "75% of it at rank 1"]
        # The other quote is on both sides, at other ranks.
        assert "Close it by hand" not in printed


def test_a_journal_restores_the_texts(shop: CatalogueService) -> None:
    write()
    first = run_to_report("--journal", "run.journal", "--no-checks")[1]
    asked = len(shop.asked)
    again = run_to_report("--journal", "run.journal", "--no-checks")[1]
    assert scores(again) == scores(first)
    assert len(shop.asked) >= asked


def test_a_quote_for_a_query_without_right_results_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop.relevance.yaml"
    text = SUITE.replace("THRESHOLDS", 'thresholds: ["false hits <= 5%"]')
    path.write_text(text.replace("    quotes:", "    nothing: true\n    quotes:"), encoding="utf-8")
    with pytest.raises(SuiteError, match=r":20:16: a quote makes hits right results for 'valve', which has 'nothing"):
        load_suite(path, {})
