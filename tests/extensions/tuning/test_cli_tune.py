"""``relevance tune``: trials on a part of the queries, a decision on the others, and a study that is never lost."""

import pytest

from builders.extras import skip_without

skip_without("optuna", "cmaes")

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from builders.engine import ScriptedEngine, item_of
from builders.terminals import run_on_terminal
from harness.cli import main
from harness.extensions.tuning.asking import TrialSender
from harness.extensions.tuning.outputs import dumps_tuning, loads_tuning
from harness.files.folders import Folder
from harness.files.locks import hold_lock

QUERIES = 40
SUITE = """\
suite: shop
target: {index: products}
tune:
  parameters:
    field: {choices: [a, b, c, d], today: a}
request: {query: {match: {title: "{{text}} {{param:field}}"}}}
measures: ["RR@5"]
THRESHOLDS
queries:
"""
RANKINGS = {"a": ["x", "y", "a"], "b": ["x", "a"], "c": ["a", "x"], "d": ["x", "y", "z", "a"]}
"""By the field that is searched; a is the relevant document."""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Forty queries, of which 16 are held out; field c has the relevant document first, but for every fifth query."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    lines = [SUITE]
    with ScriptedEngine() as engine:
        for number in range(QUERIES):
            lines.append(f"  - {{id: q{number}, text: text {number}, tags: [t{number % 2}], judgments: {{a: 1}}}}\n")
            for field, ranking in RANKINGS.items():
                is_odd = number % 5 == 0 and field == "c"
                engine.rankings[f"text {number} {field}"] = RANKINGS["d"] if is_odd else ranking
        write(lines)
        yield engine


def write(lines, thresholds=""):
    text = "".join(lines).replace("THRESHOLDS\n", thresholds)
    Path("shop.relevance.yaml").write_text(text, encoding="utf-8")


def change_suite(old, new):
    path = Path("shop.relevance.yaml")
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def forget_texts(journal="shop.tune.journal"):
    """Make of the journal one of the time in which it had nothing but ids."""
    lines = []
    for line in Path(journal).read_text(encoding="utf-8").splitlines():
        log = json.loads(line)
        attributes = log.get("user_attr", {})
        if "signs" in attributes:
            continue
        for note in attributes.get("looks", ()):
            del note["signs"]
        lines.append(json.dumps(log, separators=(",", ":")))
    Path(journal).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture
def tune(shop, capsys):
    """Runs the command; what it printed, its errors, and its exit status."""

    def call(*words, effect="0.5", sampler="grid", quiet=True):
        shop.asked.clear()
        options = ["--effect", effect, "--sampler", sampler, "--url", shop.url, *(["-q"] if quiet else []), *words]
        status = main(["tune", "shop.relevance.yaml", *options])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


@pytest.fixture
def tune_json(tune):
    def call(*words, **options):
        status, out, err = tune("--json", *words, **options)
        assert status == 0, err
        return json.loads(out)

    return call


def count_fields(engine):
    """How many queries were sent with each field."""
    return Counter(text.split()[-1] for text in engine.asked)


