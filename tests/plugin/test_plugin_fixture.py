"""The fixture `relevance`, for tests written in Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.shown import entries, properties
from builders.workers import IN_TWO_WORKERS

MEAN = 'thresholds: ["mean nDCG@10 >= 0.8"]'

Suite = Callable[..., Path]
Run = Callable[..., pytest.RunResult]


def test_a_suite_runs_once_for_its_items_and_the_fixture(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile(
        """
        import pytest

        def test_mean(relevance):
            run = relevance.run("shop.relevance.yaml")
            assert run.mean("nDCG@10") == pytest.approx(0.8155, abs=1e-4)
            assert run.mean("RR@10") == 0.75          # a measure that the suite does not name

        def test_again(relevance):
            relevance.run("shop.relevance.yaml").assert_thresholds()
        """
    )

    result = run()

    result.assert_outcomes(passed=3)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}
    assert sum(line.startswith("shop: ") for line in result.outlines) == 1


def test_workers_and_the_fixture_share_it_too(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(f"{MEAN[:-1]}, 'median nDCG@10 >= 0.8']")
    tests = "".join(
        f"def test_{number}(relevance):\n    run = relevance.run('shop.relevance.yaml')\n"
        f"    assert run.score('boots', 'RR@10') == 0.5\n    assert run.queries[1].text == 'rubber boots'\n"
        for number in range(4)
    )
    pytester.makepyfile(test_one=tests, test_two=tests)

    result = run(*IN_TWO_WORKERS)

    result.assert_outcomes(passed=10)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


def test_paths_are_relative_to_the_rootdir(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN, name="suites/shop.relevance.yaml")
    pytester.makeini("[pytest]\n")
    test = pytester.mkdir("tests") / "test_it.py"
    test.write_text("def test_it(relevance): assert relevance.run('suites/shop.relevance.yaml').mean('P@1') == 0.5\n")

    run(str(test)).assert_outcomes(passed=1)


def test_fixtures_of_a_wider_scope_can_use_it(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN)
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def shop(relevance):
            return relevance.run("shop.relevance.yaml")

        @pytest.mark.parametrize("query", ["shoes", "boots"])
        def test_it(shop, query):
            assert shop.score(query, "nDCG@10") > 0.6
        """
    )

    run("test_fixtures_of_a_wider_scope_can_use_it.py").assert_outcomes(passed=2)


def test_it_honours_the_options_and_a_call_may_ask_otherwise(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile(
        """
        def test_it(relevance):
            assert [query.id for query in relevance.run("shop.relevance.yaml").queries] == ["boots"]
            assert [query.id for query in relevance.run("shop.relevance.yaml", tags=("head",)).queries] == ["shoes"]
        """
    )

    result = run("--relevance-tag", "tail")

    result.assert_outcomes(passed=1, deselected=1)
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}


CLIENTS = """
    import pytest
    from pathlib import Path
    from builders.engine import ROOT, item_of

    FOUND = {"red shoes": ["b", "a"], "rubber boots": ["d"], "a look-up": ["a", "b", "d"]}

    class Client:
        def __init__(self, name):
            self.name = name

        def info(self):
            return ROOT

        def msearch(self, body):
            texts = [search["query"].get("match", {"title": "a look-up"})["title"] for search in body[1::2]]
            if body[-1]["size"] < 1000:
                with Path("asked.txt").open("a") as file:
                    file.writelines(f"{self.name} {text}\\n" for text in texts if text != "a look-up")
            return {"took": 1, "responses": [item_of(FOUND[text], size=11) for text in texts]}

    @pytest.fixture(scope="session")
    def es():
        return Client("first")

    def test_once(relevance, es):
        assert relevance.run("shop.relevance.yaml", client=es).mean("RR@10") == 1

    def test_twice(relevance, es):
        relevance.run("shop.relevance.yaml", client=es).assert_thresholds()

    def test_under_other_options(relevance, es):
        assert relevance.run("shop.relevance.yaml", client=es, queries=["boots"]).mean("RR@10") == 1

    def test_another_client(relevance):
        assert relevance.run("shop.relevance.yaml", client=Client("second")).mean("nDCG@10") < 1
"""


def asked(pytester: pytest.Pytester) -> list[str]:
    return sorted((pytester.path / "asked.txt").read_text(encoding="utf-8").splitlines())


def test_runs_over_a_client_of_the_users_own_belong_to_the_session(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile(CLIENTS)

    result = run("--relevance-report", "report.json", "--junit-xml", "junit.xml")

    result.assert_outcomes(passed=5)
    assert asked(pytester) == [
        "first red shoes",
        "first rubber boots",
        "first rubber boots",
        "second red shoes",
        "second rubber boots",
    ]
    assert engine.asked == {"red shoes": 1, "rubber boots": 1}
    suites = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))["suites"]
    assert sorted(one["cluster"] for one in suites) == ["client", "client", "client", engine.url]
    assert sum(line.startswith("shop: nDCG@10 ") for line in result.outlines) == 4
    told = {entry.attrib["name"]: properties(entry) for entry in entries(pytester.path / "junit.xml")}
    assert told["test_once"] == told["test_twice"]
    assert (told["test_once"]["relevance.cluster"], told["test_once"]["relevance.suite"]) == ("client", "shop")
    assert float(told["test_once"]["relevance.mean-nDCG@10"]) == pytest.approx(0.8549, abs=1e-4)


