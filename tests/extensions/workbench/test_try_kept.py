"""What a session leaves: grades in the judge's file, a request in the suite, a look at the hold-out, tries as sides."""

import json
import shlex
import threading
from contextlib import suppress
from dataclasses import replace

import pytest

from extensions.workbench.builders.tried_shop import (
    QUERIES,
    REQUEST,
    open_actions,
    send,
    write_suite,
)
from harness.cli import main
from harness.errors import FormatError, SearchError, UsageError
from harness.extensions.judging.judge_lock import lock_judge_file
from harness.extensions.tuning.model import TuningDecision, TuningGain
from harness.extensions.workbench import holding_out
from harness.extensions.workbench.holding_out import UnjudgedHitsError, describe_ties
from harness.extensions.workbench.opening import answer_queries
from harness.extensions.workbench.tries import lock_tries
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile
from harness.local_server import RefusedAction
from harness.metrics.quotes import make_quote
from harness.model.judging import JudgeAnswer
from harness.store.what_changed import fingerprint_request
from harness.suites import load_suite

GOOD, NEW = REQUEST.replace("^3", "^6"), REQUEST.replace("^3", "^8")

TUNED = """\
suite: shop
target: {index: products}
grades: {bad: 0, fair: 1, good: 2}
measures: [nDCG@5]
depth: 5
tune:
  parameters:
    title: {from: 1, to: 9, pointer: /query/multi_match/boost}
    tie: {from: 0, to: 1, today: 0.2}
# The request.
request:
  query:
    multi_match: {query: "{{text}}", fields: [title^3, brand], boost: 2, tie_breaker: "{{param:tie}}"}
queries:
"""


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestGrades:
    def test_a_grade_counts_on_both_sides_at_once(self, engine, path):
        with open_actions(path, engine.url, judge="anna") as actions:
            send(actions, NEW)
            asked = sum(engine.asked.values())
            actions.show_query("", {"id": "q1", "try": "1"})
            answer = actions.grade("", {"query": "q1", "document": "q1-new", "grade": 2, "try": 1})
            assert sum(engine.asked.values()) == asked
        assert (answer["rows"][0]["score"], answer["rows"][0]["unjudged"]) == (1.0, 0)
        # The ideal ranking has another good document now.
        assert answer["live"]["q1"] == pytest.approx(0.5364, abs=1e-4)
        assert answer["said"] == "Graded 2 (good): q1-new."
        assert answer["summary"]["graded_here"]["count"] == 1
        assert answer["summary"]["graded_here"]["without"] == pytest.approx(-0.1377, abs=1e-4)
        assert answer["summary"]["difference"] > -0.1
        assert answer["tries"][0]["difference"] == pytest.approx(answer["summary"]["difference"])
        assert answer["ranking"]["try"][0]["grade"] == 2.0
        [line] = read_lines(path.with_name("shop.judged-by.anna.jsonl"))
        assert (line["query"], line["document"], line["grade"], line["seen"]) == ("q1", "q1-new", 2, "ranks")

    def test_a_grade_leaves_the_quotes_of_the_judging_page(self, engine, path):
        kept = path.with_name("shop.judged-by.anna.jsonl")
        JudgeFile(kept).record(JudgeAnswer("q1", "q1-new", None, quotes=(make_quote("a tent"),)))
        with open_actions(path, engine.url, judge="anna") as actions:
            send(actions, NEW)
            actions.grade("", {"query": "q1", "document": "q1-new", "grade": 2, "try": 1})
        answer = JudgeFile.read(kept).answers["q1", "q1-new"]
        assert (answer.grade, [quote.text for quote in answer.quotes]) == (2.0, ["a tent"])

    def test_a_grade_is_undone(self, engine, path):
        with open_actions(path, engine.url, judge="anna") as actions:
            send(actions, NEW)
            actions.grade("", {"query": "q1", "document": "q1-new", "grade": 2, "try": 1})
            answer = actions.undo("", {"try": 1})
            assert (answer["rows"][0]["unjudged"], answer["summary"]["graded_here"]) == (1, None)
            with pytest.raises(UsageError, match="There is nothing to undo"):
                actions.undo("", {"try": 1})

    def test_the_judge_goes_on_with_them(self, engine, path):
        for expected in (None, 1.0):
            with open_actions(path, engine.url, judge="anna") as actions:
                send(actions, NEW, force=True)
                hit = actions.show_query("", {"id": "q1", "try": "1"})["try"][0]
                assert hit["grade"] == expected
                actions.grade("", {"query": "q1", "document": "q1-new", "grade": 1, "try": 1})
        file = JudgeFile.read(path.with_name("shop.judged-by.anna.jsonl"))
        assert file.answers["q1", "q1-new"].seen == "ranks"

    @pytest.mark.parametrize("grade", [3, "2", True, [2], float("nan")])
    def test_a_grade_off_the_scale_is_refused(self, engine, path, grade):
        with open_actions(path, engine.url, judge="anna") as actions, pytest.raises(UsageError, match="as a grade"):
            actions.grade("", {"query": "q1", "document": "q1-a", "grade": grade, "try": None})

    @pytest.mark.parametrize("document", ["q0-a", "q1-z", "x" * 100_000])
    def test_what_nothing_found_is_not_graded(self, engine, path, document):
        with open_actions(path, engine.url, judge="anna") as actions:
            send(actions, NEW)
            with pytest.raises(UsageError, match="expected a document that was found, or is judged") as refused:
                actions.grade("", {"query": "q1", "document": document, "grade": 1, "try": 1})
            assert len(str(refused.value)) < 150
            assert not actions.grading.file.grades

    def test_nobody_grades_without_a_name(self, engine, path):
        with open_actions(path, engine.url) as actions, pytest.raises(UsageError, match="start with --judge NAME"):
            actions.grade("", {"query": "q1", "document": "q1-a", "grade": 2, "try": None})

    def test_who_grades_already_is_named(self, engine, path):
        file = BesideFile(path.with_name("shop.judged-by.anna.jsonl"))
        with (
            lock_judge_file(file, "anna"),
            pytest.raises(UsageError, match="grades as anna already"),
            open_actions(path, engine.url, judge="anna"),
        ):
            pass