class TestTheDecision:
    def test_gain_is_shown_on_unseen_queries(self, shop, tune_json):
        """A gain is shown on queries that no trial has seen."""
        report = tune_json()
        assert report["decision"] == "gain"
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "c"}
        gain = report["held_out_gain"]
        assert (gain["queries"], gain["today"]) == (16, pytest.approx(1 / 3))
        assert 0 < gain["low"] < gain["difference"] < gain["high"]
        held_out = report["hold_out"]["queries"]
        texts = {f"text {query[1:]}" for query in held_out}
        asked_held_out = Counter(text.split()[-1] for text in shop.asked if text.rsplit(" ", 1)[0] in texts)
        assert asked_held_out == {"a": 16, "c": 16}
        assert count_fields(shop) == {"a": 40, "b": 24, "c": 40, "d": 24}
        assert set(shop.asked.values()) == {1}

    def test_a_tag_that_loses_is_said_beside_a_gain(self, shop, tune, tune_json):
        for number in range(0, QUERIES, 5):
            change_suite(f"text: text {number}, tags: [t{number % 2}]", f"text: text {number}, tags: [head]")
        report = tune_json()
        assert (report["decision"], report["tags"][0]["tag"]) == ("gain", "head")
        loss = report["tags"][0]["overall"]
        assert (loss["queries"], loss["difference"]) == (8, pytest.approx(0.25 - 1 / 3))
        assert "the choice loses on the queries of 1 tag: head -0.0833 (8 queries)" in report["warnings"]
        _, out, _ = tune()
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["head"]]
        assert rows[0][-2:] == ["8", "-0.0833"]

    def test_each_choice_has_its_trials(self, tune):
        """How often a choice was tried stands beside the choice: a sampler tries some of them seldom."""
        _, out, _ = tune("--trials", "3")
        printed = " ".join(out.split())
        assert re.search(r"field: a in 1 trial, best 0\.3333; b in . trials?\b", printed)
        assert re.search(r"\b[bcd] in 0 trials", printed)

    def test_both_tags_are_held_out(self, tune_json):
        held_out = tune_json()["hold_out"]["queries"]
        assert Counter(int(query[1:]) % 2 for query in held_out) == {0: 8, 1: 8}

    def test_today_stays_if_nothing_is_better(self, shop, tune_json):
        """Today's request stays where nothing is better."""
        change_suite("today: a", "today: c")
        report = tune_json()
        assert report["decision"] == "today's request stays"
        assert (report["held_out_gain"], report["hold_out"]["looks"]) == (None, [])
        assert count_fields(shop) == {"a": 24, "b": 24, "c": 24, "d": 24}

    def test_the_terminal_says_it(self, tune):
        status, out, _ = tune()
        assert status == 0
        assert "a gain in RR@5: +0.4792 (95 % interval +0.2917 to +0.6667, p 0.0005)" in out
        assert "on 16 queries that no trial has seen" in out
        assert "a gain: field c" in out
        assert "hold-out: only 16 queries changed, so the interval is of differences not rejected" in out

    def test_greatest_loss_first(self, tune_json):
        """Costs are listed with the greatest loss first."""
        costs = tune_json()["costs"]
        assert [cost["query"] for cost in costs if cost["chosen"] < cost["today"]] == [cost["query"] for cost in costs][
            :8
        ]
        assert len(costs) == QUERIES

    def test_a_second_look_is_said(self, tune_json):
        assert len(tune_json()["hold_out"]["looks"]) == 1
        assert len(tune_json()["hold_out"]["looks"]) == 1
        report = tune_json("--measure", "P@1")
        assert len(report["hold_out"]["looks"]) == 2
        assert any("this is look 2 at the same hold-out" in warning for warning in report["warnings"])

    def test_look_is_known_without_the_file(self, tune_json):
        """A look is known without the file of the hold-out."""
        tune_json()
        Path("shop.holdout.json").unlink()
        assert len(tune_json()["hold_out"]["looks"]) == 1
        Path("shop.holdout.json").unlink()
        assert len(tune_json("--measure", "P@1")["hold_out"]["looks"]) == 2

    def test_another_grade_is_another_look(self, tune_json):
        """Another grade of a held-out query is another look."""
        [query, *_] = tune_json()["hold_out"]["queries"]
        change_suite(
            f"id: {query}, text: text {query[1:]}, tags: [t{int(query[1:]) % 2}], judgments: {{a: 1",
            f"id: {query}, text: text {query[1:]}, tags: [t{int(query[1:]) % 2}], judgments: {{a: 1, y: 1",
        )
        report = tune_json()
        assert len(report["hold_out"]["looks"]) == 2
        assert any("this is look 2 at the same hold-out" in warning for warning in report["warnings"])

    def test_sent_hold_out_refused(self, shop, tune):
        """A hold-out of which trials were sent queries is refused."""
        tune()
        Path("shop.holdout.json").unlink()
        before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
        status, out, err = tune("--seed", "2")
        assert (status, out, shop.asked) == (2, "", {})
        assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
        assert "trials of earlier tunings were sent" in err
        assert "of the 16 in shop.holdout.json: what was tuned on is no evidence" in err
        status, out, _ = tune("--seed", "2", "--force")
        assert status == 0
        said = " ".join(out.split())
        assert "trials of earlier tunings were sent" in said
        assert "no trial was sent these queries" not in said
        assert "that no trial has seen" not in said
        assert "on 16 queries of the hold-out" in said

    @pytest.mark.parametrize("changes", [("ids",), ("ids", "suite"), ("ids", "case"), ("suite",), ("params",)])
    def test_what_trials_were_sent_is_known_by_its_text(self, shop, tune, tune_json, changes):
        """The hold-out is removed and drawn again, after the queries got other ids, or the suite another name."""
        tune()
        Path("shop.holdout.json").unlink()
        path = Path("shop.relevance.yaml")
        text = path.read_text()
        if "ids" in changes:
            text = re.sub(r"id: q(\d+)", lambda match: f"id: n{QUERIES - int(match[1])}", text)
        if "suite" in changes:
            text = text.replace("suite: shop", "suite: store")
        if "case" in changes:
            text = text.replace("text: text ", "text: Text  ")
        if "params" in changes:
            text = text.replace(", tags:", ", params: {season: winter}, tags:")
            text = text.replace("request: {query", 'request: {stats: ["{{season}}"], query')
        path.write_text(text)
        status, out, err = tune("--seed", "2")
        assert (status, out, shop.asked) == (2, "", {})
        assert re.search(r"trials of earlier tunings were sent \d+ queries", err)
        assert not Path("shop.holdout.json").exists()

    def test_other_texts_are_other_queries(self, shop, tune, tune_json):
        """Other texts under the same ids are other queries."""
        tune()
        Path("shop.holdout.json").unlink()
        for number in range(QUERIES):
            change_suite(f"text: text {number},", f"text: new {number},")
            for field, ranking in RANKINGS.items():
                shop.rankings[f"new {number} {field}"] = ranking
        report = tune_json("--seed", "2")
        assert (report["decision"], report["is_seen"]) == ("gain", False)

    def test_queries_known_by_sent_values(self, shop, tune):
        """A request without text knows queries by the values that it sends."""
        path = Path("shop.relevance.yaml")
        text = path.read_text().replace("{{text}} {{param:field}}", "{{words}} {{param:field}}")
        path.write_text(re.sub(r"text: text (\d+)", r"text: label \1, params: {words: text \1}", text))
        assert tune()[0] == 0
        Path("shop.holdout.json").unlink()
        text = re.sub(r"id: q(\d+), text: label", r"id: n\1, text: other", path.read_text())
        path.write_text(text)
        status, _, err = tune("--seed", "2")
        assert status == 2
        assert "trials of earlier tunings were sent" in err
        path.write_text(text.replace("words: text", "words: new"))
        for key in list(shop.rankings):
            shop.rankings[key.replace("text", "new")] = shop.rankings[key]
        assert tune("--seed", "2")[0] == 0

    @pytest.mark.parametrize("name", ["shop", "store"])
    def test_a_journal_without_texts_is_known_by_its_ids(self, shop, tune, name):
        tune()
        forget_texts()
        Path("shop.holdout.json").unlink()
        change_suite("suite: shop", f"suite: {name}")
        status, out, err = tune("--seed", "2")
        assert (status, out, shop.asked) == (2, "", {})
        assert "trials of earlier tunings were sent" in err

    def test_journal_without_texts_continues(self, shop, tune_json, tune):
        """A journal without texts continues, and has them then."""
        tune_json()
        forget_texts()
        report = tune_json()
        assert (report["decision"], report["sent"]) == ("gain", 32)
        assert len(report["hold_out"]["looks"]) == 1
        path = Path("shop.relevance.yaml")
        path.write_text(path.read_text().replace("id: q", "id: n"))
        Path("shop.holdout.json").unlink()
        assert tune("--seed", "2")[0] == 2

    def test_ids_of_several_suites(self, shop, tune):
        """A database of several suites tells their ids apart."""
        database = ("--storage", "sqlite:///trials.db")
        assert tune(*database)[0] == 0
        path = Path("shop.relevance.yaml")
        path.write_text(path.read_text().replace("suite: shop", "suite: store").replace("text: text", "text: new"))
        for key in list(shop.rankings):
            shop.rankings[key.replace("text", "new")] = shop.rankings[key]
        Path("shop.holdout.json").unlink()
        assert tune(*database, "--seed", "2")[0] == 0
        path.write_text(path.read_text().replace("suite: store", "suite: third").replace("id: q", "id: n"))
        Path("shop.holdout.json").unlink()
        status, _, err = tune(*database, "--seed", "3")
        assert status == 2
        assert "trials of earlier tunings were sent" in err

    def test_a_look_is_known_though_all_ids_are_others(self, shop, tune_json):
        tune_json()
        path = Path("shop.relevance.yaml")
        # The same order of ids draws the same queries again.
        path.write_text(path.read_text().replace("id: q", "id: n"))
        Path("shop.holdout.json").unlink()
        report = tune_json("--measure", "P@1")
        assert (report["is_seen"], len(report["hold_out"]["looks"])) == (False, 2)

    def test_held_out_text_is_tuned_on(self, shop, tune):
        """A held-out query with the text of one that is tuned on is refused."""
        tune()
        held_out = json.loads(Path("shop.holdout.json").read_text())["queries"]
        tuned = next(number for number in range(QUERIES) if f"q{number}" not in held_out)
        Path("shop.tune.journal").unlink()
        change_suite(f"id: {held_out[0]}, text: text {held_out[0][1:]}", f"id: {held_out[0]}, text: text {tuned}")
        status, out, err = tune()
        assert (status, out, shop.asked) == (2, "", {})
        assert f"queries to tune on are the same as 1 query ({held_out[0]}) of the 16" in err

    def test_folds_stand_apart_from_the_evidence(self, tune):
        """The estimate by folds is approximate, and no row beside that of the hold-out."""
        _, out, _ = tune("--folds", "4")
        lines = out.splitlines()
        assert any(line.startswith("  4 folds, no evidence: choosing anew by the others of 4 parts") for line in lines)
        table = next(place for place, line in enumerate(lines) if "95 % interval" in line)
        rows = [line.split("  ")[1] for line in lines[table + 1 : lines.index("", table)]]
        assert rows == ["hold-out", "tuned on (too high)", "all (optimistic)"]
        assert "Bengio & Grandvalet 2004" in " ".join(out.split())

    def test_no_answer_on_the_hold_out_is_undecided(self, shop, tune):
        tune()
        held_out = json.loads(Path("shop.holdout.json").read_text())["queries"]
        shop.broken[f"text {held_out[0][1:]} c"] = 400
        status, out, _ = tune()
        assert status == 3
        assert "not decided" in out

    def test_pointer_leads_to_the_value_of_today(self, shop, tune_json):
        """A request has the value of today that its pointer leads to."""
        change_suite(
            "field: {choices: [a, b, c, d], today: a}", "size: {from: 1, to: 9, integer: true, pointer: /size}"
        )
        body = 'query: {match: {title: "{{text}} a"}}, size: '
        change_suite(
            'request: {query: {match: {title: "{{text}} {{param:field}}"}}}',
            f"""requests:
  first: {{{body}5}}
  second: {{{body}7}}""",
        )
        change_suite("RR@5", "RR@1")
        report = tune_json("--request", "second", "--trials", "2")
        assert report["trials"][0]["values"] == {"size": 7}

    def test_what_is_printed_as_json_is_read_back(self, tune):
        _, out, _ = tune("--json")
        assert dumps_tuning(loads_tuning(out)) == out


