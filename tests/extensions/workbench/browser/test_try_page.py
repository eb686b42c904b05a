"""The page of ``relevance try`` in a browser: typed in, graded, written, on a command whose answers are made."""

import math
import re
import time
from contextlib import closing
from pathlib import Path

import pytest

from builders.golden import hold
from builders.pages import NO_CONTRAST, find_faint_texts, find_small, find_violations, find_violations_in_each_scheme
from builders.reports import HOSTILE
from extensions.workbench.builders.opened_page import (
    NARROW,
    WIDE,
    focus_by_tab,
    open_pages,
    press,
    read_lead,
    type_title,
    wait_for,
    wait_for_said,
)
from extensions.workbench.builders.scripted_bench import LIVE, ScriptedBench, set_values

pytest.importorskip("waitress")

OUTPUTS = Path(__file__).parents[1] / "outputs"
TITLE = "/query/multi_match/fields/0"


@pytest.fixture
def serve(browser):
    """Opens the page of a bench; the test fails if it complains or asks for anything but itself."""
    servers = []

    with open_pages(browser) as open_link:

        def open_bench(bench, **options):
            servers.append(bench.serve())
            servers[-1].start()
            return open_link(servers[-1].address.build_link(servers[-1].access.token), **options)

        yield open_bench
    for server in servers:
        server.close()


def text_of(title):
    return set_values(LIVE, {TITLE: title})


def read_rows(page):
    """The rows of queries that are in the page, as texts."""
    return [row.inner_text().split("\n") for row in page.locator("#list [role=option]").all()]


def find_chosen(page, box):
    return page.locator(f"#{box} [aria-selected=true]")


def test_try_page(serve, pytestconfig):
    """What stands on the page at the start, after a try, and with an explanation, as text."""
    page = serve(ScriptedBench(12, failing=11))

    def read_page():
        return "".join(f"{line.rstrip()}\n" for line in page.inner_text("body").splitlines() if line.strip())

    texts = {"1-start": read_page()}
    type_title(page, "4")
    wait_for(page, "done")
    press(page, "Escape", "l", "n", "n", "x")
    page.wait_for_selector("#explanation-lines li")
    texts["2-try"] = read_page()
    press(page, "?")
    texts["3-keys"] = page.inner_text("#help")
    hold(OUTPUTS / "test_try_page", texts, update=pytestconfig.getoption("update_golden"))


def test_typed_tried_graded_kept_and_written_by_keys(serve):
    """The whole loop, from the link to the suite, without a mouse."""
    bench = ScriptedBench()
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    assert bench.texts == [text_of(4)]
    lead = read_lead(page)
    summary = bench.summarize(text_of(4))
    assert lead["nDCG@10 live"] == f"{summary['live']:.4f}"
    assert lead["try 1"] == f"{summary['try']:.4f}"
    assert lead["difference"].startswith(f"{summary['difference']:+.4f}")
    assert lead["won / lost / same"] == f"{summary['wins']} / {summary['losses']} / {summary['same']}"
    rows = {query: bench.make_row(query, text_of(4)) for query in bench.by_id}
    worst = min(rows, key=lambda query: rows[query]["score"] - bench.by_id[query]["live"])
    press(page, "Escape", "l")
    page.locator("#query", has_text=re.compile(f"^{bench.by_id[worst]['text']}$")).wait_for()
    press(page, "n", "2")
    wait_for_said(page, "Graded 2")
    assert bench.given == [(worst, f"{worst}-d0")]
    assert page.locator("#rest").get_by_text("graded while ranks were seen").is_visible()
    press(page, "u")
    wait_for_said(page, "Undone")
    assert bench.given == []
    press(page, "b", "Control+a", *"more title", "Enter")
    wait_for_said(page, "Kept as more title")
    assert bench.tries[0]["row"]["kept"]
    press(page, "s")
    page.wait_for_selector("#diff ins")
    diff = page.locator("#diff").inner_text().split("\n")
    assert [line for line in diff if line.startswith("@@")] == ["@@ -3,0 +4,9 @@"]
    focus_by_tab(page, "write-now")
    press(page, "Enter")
    wait_for_said(page, "Wrote current-try-1 to shop.relevance.yaml.")
    assert bench.written == ["current-try-1"]


