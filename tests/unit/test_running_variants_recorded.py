"""Runs with variants that are cut short, resumed, and put together of parts: the report is the same."""

import json
from pathlib import Path

import pytest

from builders.extension_cases import list_cases, needs_extension
from builders.journaled import report_at, set_index
from harness.cli import main

SUITE = """\
suite: shop
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: [RR@2]
thresholds: ["mean overlap@2 of variants >= 0.9", "loss RR@2 of variants <= 0.1"]
queries:
  - {id: shoes, text: shoes, variants: [shoos, SHOES], judgments: {a: 1}}
  - {id: boots, text: boots, variants: [bootss], judgments: {c: 1}}
  - {id: schuhe, text: Schuhe, same_as: shoes, judgments: {a: 1}}
  - {id: socks, text: socks, judgments: {e: 1}}
"""
TEXTS = {
    "shoes": ["a", "b"], "shoos": ["b", "a"], "SHOES": ["a", "b"], "boots": ["c", "d"], "bootss": ["d"],
    "Schuhe": ["a", "x"], "socks": ["e"],
}  # fmt: skip
JOURNAL = Path("run.journal")


@pytest.fixture
def engine(working_folder, engine):
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    engine.rankings.update(TEXTS)
    set_index(engine)
    return engine


def run(engine, *options, report="report.json"):
    words = ["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--output", f"json={report}", *options]
    return main(words), report_at(Path(report))


def test_a_run_cut_short_sends_only_the_variants_that_lack_an_answer(engine, capsys):
    whole = run(engine, "--journal", str(JOURNAL))
    assert whole[0] == 1
    content = JOURNAL.read_bytes()
    lines = content.splitlines(keepends=True)
    assert [json.loads(line).get("query") for line in lines[1:8]] == [
        "shoes", "boots", "schuhe", "socks", "shoes~1", "shoes~2", "boots~1",
    ]  # fmt: skip
    for kept in (1, 3, 5, 7):
        JOURNAL.write_bytes(b"".join(lines[: 1 + kept]))
        engine.asked.clear()
        assert run(engine, "--journal", str(JOURNAL), "--resume") == whole
        assert sum(engine.asked.values()) == len(TEXTS) - kept
        assert f"going on with an earlier run: {kept} of 7 queries answered" in capsys.readouterr().err or kept == 1


@needs_extension("distributed")
def test_parts_that_are_merged_have_the_variants_of_their_queries(engine, capsys):
    whole = run(engine)
    journals = []
    for number in (1, 2):
        journals.append(f"{number}.journal")
        words = ["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--shard", f"{number}/2"]
        assert main([*words, "--journal", journals[-1]]) == 0
    printed = capsys.readouterr().out
    assert "part 1/2: 4 of 4 queries answered" in printed
    assert "part 2/2: 3 of 3 queries answered" in printed
    status = main(["merge", *journals, "-q", "--output", "json=merged.json"])
    merged = report_at(Path("merged.json"))
    assert status == whole[0]
    assert merged["suites"][0]["queries"] == whole[1]["suites"][0]["queries"]
    assert merged["suites"][0]["verdicts"] == whole[1]["suites"][0]["verdicts"]


@needs_extension("distributed")
def test_a_part_without_a_variant_is_not_merged(engine, capsys):
    for number in (1, 2):
        engine.rankings = dict(TEXTS)
        words = ["run", "shop.relevance.yaml", "--url", engine.url, "-q", "--shard", f"{number}/2"]
        main([*words, "--journal", f"{number}.journal"])
    path = Path("2.journal")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b'"boots~1"' not in line))
    assert main(["merge", "1.journal", "2.journal"]) != 0
    assert "did not end, with 2 of 3 queries" in capsys.readouterr().err


def test_a_baseline_has_no_variants(engine):
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url, "-q"]) == 0
    text = Path("shop.baseline.json").read_text(encoding="utf-8")
    assert "shoes~1" not in text
    assert '"shoes"' in text


@pytest.mark.parametrize(
    "words",
    list_cases("WITHOUT_VARIANTS"),
)
def test_what_decides_no_threshold_sends_no_variant(engine, words, capsys):
    main([*words, "--url", engine.url])
    assert set(engine.asked) <= {"shoes", "boots", "Schuhe", "socks"}
    assert engine.asked


def test_one_query_is_shown_with_its_variants(engine, capsys):
    assert main(["show", "shop.relevance.yaml", "shoes", "--url", engine.url]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "shoos" in line or "same as" in line]
    assert lines[0][:3] == ["schuhe", "Schuhe", "same"]
    assert lines[1][:3] == ["shoes~1", "shoos", "2"]