class TestConstraints:
    def test_choice_holds_the_thresholds_of_today(self, tune_json):
        """A choice holds the thresholds that today's request holds."""
        change_suite("queries:\n", "thresholds: [every RR@5 >= 0.3]\nqueries:\n")
        report = tune_json()
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "b"}
        assert report["constraints"] == ["every RR@5 >= 0.3"]
        broken = [trial for trial in report["trials"] if trial["broken"]]
        assert sorted(trial["values"]["field"] for trial in broken) == ["c", "d"]
        assert broken[0]["broken"][0].startswith("every RR@5 >= 0.3: ")

    def test_constraints_listed_once(self, tune):
        """The terminal says which constraints a trial breaks, and lists them once."""
        many = ", ".join(f"mean RR@5 >= 0.{number:02}" for number in range(10, 25))
        change_suite("queries:\n", f"thresholds: [every RR@5 >= 0.3, {many}]\nqueries:\n")
        _, out, _ = tune()
        said = " ".join(out.split())
        assert "(breaks every RR@5 >= 0.3)" in said
        assert said.count(" more; 2 trials broke one") == 1
        assert "mean RR@5 >= 0.18 and 6 more; 2 trials broke one" in said

    def test_what_today_s_request_does_not_hold_is_none(self, tune_json):
        change_suite("queries:\n", "thresholds: [mean RR@5 >= 0.9]\nqueries:\n")
        report = tune_json()
        assert report["constraints"] == []
        assert report["not_held"][0].startswith("mean RR@5 >= 0.9: ")
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "c"}

    def test_expectations_are_decided_by_the_gate(self, tune_json):
        change_suite("queries:\n", "expect: [hits <= 3]\nqueries:\n")
        report = tune_json()
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "b"}

    def test_drops_from_the_baseline(self, shop, tune_json, capsys):
        """Drops are those from the baseline, on the tuning queries."""
        change_suite("queries:\n", 'thresholds: ["drop RR@5 <= 0.55"]\nqueries:\n')
        change_suite("today: a", "today: c")
        assert main(["baseline", "save", "shop.relevance.yaml", "--url", shop.url, "-q"]) == 0
        capsys.readouterr()
        change_suite("today: c", "today: a")
        report = tune_json()
        assert report["constraints"] == ["drop RR@5 <= 0.55"]
        [broken] = [trial for trial in report["trials"] if trial["broken"]]
        assert broken["values"] == {"field": "d"}

    def test_a_slow_trial_is_not_chosen(self, shop, tune_json):
        change_suite("queries:\n", "thresholds: [p95 latency <= 100 ms]\nqueries:\n")
        for number in range(QUERIES):
            shop.answers[f"text {number} c"] = {**item_of(RANKINGS["c"]), "took": 500}
        report = tune_json()
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "b"}

    def test_fields_of_hits_are_read_as_by_a_run(self, shop, tune_json):
        change_suite("queries:\n", "expect: [every hit in top 1 has stock = yes]\nqueries:\n")
        for number in range(QUERIES):
            for field, ranking in RANKINGS.items():
                item = item_of(ranking)
                for hit in item["hits"]["hits"]:
                    hit["fields"] = {"stock": ["no" if field == "c" else "yes"]}
                shop.answers[f"text {number} {field}"] = item
        report = tune_json()
        assert report["constraints"] == ["every hit in top 1 has stock = yes"]
        assert report["trials"][report["optimum"]["chosen"]]["values"] == {"field": "b"}


