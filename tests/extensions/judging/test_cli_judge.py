"""``relevance judge`` from a suite in a file to grades in it; the browser is a function that gives them."""

import pytest

pytest.importorskip("werkzeug")
pytest.importorskip("waitress")

import json
import os
import sys
import threading
import webbrowser
from types import SimpleNamespace

import harness.search.dialects
from builders.pages import JudgingPage
from extensions.judging.builders.judged_shop import DOCUMENTS, RANKINGS, SUITE, Index, set_up_shop
from harness.cli import main
from harness.errors import EngineUnreachable
from harness.masking import fingerprint
from harness.search.testing import FakeSearch


@pytest.fixture
def folder(working_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    set_up_shop(working_folder, monkeypatch)
    return working_folder


@pytest.fixture
def judge(folder, monkeypatch):
    """Runs the command with a browser that does as *act* says, or gives *grades* and finishes; the exit status."""

    def run(*words, act=None, **grades):
        def browse(url):
            page = JudgingPage(url)
            page.grade({name.replace("__", "/"): grade for name, grade in grades.items()})
            (act or (lambda page: page.ask("/finish", {"reread": False})))(page)
            return True

        monkeypatch.setattr(webbrowser, "get", lambda: SimpleNamespace(open=browse))
        return main(["judge", "page", "shop.relevance.yaml", "-q", *words])

    return run


def suite_lines(folder):
    return (folder / "shop.relevance.yaml").read_text().splitlines()[-2:]


def test_grades_are_written_to_the_suite_and_nothing_is_left_to_judge(folder, judge, capsys):
    assert judge(shoes__x=1, shoes__y=0, boots__z=2) == 0
    assert suite_lines(folder) == [
        "  - {id: shoes, text: red shoes, judgments: {a: 2, b: 0, x: 1, y: 0}}   # two",
        "  - {id: boots, text: rubber boots, judgments: {d: 1, z: 2}}",
    ]
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("3 documents to judge, 0 of them graded: http://127.0.0.1:")
    assert out[1:] == ["wrote 3 new grades to shop.relevance.yaml"]
    assert judge() == 0
    assert capsys.readouterr().out == "nothing to judge: every hit in the pool has a grade\n"


def test_each_grade_is_kept_with_its_time_and_fingerprints_of_what_was_shown(folder, judge):
    assert judge(shoes__x=1) == 0
    line = json.loads((folder / "shop.judged-by.judge.jsonl").read_text().splitlines()[0])
    assert line["time"].endswith("+00:00")
    assert line["shown"] == {"*": fingerprint("The words of x."), "title": fingerprint("Title of x")}


def test_the_page_has_what_the_pool_has(judge):
    seen = []
    assert judge(act=lambda page: (seen.extend(page.documents), page.ask("/finish", {}))) == 0
    assert [(one["query"], one["document"], one["ranks"]) for one in seen] == [
        ("shoes", "x", {"current": 1}),  # whose score may change most
        ("shoes", "y", {"current": 3}),
        ("boots", "z", {"current": 2}),
    ]
    assert (seen[0]["title"], seen[0]["snippet"]) == ("Title of x", "The words of x.")


def test_the_fields_that_were_asked_for_are_shown_and_a_missing_one_is_named(judge, capsys):
    seen = []
    assert judge("--fields", "shop.city,text,colour", act=lambda page: seen.extend(page.documents) or finish(page)) == 0
    assert {one["name"]: one["text"] for one in seen[0]["fields"]} == {"shop.city": "Bern", "text": "The words of x."}
    assert seen[0]["snippet"] is None
    assert "relevance: none of 3 documents has a text in colour\n" in capsys.readouterr().err


def test_queries_that_found_nothing_are_named(judge, capsys, monkeypatch):
    monkeypatch.setitem(RANKINGS, "boots", [])
    seen = []
    assert judge(act=lambda page: seen.append(page.ask("/session")) or finish(page)) == 0
    assert capsys.readouterr().err == "relevance: zero hits: boots\n"
    assert seen[0]["notes"] == ["zero hits: boots"]


def finish(page):
    return page.ask("/finish", {})


def interrupt(page):
    raise KeyboardInterrupt


def test_ctrl_c_before_the_first_grade_names_no_file(judge, capsys):
    assert judge(act=interrupt) == 130
    assert capsys.readouterr().err == "no document was graded; nothing was written to the suite\n"


def test_ctrl_c_keeps_the_grades_and_writes_nothing_until_they_are_wanted(folder, judge, capsys):
    assert judge(act=interrupt, shoes__x=1) == 130
    assert (folder / "shop.relevance.yaml").read_text() == SUITE
    said = "1 grade is kept in shop.judged-by.judge.jsonl; nothing was written to the suite\n"
    assert capsys.readouterr().err == said
    assert judge(act=interrupt) == 130
    assert "3 documents to judge, 1 of them graded: " in capsys.readouterr().out
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert suite_lines(folder)[0].endswith("judgments: {a: 2, b: 0, x: 1}}   # two")


def test_a_suite_that_changed_meanwhile_is_not_overwritten_but_added_to_where_the_judge_says_so(folder, judge):
    answers = []

    def act(page):
        (folder / "shop.relevance.yaml").write_text(SUITE + "  - {id: hats, text: hats, judgments: {h: 1}}\n")
        answers.append(page.ask("/finish", {"reread": False}))
        assert "x: 1" not in (folder / "shop.relevance.yaml").read_text()
        answers.append(page.ask("/finish", {"reread": True}))

    assert judge(act=act, shoes__x=1) == 0
    said = "shop.relevance.yaml was changed since judging began; nothing was written"
    assert answers == [{"error": said, "changed": True}, {"said": ["wrote 1 new grade to shop.relevance.yaml"]}]
    assert "x: 1" in (folder / "shop.relevance.yaml").read_text()
    assert suite_lines(folder)[-1] == "  - {id: hats, text: hats, judgments: {h: 1}}"


def test_a_grade_that_was_corrected_by_hand_stays(folder, judge, capsys):
    assert judge(act=interrupt, shoes__x=1) == 130
    (folder / "shop.relevance.yaml").write_text(SUITE.replace("b: 0", "b: 0, x: 2"))
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "no grade is new; nothing was written",
        "document x of query shoes keeps its grade 2, which no judge gave",
    ]


