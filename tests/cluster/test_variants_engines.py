"""Variants of the catalogue's queries on real engines."""

import re
import shutil
from pathlib import Path

import pytest

from harness.model.run import Status
from harness.options import RunOptions
from harness.run import Runner

ROOT = Path(__file__).parents[2]
LATENCY = '  - "p95 latency <= 2000 ms"\n'
THRESHOLDS = ("mean RBO of variants >= 0.8 for head", "loss nDCG@10 of variants <= 0.1 for head")
FUZZY = "        fields: [title^3, brand^2, category, colour, tags, description]\n"


@pytest.fixture
def run_catalogue(tmp_path, engine_url):
    shutil.copytree(ROOT / "suites" / "products", tmp_path / "products")
    text = (ROOT / "suites" / "products.relevance.yaml").read_text(encoding="utf-8")
    text = text.replace(LATENCY, LATENCY + "".join(f"  - {threshold}\n" for threshold in THRESHOLDS))
    text = text.replace("\nqueries:\n", "\nvariants: {typos: 1, plural: true, case: true}\nqueries:\n")

    def run(before="", after=""):
        path = tmp_path / "products.relevance.yaml"
        assert before in text
        path.write_text(text.replace(before, after, 1) if before else text, encoding="utf-8")
        with Runner({}) as runner:
            [finished] = runner.run([path], RunOptions(url=engine_url, allow_write=True))
        verdicts = {verdict.threshold: verdict for verdict in finished.report.verdicts}
        return finished.report, [verdicts[threshold] for threshold in THRESHOLDS]

    return run


def test_variants_of_the_catalogue_fail_for_typing_errors_only(run_catalogue):
    report, (agreement, loss) = run_catalogue()
    assert agreement.status is loss.status is Status.FAILED
    assert (agreement.observed, loss.observed) == pytest.approx((0.7584, 0.1502), abs=5e-5)
    variants = {variant.id: variant for query in report.queries for variant in query.variants}
    assert (variants["tent~1"].text, variants["tent~1"].hits) == ("tnet", 0)
    assert [variants[name].agreements["RBO"] for name in ("tent~2", "tent~3")] == [1, 1]


@pytest.mark.one_engine
def test_a_fuzzy_request_finds_what_is_misspelled(run_catalogue):
    _, before = run_catalogue()
    _, after = run_catalogue(FUZZY, f"{FUZZY}        fuzziness: AUTO\n        prefix_length: 1\n")
    assert after[0].observed > before[0].observed + 0.05
    assert after[1].observed < before[1].observed


PAGE = ROOT / "docs" / "guides" / "variants.md"
JUDGMENTS = """
judgments:
  files: [products/head.qrels, products/tail.csv, products/navigational.jsonl]
  other_queries: ignore
"""


def test_the_table_of_the_guide_is_that_of_the_catalogue(tmp_path, engine_url):
    guide = PAGE.read_text(encoding="utf-8")
    part = re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)[1]
    shutil.copytree(ROOT / "suites" / "products", tmp_path / "products")
    text = (ROOT / "suites" / "products.relevance.yaml").read_text(encoding="utf-8")
    path = tmp_path / "products.relevance.yaml"
    path.write_text(text[: text.index("\nthresholds:")] + JUDGMENTS + part, encoding="utf-8")
    with Runner({}) as runner:
        [finished] = runner.run([path], RunOptions(url=engine_url, allow_write=True))
    shown = [
        re.split(r"\s{2,}", line.strip()) for line in guide.split("  variant  ")[1].split("```")[0].splitlines()[1:]
    ]
    variants = [variant for query in finished.report.queries for variant in query.variants]
    found = {
        variant.id: [str(variant.hits), *(f"{variant.agreements[name]:.4f}" for name in ("RBO", "overlap@5"))]
        for variant in variants
    }
    assert found == {row[0]: row[-4:-1] for row in shown}
    losses = {variant.id: variant.losses["nDCG@10"] for variant in variants}
    assert losses == pytest.approx({row[0]: float(row[-1]) for row in shown}, abs=5e-5)