class TestJudgedHits:
    def test_a_gain_with_fewer_of_them_is_said(self, tune_json):
        text = Path("shop.relevance.yaml").read_text(encoding="utf-8")
        text = text.replace("judgments: {a: 1}", "judgments: {a: 1, y: 0}")
        Path("shop.relevance.yaml").write_text(text, encoding="utf-8")
        report = tune_json()
        assert report["depth"] == 5
        assert report["held_out_gain"]["judged_chosen"] < report["held_out_gain"]["judged_today"]
        warnings = [warning for warning in report["warnings"] if "with fewer judged hits" in warning]
        assert warnings[0].startswith("the choice gains on the tuning queries with fewer judged hits, ")
        assert warnings[1].startswith("the choice gains on the hold-out with fewer judged hits, ")

    def test_a_loss_with_fewer_of_them_is_said(self, shop, tune_json):
        for number in range(QUERIES):
            shop.rankings[f"text {number} d"] = ["v", "w", "u", "t"]
        report = tune_json()
        [warning] = [warning for warning in report["warnings"] if "lost with fewer judged hits" in warning]
        assert warning.startswith("1 trial of 3 lost with fewer judged hits than today's request, down to 0%")


class TestTheGate:
    @pytest.fixture
    def broken(self, shop, tune_json):
        """A threshold that field c breaks on a query of the hold-out alone; the query."""
        held_out = tune_json("--trials", "2")["hold_out"]["queries"]
        query = next(query for query in held_out if int(query[1:]) % 5)
        shop.rankings[f"text {query[1:]} c"] = ["x", "y", "z", "v", "a"]
        change_suite("queries:\n", "thresholds: [every RR@5 >= 0.22]\nqueries:\n")
        return query

    def test_gain_that_fails_the_gate(self, broken, tune, tune_json):
        """A gain that fails the gate on all queries is said, and not applied."""
        before = Path("shop.relevance.yaml").read_text()
        report = tune_json()
        assert (report["decision"], len(report["broken"])) == ("gain", 1)
        assert report["broken"][0].startswith("every RR@5 >= 0.22: ")
        assert broken in report["broken"][0]
        assert any(report["broken"][0] in warning for warning in report["warnings"])
        _, out, _ = tune()
        assert "--apply does not write a choice that breaks 1 threshold" in out
        assert "--apply writes" not in out
        status, out, _ = tune("--apply")
        assert (status, Path("shop.relevance.yaml").read_text()) == (0, before)
        assert "nothing was written: --apply does not write a choice that breaks 1 threshold" in out

    def test_it_may_become_a_candidate(self, broken, tune):
        _, out, _ = tune("--candidate", "tuned")
        assert "wrote the request tuned to shop.relevance.yaml" in out

    def test_what_today_breaks_does_not_count(self, shop, tune_json):
        """What today's request breaks too does not count."""
        change_suite("queries:\n", "thresholds: [every RR@5 >= 0.9]\nqueries:\n")
        assert tune_json()["broken"] == []