def test_grades_that_another_session_kept_meanwhile_count(folder, judge, capsys):
    def act(page):
        (folder / "shop.relevance.yaml").write_text(SUITE.replace("b: 0}", "b: 0, x: 1}"))
        (folder / "shop.judged-by.anna.jsonl").write_text('{"query": "shoes", "document": "x", "grade": 1}\n')
        with (folder / "shop.judged-by.judge.jsonl").open("a") as own:
            own.write('{"query": "shoes", "document": "y", "grade": 2}\n')
        assert "changed" in page.ask("/finish", {"reread": False})
        page.ask("/finish", {"reread": True})

    assert judge("--scale", "0..3", act=act, shoes__x=0, shoes__y=1) == 0
    assert suite_lines(folder)[0].endswith("judgments: {a: 2, b: 0, x: 1, y: 2}}   # two")
    options = "relevance judge agreement, and --settler or --resolve of relevance judge write"
    assert capsys.readouterr().out.splitlines()[1:] == [
        "wrote 1 new grade to shop.relevance.yaml",
        f"no grade was written for 1 document on which judges differ; see {options}",
    ]


def test_grades_go_to_files_of_their_own_where_these_are_named(folder, judge, capsys):
    outputs = ("--output", "csv=out.csv", "--output", "jsonl=out.jsonl")
    assert judge(*outputs, shoes__x=1, boots__z=2) == 0
    assert (folder / "shop.relevance.yaml").read_text() == SUITE
    assert (folder / "out.csv").read_text() == "query,document,grade\nboots,z,2\nshoes,x,1\n"
    assert (folder / "out.jsonl").read_text().count("\n") == 2
    assert judge(*outputs, shoes__y=0) == 0
    assert (folder / "out.csv").read_text() == "query,document,grade\nboots,z,2\nshoes,x,1\nshoes,y,0\n"
    (folder / "out.csv").write_text("query,document,grade\nshoes,x,9\n")
    capsys.readouterr()
    assert judge(*outputs) == 2
    assert capsys.readouterr().err == "relevance: out.csv holds 1 grade that no judge gave; write to another file\n"


def test_quotes_are_written_beside_their_query_and_told_where_they_cannot_be(folder, judge, capsys):
    path = folder / "shop.relevance.yaml"
    path.write_text(SUITE.replace("{title: title}", "{title: title, fields: [text], text: text}"))

    def act(page):
        said = page.ask("/quote", {"query": "shoes", "document": "x", "text": "words of x", "grade": 2})
        assert said["quotes"] == [{"text": "words of x", "grade": 2, "from": "x"}]
        page.ask("/finish", {})

    assert judge(act=act) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["wrote 0 new grades, and 1 new quote to shop.relevance.yaml"]
    assert suite_lines(folder)[0] == (
        "  - {id: shoes, text: red shoes, judgments: {a: 2, b: 0}, "
        'quotes: [{text: "words of x", document: x, grade: 2}]}   # two'
    )
    path.write_text(
        path.read_text()
        .replace("words of x", "words")
        .replace(", text: text}", "}")
        .replace(', quotes: [{text: "words", document: x, grade: 2}]', "")
    )
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "no grade is new; nothing was written",
        "left out 1 quote: the suite does not name the field `text` of `display`, in which quotes are looked for",
    ]
    assert main(["judge", "write", "shop.relevance.yaml", "--output", "csv=grades.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["left out 1 quote: quotes are written into a suite only"]


@pytest.mark.parametrize("words", [["page", "--judge", "anna"], ["write"], ["agreement"]])
def test_suites_of_one_file_name_do_not_share_grades(folder, judge, capsys, words):
    (folder / "y").mkdir()
    other = SUITE.replace("suite: shop", "suite: othershop").replace("red shoes", "shoes for horses")
    (folder / "y" / "shop.relevance.yaml").write_text(other)
    (folder / "y" / "relevance.toml").write_text((folder / "relevance.toml").read_text())
    assert judge("--judge", "anna", "--progress", ".", shoes__x=1) == 0
    capsys.readouterr()
    assert main(["judge", *words, "y/shop.relevance.yaml", "--progress", "."]) == 2
    assert capsys.readouterr().err.startswith("shop.judged-by.anna.jsonl:1:1: ")
    assert (folder / "y" / "shop.relevance.yaml").read_text() == other


def test_grades_of_a_query_that_changed_are_left_out_and_named(folder, judge, capsys):
    assert judge("--judge", "anna", act=interrupt, shoes__x=1, boots__z=2) == 130
    changed = SUITE.replace("red shoes", "horse shoes")
    (folder / "shop.relevance.yaml").write_text(changed)
    capsys.readouterr()
    said = "left out 1 grade of anna, given before the text or params changed: 1 query (shoes); grade again"
    assert judge("--judge", "anna", act=interrupt) == 130
    told = capsys.readouterr()
    assert f"relevance: {said}\n" in told.err
    assert "3 documents to judge, 1 of them graded: " in told.out
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert capsys.readouterr().out.splitlines() == [said, "wrote 1 new grade to shop.relevance.yaml"]
    assert (folder / "shop.relevance.yaml").read_text() == changed.replace("d: 1}", "d: 1, z: 2}")


def test_grades_count_whatever_the_environment_has(folder, judge, monkeypatch):
    (folder / "shop.relevance.yaml").write_text(SUITE.replace("red shoes", '"${RELEVANCE_COLOUR:-red} shoes"'))
    assert judge("--judge", "anna", act=interrupt, shoes__x=1) == 130
    monkeypatch.setenv("RELEVANCE_COLOUR", "blue")
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert "x: 1" in suite_lines(folder)[0]


@pytest.fixture
def two_judges(judge):
    """Who agree on one of three documents."""
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    assert judge("--judge", "anna", act=interrupt, shoes__x=2, shoes__y=0, boots__z=1) == 130
    assert judge("--judge", "bob", "--blind", act=interrupt, shoes__x=2, shoes__y=2, boots__z=2) == 130


def test_the_agreement_of_judges_is_printed_with_what_they_differ_on(two_judges, capsys):
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["3", "documents", "graded", "by", "several", "judges,", "1", "of", "them", "alike"]
    assert lines[1:3] == [["anna", "graded", "3", "documents"], ["bob", "graded", "3", "documents"]]
    assert ["Cohen's", "kappa", "unweighted", "0.0000", "3"] in lines
    assert lines[-3:] == [
        ["apart", "query", "document", "anna", "bob"],
        ["2", "shoes", "y", "0", "2"],
        ["1", "boots", "z", "1", "2"],
    ]


def grade_by_hand(folder, judge, **grades):
    lines = [
        json.dumps({"query": name.split("__")[0], "document": name.split("__")[1], "grade": grade})
        for name, grade in grades.items()
    ]
    (folder / f"shop.judged-by.{judge}.jsonl").write_text("\n".join(lines))


def test_the_agreement_is_that_of_the_judges_who_are_named(two_judges, folder, capsys):
    grade_by_hand(folder, "carol", shoes__y=2)
    grade_by_machine(folder, shoes__x=1, shoes__y=0, boots__z=2)
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", "--judge", "anna", "--judge", "bob"]) == 0
    out = capsys.readouterr().out
    assert "carol" not in out
    assert "gpt" not in out
    assert ["Cohen's", "kappa", "unweighted", "0.0000", "3"] in [line.split() for line in out.splitlines()]
    assert main(["judge", "agreement", "shop.relevance.yaml", "--judge", "gpt"]) == 0
    # Of all who judged, the machine is compared with what people agree on.
    assert capsys.readouterr().out.startswith("gpt, a machine, graded 3 documents; people too: 1 document")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["anna", "bop"], "bop has graded no document, and only anna, bob have; did you mean 'bob'?"),
        (["anna"], "found one --judge, and agreement is between several; name another, or none for all"),
    ],
)
def test_an_agreement_of_one_or_of_nobody_is_refused(two_judges, capsys, names, said):
    capsys.readouterr()
    named = [word for name in names for word in ("--judge", name)]
    assert main(["judge", "agreement", "shop.relevance.yaml", *named]) == 2
    assert said in capsys.readouterr().err


