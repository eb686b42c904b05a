"""What a user sees of each outcome of a baseline: the item, the exit status, the entry in JUnit XML."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.extension_cases import needs_extension
from builders.shown import entries, kinds, properties
from builders.workers import IN_A_WORKER, IN_TWO_WORKERS
from harness.api import Relevance
from harness.cli import main

DROP = 'thresholds: ["drop nDCG@10 <= 0.02"]'
Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def save(pytester: pytest.Pytester, engine, capsys) -> Callable[[Path], Path]:
    """Saves the baseline of a suite on the engine's server."""

    def save_baseline(path: Path) -> Path:
        assert main(["baseline", "save", path.name, "--url", engine.url, "-q"]) == 0
        capsys.readouterr()
        return path.with_name("shop.baseline.json")

    return save_baseline


@pytest.fixture
def junit(pytester: pytest.Pytester, run: Run) -> Callable[..., tuple[pytest.RunResult, ET.Element]]:
    """Runs, and gives the entry of the one test in JUnit XML too."""

    def with_entry(*options: str) -> tuple[pytest.RunResult, ET.Element]:
        result = run("--junit-xml=junit.xml", *options)
        [entry] = entries(pytester.path / "junit.xml")
        return result, entry

    return with_entry


def test_a_drop_within_its_limit_passes(suite: Suite, save, junit) -> None:
    save(suite(DROP))
    result, entry = junit()
    result.assert_outcomes(passed=1)
    assert (result.ret, kinds(entry)) == (pytest.ExitCode.OK, [])
    assert float(properties(entry)["relevance.observed"]) == 0.0
    assert properties(entry)["relevance.required"] == "0.02"


def test_a_drop_beyond_its_limit_fails_and_shows_the_query_that_fell(suite: Suite, save, junit, engine) -> None:
    save(suite(DROP))
    engine.rankings["red shoes"] = ["c", "b", "a"]
    result, entry = junit()
    result.assert_outcomes(failed=1)
    assert (result.ret, kinds(entry)) == (pytest.ExitCode.TESTS_FAILED, ["failure"])
    result.stdout.fnmatch_lines(["*fell by *, allowed 0.02, over 2 queries; fell most: shoes 1.0000 -> 0.*"])
    result.stdout.fnmatch_lines(["query shoes*red shoes*"])
    assert float(properties(entry)["relevance.observed"]) > 0.02


def test_ties_in_another_order_pass_and_are_named(suite: Suite, save, junit, engine) -> None:
    engine.score = 1.0
    save(suite(DROP))
    engine.rankings["red shoes"] = ["c", "b", "a"]
    result, entry = junit()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["shop: drop nDCG@10 <= 0.02: holds; only the order of ties changed in 1 query: shoes"])
    assert properties(entry)["relevance.caveat"] == "only the order of ties changed in 1 query: shoes"


def test_an_engine_error_is_an_error_with_or_without_a_baseline(suite: Suite, save, junit, engine) -> None:
    path = save(suite(DROP))
    engine.broken["red shoes"] = 400
    for _ in range(2):
        result, entry = junit()
        result.assert_outcomes(errors=1)
        assert kinds(entry) == ["error"]
        path.unlink(missing_ok=True)


def test_changed_judgments_are_no_failure_and_are_named(suite: Suite, save, run: Run) -> None:
    path = suite(DROP)
    save(path)
    path.write_text(path.read_text().replace("judgments: {a: 3, b: 1}", "judgments: {c: 3}"))
    result = run("--relevance-report", "report.json")
    result.assert_outcomes(passed=1)
    [report] = json.loads((path.parent / "report.json").read_text())["suites"]
    assert any("the judgments changed: 1 query (shoes)" in note for note in report["notes"])


def test_a_query_s_own_drop_is_the_query_s_item(suite: Suite, save, run: Run, engine) -> None:
    save(suite(shoes='thresholds: ["drop nDCG@10 <= 0.1"]'))
    engine.rankings["red shoes"] = ["c", "b", "a"]
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nDCG@10 (gain exponential) fell by * from 1.0000 to *, allowed 0.1*"])


# ------------------------------------------------------------------------------------------------ secrets