def test_a_text_is_sent_after_the_last_key_only(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    type_title(page, "4")
    press(page, *".125")
    wait_for(page, "done")
    assert bench.texts == [text_of(4.125)]
    type_title(page, "4")
    wait_for(page, "done")
    assert len(bench.texts) == 1, "the same text is no new try"
    assert page.locator("#try-list [role=option]").count() == 1


def test_a_wrong_text_is_marked_and_not_sent(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    press(page, "End", "x")
    wait_for(page, "wrong at line 5")
    assert page.locator("#lines .wrong").count() == 1
    assert page.get_attribute("#text", "aria-invalid") == "true"
    assert page.inner_text("#problem") == "Expecting value"
    assert page.locator("#lead dt").all_inner_texts()[1] == "try 1", "what was shown stays, under its own name"
    press(page, "Backspace")
    wait_for(page, "done")
    assert page.locator("#problem").is_hidden()
    assert len(bench.texts) == 1


def test_lines_that_differ_from_live_are_marked(serve):
    page = serve(ScriptedBench(12))
    assert page.locator("#lines .changed").count() == 0
    type_title(page, "4")
    press(page, "End", "Enter")
    assert [row.inner_text() for row in page.locator("#lines .changed span").all()]
    changed = page.evaluate("[...document.querySelectorAll('#lines > div')].map((row) => row.className)")
    assert changed == ["", "", "", "", "changed", "changed", "", "", "", ""]


CHANGES = [
    ("a b c d", "a b c d", []),
    ("a b c d", "a x c d", [1]),
    ("a b c d", "a c d", []),
    ("a b c d", "a b x y c d", [2, 3]),
    ("a b c d", "d a b c", [0]),
    ("", "a", [0]),
]


def test_the_fewest_lines_are_marked(serve):
    page = serve(ScriptedBench(12))
    for before, after, changed in CHANGES:
        found = page.evaluate(
            "async ([before, after]) => [...(await import('/text.js')).findChanged(before, after)]",
            [before.split(), after.split()],
        )
        assert sorted(found) == changed


LARGE = {
    "lines": ("[\n" + "1,\n" * 20000 + "1]", "done"),
    "levels": ("[" * 10000 + "]" * 10000, "refused"),
    "bytes": ('{"a": "' + "x" * 1_100_000 + '"}', "refused"),
}


@pytest.mark.parametrize("large", LARGE)
def test_a_large_text_is_taken_or_refused(serve, large):
    text, state = LARGE[large]
    bench = ScriptedBench(12)
    page = serve(bench)
    # A browser itself takes seconds to insert thousands of lines into a text area.
    put = "(area, text) => { area.value = text; area.dispatchEvent(new Event('input', { bubbles: true })); }"
    page.locator("#text").evaluate(put, text)
    wait_for(page, state)
    page.locator("#text").evaluate(put, text_of(4))
    page.locator("#lead dt", has_text="try ").wait_for()
    wait_for(page, "done")
    assert bench.texts[-1] == text_of(4)
    assert page.locator("#lines > div").count() == 9
    assert page.locator("#lines .changed").count() == 1


def test_dials_step_with_arrows_and_change_the_text(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    press(page, "d", "ArrowUp", "ArrowUp")
    wait_for(page, "done")
    assert bench.texts == [text_of(4)]
    assert "title^4" in page.input_value("#text")
    assert page.locator(".dial.changed label").all_inner_texts() == ["title"]
    press(page, "Tab", "Shift+ArrowDown")
    page.locator("#try-list [role=option]").nth(1).wait_for()
    assert '"description^0"' in page.input_value("#text"), "a dial is stepped to 0, and not below"
    press(page, "Tab", "ArrowUp", "ArrowUp", "ArrowDown")
    page.locator("#try-list [role=option]").nth(2).wait_for()
    assert '"tie_breaker": 0.3' in page.input_value("#text")
    assert page.get_by_role("spinbutton").nth(2).input_value() == "0.3"


def test_a_dial_moved_while_its_text_is_typed(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    page.get_by_role("button", name="title up").click()
    type_title(page, "7")
    press(page, "Control+End", "Enter")
    wait_for(page, "done")
    assert [dial.input_value() for dial in page.get_by_role("spinbutton").all()][1:] == ["0.5", "0.2"]
    assert page.input_value("#text").endswith("}\n")


def test_a_manual_page_sends_on_ctrl_enter_only(serve):
    bench = ScriptedBench(12, is_manual=True)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, re.escape("not sent: Ctrl+Enter"))
    page.wait_for_timeout(400)
    assert bench.texts == []
    press(page, "Control+Enter")
    wait_for(page, "done")
    press(page, "Escape", "r")
    wait_for(page, "done")
    assert bench.texts == [text_of(4)]
    page.get_by_label("while typing").check()
    type_title(page, "5")
    page.locator("#try-list [role=option]").nth(1).wait_for()
    assert bench.texts == [text_of(4), text_of(5)]


def test_the_last_of_twenty_texts_is_shown(serve):
    """Twenty texts in two seconds, each sent at once: the engine takes two seconds for one, in four batches."""
    bench = ScriptedBench(60, batch=15, pace=0.5)
    page = serve(bench)
    start = time.monotonic()
    page.focus("#text")
    for number in range(20):
        page.fill("#text", text_of(10 + number))
        press(page, "Control+Enter")
        page.wait_for_timeout(max(100 * (number + 1) - 1000 * (time.monotonic() - start), 0))
    typed = time.monotonic() - start
    wait_for(page, "done")
    assert bench.texts[-1] == text_of(29)
    # A busy machine types more slowly, and then more are answered meanwhile.
    assert len(bench.whole) <= 1 + math.ceil(typed / 2)
    assert page.input_value("#text") == text_of(29)
    shown = read_lead(page)["difference"].split()[0]
    assert shown == f"{bench.summarize(text_of(29))['difference']:+.4f}"
    scores = {row[0]: row[2] for row in read_rows(page)}
    for query in bench.queries:
        if query["text"] in scores:
            assert scores[query["text"]] == f"{bench.make_row(query['id'], text_of(29))['score']:.3f}"


def test_rows_fill_in_and_show_no_other_try(serve):
    bench = ScriptedBench(45)
    page = serve(bench)
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    assert read_lead(page)["try 1"]
    bench.stop = 10
    press(page, "ArrowUp")
    wait_for(page, "10 of 45")
    assert page.locator("#bar.is-running").count() == 1
    assert read_lead(page)["next try"] == "…"
    assert page.inner_text("#try-head") == "next try"
    rows = {query["text"]: bench.make_row(query["id"], text_of(4)) for query in bench.queries}
    shown = [(row[0], row[2]) for row in read_rows(page)]
    assert {score for _, score in shown} > {"…"}
    assert all(score in ("…", f"{rows[text]['score']:.3f}") for text, score in shown)
    bench.stop = None
    wait_for(page, "done")
    assert "…" not in {row[2] for row in read_rows(page)}


def test_what_is_in_sight_is_sent_first(serve):
    bench = ScriptedBench(200)
    page = serve(bench)
    press(page, "End", "d", "ArrowUp")
    wait_for(page, "done")
    [run] = bench.runs.values()
    assert run.order[0] == "q199"
    assert set(run.order[:15]) <= {f"q{number}" for number in range(170, 200)}


def test_of_a_thousand_queries_those_in_sight_are_in_the_page(serve):
    bench = ScriptedBench(1000)
    page = serve(bench)
    options = page.locator("#list [role=option]")
    assert 20 < options.count() < 60
    assert page.inner_text("#queries-heading") == "Queries 1,000"
    press(page, "End")
    assert find_chosen(page, "list").get_attribute("aria-posinset") == "1000"
    assert find_chosen(page, "list").is_visible()
    press(page, "Home", "PageDown", "j", "k", "ArrowDown")
    assert find_chosen(page, "list").get_attribute("aria-posinset") == "12"
    page.locator("#list").evaluate("list => list.scrollTop = 12000")
    page.wait_for_timeout(100)
    assert options.count() < 60
    assert find_chosen(page, "list").count() == 1, "screen readers need the chosen row"
    active = page.get_attribute("#list", "aria-activedescendant")
    assert page.locator(f"#{active}").count() == 1


def test_queries_are_filtered_and_sorted(serve):
    bench = ScriptedBench(60, failing=13)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    rows = {query: bench.make_row(query, text_of(4)) for query in bench.by_id}
    answered = {query: row for query, row in rows.items() if row["error"] is None}
    differences = {query: row["score"] - bench.by_id[query]["live"] for query, row in answered.items()}
    counts = {
        "lost": sum(one < -1e-9 for one in differences.values()),
        "won": sum(one > 1e-9 for one in differences.values()),
        "moved": sum(row["moved"] for row in answered.values()),
        "unjudged": sum(row["unjudged"] > 0 for row in answered.values()),
        "unanswered": 5,
    }
    heading = page.locator("#queries-heading")
    for state, count in counts.items():
        page.select_option("#filter-state", state)
        heading.get_by_text(f"Queries {count} of 60").wait_for()
    page.select_option("#filter-state", "")
    page.select_option("#filter-tag", "head")
    heading.get_by_text("Queries 20 of 60").wait_for()
    page.select_option("#filter-tag", "")
    press(page, "Escape", "/", *"tent")
    heading.get_by_text(re.compile(r"Queries \d of 60")).wait_for()
    texts = [row[0] for row in read_rows(page)]
    assert len(texts) >= 3
    assert all("tent" in text for text in texts)
    press(page, *["Backspace"] * 4, "Escape")
    page.select_option("#order", "wins")
    heading.get_by_text("Queries 60").wait_for()
    page.wait_for_timeout(50)
    best = max(differences, key=differences.get)
    assert read_rows(page)[0][0] == bench.by_id[best]["text"]
    page.fill("#filter-words", "no such words")
    page.locator("#none-listed").wait_for()


def test_variants_stand_below_their_query(serve):
    bench = ScriptedBench(12, variants=2)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    page.locator("#queries-heading", has_text=re.compile("^Queries 12$")).wait_for()
    press(page, "Escape", "/", *"of 7", "Escape")
    page.locator("#queries-heading", has_text="Queries 1 of 12").wait_for()
    rows = page.locator("#list .name").all_text_contents()
    agreement = "RBO 0.800 → 0.900"
    assert rows == [bench.by_id["q7"]["text"], *(f"variant variant {n} of 7 {agreement}" for n in (1, 2))]
    press(page, "Home", "j")
    page.locator("#query", has_text="variant 1 of 7").wait_for()
    page.locator("#facts dt", has_text="variant of q7").wait_for()
    page.locator("#facts dd", has_text=f"typo, {agreement}").wait_for()
    page.locator("#try-hits", has_text="q7~1").wait_for()


def test_losses_and_wins_are_walked_from_the_greatest(serve):
    bench = ScriptedBench(30)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    rows = {query: bench.make_row(query, text_of(4)) for query in bench.by_id}
    order = sorted(rows, key=lambda query: rows[query]["score"] - bench.by_id[query]["live"])
    press(page, "Escape", "l", "l", "l")
    page.locator("#query", has_text=re.compile(f"^{bench.by_id[order[2]]['text']}$")).wait_for()
    press(page, "w")
    page.locator("#query", has_text=re.compile(f"^{bench.by_id[order[-1]]['text']}$")).wait_for()
    press(page, "w", "l")
    page.locator("#query", has_text=re.compile(f"^{bench.by_id[order[0]]['text']}$")).wait_for()


def test_a_query_without_an_answer_is_a_state_of_its_own(serve):
    page = serve(ScriptedBench(12, failing=4))
    type_title(page, "4")
    wait_for(page, "done")
    assert [row[2] for row in read_rows(page)[:3]] == ["no answer"] * 3
    press(page, "Escape", "Home")
    page.locator("#unanswered", has_text="the engine closed the connection").wait_for()
    assert page.locator("#try-hits [role=option]").count() == 0


def test_hits_are_moved_through_graded_and_explained(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape", "Home", "n", "n", "n")
    chosen = find_chosen(page, "try-hits")
    assert chosen.get_attribute("aria-posinset") == "3"
    assert "new" in chosen.inner_text()
    press(page, "p", "ArrowLeft")
    assert find_chosen(page, "live-hits").get_attribute("aria-posinset") == "2"
    assert page.locator("#try-hits .is-same").count() == 1
    press(page, "ArrowRight", "ArrowDown", "x")
    page.locator("#explanation-lines", has_text="sum of:").wait_for()
    press(page, "x")
    page.locator("#explanation-lines", has_text="against the hit above").wait_for()
    assert "against the hit above, try" in page.inner_text("#explanation-heading")
    press(page, "3")
    wait_for_said(page, "Graded 3")
    query = page.inner_text("#query").split()[-1]
    assert bench.given == [(f"q{query}", f"q{query}-new")]
    assert chosen.locator(".grade").inner_text() == "3"
    press(page, "3")
    wait_for_said(page, "Graded None")
    press(page, "n")
    grade = find_chosen(page, "try-hits").locator(".grade").inner_text()
    press(page, grade)
    wait_for_said(page, f"Graded {grade}")
    press(page, "Escape")
    assert page.locator("#explanation").is_hidden()
    press(page, "m", "j")
    page.locator("#missing-hits", has_not_text=f"q{query}-far").wait_for()
    assert find_chosen(page, "missing-hits").count() == 0, "another query has other missing documents"


def test_grades_are_given_inside_a_ranking_only(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    press(page, "3", "u")
    wait_for_said(page, "There is nothing to undo.")
    press(page, "m", "0")
    wait_for_said(page, "Graded 0")
    assert bench.given == [("q0", "q0-far")]
    press(page, "Escape", "3")
    page.wait_for_timeout(100)
    assert len(bench.given) == 1


def test_a_grade_whose_key_moves_wins_inside_a_ranking(serve):
    bench = ScriptedBench(12, choices=[{"grade": 1.0, "name": "near", "key": "n", "description": ""}])
    page = serve(bench)
    press(page, "n")
    assert find_chosen(page, "live-hits").get_attribute("aria-posinset") == "1"
    press(page, "n")
    wait_for_said(page, "Graded 1")
    assert bench.given == [("q0", "q0-d0")]
    assert find_chosen(page, "live-hits").get_attribute("aria-posinset") == "1"


def test_without_a_judge_nothing_is_graded(serve):
    bench = ScriptedBench(12, judge=None)
    page = serve(bench)
    press(page, "n", "3")
    assert page.locator("#grades").is_hidden()
    press(page, "?")
    assert "grade" not in page.inner_text("#help")


def test_earlier_tries_are_shown_again_and_nothing_typed_is_lost(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    for digit in "456":
        type_title(page, digit)
        page.locator("#try-list [role=option]", has_text=f"title 3 → {digit}").wait_for()
        press(page, "Escape")
    type_title(page, '"')
    wait_for(page, "wrong at line 5")
    press(page, "Escape", "[")
    wait_for_said(page, "won")
    page.locator("#try-head", has_text="try 2").wait_for()
    assert "title^5" in page.input_value("#text")
    assert page.get_by_role("spinbutton").first.input_value() == "5"
    press(page, "[", "[")
    wait_for_said(page, "There is no try before.")
    press(page, "]", "]")
    page.locator("#try-head", has_text="try 3").wait_for()
    press(page, "]")
    wait_for_said(page, "This is the text that was not sent.")
    assert 'title^"' in page.input_value("#text")
    assert len(bench.texts) == 3


def test_why_is_asked_after_the_number_of_searches(serve):
    page = serve(ScriptedBench(12))
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape", "y")
    page.locator("#why-lines", has_text="title 3 → 3.5").wait_for()
    page.get_by_role("button", name="Send 360 searches").click()
    page.locator("#why-lines", has_text="+0.0400 alone, +0.0300 reverted").wait_for()
    assert page.locator("#why-send").is_disabled()


def test_the_verdict_of_held_out_queries_is_shown(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape", "f")
    page.get_by_role("button", name="Ask the held-out queries").click()
    page.locator("#verdict", has_text="A gain on 12 queries").wait_for()
    press(page, "Escape")
    page = serve(ScriptedBench(12, has_hold_out=False))
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape", "f")
    assert page.locator("#look").is_hidden()


def test_a_suite_that_changed_is_shown_again_before_writing(serve):
    bench = ScriptedBench(12, is_changed=True)
    page = serve(bench)
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape", "s")
    write = page.locator("#write-now:enabled")
    write.click()
    page.get_by_role("alert").get_by_text("was changed meanwhile; nothing was written").wait_for()
    assert bench.written == []
    write.click()
    wait_for_said(page, "Wrote current-try-1")


def test_a_run_that_failed_is_sent_again_by_hand(serve):
    bench = ScriptedBench(12, breaks_at="title^5")
    page = serve(bench)
    press(page, "r")
    wait_for_said(page, "There is no try yet")
    type_title(page, "4")
    wait_for(page, "done")
    type_title(page, "5")
    wait_for(page, "failed")
    assert page.inner_text("#problem") == "the engine does not answer"
    assert set(read_lead(page)) == {"nDCG@10 live"}
    assert page.locator("#list .bar").count() == 0, "no row shows a score of another try"
    bench.breaks_at = "\0"
    press(page, "Control+Enter")
    wait_for(page, "done")
    assert bench.texts == [text_of(4), text_of(5), text_of(5)]
    assert read_lead(page)["try 2"]


def test_another_window_ends_the_run_of_the_first(serve):
    bench = ScriptedBench(45, stop=10)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "10 of 45")
    bench.begin("anna", {"text": text_of(6), "first": []})
    page.locator("#problem", has_text="Another window of this page sent another text.").wait_for()
    wait_for(page, "failed")
    bench.stop = None
    press(page, "Control+Enter")
    wait_for(page, "done")
    assert bench.whole == [text_of(4)]


def test_a_suite_saved_meanwhile_is_read_and_the_text_kept(serve):
    bench = ScriptedBench(12, watches=True)
    page = serve(bench)
    type_title(page, "4")
    wait_for(page, "done")
    bench.queries[0]["live"] = 0.123
    bench.news.append({"said": "shop.relevance.yaml was changed.", "reload": True})
    page.locator("#notes", has_text="shop.relevance.yaml was changed.").wait_for()
    page.locator("#try-list [role=option]").nth(0).wait_for()
    wait_for(page, "done")
    assert "title^4" in page.input_value("#text")
    assert bench.texts == [text_of(4), text_of(4)], "it is measured again"
    assert "0.123" in {row[1] for row in read_rows(page)}


def test_a_command_that_ended_is_said(serve):
    bench = ScriptedBench(12)
    page = serve(bench)
    bench.server.close()
    type_title(page, "4")
    page.locator("#problem", has_text="The command does not answer any more.").wait_for()
    wait_for(page, "refused")


def test_the_figures_are_said_politely_and_once_a_try(serve):
    bench = ScriptedBench(45, batch=15, pace=0.05)
    page = serve(bench)
    page.evaluate(
        """() => {
          window.heard = [];
          new MutationObserver(() => window.heard.push(document.getElementById("said").textContent))
            .observe(document.getElementById("said"), { childList: true });
        }"""
    )
    assert page.get_attribute("#said", "aria-live") == "polite"
    for place, digit in enumerate("456", 1):
        type_title(page, digit)
        page.locator("#lead dt", has_text=f"try {place}").wait_for()
        press(page, "Escape")
    said = [bench.summarize(text_of(title))["sentence"] for title in (4, 5, 6)]
    assert page.evaluate("window.heard") == said


def test_nothing_from_an_engine_or_a_suite_is_markup(serve):
    page = serve(ScriptedBench(24, failing=5, spoiled=HOSTILE))
    type_title(page, "4")
    wait_for(page, "done")
    press(page, "Escape", "Home")
    page.locator("#unanswered", has_text="<script>").wait_for()
    press(page, "l", "n", "x")
    page.wait_for_selector("#explanation-lines li")
    for key, dialog in (("b", "keeping"), ("s", "writing"), ("y", "why"), ("f", "finishing"), ("?", "help")):
        press(page, key)
        page.locator(f"#{dialog}[open]").wait_for()
        page.wait_for_timeout(50)
        press(page, "Escape")
    press(page, "e", "Control+End", "x")
    page.locator("#problem", has_text="<script>").wait_for()
    assert page.locator("img, body script").count() == 0
    assert page.title().startswith("Trying shop<script>")
    assert page.evaluate("document.documentElement.scrollWidth") == WIDE["width"]


@pytest.mark.parametrize("width", [400, 700, 1000, 1280, 1400, 1900])
@pytest.mark.parametrize("spoiled", ["", "x" * 300])
def test_no_window_is_scrolled_sideways(serve, width, spoiled):
    page = serve(ScriptedBench(24, failing=5, spoiled=spoiled), viewport={"width": width, "height": 860})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    type_title(page, "4")
    wait_for(page, "done")
    press(page, "Escape", "l", "n", "x")
    page.wait_for_selector("#explanation-lines li")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if width >= 1280:
        assert page.evaluate("document.documentElement.scrollHeight") == 860, "one screen"
        return
    controls = page.locator("button:visible, input:visible:not([type=checkbox]), select:visible, [role=option]:visible")
    assert find_small(controls) == []


STATES = {
    "start": (),
    "typing": ("e", "Control+End", " "),
    "wrong": ("e", "Control+End", "x", "WAIT wrong at line 9"),
    "running": ("d", "ArrowUp", "WAIT 10 of 24"),
    "unanswered": ("d", "ArrowUp", "WAIT done", "Escape", "Home"),
    "explained": ("d", "ArrowUp", "WAIT done", "Escape", "l", "n", "x", "m"),
    "tries": ("d", "ArrowUp", "WAIT done", "ArrowUp", "WAIT 24 of 24|done", "Escape", "["),
    "keeping": ("d", "ArrowUp", "WAIT done", "Escape", "b"),
    "writing": ("d", "ArrowUp", "WAIT done", "Escape", "s"),
    "why": ("d", "ArrowUp", "WAIT done", "Escape", "y"),
    "finishing": ("d", "ArrowUp", "WAIT done", "Escape", "f"),
    "keys": ("?",),
}


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_and_texts_have_contrast(serve, state):
    page = serve(ScriptedBench(24, stop=10 if state == "running" else None, failing=5))
    for key in STATES[state]:
        if key.startswith("WAIT "):
            wait_for(page, key.removeprefix("WAIT "))
        else:
            press(page, key)
    assert find_violations_in_each_scheme(page) == []
    assert find_faint_texts(page) == []
    for view in (NARROW, {"width": 700, "height": 430}):
        page.set_viewport_size(view)
        assert find_violations(page, **NO_CONTRAST) == []
        assert find_faint_texts(page) == []


def test_the_focus_is_seen_at_each_stop(serve):
    page = serve(ScriptedBench(12))
    press(page, "d", "ArrowUp")
    wait_for(page, "done")
    press(page, "Escape")
    stops = []
    for _ in range(40):
        press(page, "Tab")
        stop = page.evaluate("document.activeElement.id || document.activeElement.innerText")
        if stop in stops:
            break
        stops.append(stop)
        outline = page.evaluate(
            """() => {
              const element = document.activeElement;
              const seen = element.querySelector("[aria-selected=true]") || element.closest(".editor") || element;
              const style = getComputedStyle(seen);
              return style.outlineStyle !== "none" || style.boxShadow !== "none";
            }"""
        )
        assert outline, stop
    assert {"text", "list", "live-hits", "try-hits", "missing-hits", "try-list", "keep", "write", "finish"} <= set(
        stops
    )


def test_other_browsers_have_an_accessible_page_that_tries_a_text(other_browser):
    server = ScriptedBench(12).serve()
    with closing(server):
        server.start()
        other_browser.open(server.address.build_link(server.access.token))
        other_browser.wait_for("() => document.querySelector('#live-hits [role=option]')")
        other_browser.evaluate(SELECT_WEIGHT)
        other_browser.press("4")
        other_browser.wait_for_text("#state", "done")
        assert other_browser.evaluate("() => document.querySelectorAll('#lead dt')[1].innerText") == "try 1"
        other_browser.check_page()


SELECT_WEIGHT = """() => {
  const text = document.querySelector("#text"), start = text.value.indexOf("title^") + "title^".length;
  text.focus();
  text.setSelectionRange(start, start + 1);
}"""