class TestTies:
    @staticmethod
    def tie(shop, *fields):
        """All hits of the requests with these *fields* have the same score."""
        for number in range(QUERIES):
            for field in fields:
                shop.answers[f"text {number} {field}"] = item_of(RANKINGS[field], score=1.0)

    def test_no_trial_scores_by_the_order_of_tied_hits(self, shop, tune_json):
        self.tie(shop, "c")
        report = tune_json("--trials", "4")
        scores = {trial["values"]["field"]: trial["score"] for trial in report["trials"]}
        assert (scores["b"], scores["c"]) == (0.5, 0.5)
        assert report["tied"] == 1

    def test_a_run_may_show_more_than_the_figures(self, shop, tune):
        """Today's mean is the least over the orders of tied documents, and `relevance run` has one of them."""
        self.tie(shop, "c")
        _, out, _ = tune("--trials", "4")
        printed = " ".join(out.split())
        sentence = "the order of tied documents moves the score of 1 trial: the figures are the least over these orders"
        assert f"{sentence}, and `relevance run` may show more" in printed
        assert printed.index("hold-out: sign-flip") < printed.index(sentence) < printed.index("parameter today choice")

    def test_gain_over_ties_is_no_gain(self, shop, tune, tune_json):
        """A gain over ties of today's request is no gain."""
        self.tie(shop, "a")
        before = Path("shop.relevance.yaml").read_text()
        report = tune_json()
        gain = report["held_out_gain"]
        assert (report["decision"], gain["p_value"] < 0.05) == ("no gain shown", True)
        assert gain["least"] < 0 < gain["difference"] == gain["greatest"]
        assert any("the order of tied documents moves the difference on the hold-out" in w for w in report["warnings"])
        status, out, _ = tune("--apply")
        assert (status, Path("shop.relevance.yaml").read_text()) == (0, before)
        assert "nothing was written: no gain is shown" in out
        assert "from -" in out