def test_a_judge_who_shares_no_document_is_named_and_left_out_of_the_coefficients(two_judges, folder, capsys):
    grade_by_hand(folder, "carol", boots__d=1)
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  carol graded 1 document, none of which another judge graded: left out below" in lines
    assert ["Cohen's", "kappa", "unweighted", "0.0000", "3"] in [line.split() for line in lines]
    assert ["apart", "query", "document", "anna", "bob"] in [line.split() for line in lines]


def test_who_saw_what_others_gave_is_no_independent_judge(two_judges, judge, folder, capsys):
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    assert judge("--settler", "carol", act=finish, shoes__y=2, boots__z=2) == 0
    grade_by_machine(folder, shoes__x=1, shoes__y=0, boots__z=2)
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in before if name != "machines"} == {
        name: value for name, value in before.items() if name != "machines"
    }
    assert list(found["graded"]) == ["anna", "bob"]
    assert found["settled"] == {"carol": 2}
    assert [trust["machine"] for trust in found["machines"]] == ["gpt"]
    assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
    assert "carol settled 2 documents, having seen the grades of others: left out below\n" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["agreement"], ["write"]])
def test_a_file_that_is_cut_within_a_line_is_not_counted_without_a_word(two_judges, folder, capsys, words):
    path = folder / "shop.judged-by.bob.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    before = suite_lines(folder)
    assert main(["judge", *words, "shop.relevance.yaml"]) == 2
    assert "shop.judged-by.bob.jsonl: the last line is cut off, so grades may be missing" in capsys.readouterr().err
    assert suite_lines(folder) == before


def test_of_files_that_do_not_say_it_the_command_names_who_settled(two_judges, folder, capsys):
    grade_by_hand(folder, "carol", shoes__y=2, boots__z=2)
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", "--json", "--settler", "carol"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (list(found["graded"]), found["settled"]) == (["anna", "bob"], {"carol": 2})
    assert main(["judge", "agreement", "shop.relevance.yaml", "--settler", "carl"]) == 2
    assert "carl has graded no document" in capsys.readouterr().err