class TestWriting:
    def write(self, actions, **sent):
        return actions.write("", {"try": 1, "how": "request", "name": "better", **sent})

    def test_a_diff_comes_before_the_second_request(self, engine, path):
        before = path.read_text()
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            shown = self.write(actions)
            assert path.read_text() == before
            written = self.write(actions, token=shown["token"], write=True)
            assert actions.show_changes("", {})["reload"] is False
        assert written["sentence"] == f"Wrote the request better to {path}."
        assert sum(line.startswith("@@") for line in shown["diff"]) == 1
        added = [line[1:] for line in shown["diff"] if line.startswith("+") and not line.startswith("+++")]
        assert added[0].startswith("  # Tried on 20")
        assert added[0].endswith("against current: nDCG@5 +0.203 (+0.203 to +0.203) on 12 queries, the only try.")
        assert added[1:] == ["  better:", *(f"    {line}" for line in GOOD.splitlines())]
        assert not [line for line in shown["diff"] if line.startswith("-") and not line.startswith("---")]
        suite = load_suite(path, {})
        assert suite.requests["better"].body["query"]["multi_match"]["fields"] == ["title^6", "brand"]

    def test_a_file_that_changed_is_not_written(self, engine, path):
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            shown = self.write(actions)
            changed = path.read_text() + "# by hand\n"
            path.write_text(changed)
            with pytest.raises(RefusedAction) as refused:
                self.write(actions, token=shown["token"], write=True)
            assert refused.value.status == 409
            assert path.read_text() == changed
            assert "# by hand" not in self.write(actions)["diff"][-1]

    @pytest.mark.parametrize("name", ["", "a b", "x" * 81, "current", "a\nb"])
    def test_a_name_that_is_none_or_taken_is_refused(self, engine, path, name):
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            with pytest.raises(UsageError):
                self.write(actions, name=name)

    def test_the_only_request_becomes_the_first_of_two(self, engine, tmp_path):
        path = write_suite(tmp_path, TUNED)
        with open_actions(path, engine.url) as actions:
            text = actions.show_session("", {})["text"]
            send(actions, text.replace("title^3", "title^6"))
            shown = self.write(actions)
            self.write(actions, token=shown["token"], write=True)
        suite = load_suite(path, {})
        assert list(suite.requests) == ["request", "better"]
        assert "# The request." in path.read_text()

    def test_values_are_written_where_only_they_differ(self, engine, tmp_path):
        path = write_suite(tmp_path, TUNED)
        with open_actions(path, engine.url) as actions:
            session = actions.show_session("", {})
            assert [(dial["pointer"], dial["value"]) for dial in session["dials"]] == [
                ("param:tie", 0.2),
                ("/query/multi_match/fields/0^title", 3.0),
                ("/query/multi_match/boost", 2),
            ]
            send(actions, session["text"], values={"/query/multi_match/boost": 4, "param:tie": 0.5})
            assert engine.bodies[-1]["query"]["multi_match"]["tie_breaker"] == 0.5
            shown = self.write(actions, how="values")
            changed = [line[1:].strip() for line in shown["diff"] if line[:1] in "+-" and line[1:2] not in "+-"]
            assert changed == [
                "tie: {from: 0, to: 1, today: 0.2}",
                "tie: {from: 0, to: 1, today: 0.5}",
                'multi_match: {query: "{{text}}", fields: [title^3, brand], boost: 2, tie_breaker: "{{param:tie}}"}',
                'multi_match: {query: "{{text}}", fields: [title^3, brand], boost: 4, tie_breaker: "{{param:tie}}"}',
            ]
            # The value stays while the text is typed, and until an earlier try is shown.
            send(actions, session["text"].replace("title^3", "title^6"))
            assert engine.bodies[-1]["query"]["multi_match"]["tie_breaker"] == 0.5
            actions.show_try("", {"number": "0"})
            send(actions, session["text"].replace("title^3", "title^4"))
            assert engine.bodies[-1]["query"]["multi_match"]["tie_breaker"] == 0.2
            with pytest.raises(UsageError, match="differs in more than the values of parameters"):
                self.write(actions, how="values", **{"try": 2})

    @pytest.mark.parametrize("value", ["hidden-4711", "7.2512345678"])
    def test_the_value_of_a_variable_is_not_written(self, engine, tmp_path, value):
        suite = TUNED.replace('"{{text}}", fields', '"{{text}}", analyzer: "${RELEVANCE_X}", fields')
        with open_actions(write_suite(tmp_path, suite), engine.url, environ={"RELEVANCE_X": value}) as actions:
            text = REQUEST.replace("0.2", '"{{param:tie}}"\n    boost: ${RELEVANCE_X}\n    analyzer: "${RELEVANCE_X}"')
            send(actions, text)
            with pytest.raises(UsageError, match="has a variable") as refused:
                self.write(actions, how="values")
        assert value not in str(refused.value)

    def test_a_suite_without_parameters_has_no_values(self, engine, path):
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            with pytest.raises(UsageError, match="the suite has no parameters under 'tune'"):
                self.write(actions, how="values")