class TestTheStudy:
    def test_continues_without_equal_requests(self, shop, tune_json):
        """It continues without sending equal requests again."""
        first = tune_json("--trials", "3")
        again = tune_json("--trials", "5")
        assert [trial["values"] for trial in again["trials"][:3]] == [trial["values"] for trial in first["trials"]]
        assert len(again["trials"]) == 4
        tuned = Counter(text.split()[-1] for text in shop.asked)
        assert sum(tuned.values()) == 24 + 2 * 16  # the fourth trial, and the hold-out twice

    def test_equal_requests_are_sent_once(self, shop, tune_json):
        change_suite("today: a}\n", "today: a}\n    more: {switch: true, today: false, only_if: {field: d}}\n")
        change_suite("request: {query", 'request: {track_scores: "{{param:more}}", query')
        report = tune_json("--trials", "30", sampler="random")
        assert len(report["trials"]) == 30
        assert {count for text, count in shop.asked.items() if not text.endswith("d")} == {1}
        assert {count for text, count in shop.asked.items() if text.endswith("d")} == {2}  # with either switch
        assert report["saved"] >= 24 * 20

    def test_an_interrupt_keeps_what_is_there(self, shop, tune, monkeypatch):
        send, calls = TrialSender.send, []

        def interrupt(sender, queries, values, **options):
            calls.append(values)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return send(sender, queries, values, **options)

        monkeypatch.setattr(TrialSender, "send", interrupt)
        status, _, _ = tune()
        assert status == 130
        asked = Counter(shop.asked)
        monkeypatch.setattr(TrialSender, "send", send)
        status, out, _ = tune("--json")
        asked += shop.asked
        report = json.loads(out)
        assert [trial["number"] for trial in report["trials"]] == [0, 1, 2, 3]
        held_out = {f"text {query[1:]}" for query in report["hold_out"]["queries"]}
        assert {count for text, count in asked.items() if text.rsplit(" ", 1)[0] not in held_out} == {1}

    def test_a_killed_tuning_proposes_what_it_would_have(self, shop, tune_json, tmp_path):
        script = tmp_path / "killed.py"
        script.write_text(
            "import os, sys\n"
            "from harness.cli import main\n"
            "from harness.extensions.tuning.asking import TrialSender\n"
            "send, calls = TrialSender.send, []\n"
            "def kill(sender, *args, **options):\n"
            "    calls.append(1)\n"
            "    if len(calls) == 3:\n"
            "        os._exit(9)\n"
            "    return send(sender, *args, **options)\n"
            "TrialSender.send = kill\n"
            "main(sys.argv[1:])\n"
        )
        words = ["tune", "shop.relevance.yaml", "--effect", "0.5", "--sampler", "random", "--url", shop.url, "-q"]
        done = subprocess.run([sys.executable, script, *words], check=False, env=dict(os.environ), timeout=60)
        assert done.returncode == 9
        journal = Path("shop.tune.journal")
        with journal.open("ab") as file:
            file.write(b'{"op_code": 4, "half')
        continued = tune_json("--trials", "8", sampler="random", quiet=False)
        journal.unlink()
        whole = tune_json("--trials", "8", sampler="random")
        assert [trial["values"] for trial in continued["trials"]] == [trial["values"] for trial in whole["trials"]]

    @pytest.mark.parametrize("sampler", ["tpe", "random", "cmaes"])
    def test_each_sampler_finds_the_choice(self, tune_json, sampler):
        report = tune_json("--trials", "12", sampler=sampler)
        assert len(report["trials"]) == 12
        assert report["decision"] == "gain"

    def test_it_may_be_in_a_database(self, shop, tune_json):
        tune_json("--storage", "sqlite:///tuning.db", "--trials", "3")
        shop.asked.clear()
        assert len(tune_json("--storage", "sqlite:///tuning.db")["trials"]) == 4
        assert not Path("shop.tune.journal").exists()

    def test_another_measure_is_another_study(self, shop, tune_json):
        tune_json()
        tune_json("--measure", "P@1")
        assert count_fields(shop)["b"] == 24

    def test_a_budget_ends_it(self, tune_json):
        report = tune_json("--budget", "0.000001")
        assert report["stopped"].startswith("the budget of 1e-06 s is used up: 1 of 100 trials")
        assert report["decision"] == "today's request stays"

    def test_a_changed_index_is_told(self, shop, tune_json):
        shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
        shop.gets["/products/_count"] = {"count": 5, "_shards": shards}
        assert not any("the index changed" in warning for warning in tune_json()["warnings"])
        shop.gets["/products/_count"] = {"count": 6, "_shards": shards}
        assert any("the index changed since the first trials" in warning for warning in tune_json()["warnings"])

    def test_progress_has_the_best_so_far(self, tune):
        status, _, err = tune(quiet=False)
        assert status == 0
        assert err.splitlines()[0] == "trial 1 of 100: 0.3333, best 0.3333"
        assert err.splitlines()[-1] == "deciding on 16 queries of the hold-out"

    def test_a_trial_without_answers_is_told(self, shop, tune_json):
        for number in range(QUERIES):
            shop.broken[f"text {number} d"] = 400
        report = tune_json()
        [failed] = [trial for trial in report["trials"] if trial["failure"]]
        assert failed["values"] == {"field": "d"}
        assert any("1 trial has no score" in note for note in report["notes"])
        assert report["decision"] == "gain"