@pytest.mark.parametrize("settles", [True, False])
def test_a_machine_is_compared_with_what_was_settled_too(two_judges, folder, capsys, settles):
    grade_by_machine(folder, shoes__x=1, shoes__y=0, boots__z=2)
    lines = [{"query": "shoes", "document": "y", "grade": 2}, {"query": "boots", "document": "z", "grade": 1}]
    if settles:
        lines = [{**line, "settles": True} for line in lines]
    (folder / "shop.judged-by.carol.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = [] if settles else ["--settler", "carol"]
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", *words]) == 0
    assert "gpt, a machine, graded 3 documents; people too: 3 documents" in capsys.readouterr().out


def test_who_settles_does_not_see_what_a_machine_gave(two_judges, judge, folder, capsys):
    grade_by_machine(folder, shoes__x=1, shoes__y=0, boots__z=2)
    seen = []
    act = lambda page: (seen.extend(page.documents), finish(page))  # noqa: E731
    assert judge("--settler", "carol", act=act, shoes__y=1) == 0
    # Of x people agree; the machine alone differs.
    assert {one["document"]: [other["judge"] for other in one["others"]] for one in seen} == {
        "y": ["anna", "bob"],
        "z": ["anna", "bob"],
    }


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_judges_who_share_no_document_are_an_error_without_a_number(folder, capsys, words):
    grade_by_hand(folder, "anna", shoes__x=2, shoes__y=1)
    grade_by_hand(folder, "bob", boots__z=2)
    assert main(["judge", "agreement", "shop.relevance.yaml", *words]) == 2
    said = "agreement needs documents that two judges graded, found none among those of anna, bob; let one of them"
    told = capsys.readouterr()
    assert told.err == f"relevance: {said} grade what another one graded\n"
    assert "agreement" not in told.out or list(json.loads(told.out)) == ["problems", "exit_status", "schema"]


def test_where_no_document_has_all_judges_or_two_grades_a_sentence_says_why_there_is_no_number(folder, capsys):
    pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    grade_by_hand(folder, "anna", shoes__x=2)
    grade_by_hand(folder, "bob", shoes__x=2, boots__z=2)
    grade_by_hand(folder, "carol", boots__z=2)
    assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
    out = capsys.readouterr().out
    assert "Fleiss' kappa needs documents that all 3 judges graded, and there is none\n" in out
    assert "a dash is for what is undefined, because only one grade was given\n" in out
    assert out.count("Fleiss") == 1


def test_the_agreement_is_there_as_json(two_judges, capsys):
    capsys.readouterr()
    assert main(["judge", "agreement", "shop.relevance.yaml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["graded"], found["shared"], found["same"]) == ({"anna": 3, "bob": 3}, 3, 1)
    assert found["alone"] == []
    assert found["disagreements"][0] == {"query": "shoes", "document": "y", "grades": {"anna": 0.0, "bob": 2.0}}


def grade_by_machine(folder, **grades):
    texts = {"model": "m", "version": "", "prompt": "p", "shown": "s", "reason": "It is one."}
    lines = []
    for name, grade in grades.items():
        query, document = name.split("__")
        how = {**texts, "input_tokens": 100, "output_tokens": 5}
        lines.append(json.dumps({"query": query, "document": document, "grade": grade, "machine": how}))
    (folder / "shop.judged-by.gpt.jsonl").write_text("\n".join(lines))


@pytest.mark.parametrize(
    "words",
    [["page", "--judge", "gpt"], ["write", "--settler", "gpt"], ["team", "--judge", "gpt", "--serve", "127.0.0.1:0"]],
)
def test_nobody_grades_or_settles_in_the_name_of_a_machine(folder, capsys, words):
    grade_by_machine(folder, shoes__x=1)
    before = (folder / "shop.judged-by.gpt.jsonl").read_text()
    assert main(["judge", *words, "shop.relevance.yaml"]) == 2
    assert "shop.judged-by.gpt.jsonl: gpt is a machine here, whose grades are no person's" in capsys.readouterr().err
    assert (folder / "shop.judged-by.gpt.jsonl").read_text() == before


class TestASampleOfTheQueries:
    """Which people grade where a machine grades all, from `SUITE.sample.json`."""

    def test_it_is_drawn_kept_and_the_only_thing_to_grade(self, judge, folder, capsys):
        assert judge("--sample", "1", "--seed", "2", act=interrupt) == 130
        said = capsys.readouterr().out
        sample = json.loads((folder / "shop.sample.json").read_text())
        assert "1 query drawn with seed 2: shop.sample.json" in said
        assert (len(sample["queries"]), sample["seed"]) == (1, 2)
        pooled = {"shoes": "2 documents", "boots": "1 document"}[sample["queries"][0]]
        assert f"{pooled} to judge" in said

    @pytest.mark.parametrize(("size", "warns"), [("1", True), ("2", False)])
    def test_one_too_small_for_an_estimate_is_told(self, judge, folder, capsys, size, warns):
        assert judge("--sample", size, act=interrupt) == 130
        said = "relevance: an estimate needs at least 2 judged queries with a score, and 1 are too few: before anybody "
        assert (said in capsys.readouterr().err) is warns

    def test_its_sizes_are_named_once_and_others_are_refused(self, judge, folder, capsys):
        assert judge("--sample", "1", act=interrupt) == 130
        kept = (folder / "shop.sample.json").read_bytes()
        assert json.loads(kept)["sizes"] == [1]
        assert judge("--sample", "1", act=interrupt) == 130
        capsys.readouterr()
        for words in (["2"], ["1,2"], ["1", "--seed", "5"]):
            assert judge("--sample", *words) == 2
            said = capsys.readouterr().err
            assert "shop.sample.json holds 1 query drawn with seed 0" in said
            assert "expected --sample 1 or one of these sizes, with seed 0" in said
        assert judge("--sample", "3") == 2
        assert "found 3 queries to draw, expected 1 to 2" in capsys.readouterr().err
        assert (folder / "shop.sample.json").read_bytes() == kept

    def test_with_several_sizes_the_page_has_the_queries_of_one(self, judge, folder, capsys):
        """At each size an estimate reads the first queries, so these are judged first."""
        pooled = {"shoes": 2, "boots": 1}
        for words, pages in ((["1,2"], 1), (["1"], 1), (["2"], 2), (["1,2"], 1)):
            assert judge("--sample", *words, act=interrupt) == 130
            said = capsys.readouterr().out
            sample = json.loads((folder / "shop.sample.json").read_text())
            assert (len(sample["queries"]), sample["sizes"]) == (2, [1, 2])
            assert "2 queries drawn with seed 0: shop.sample.json; estimates decide at 1, 2 judged queries" in said
            assert ("the first 1 are on the page, and --sample 2 opens those of the next size" in said) is (pages == 1)
            documents = sum(pooled[query] for query in sample["queries"][:pages])
            assert f"{documents} document{'s' if documents > 1 else ''} to judge" in said

    @pytest.mark.parametrize("sizes", ["0", "2,1", "1,1", "x", "1,", "1.5", "-1", "٣", "9" * 5000])
    def test_sizes_are_whole_numbers_that_rise(self, judge, folder, capsys, sizes):
        assert judge("--sample", sizes) == 2
        assert "expected whole numbers from 1 that rise, such as 60,120" in capsys.readouterr().err

    @pytest.mark.parametrize("words", [["--query", "shoes"], ["--tag", "head"]])
    def test_it_is_of_all_queries(self, judge, folder, capsys, words):
        assert judge("--sample", "1", *words) == 2
        assert "--sample draws from all queries; remove --query and --tag" in capsys.readouterr().err
        assert not (folder / "shop.sample.json").exists()


class TestAMachineBesidePeople:
    """What `judge agreement` says of a machine, and that its grades are never written into the suite."""

    @pytest.mark.parametrize("last", [{"grade": None}, {"grade": 1, "question": "another"}], ids=["taken back", "old"])
    def test_its_file_stays_a_machine_s_though_none_of_its_grades_counts(self, folder, capsys, last):
        grade_by_machine(folder, shoes__x=1)
        path = folder / "shop.judged-by.gpt.jsonl"
        entry = json.loads(path.read_text()) | last
        if last["grade"] is None:
            del entry["machine"]
            path.write_text(path.read_text() + "\n" + json.dumps(entry) + "\n")
        else:
            path.write_text(json.dumps(entry) + "\n")
        with path.open("a") as file:
            file.write('{"query": "shoes", "document": "y", "grade": 2}\n')
        assert main(["judge", "write", "shop.relevance.yaml"]) == 0
        assert "no grade is new; nothing was written" in capsys.readouterr().out
        assert main(["judge", "shop.relevance.yaml", "--judge", "gpt", "--no-open"]) == 2
        assert "gpt is a machine here" in capsys.readouterr().err

    def test_it_is_compared_with_those_who_judged(self, two_judges, folder, capsys):
        grade_by_machine(folder, shoes__x=1, shoes__y=0, boots__z=2)
        capsys.readouterr()
        assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
        out = capsys.readouterr().out
        lines = [line.split() for line in out.splitlines()]
        # anna and bob agree on one document only; on the others people have no grade.
        assert "gpt, a machine, graded 3 documents; people too: 1 document" in out
        assert ["leniency", "-1.00", "the", "mean", "of", "its", "grade", "minus", "people's"] in lines
        assert ["people", "gave", "1", "2", "mean", "difference"] in lines
        assert ["2", "1", "0", "-1.00"] in lines

    def test_people_s_grades_in_the_suite_are_enough(self, folder, capsys):
        (folder / "shop.relevance.yaml").write_text(
            SUITE.replace("judgments: {a: 2, b: 0}", "tags: [head], judgments: {x: 2, y: 1}")
        )
        grade_by_machine(folder, shoes__x=2, shoes__y=1)
        assert main(["judge", "agreement", "shop.relevance.yaml", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert list(found) == ["machines"]
        [trust] = found["machines"]
        assert (trust["machine"], trust["shared"]["same"], trust["shared"]["kappa"]) == ("gpt", 2, 1.0)
        assert trust["confusion"] == [[1.0, 1.0, 1], [2.0, 2.0, 1]]
        assert trust["by_tag"]["head"]["documents"] == 2

    def test_requests_are_sent_to_see_whether_they_rank_alike(self, folder, capsys):
        pytest.importorskip("krippendorff", reason="krippendorff is not installed")
        current = '  current: {query: {match: {title: "{{text}}"}}}\n'
        assert current in SUITE
        (folder / "shop.relevance.yaml").write_text(SUITE.replace(current, current + current.replace("current", "new")))
        grade_by_machine(folder, shoes__a=2, shoes__b=0, boots__d=1)
        words = ["judge", "agreement", "shop.relevance.yaml", "--json"]
        assert main([*words, "--all-requests"]) == 0
        [trust] = json.loads(capsys.readouterr().out)["machines"]
        ranks = trust["ranks"]
        assert {means["request"] for means in ranks["means"]} == {"current", "new"}
        assert all(means["by_people"] == means["by_machine"] for means in ranks["means"])
        assert (ranks["measure"], ranks["queries"], ranks["tau"]) == ("nDCG@3", 2, 1.0)
        assert main(words) == 0
        [trust] = json.loads(capsys.readouterr().out)["machines"]
        assert trust["ranks"] is None, "one request has no rank"

    def test_where_people_graded_nothing_of_it_that_is_said(self, folder, capsys):
        grade_by_machine(folder, boots__z=1)
        assert main(["judge", "agreement", "shop.relevance.yaml"]) == 0
        assert "let people grade what it graded" in capsys.readouterr().out

    def test_its_grades_are_not_written(self, folder, capsys):
        grade_by_hand(folder, "anna", shoes__x=2)
        grade_by_machine(folder, shoes__y=1, boots__z=2)
        before = (folder / "shop.relevance.yaml").read_text()
        assert main(["judge", "write", "shop.relevance.yaml"]) == 0
        after = (folder / "shop.relevance.yaml").read_text()
        assert after != before
        assert "x: 2" in after
        assert ("y:" in after, "z:" in after) == ("y:" in before, "z:" in before)


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ([], ["a: 2, b: 0, x: 2", "d: 1"]),
        (["--resolve", "median"], ["a: 2, b: 0, x: 2, y: 0", "d: 1, z: 1"]),
        (["--resolve", "median", "--most-apart", "1"], ["a: 2, b: 0, x: 2", "d: 1, z: 1"]),
    ],
)
def test_a_rule_decides_which_grades_of_several_judges_are_written(two_judges, folder, capsys, words, written):
    assert main(["judge", "write", "shop.relevance.yaml", *words]) == 0
    assert [line.split("judgments: {")[1].split("}")[0] for line in suite_lines(folder)] == written
    left = 6 - sum(line.count(":") for line in written)
    told = capsys.readouterr().out
    assert ("on which judges differ" in told) == (left > 0)


def test_another_judge_settles_what_they_differ_on(two_judges, judge, folder, capsys):
    seen = []
    act = lambda page: (seen.extend(page.documents), finish(page))  # noqa: E731
    assert judge("--settler", "carol", act=act, shoes__y=1, boots__z=2) == 0
    grades = [(one["document"], {other["judge"]: other["grade"] for other in one["others"]}) for one in seen]
    assert grades == [
        ("y", {"anna": 0.0, "bob": 2.0}), ("z", {"anna": 1.0, "bob": 2.0}),
    ]  # fmt: skip
    assert [line.split("judgments: {")[1].split("}")[0] for line in suite_lines(folder)] == [
        "a: 2, b: 0, x: 2, y: 1", "d: 1, z: 2",
    ]  # fmt: skip
    told = capsys.readouterr().out
    assert "2 documents to judge, 0 of them graded" in told
    assert "wrote 3 new grades to shop.relevance.yaml\n" in told
    assert "differ" not in told
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert suite_lines(folder)[0].endswith("judgments: {a: 2, b: 0, x: 2, y: 1}}   # two")


def test_what_was_settled_is_written_without_the_page_too(two_judges, judge, folder):
    assert judge("--settler", "carol", "--blind", act=interrupt, shoes__y=1) == 130
    assert main(["judge", "write", "shop.relevance.yaml", "--settler", "carol"]) == 0
    assert suite_lines(folder)[0].endswith("judgments: {a: 2, b: 0, x: 2, y: 1}}   # two")
    assert suite_lines(folder)[1].endswith("judgments: {d: 1}}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("carl", "carl has graded no document, and only anna, bob, carol have; did you mean 'carol'?"),
        ("eve", "eve has graded no document, and only anna, bob, carol have"),
    ],
)
def test_who_has_graded_nothing_settles_nothing(two_judges, judge, folder, capsys, name, said):
    assert judge("--settler", "carol", act=interrupt, shoes__y=1) == 130
    capsys.readouterr()
    before = suite_lines(folder)
    assert main(["judge", "write", "shop.relevance.yaml", "--settler", name]) == 2
    assert (capsys.readouterr().err, suite_lines(folder)) == (f"relevance: {said}\n", before)


def test_what_is_to_be_settled_is_shown_though_it_is_no_hit_any_more(two_judges, judge, monkeypatch):
    monkeypatch.setitem(RANKINGS, "boots", ["d"])
    monkeypatch.delitem(DOCUMENTS, "y")
    monkeypatch.setitem(RANKINGS, "shoes", ["x"])
    seen = []
    assert judge("--settler", "carol", act=lambda page: seen.extend(page.documents) or finish(page)) == 0
    assert [(one["document"], one["title"]) for one in seen] == [("z", "Title of z"), ("y", None)]


# ------------------------------------------------------------------------------------------------- beyond the pool


def find(page, **given):
    return page.ask("/search", given)


def test_a_query_with_zero_hits_is_judged_with_what_other_words_find(folder, judge, monkeypatch, capsys):
    monkeypatch.setitem(RANKINGS, "boots", [])
    monkeypatch.setitem(RANKINGS, "shoes", ["a"])
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace(", judgments: {d: 1}", ""))
    found = []

    def search(page):
        session = page.ask("/session")
        assert [query["id"] for query in session["queries"]] == ["shoes", "boots"]
        found.extend(find(page, query="boots", words="wellies")["documents"])
        page.grade({"boots/z": 2})
        assert [one["document"] for one in page.documents] == ["z"]
        interrupt(page)

    assert judge(act=search) == 130
    assert "no hit to judge; search on the page for documents of 1 query (boots): http" in capsys.readouterr().out
    assert [(one["document"], one["title"], one["snippet"], one["ranks"]) for one in found] == [
        ("z", "Title of z", "The words of z.", {}),
        ("d", "Title of d", "The words of d.", {}),
    ]
    # It is there after a restart, and written.
    seen = []
    assert judge(act=lambda page: seen.extend(page.documents) or finish(page)) == 0
    assert [(one["document"], one["title"], one["grade"]) for one in seen] == [("z", "Title of z", 2)]
    assert suite_lines(folder)[1].endswith("judgments: {z: 2}}")


def test_a_document_is_found_by_its_id_and_a_missing_one_is_a_sentence(judge):
    def search(page):
        [found] = find(page, query="boots", document="y")["documents"]
        assert (found["document"], found["title"], found["grade"]) == ("y", "Title of y", None)
        assert find(page, query="boots", document="nobody") == {"error": "found no document with the id 'nobody'"}
        assert find(page, query="nothing", words="x") == {"error": "no documents can be searched for this query"}
        assert "expected words to search" in find(page, query="boots")["error"]
        for given in ({"words": "\ud800"}, {"document": "\ud800"}):
            assert "found half a character" in find(page, query="boots", **given)["error"]
        refused = page.ask("/grade", {"query": "shoes", "document": "d", "grade": 1})
        assert "expected a document of this pool" in refused["error"]
        finish(page)

    assert judge(act=search) == 0


def test_a_search_that_fails_is_a_sentence_without_secrets(folder, judge, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "s3cret-word")
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace('"{{text}}"}}}', '"{{text}}"}}, stats: ["${RELEVANCE_TOKEN}"]}'))
    index = Index({})
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: index)

    def search(page):
        index._error = EngineUnreachable("no answer to s3cret-word")
        assert find(page, query="boots", words="wellies") == {"error": "no answer to ${RELEVANCE_TOKEN}"}
        finish(page)

    assert judge(act=search) == 0