OF_A_BRAND = """\
suite: shop
target: {index: products}
request:
  query: {match: {title: "{{text}}"}}
  post_filter: {terms: {tenant: ["${RELEVANCE_TENANT}", "{{brand}}", "{{login}}"]}}
measures: ["nDCG@10"]
thresholds: ["drop nDCG@10 <= 0.02", "mean RBO >= 1"]
queries:
  - {id: shoes, text: "shoes of ${RELEVANCE_BRAND}", params: {brand: "${RELEVANCE_BRAND}", login: x}, judgments: {a: 3}}
  - {id: boots, text: rubber boots, params: {brand: x, login: "${RELEVANCE_LOGIN_TOKEN}"}, judgments: {d: 3}}
"""


@needs_extension("compare")
def test_no_secret_is_in_anything_that_is_written_or_printed(
    pytester: pytest.Pytester, engine, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pytester.path / "shop.relevance.yaml"
    path.write_text(OF_A_BRAND, encoding="utf-8")
    monkeypatch.setenv("RELEVANCE_BRAND", "sentinel-of-a-brand")
    monkeypatch.setenv("RELEVANCE_TENANT", "sentinel-of-a-tenant")
    monkeypatch.setenv("RELEVANCE_LOGIN_TOKEN", "sentinel-of-a-login")
    for text in ("shoes", "blue shoes"):
        engine.rankings[f"{text} of sentinel-of-a-brand"] = ["a", "b"]
        engine.rankings[f"{text} of another-sentinel"] = ["a", "b"]
    engine.gets |= {
        "/products/_mapping": {"products": {"mappings": {"properties": {"sentinel-of-a-tenant": {"type": "text"}}}}},
        "/products/_settings": {"products": {"settings": {"index": {"analysis": "sentinel-of-a-brand"}}}},
        "/products/_count": {"count": 3},
    }
    assert main(["baseline", "save", path.name, "--url", engine.url]) == 0
    [entry] = json.loads(path.with_name("shop.baseline.json").read_text())["requests"].values()
    assert entry["queries"]["shoes"]["text"] == "shoes of ${RELEVANCE_BRAND}"
    assert entry["index"]["mapping_json"] == [{"properties": {"${RELEVANCE_TENANT}": {"type": "text"}}}]

    monkeypatch.setenv("RELEVANCE_BRAND", "another-sentinel")
    monkeypatch.setenv("RELEVANCE_LOGIN_TOKEN", "sentinel-of-another-login")
    capsys.readouterr()
    assert main(["run", path.name, "--url", engine.url]) == 1
    assert "asked something else for 1 query: shoes (a variable in it has another value)" in capsys.readouterr().out

    path.write_text(OF_A_BRAND.replace('text: "shoes', 'text: "blue shoes'), encoding="utf-8")
    reports = ["--output", "json=report.json", "--output", "html=report.html", "--output", "markdown=report.md"]
    assert main(["run", path.name, "--url", engine.url, *reports]) == 1
    assert main(["baseline", "show", path.name]) == main(["baseline", "diff", path.name, "--url", engine.url]) == 0
    assert main(["compare", "baseline", "report.json", "--suite", path.name, "--output", "json=compared.json"]) == 0
    result = run("--junit-xml=junit.xml", "-v")
    result.assert_outcomes(failed=2)
    reworded = "shoes (its text was 'shoes of ${RELEVANCE_BRAND}' and is 'blue shoes of ${RELEVANCE_BRAND}')"
    printed = capsys.readouterr()
    assert " ".join(printed.out.split()).count(reworded) >= 4
    assert reworded in (pytester.path / "junit.xml").read_text(encoding="utf-8").replace("&#x27;", "'")
    written = {one: one.read_bytes() for one in pytester.path.rglob("*") if one.is_file()}
    assert len(written) > 6
    assert [one for one, content in written.items() if b"sentinel" in content] == []
    assert "sentinel" not in printed.out + printed.err + result.stdout.str() + result.stderr.str()


# ------------------------------------------------------------------------------------------------ updating


def test_an_update_of_a_part_says_which_queries_stay_and_ask_something_else(suite: Suite, save, run: Run) -> None:
    path = suite(DROP.replace("0.02", "0.02 for head"))
    save(path)
    path.write_text(path.read_text().replace("text: rubber boots", "text: wellies"))
    result = run("--relevance-update-baseline", "--relevance-tag", "head")
    result.stdout.fnmatch_lines(
        [
            "baseline written to shop.baseline.json",
            "*1 query that did not run is of a changed query: boots (its text was 'rubber boots' and is 'wellies')",
        ]
    )


def kept(path: Path) -> dict[str, dict[str, object]]:
    return json.loads(path.with_name("shop.baseline.json").read_text())["requests"]["request"]["queries"]


def test_an_update_keeps_what_ran_and_compares_with_nothing(suite: Suite, run: Run, engine) -> None:
    path = suite(DROP.replace("]", ', "mean nDCG@10 >= 0.5"]'))

    result = run("--relevance-update-baseline")

    result.assert_outcomes(passed=1, skipped=1)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["relevance: *baselines are updated", "baseline written to shop.baseline.json"])
    assert set(kept(path)) == {"shoes", "boots"}
    run().assert_outcomes(passed=2)
    engine.rankings["red shoes"] = ["c", "b", "a"]
    run().assert_outcomes(passed=1, failed=1)
    run("--relevance-update-baseline")
    run().assert_outcomes(passed=2)