class TestRefusals:
    def test_too_few_queries_are_said_first(self, shop, tune):
        """Too few queries for the effect are said before it goes on."""
        change_suite("choices: [a, b, c, d]", "choices: [a, b, c, d, e, f, g]")
        for number in range(QUERIES):
            for field in "efg":
                shop.rankings[f"text {number} {field}"] = RANKINGS["abcd"[number % 4]]
        status, _, err = tune(effect="0.01")
        assert status == 2
        shown, needed, total = re.search(
            r"^relevance: this suite can show gains in RR@5 from about (\S+) on, with the 16 queries of its hold-out "
            r"and a chance of 80 %; a gain of 0.01 would need (\S+) there, about (\S+) in the suite",
            " ".join(err.split()),
        ).groups()
        assert 16 < int(needed.replace(",", "")) < int(total.replace(",", ""))
        assert f"--effect {shown}" in err
        assert "--force" in err
        assert sum(count_fields(shop).values()) == 6 * 24
        status, out, _ = tune("--force", effect="0.01")
        assert status == 0
        assert "this suite can show gains in RR@5" in " ".join(out.split())
        status, _, err = tune(effect=shown)
        assert status == 0, "what it can show is large enough"

    def test_very_few_queries_refused(self, shop, tune):
        """Very few queries are refused before anything is sent."""
        lines = Path("shop.relevance.yaml").read_text().splitlines(keepends=True)
        Path("shop.relevance.yaml").write_text("".join(lines[: lines.index("queries:\n") + 8]))
        status, _, err = tune()
        assert status == 2
        assert "found 4 queries to tune on and 3 held out, expected at least 6 of each" in err
        assert not shop.asked
        status, out, _ = tune("--force")
        assert status == 0
        said = " ".join(out.split())
        assert "of the hold-out changed, so that p cannot be below 0." in said
        assert "hold-out shows nothing: too few of its queries changed" in said
        assert "with a chance of 80 %" not in said.partition("nothing: too few")[2]

    def test_suite_without_parameters_refused(self, tune):
        """A suite without parameters is refused, with its place."""
        text = Path("shop.relevance.yaml").read_text()
        start, end = text.index("tune:"), text.index("request:")
        Path("shop.relevance.yaml").write_text(text[:start] + text[end:].replace(" {{param:field}}", ""))
        status, _, err = tune()
        assert status == 2
        assert "shop.relevance.yaml:1:1: the suite has no parameters to tune" in err

    def test_requests_refused(self, tune):
        """An unknown request, and a request without a parameter, are refused."""
        change_suite("request: {query", 'requests:\n  other: {query: {match: {title: "{{text}}"}}}\n  shown: {query')
        status, _, err = tune("--request", "show")
        assert (status, "did you mean 'shown'" in err) == (2, True)
        status, _, err = tune("--request", "other")
        assert (status, "the request 'other' has no place for a parameter" in err) == (2, True)

    def test_two_tunings_do_not_write_to_one_journal(self, tune):
        with hold_lock(Folder(Path()), "shop.tune.journal.lock"):
            status, _, err = tune()
        assert status == 2
        assert "another tuning writes to shop.tune.journal" in err

    def test_unusable_storage_refused(self, tune):
        """A storage that cannot be used is refused, without its password."""
        status, _, err = tune("--storage", "nosuchdb://me:secret@host/studies")
        assert status == 2
        assert "secret" not in err
        assert "the storage nosuchdb://…@host/studies cannot be used" in err

    def test_an_engine_that_is_gone_ends_it_with_3(self, shop, tune):
        shop.close()
        status, _, err = tune()
        assert status == 3
        assert err

    @pytest.mark.parametrize("storage", ["folder", "absent/tuning.journal"])
    def test_a_journal_that_cannot_be_there_is_refused(self, shop, tune, storage):
        Path("folder").mkdir()
        status, _, err = tune("--storage", storage)
        assert status == 2
        assert f"{storage} is a folder, or is in one that does not exist" in err
        assert not shop.asked

    def test_a_hold_out_that_cannot_be_written_is_refused(self, shop, tune, monkeypatch):
        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("harness.extensions.tuning.hold_outs.BesideFile.write", refuse)
        status, _, err = tune()
        assert status == 2
        assert "shop.holdout.json cannot be written: Permission denied" in err

    def test_a_journal_that_is_none_is_refused(self, tune):
        Path("shop.tune.journal").write_text("no journal\n")
        status, _, err = tune()
        assert status == 2
        assert "shop.tune.journal cannot be used" in err