def test_what_the_suite_judges_is_graded_again_by_choice_and_a_later_correction_stays(folder, judge, capsys):
    def regrade(page):
        judged = find(page, query="shoes", judged=True)
        assert [(one["document"], one["existing"]) for one in judged["documents"]] == [("a", 2), ("b", 0)]
        page.grade({"shoes/a": 0})
        finish(page)

    assert judge(act=regrade) == 0
    assert "judgments: {a: 0, b: 0" in suite_lines(folder)[0]
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace("{a: 0,", "{a: 1,"))
    assert judge() == 0
    assert "document a of query shoes keeps its grade 1, which no judge gave" in capsys.readouterr().out
    assert "judgments: {a: 1, b: 0" in suite_lines(folder)[0]


def test_regrade_shows_all_that_the_suite_judges(folder, judge):
    suite = folder / "shop.relevance.yaml"
    suite.write_text(SUITE.replace("{d: 1}", "{d: 1, x: 0, gone: 1}"))
    seen = []
    assert judge("--regrade", boots__d=0, act=lambda page: seen.extend(page.documents) or finish(page)) == 0
    assert [(one["query"], one["document"]) for one in seen] == [
        ("shoes", "x"),
        ("shoes", "a"),
        ("shoes", "y"),
        ("boots", "d"),
        ("boots", "z"),
        ("boots", "x"),
        ("shoes", "b"),
    ]
    assert suite_lines(folder)[1].endswith("judgments: {d: 0, x: 0, gone: 1}}")