class TestHoldOut:
    @pytest.fixture
    def held_out(self, path):
        return path.with_name("shop.holdout.json")

    def test_its_queries_are_neither_sent_nor_shown(self, engine, path, held_out):
        with open_actions(path, engine.url, hold_out=True) as actions:
            session = actions.show_session("", {})
            rows, last = send(actions, GOOD)
            hidden = set(json.loads(held_out.read_text())["queries"])
            assert len(hidden) == 5
            assert session["hold_out"]["queries"] == 5
            assert session["notes"][0] == "5 queries held out are too few for a verdict, which needs at least 6."
            assert set(rows) == {query["id"] for query in session["queries"]} == set(QUERIES) - hidden
            asked = {text.partition(" ")[0] for text in engine.asked}
            assert asked.isdisjoint(hidden)
            assert last["summary"]["searches"] == 7
            query = min(hidden)
            with pytest.raises(UsageError, match="found no query"):
                actions.show_query("", {"id": query})

    def test_the_look_has_what_the_request_is_known_by(self, engine, path, held_out):
        """By its fingerprint a comparison knows the request in the suite, and that the other queries chose it."""
        with open_actions(path, engine.url, hold_out=True) as actions:
            send(actions, GOOD)
            actions.finish("", {"try": 1})
            plan = {"try": 1, "how": "request", "name": "better"}
            actions.write("", {**plan, "token": actions.write("", plan)["token"], "write": True})
        [look] = json.loads(held_out.read_text())["looks"]
        assert look["choice"] == fingerprint_request(load_suite(path, {}), "better")

    def test_finishing_asks_them_once_and_records_the_look(self, engine, path, held_out):
        with open_actions(path, engine.url, hold_out=True) as actions:
            send(actions, GOOD)
            engine.asked.clear()
            verdict = actions.finish("", {"try": 1})
            hidden = json.loads(held_out.read_text())
            assert {text.partition(" ")[0] for text in engine.asked} == set(hidden["queries"])
            assert (verdict["looks"], len(hidden["looks"])) == (0, 1)
            assert hidden["looks"][0]["difference"] == pytest.approx(0.2033, abs=1e-4)
            assert "on 5 queries that were held out: +0.203" in verdict["sentence"]
            assert not any(query in json.dumps(verdict) for query in hidden["queries"])
            diff = actions.write("", {"try": 1, "how": "request", "name": "better"})["diff"]
            assert [line for line in diff if "the only try, no gain is shown on 5 queries held out, +0.203" in line]
            send(actions, REQUEST.replace("^3", "^7"))
            assert "looked at 1 time before" in actions.finish("", {"try": 2})["sentence"]
            # The same two requests again are no other look.
            actions.finish("", {"try": 2})
            assert len(json.loads(held_out.read_text())["looks"]) == 2

    def test_windows_that_finish_at_once_both_count(self, engine, path, held_out, monkeypatch):
        asked = threading.Barrier(2)

        def answer(*arguments):
            # Both have read the looks before either adds its own, unless one waits for the other.
            with suppress(threading.BrokenBarrierError):
                asked.wait(0.2)
            return answer_queries(*arguments)

        monkeypatch.setattr(holding_out, "answer_queries", answer)
        with open_actions(path, engine.url, hold_out=True) as actions:
            send(actions, GOOD)
            send(actions, REQUEST.replace("^3", "^7"))
            windows = [threading.Thread(target=actions.finish, args=("", {"try": number})) for number in (1, 2)]
            for window in windows:
                window.start()
            for window in windows:
                window.join()
        assert len(json.loads(held_out.read_text())["looks"]) == 2

    def test_finishing_offers_the_blind_page(self, engine, path):
        with open_actions(path, engine.url, hold_out=True, judge="anna") as actions:
            shown = sorted(query["id"] for query in actions.show_session("", {})["queries"])[:2]
            send(actions, NEW)
            for query in shown:
                actions.grade("", {"query": query, "document": f"{query}-new", "grade": 2, "try": 1})
            with pytest.raises(UnjudgedHitsError):
                actions.finish("", {"try": 1})
            sentence = actions.finish("", {"try": 1})["sentence"]
            command = sentence.rpartition("Without ranks: ")[2]
            assert "2 grades of this session" in sentence
            words = ["--blind", "--regrade", "--query", shown[0], "--query", shown[1], "--judge", "OTHER"]
            assert shlex.split(command) == ["relevance", "judge", "page", str(path), *words]

    def test_unjudged_hits_that_decide_are_told_before_a_look(self, engine, path, held_out):
        with open_actions(path, engine.url, hold_out=True) as actions:
            send(actions, NEW)
            with pytest.raises(UnjudgedHitsError) as refused:
                actions.finish("", {"try": 1})
            assert json.loads(held_out.read_text())["looks"] == []
            assert "the grades of 5 unjudged hits (5 of the try) may turn it round" in str(refused.value)
            assert f"relevance judge page {path} --all-requests --blind --judge OTHER" in str(refused.value)
            # Who asks again knows it, and is told.
            sentence = actions.finish("", {"try": 1})["sentence"]
            assert "By the grades of 5 unjudged hits (5 of the try) it may be -0.138 to +0.464." in sentence
            assert len(json.loads(held_out.read_text())["looks"]) == 1

    def test_judged_hits_that_tie_may_be_why_no_gain_is_shown(self):
        gain = TuningGain(8, 0.5, 0.6, 0.1, 0.02, 0.18, 0.01, least=0.05, greatest=0.15)
        said = describe_ties(TuningDecision.UNDECIDED, gain)
        assert said.startswith(
            " Over the orders of tied documents it is +0.050 to +0.150, and not all of that is beyond"
        )
        assert "break ties in both requests" in said
        assert describe_ties(TuningDecision.GAIN, gain) == " Over the orders of tied documents it is +0.050 to +0.150."
        assert describe_ties(TuningDecision.GAIN, replace(gain, least=None, greatest=None)) == ""

    def test_without_answers_nothing_is_decided(self, engine, path, held_out):
        with open_actions(path, engine.url, hold_out=True) as actions:
            send(actions, GOOD)
            hidden = json.loads(held_out.read_text())["queries"]
            engine.broken[f"{hidden[0]} good"] = 400
            with pytest.raises(SearchError, match="no answer for 1 query held out"):
                actions.finish("", {"try": 1})
        assert json.loads(held_out.read_text())["looks"] == []

    def test_without_a_hold_out_there_is_no_verdict(self, engine, path, held_out):
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            with pytest.raises(UsageError, match="no queries are held out"):
                actions.finish("", {"try": 1})
        assert not held_out.exists()

    def test_a_hold_out_of_other_queries_is_refused(self, engine, path, held_out):
        with open_actions(path, engine.url, hold_out=True):
            pass
        path.write_text(path.read_text() + "  - {id: more, text: more, judgments: {a: good}}\n")
        with (
            pytest.raises(UsageError, match=r"drawn from other queries .* with --no-hold-out"),
            open_actions(path, engine.url, hold_out=True),
        ):
            pass