def test_runs_over_a_client_of_each_worker_are_reported_too(
    suite: Suite, run: Run, engine: object, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile(CLIENTS)

    result = run("--relevance-report", "report.json", "-p", "xdist", "-n2", "--dist", "loadfile")

    result.assert_outcomes(passed=5)
    assert len(asked(pytester)) == 5
    suites = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))["suites"]
    assert sorted(one["cluster"] for one in suites) == ["client", "client", "client", engine.url]


def test_a_run_over_a_client_is_no_baseline(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    suite(MEAN)
    pytester.makepyfile(CLIENTS)

    run("--relevance-update-baseline").assert_outcomes(passed=5)

    [kept] = json.loads((pytester.path / "shop.baseline.json").read_text(encoding="utf-8"))["requests"].values()
    assert [hit for hit, _ in kept["queries"]["shoes"]["ranking"]] == ["a", "b", "c"]


def test_a_client_that_cannot_search_is_an_error_that_the_summary_tells(
    suite: Suite, run: Run, pytester: pytest.Pytester
) -> None:
    suite(MEAN)
    pytester.makepyfile("def test_it(relevance): relevance.run('shop.relevance.yaml', client=object())")

    result = run()

    result.assert_outcomes(passed=1, failed=1)
    assert (
        "shop.relevance.yaml: did not run: a client of type object has no `msearch` to search with" in result.outlines
    )


def test_rankings_are_scored_without_a_suite(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(relevance):
            scores = relevance.evaluate({"q": ["b", "a"]}, {"q": {"a": 1}}, measures=["RR@10"])
            assert scores.mean("RR@10") == 0.5
        """
    )

    result = run()

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= relevance =*")


def test_what_cannot_run_is_an_error_of_one_sentence(suite: Suite, run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from harness.errors import HarnessError

        def test_missing(relevance):
            with pytest.raises(HarnessError, match="nowhere.relevance.yaml"):
                relevance.run("nowhere.relevance.yaml")

        def test_unknown_option(relevance):
            with pytest.raises(HarnessError, match="request"):
                relevance.run("nowhere.relevance.yaml", reqest="candidate")

        @pytest.mark.parametrize("wrong", [{"budget": "10"}, {"embedded": "no"}, {"tags": "head"}, {"today": "now"}])
        def test_what_is_no_option(relevance, wrong):
            [name] = wrong
            for ask in (relevance.run, lambda suite, **options: relevance.compare(suite, suite, **options)):
                with pytest.raises(HarnessError, match=f"{name} is the text '.*', expected"):
                    ask("nowhere.relevance.yaml", **wrong)

        @pytest.mark.parametrize("wrong", [{"gain": "nonsense"}, {"gain": 42}, {"profile": "nonsense"}])
        def test_what_is_no_argument(relevance, wrong):
            [(name, found)] = wrong.items()
            with pytest.raises(HarnessError, match=f"found {found!r} as {name}, expected"):
                relevance.evaluate({"q": ["a"]}, {"q": {"a": 1}}, measures=[], **wrong)
        """
    )

    run().assert_outcomes(passed=9)


VARIABLES = {
    "RELEVANCE_TEXT": "sentinel-text",
    "USER": "sentinel-user",
    "PASSWORD": "sentinel-password",
    "OTHER": "sentinel-other",
}


@pytest.mark.parametrize(
    "call",
    [
        'run("nosuch.relevance.yaml")',
        'run("bad.relevance.yaml")',
        'run("shop.relevance.yaml", request="x")',
        'run("shop.relevance.yaml", url="http://127.0.0.1:9").mean("nDCG@10")',
        'run("shop.relevance.yaml", cluster="secure").assert_thresholds()',
        'compare("request:a", "request:b", suite="shop.relevance.yaml")',
        'compare("baseline", "run", suite="shop.relevance.yaml")',
    ],
)
def test_a_traceback_with_local_variables_shows_nothing_of_the_environment(
    pytester: pytest.Pytester, suite: Suite, run: Run, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    path = suite('thresholds: ["mean nDCG@10 >= 0.99"]')
    path.write_text(
        path.read_text()
        .replace("{{text}}", "{{text}} ${RELEVANCE_TEXT}")
        .replace("red shoes", "red shoes ${RELEVANCE_TEXT}")
    )
    path.with_name("bad.relevance.yaml").write_text(path.read_text().replace("request:", "requestt:"))
    login = 'username_env = "USER"\npassword_env = "PASSWORD"'
    pytester.path.joinpath("relevance.toml").write_text(f'[clusters.secure]\nurl = "http://127.0.0.1:9"\n{login}\n')
    test = pytester.makepyfile(f"def test_call(relevance):\n    relevance.{call}\n")

    result = run("-vv", "--showlocals", str(test))

    result.assert_outcomes(failed=1)
    assert "sentinel" not in str(result.stdout) + str(result.stderr)