def test_where_judges_agree_there_is_nothing_to_settle(judge, capsys):
    assert judge("--judge", "anna", act=interrupt, shoes__x=2) == 130
    assert judge("--settler", "carol") == 0
    assert "nothing to judge: no hit has different grades of other judges\n" in capsys.readouterr().out


def test_a_second_judge_grades_what_the_first_one_wrote_and_a_rule_changes_it(judge, folder):
    assert judge("--judge", "anna", shoes__x=2, shoes__y=0, boots__z=1) == 0
    seen = []
    act = lambda page: (seen.extend(page.documents), finish(page))  # noqa: E731
    assert judge("--judge", "bob", act=act) == 0
    assert [(one["document"], one["grade"], one["existing"]) for one in seen] == [
        ("x", None, 2.0), ("y", None, 0.0), ("z", None, 1.0),
    ]  # fmt: skip
    assert judge("--judge", "bob", "--blind", "--resolve", "median", boots__z=0) == 0
    assert suite_lines(folder)[1].endswith("judgments: {d: 1, z: 0}}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--judge", "a/b"], "found 'a/b' as the name of a judge, expected letters"),
        (["--scale", "0..99"], "found grades from 0 to 99 in --scale, expected at most 11 whole numbers"),
        (["--output", "csv=shop.relevance.yaml"], "shop.relevance.yaml is the suite itself; write to another file"),
        (
            ["--output", "csv=u.csv", "--output", "csv=./u.csv"],
            "two outputs, --output csv=u.csv and --output csv=./u.csv",
        ),
        (["--judge", "anna", "--settler", "carol"], "--settler says whose grades these are; remove --judge"),
        (["--most-apart", "nan"], "found nan for --most-apart, expected a number of at least 0"),
        (["--progress", "gone"], "Directory 'gone' does not exist"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(judge, capsys, words, said):
    assert judge(*words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agreement"], "agreement needs the grades of at least two judges, and nobody has graded documents"),
        (["write", "--settler", "carl"], "carl has graded no document, and nobody has"),
    ],
)
def test_who_has_graded_nothing_is_not_compared_and_settles_nothing(folder, capsys, words, said):
    assert main(["judge", *words, "shop.relevance.yaml"]) == 2
    assert said in capsys.readouterr().err