class TestCommand:
    @pytest.fixture
    def tried(self, engine, path):
        with open_actions(path, engine.url) as actions:
            send(actions, GOOD)
            send(actions, NEW)
            actions.keep("", {"try": 2, "name": "new ones"})
        return path

    def test_tries_are_listed_and_exported(self, tried, capsys):
        assert main(["try", str(tried), "--list"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.rpartition(" (")[0] for line in lines] == [
            "1: +0.203 nDCG@5 title^3 → ^6",
            "2: * -0.138 nDCG@5 new ones",
        ]
        assert main(["try", str(tried), "--export", "2"]) == 0
        assert json.loads(capsys.readouterr().out)["text"] == NEW
        assert main(["try", str(tried), "--export", "3"]) == 2
        assert "found no try 3, there are 1 to 2" in capsys.readouterr().err

    def test_a_try_is_a_side_of_a_comparison(self, tried, engine, capsys):
        sides = ["try:1", "request:current"]
        assert main(["compare", *sides, "--suite", str(tried), "--url", engine.url, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        [measure] = report["measures"]["measures"]
        assert (measure["reference"], measure["candidate"]) == (1.0, pytest.approx(0.7967, abs=1e-4))
        assert main(["compare", "try:1", "try:2", "--suite", str(tried)]) == 0
        assert "try:2 against try:1" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("sides", "said"),
        [
            (["try:9", "try:2"], "found no try 9, there are 1 to 2"),
            (["try:x", "try:2"], "found 'try:x', expected the number of a try, such as try:3"),
        ],
    )
    def test_a_try_that_is_not_there_is_refused(self, tried, capsys, sides, said):
        assert main(["compare", *sides, "--suite", str(tried)]) == 2
        assert said in capsys.readouterr().err

    def test_a_try_needs_its_suite(self, capsys):
        assert main(["compare", "try:1", "try:2"]) == 2
        assert "try:1 is of a suite; give --suite" in capsys.readouterr().err

    def test_a_file_of_something_else_is_refused(self, engine, path):
        path.with_name(".shop.tries.jsonl").write_text('{"query": "q"}\n')
        with pytest.raises(FormatError, match="this is no try that was kept"), open_actions(path, engine.url):
            pass

    def test_one_command_at_a_time_tries_on_a_suite(self, engine, path, capsys):
        with lock_tries(path, ()):
            assert main(["try", str(path), "--url", engine.url, "--no-open", "--no-hold-out"]) == 2
        assert "tries requests on this suite already; end it with Ctrl-C" in capsys.readouterr().err