class TestTheSuite:
    def test_the_change_is_printed_and_nothing_is_written(self, shop, tune):
        before = Path("shop.relevance.yaml").read_text()
        _, out, _ = tune()
        lines = out.splitlines()
        shown = lines[lines.index("--- a/shop.relevance.yaml") :]
        assert [line for line in shown if not line.startswith(" ")] == [
            "--- a/shop.relevance.yaml",
            "+++ b/shop.relevance.yaml",
            "@@ -2,7 +2,7 @@",
            "-    field: {choices: [a, b, c, d], today: a}",
            "+    field: {choices: [a, b, c, d], today: c}",
            "--apply writes this change; --candidate NAME adds the request to the suite by a name",
        ]
        assert Path("shop.relevance.yaml").read_text() == before

    def test_a_gain_is_applied(self, tune):
        status, out, _ = tune("--apply")
        assert (status, out.splitlines()[-1]) == (0, "wrote the values to shop.relevance.yaml")
        assert "field: {choices: [a, b, c, d], today: c}\n" in Path("shop.relevance.yaml").read_text()

    def test_what_is_no_gain_is_not_applied(self, shop, tune):
        shop.rankings |= dict.fromkeys(shop.rankings, RANKINGS["a"])
        before = Path("shop.relevance.yaml").read_text()
        status, out, _ = tune("--apply")
        assert status == 0
        assert out.endswith("\nnothing was written: today's request stays\n")
        assert Path("shop.relevance.yaml").read_text() == before

    def test_choice_becomes_a_compared_request(self, shop, tune, capsys):
        """The choice becomes a request that is compared."""
        _, out, _ = tune("--candidate", "tuned")
        said = out.splitlines()[-1]
        assert said.startswith("wrote the request tuned to shop.relevance.yaml: relevance compare ")
        text = Path("shop.relevance.yaml").read_text()
        assert (
            "  # Tuned from request: a gain in RR@5: +0.4792 (95 % interval +0.2917 to +0.6667, p 0.0005) on 16" in text
        )
        command = said.partition(": relevance ")[2].split()
        assert main([*command, "--url", shop.url]) == 0
        printed = " ".join(capsys.readouterr().out.split())
        warning = (
            "24 of these 40 queries chose request:tuned, so that its figures are too good; on the other 16 the "
            "difference in RR@5 is +0.4792 (95 % interval +0.2917 to +0.6667, p 0.0005)"
        )
        assert warning in printed
        assert printed.index(warning) < printed.index("sign-flip test")
        plan = ["plan", "shop.relevance.yaml", "request:request", "request:tuned", "--effect", "0.1", "--url", shop.url]
        assert main(plan) == 0
        assert warning in " ".join(capsys.readouterr().out.split())
        assert main([*command, "--url", shop.url, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["warnings"] == [warning]
        status, _, err = tune("--candidate", "tuned")
        assert status == 2
        assert "found the request 'tuned' already, expected another name for --candidate" in err

    def test_look_of_an_earlier_version_gets_its_choice(self, shop, tune):
        """A file that does not say what was chosen says it after the same tuning, and counts no other look."""
        tune()
        path = Path("shop.holdout.json")
        written = json.loads(path.read_text())
        path.write_text(json.dumps({**written, "looks": [{**written["looks"][0], "choice": None}]}))
        tune()
        assert json.loads(path.read_text()) == written
        assert len(written["looks"][0]["choice"]) == 16

    def test_no_comparison_follows_no_gain(self, shop, tune, capsys):
        """A request without a gain is written with the decision, and without a command that shows one."""
        self.tie_today(shop)
        _, out, _ = tune("--candidate", "tuned")
        assert out.splitlines()[-1] == "wrote the request tuned to shop.relevance.yaml; no gain shown"
        sides = ["request:request", "request:tuned"]
        assert main(["compare", *sides, "--suite", "shop.relevance.yaml", "--url", shop.url]) == 0
        assert "24 of these 40 queries chose request:tuned" in capsys.readouterr().out

    @staticmethod
    def tie_today(shop):
        """All hits of today's request have the same score, so that the gain depends on their order."""
        for number in range(QUERIES):
            shop.answers[f"text {number} a"] = item_of(RANKINGS["a"], score=1.0)

    def test_both_ways_at_once_are_refused(self, shop, tune):
        status, _, err = tune("--candidate", "tuned", "--apply")
        assert (status, shop.asked) == (2, {})
        assert "found --apply and --candidate, expected one of them" in err

    def test_changed_suite_is_not_written(self, tune, monkeypatch):
        """A suite that changed meanwhile is not written."""
        send = TrialSender.send

        def change(*arguments, **options):
            path = Path("shop.relevance.yaml")
            path.write_text(path.read_text() + "# later\n")
            return send(*arguments, **options)

        monkeypatch.setattr(TrialSender, "send", change)
        status, out, err = tune("--apply")
        assert status == 2
        assert "a gain: field c" in out
        assert "shop.relevance.yaml was changed since it was read; it was not written" in err
        assert "today: a}" in Path("shop.relevance.yaml").read_text()

    def test_the_page_and_the_json_are_written(self, tune):
        status, _, _ = tune("--output", "html=tuning.html", "--output", "json=tuning.json")
        assert status == 0
        page = Path("tuning.html").read_text(encoding="utf-8")
        assert "<ins>+    field: {choices: [a, b, c, d], today: c}</ins>" in page
        assert json.loads(Path("tuning.json").read_text())["decision"] == "gain"

    def test_each_request_is_tuned_from_its_own_value(self, tune_json):
        change_suite("[a, b, c, d], today: a}", "[1, 2, 3], pointer: /min_score}")
        body = '{query: {match: {title: "{{text}} a"}}, min_score: SCORE}'
        requests = f"requests:\n  other: {body.replace('SCORE', '1')}\n  this: {body.replace('SCORE', '3')}\n"
        change_suite('request: {query: {match: {title: "{{text}} {{param:field}}"}}}\n', requests)
        report = tune_json("--request", "this")
        assert report["trials"][0]["values"] == {"field": 3}


def test_a_terminal_has_a_bar_of_the_trials(shop):
    options = ("--effect", "0.5", "--sampler", "grid", "--url", shop.url)
    _, shown = run_on_terminal("tune", "shop.relevance.yaml", *options)
    assert "starting" in shown
    assert re.search(r"deciding.*\d+/\d+.*trials", shown, re.DOTALL)
    assert re.search(r"trial \d+ of \d+: ", shown)