def test_a_suite_that_is_not_there_and_a_folder_of_several_are_refused(folder, capsys):
    assert main(["judge", "gone.relevance.yaml"]) == 2
    assert "gone.relevance.yaml" in capsys.readouterr().err
    (folder / "more.relevance.yaml").write_text(SUITE)
    assert main(["judge", "."]) == 2
    assert capsys.readouterr().err == "relevance: found 2 suites in ., expected one\n"


def test_an_engine_that_is_gone_is_said_with_its_status(folder, judge, capsys, monkeypatch):
    gone = EngineUnreachable("cannot reach http://one:9200: connection refused")
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: FakeSearch({}, error=gone))
    assert judge() == 3
    told = capsys.readouterr()
    assert "connection refused" in told.err
    assert "Traceback" not in told.err


def test_a_file_of_grades_that_is_something_else_is_an_error_with_its_line(folder, judge, capsys):
    (folder / "shop.judged-by.eve.jsonl").write_text("{}\n")
    assert judge() == 2
    assert "shop.judged-by.eve.jsonl:1:1: " in capsys.readouterr().err


@pytest.mark.parametrize("words", [["write"], ["write", "--output", "csv=out.csv"], ["agreement"], ["page"]])
def test_a_kept_grade_outside_of_the_scale_is_an_error_with_its_line(folder, capsys, words):
    (folder / "shop.judged-by.eve.jsonl").write_text('{"query": "shoes", "document": "x", "grade": 99999}\n')
    assert main(["judge", *words, "shop.relevance.yaml"]) == 2
    said = "shop.judged-by.eve.jsonl:1:1: found grade 99999 of document x of query shoes, expected a grade from 0 to 3"
    assert said in capsys.readouterr().err
    assert (folder / "shop.relevance.yaml").read_text() == SUITE