def test_an_update_of_one_tag_leaves_other_queries(suite: Suite, run: Run, engine) -> None:
    path = suite(DROP, shoes='expect: ["hits >= 1"]')
    run("--relevance-update-baseline")
    before = kept(path)
    engine.rankings.update({"red shoes": ["b", "a"], "rubber boots": ["d", "e"]})

    run("--relevance-update-baseline", "--relevance-tag", "head")

    after = kept(path)
    assert after["boots"] == before["boots"]
    assert after["shoes"] != before["shoes"]


def test_with_workers_the_controller_writes_once(suite: Suite, run: Run, engine) -> None:
    path = suite(
        DROP.replace("]", ', "mean nDCG@10 >= 0.5", "every nDCG@10 >= 0.1"]'), boots='thresholds: ["nDCG@10 >= 0.1"]'
    )

    result = run(*IN_TWO_WORKERS, "--relevance-update-baseline")

    result.assert_outcomes(passed=3, skipped=1)
    assert [line for line in result.outlines if "baseline written" in line] == [
        "baseline written to shop.baseline.json"
    ]
    assert set(kept(path)) == {"shoes", "boots"}
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}
    run(*IN_TWO_WORKERS).assert_outcomes(passed=4)


@pytest.mark.parametrize("workers", [(), IN_A_WORKER])
def test_what_a_fixture_ran_otherwise_is_not_kept(
    suite: Suite, run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    path = suite(DROP)
    pytester.makepyfile(
        """
        def test_head(relevance):
            assert relevance.run("shop.relevance.yaml", tags=("head",)).mean("nDCG@10") == 1
        """
    )

    result = run(*workers, "--relevance-update-baseline")

    result.assert_outcomes(passed=1, skipped=1)
    assert set(kept(path)) == {"shoes", "boots"}


@pytest.mark.parametrize(
    "change",
    ['+ "  - {id: wellies, text: rubber boots, judgments: {d: 3}}\\n"', '.replace("rubber boots", "wellies")'],
    ids=["another query", "another text"],
)
@pytest.mark.parametrize("workers", [(), IN_A_WORKER], ids=["alone", "workers"])
def test_a_suite_that_is_changed_after_it_ran_is_kept_as_it_ran_or_not_at_all(
    suite: Suite, run: Run, pytester: pytest.Pytester, workers: tuple[str, ...], change: str
) -> None:
    path = suite(DROP)
    pytester.makeconftest(
        f"""
        from pathlib import Path

        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(session):
            if not hasattr(session.config, "workerinput"):
                path = Path(__file__).with_name("shop.relevance.yaml")
                path.write_text(path.read_text(){change})
        """
    )

    result = run(*workers, "--relevance-update-baseline")

    if workers:
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stdout.fnmatch_lines(["*shop.relevance.yaml: the suite was changed after it ran*"])
        assert not path.with_name("shop.baseline.json").exists()
    else:
        assert result.ret == pytest.ExitCode.OK
        assert {query: one["text"] for query, one in kept(path).items()} == {
            "shoes": "red shoes",
            "boots": "rubber boots",
        }


def test_a_run_with_an_error_is_not_kept(suite: Suite, run: Run, engine) -> None:
    path = suite('thresholds: ["mean nDCG@10 >= 0.5"]')
    engine.broken["red shoes"] = 400

    result = run("--relevance-update-baseline")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no baseline is saved from a run with errors: 1 query had no answer (shoes)*"])
    assert not path.with_name("shop.baseline.json").exists()


@pytest.mark.parametrize(("variable", "value"), [("CI", "1"), ("JENKINS_URL", "http://ci/"), ("TF_BUILD", "True")])
def test_in_ci_an_update_has_to_be_forced(
    suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    path = suite(DROP)
    monkeypatch.setenv(variable, value)

    refused = run("--relevance-update-baseline")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines([f"*--relevance-update-baseline: {variable} is set*=force*"])
    assert not path.with_name("shop.baseline.json").exists()
    run("--relevance-update-baseline=force").assert_outcomes(skipped=1)
    assert set(kept(path)) == {"shoes", "boots"}


def test_a_path_after_the_option_is_told_where_it_goes(suite: Suite, run: Run) -> None:
    result = run("--relevance-update-baseline", suite(DROP).name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*found 'shop.relevance.yaml', expected nothing or =force; put paths before*"])


def test_another_file_is_written_and_compared_with(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(DROP)
    run("--relevance-update-baseline", "--relevance-baseline", "mine.json").assert_outcomes(skipped=1)
    assert [path.name for path in pytester.path.glob("*.json")] == ["mine.json"]
    run("--relevance-baseline", "mine.json").assert_outcomes(passed=1)
    run().assert_outcomes(failed=1)


@pytest.mark.parametrize("workers", [(), IN_TWO_WORKERS])
def test_a_file_is_the_baseline_of_one_suite(
    suite: Suite, run: Run, pytester: pytest.Pytester, engine, workers: tuple[str, ...]
) -> None:
    suite(DROP)
    suite(DROP, name="other.relevance.yaml")
    words = ("--relevance-baseline", "one.json", *(workers and IN_A_WORKER))

    result = run("--relevance-update-baseline", "--relevance-baseline", "one.json", *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    sentence = "--relevance-baseline: one.json is the baseline of one suite, but 2 suites were chosen"
    assert (result.stdout.str() + result.stderr.str()).count(sentence) == 1
    assert not list(pytester.path.glob("*.json"))
    if not workers:
        assert engine.asked == {}
    assert run("--relevance-update-baseline", *words, "-k", "other").ret == pytest.ExitCode.OK
    if not workers:
        assert run(*words, "other.relevance.yaml").ret == pytest.ExitCode.OK
    assert run(*words).ret == pytest.ExitCode.USAGE_ERROR


def test_a_failure_without_a_threshold_on_drops_shows_what_changed_since_the_baseline(
    suite: Suite, save, junit, engine
) -> None:
    engine.gets["/products/_mapping"] = {"products": {"mappings": {"properties": {"title": {"type": "text"}}}}}
    save(suite('thresholds: ["mean nDCG@10 >= 0.8"]'))
    engine.gets["/products/_mapping"] = {"products": {"mappings": {"properties": {"title": {"type": "keyword"}}}}}
    engine.rankings["red shoes"] = ["x", "b", "a"]
    result, entry = junit()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "query shoes*(nDCG@10 0.* (-0.* vs baseline); scored; 3 matching)",
            "*rank  was  document*",
            "*1  new  x *",
            "*3    1  a *",
            "*left since the baseline*",
            "*c *",
            "*since the baseline*",
            "mean nDCG@10 since the baseline of *: 0.8155 → 0.* (-0.*) over 2 queries",
            "*the mapping changed (- baseline, + now)",
            '-*"type": "text"',
            '+*"type": "keyword"',
            "shop: nDCG@10 0.* (-0.* vs baseline); 2 queries*",
        ]
    )
    assert "the mapping changed" in (entry.find("failure").text or "")  # type: ignore[union-attr]


def test_a_passing_run_names_the_difference_too(suite: Suite, save, junit, engine) -> None:
    save(suite('thresholds: ["mean nDCG@10 >= 0.1"]'))
    engine.rankings["rubber boots"] = ["d"]
    result, _ = junit()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["shop: nDCG@10 1.0000 (+0.1845 vs baseline); 2 queries*"])


def test_command_pytest_and_python_report_the_same_difference(
    suite: Suite, save, engine, run: Run, pytester: pytest.Pytester
) -> None:
    path = suite('thresholds: ["mean nDCG@10 >= 0.9"]')
    save(path)
    engine.rankings["red shoes"] = ["x", "b", "a"]
    run("--relevance-report", "pytest.json").assert_outcomes(failed=1)
    assert main(["run", path.name, "--url", engine.url, "--output", "json=command.json", "-q"]) == 1
    with Relevance(pytester.path) as relevance:
        relevance.run(path.name, url=engine.url).write_report("python.json")
    reports = [json.loads(Path(f"{name}.json").read_text())["suites"][0] for name in ("pytest", "command", "python")]
    parts = [
        (one["baseline"], one["summaries"], one["tags"], [query["baseline"] for query in one["queries"]])
        for one in reports
    ]
    assert parts[0] == parts[1] == parts[2]
    assert parts[0][3][0]["documents"]