@pytest.mark.parametrize("words", [["write"], ["agreement", "--json"], ["page"]])
@pytest.mark.parametrize(
    ("scale", "grade", "expected"),
    [
        ("grades: {bad: 0, good: 2}", 1, "one of 0 (bad), 2 (good)"),
        ("gain: {0: 0, 1: 1, 2: 3}", 1.5, "one of 0, 1, 2"),
    ],
)
def test_a_kept_grade_between_those_of_the_scale_is_an_error_too(folder, capsys, words, scale, grade, expected):
    suite = SUITE.replace("measures:", f"{scale}\nmeasures:").replace("d: 1", "d: 2")
    (folder / "shop.relevance.yaml").write_text(suite)
    grade_by_hand(folder, "eve", shoes__x=0, shoes__y=grade)
    assert main(["judge", *words, "shop.relevance.yaml"]) == 2
    said = f"shop.judged-by.eve.jsonl:2:1: found grade {grade} of document y of query shoes, expected {expected}; "
    assert said in capsys.readouterr().err
    assert (folder / "shop.relevance.yaml").read_text() == suite


def test_without_the_extra_the_sentence_says_what_to_install(judge, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "werkzeug", None)
    assert judge() == 2
    remedy = "the judging page needs the package werkzeug: pip install 'relevance-harness[judge]'"
    assert remedy in capsys.readouterr().err


def test_a_file_that_may_not_be_written_is_named_and_the_grades_are_kept(judge, folder, monkeypatch):
    answers = []
    monkeypatch.setattr("harness.extensions.judging.writing.os.access", lambda _, mode: mode != os.W_OK)
    assert judge(act=lambda page: answers.append(finish(page)) or interrupt(page), shoes__x=1) == 130
    said = "shop.relevance.yaml: the grades could not be written: the file is read-only"
    assert answers == [{"error": said}]
    assert (folder / "shop.relevance.yaml").read_text() == SUITE
    assert (folder / "shop.judged-by.judge.jsonl").read_text().count("\n") == 1


@pytest.mark.parametrize("words", [["--no-open"], []])
def test_where_no_browser_has_a_window_the_address_is_printed(folder, capsys, monkeypatch, words):
    """A judge opens the address that is printed; the browser of the terminal, lynx, is not started."""
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    told = []

    def print_and_judge(line, err=False):
        told.append(line)
        if "http://" in line:
            threading.Thread(target=lambda: JudgingPage(line.rpartition(": ")[2]).ask("/finish", {})).start()

    monkeypatch.setattr("harness.extensions.judging.commands.page.click.echo", print_and_judge)
    assert main(["judge", "shop.relevance.yaml", "-q", *words]) == 0
    assert ("relevance: no browser could be opened; open the address above" in told) == (not words)
    assert told[-1] == "no grade is new; nothing was written"


@pytest.mark.parametrize("name", ["anna", "bob"])
def test_a_judge_grades_in_one_command_at_a_time(folder, judge, capsys, name):
    """A second command would show stale grades, and could take a half-written line of the first for one cut off."""
    pytest.importorskip("fcntl", reason="this system has no locks")
    statuses = []

    def act(page):
        statuses.append(main(["judge", "shop.relevance.yaml", "-q", "--judge", name]))
        for words in (["write", "--output", "csv=out.csv"], ["page", "-q", "--settler", "eve"]):
            statuses.append(main(["judge", *words, "shop.relevance.yaml"]))
        page.grade({"shoes/y": 0})
        finish(page)

    assert judge("--judge", name, act=act, shoes__x=1) == 0
    assert statuses == [2, 0, 0]
    said = capsys.readouterr().err
    assert said.startswith(f"relevance: shop.judged-by.{name}.jsonl: process {os.getpid()}, started 20")
    remedy = f"grades as {name} already; finish on its page or end it with Ctrl-C, or grade under another name"
    assert remedy in said
    assert (folder / f"shop.judged-by.{name}.jsonl").read_text().count("\n") == 2
    assert suite_lines(folder)[0].endswith("judgments: {a: 2, b: 0, x: 1, y: 0}}   # two")
    assert judge("--judge", name) == 0
    assert not list(folder.glob(".shop*"))


def test_where_the_system_has_no_locks_the_judge_is_told(judge, capsys, monkeypatch):
    monkeypatch.setattr("harness.files.locks.flock", None)
    assert judge("--judge", "anna") == 0
    told = capsys.readouterr().err
    assert (
        told == "relevance: this system has no lock for shop.judged-by.anna.jsonl; grade as anna in this command only\n"
    )


def test_what_another_command_kept_before_it_ended_is_shown(folder, judge, monkeypatch):
    """The other command ends between the reading of all judges and the lock."""
    line = '{"query": "shoes", "document": "x", "grade": 1}\n'
    kept = folder / "shop.judged-by.judge.jsonl"
    pages = "harness.extensions.judging.commands.pages"
    monkeypatch.setattr(f"{pages}.require_installed", lambda _: kept.write_text(line))
    seen = []
    assert judge(act=lambda page: seen.extend(page.documents) or finish(page)) == 0
    assert [document["grade"] for document in seen] == [1.0, None, None]
