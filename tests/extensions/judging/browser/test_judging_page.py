"""The judging page in a browser: graded by keyboard, told to screen readers, at any width."""

import http.client
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from builders.golden import hold
from builders.pages import (
    NO_CONTRAST,
    SCHEMES,
    contrasts,
    find_faint_texts,
    find_small,
    find_violations,
    find_violations_in_each_scheme,
)
from builders.reports import HOSTILE
from extensions.judging.builders.judging import link_of, make_server, make_view
from harness.errors import SearchError
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.page.session_json import build_session
from harness.extensions.judging.session import GradeChoice
from harness.extensions.judging.writing import FilesChanged
from harness.files.judge_files import JudgeFile
from harness.model.judging import JudgeAnswer
from harness.model.run import Highlight
from harness.model.suite import Display, Query, Suite, Target

pytest.importorskip("waitress")

OUTPUTS = Path(__file__).parents[1] / "outputs"

QUERIES = (Query("shoes", "red shoes", {"season": "summer"}), Query("boots", "rubber boots" + HOSTILE))
CHOICES = (
    GradeChoice(0.0, "bad", "0"),
    GradeChoice(1.0, "fair", "1"),
    GradeChoice(2.0, "good", "2"),
    GradeChoice(3.0, "perfect", "3"),
)
DOCUMENTS = (
    PooledDocument("shoes", "red shoes", "a", {"current": 1}, "Red running shoes", "Light shoes for long runs."),
    PooledDocument("shoes", "red shoes", "b", {"current": 3}, "Blue shoes", texts={"brand": "Acme", "price": "9"}),
    PooledDocument("boots", QUERIES[1].text, "c" * 200, {"current": 2}, None, HOSTILE * 20),
)


@pytest.fixture
def session(tmp_path):
    suite = Suite("shop", "shop.relevance.yaml", Target(), {}, (), QUERIES)
    kept = JudgeFile(tmp_path / "shop.judged-by.anna.jsonl")
    return make_view(suite, DOCUMENTS, CHOICES, kept, existing={("shoes", "b"): 2.0})


@pytest.fixture
def serve(browser):
    """Opens the page of a session; the test fails if it complains or asks for anything but itself."""
    servers, contexts, complaints = [], [], []

    def open_page(session, write=lambda: ["wrote 3 new grades to shop.relevance.yaml"], reread=lambda: None, **options):
        servers.append(make_server(session, write, reread))
        servers[-1].local.start()
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        own = f"{servers[-1].local.address.url}/"
        page.on("request", lambda one: complaints.append(one.url) if not one.url.startswith((own, "data:")) else None)
        page.goto(link_of(servers[-1]))
        page.wait_for_selector("#item:not([hidden])")
        return page

    yield open_page
    for one in (*contexts, *(server.local for server in servers)):
        one.close()
    assert [one for one in complaints if "the server responded with a status" not in one] == []


def test_judging_page(serve, session, pytestconfig):
    """What a judge reads from the first document to the grades in the suite, as text."""
    page = serve(session)

    def read_page():
        return "".join(f"{line.rstrip()}\n" for line in page.inner_text("body").splitlines() if line.strip())

    texts = {"1-first-document": read_page()}
    press(page, "3")
    wait_for(page, "perfect")
    texts["2-next-document"] = read_page()
    press(page, "1", "0")
    wait_for(page, "All documents are graded")
    texts["3-all-graded"] = read_page()
    press(page, "w", "Enter")
    wait_for(page, "wrote 3 new grades")
    texts["4-written"] = read_page()
    hold(OUTPUTS / "test_judging_page", texts, update=pytestconfig.getoption("update_golden"))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def wait_for(page, said):
    page.locator("#said", has_text=said).wait_for(state="attached")


def test_three_documents_are_graded_with_three_keys_and_written_with_two_more(serve, session):
    page = serve(session)
    assert page.get_by_role("heading", level=2).first.inner_text() == "red shoes"
    assert page.locator("#document").inner_text().split("\n")[0] == "Red running shoes"
    press(page, "3", "1", "0")
    wait_for(page, "All documents are graded")
    assert page.locator("#count").inner_text() == "3 of 3 graded"
    assert list(JudgeFile.read(session.file.path).grades.values()) == [3.0, 1.0, 0.0]
    press(page, "w", "Enter")
    wait_for(page, "wrote 3 new grades to shop.relevance.yaml")
    assert page.locator("#item").is_hidden()


SCALES = {
    "named": (CHOICES, ["gain-0", "gain-1", "gain-3", "gain-4"]),
    "two": (CHOICES[:2], ["gain-0", "gain-4"]),
    "from 1": (CHOICES[1:], ["gain-0", "gain-1", "gain-4"]),
    "below 0": (
        tuple(GradeChoice(grade, "", str(place)) for place, grade in enumerate((-2.0, -1.0, 0.0, 0.5, 7.0))),
        ["gain-negative", "gain-negative", "gain-0", "gain-1", "gain-4"],
    ),
    "one": (CHOICES[:1], ["gain-0"]),
    "ten": (
        tuple(GradeChoice(float(grade), "", str(grade)) for grade in range(10)),
        ["gain-0", "gain-1", "gain-1", "gain-2", "gain-2", "gain-3", "gain-3", "gain-3", "gain-4", "gain-4"],
    ),
}


@pytest.mark.parametrize("scale", SCALES)
def test_a_chosen_grade_has_the_colour_of_the_grade_and_a_mark(serve, session, scale):
    choices, shades = SCALES[scale]
    task = replace(session.task, choices=choices)
    page = serve(replace(session, task=task, documents=DOCUMENTS[:1]))
    for place, (choice, shade) in enumerate(zip(choices, shades, strict=True)):
        press(page, choice.key)
        button = page.locator("#grades button").nth(place)
        button.and_(page.locator("[aria-pressed=true]")).wait_for()
        assert [one.get_attribute("class") for one in page.locator("#grades button[class]:not([class=''])").all()] == [
            shade
        ]
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            green, red = button.evaluate(
                "b => { const [r, g] = getComputedStyle(b).backgroundColor.match(/\\d+/g).map(Number); return [g, r]; }"
            )
            assert (green > red) == (shade not in ("gain-0", "gain-negative"))
            assert "✓" in button.evaluate("b => getComputedStyle(b.querySelector('.name'), '::before').content")
            assert min(ratio for ratio, _ in contrasts(page)) >= 4.5


def test_what_is_known_of_a_document_is_shown_and_hidden_from_a_blind_judge(serve, session):
    page = serve(session)
    assert page.locator("#params").inner_text().split() == ["season", "summer"]
    press(page, "j")
    assert page.locator("#fields dd").all_inner_texts() == ["Acme", "9"]
    assert page.locator("#origin").inner_text() == "rank 3 for current, graded good (2) in the suite"
    page = serve(replace(session, blind=True))
    press(page, "j")
    wait_for(page, "document 2 of 2")
    assert page.locator("#origin").inner_text() == ""
    assert page.locator("#about").inner_text() == "Judge: anna, in blind order"


GUIDELINES = "# How we judge\n\n- The price is no part of relevance." + HOSTILE


@pytest.fixture
def asked(session):
    """*session* with all that a suite says to those who judge, and a query without hits."""
    queries = (
        replace(QUERIES[0], need="Shoes for women, to buy now.", tags=("head",)),
        replace(QUERIES[1], tags=("head", "rain")),
        Query("tents", "tent for 2", tags=("tail",)),
    )
    meanings = {3.0: "Exactly what was asked for."}
    suite = replace(session.task.suite, queries=queries, guidelines=GUIDELINES, grade_descriptions=meanings)
    return replace(session, task=replace(session.task, suite=suite, queries=("shoes", "boots", "tents")))


def test_the_need_the_guidelines_and_what_grades_mean_are_shown_as_text(serve, asked):
    page = serve(asked, viewport={"width": 1400, "height": 900})
    assert page.inner_text("#need") == "Shoes for women, to buy now."
    assert page.inner_text("#guidelines") == GUIDELINES
    assert page.locator("#guide img, #guide h1").count() == 0
    assert page.get_by_role("button", name="perfect 3 Exactly what was asked for.").is_visible()
    assert page.inner_text("#meanings").split("\n") == ["perfect (3)", "Exactly what was asked for."]
    page = serve(asked, viewport={"width": 400, "height": 900})
    assert page.locator("#guidelines").is_hidden()
    press(page, "g", "Space", "Space")
    assert page.locator("#guidelines").is_visible()


def test_a_comment_is_kept_with_the_grade_and_alone(serve, session):
    page = serve(session)
    press(page, "c", *"2 reds", "Enter")
    wait_for(page, "The comment is kept.")
    assert session.file.answers["shoes", "a"].comment == "2 reds"
    press(page, "3")
    wait_for(page, "Graded perfect (3)")
    answer = JudgeFile.read(session.file.path).answers["shoes", "a"]
    assert (answer.grade, answer.comment) == (3.0, "2 reds")
    press(page, "k", "c", "x", "Escape", "j", "k")
    wait_for(page, "Red running shoes, graded perfect (3)")
    assert page.input_value("#comment") == "2 reds"
    assert JudgeFile.read(session.file.path).answers["shoes", "a"].comment == "2 reds"


def test_a_judge_who_cannot_tell_is_done_and_gives_no_grade(serve, session):
    page = serve(session)
    press(page, "t")
    wait_for(page, "Cannot tell. Query 1 of 2, document 2 of 2")
    assert page.inner_text("#count") == "0 of 3 graded, 1 cannot tell"
    assert session.file.grades == {}
    press(page, "2", "1")
    wait_for(page, "All documents are graded")
    assert session.graded_count == 3
    press(page, "k", "k", "t")
    wait_for(page, "Not answered any more.")
    assert ("shoes", "a") not in JudgeFile.read(session.file.path).answers


def test_queries_are_listed_by_state_and_those_that_are_listed_are_graded(serve, asked):
    page = serve(asked, viewport={"width": 1400, "height": 900})
    rows = page.locator("#list > li > button")
    assert [row.inner_text().split("\n")[-1] for row in rows.all()] == ["0 of 2", "0 of 1", "no hit"]
    press(page, "2")
    wait_for(page, "Graded good (2)")
    assert rows.first.get_by_role("img", name="partly").is_visible()
    page.get_by_label("State").select_option("ungraded")
    page.get_by_label("Tag").select_option("rain")
    assert page.inner_text("#lists-heading") == "Queries (1 of 3)"
    press(page, "Escape", "j")
    wait_for(page, "Query 2 of 3, document 1 of 1")
    assert page.locator("#next").is_disabled()
    page.get_by_label("Tag").select_option("")
    page.get_by_label("State").select_option("")
    press(page, "/", *"for 2", "Escape", "n")
    wait_for(page, "Query 3 of 3: tent for 2. The search has no hit to grade.")
    assert page.locator("#answers").is_hidden()


class Beyond:
    """A target that finds one tent, and has one document."""

    id_remedy = ""

    def search_words(self, query, words):
        if words == "broken":
            raise SearchError("the engine does not answer")
        titles = {"x1": "Tent Duo" + HOSTILE, "x2": "Tent Trio"} if words == "Tent" else {}
        return [PooledDocument(query, "", name, {}, title) for name, title in titles.items()]

    def find_ids(self, query, ids):
        return [PooledDocument(query, "", name, {}, "Known by its id") for name in ids if name == "x9"]


def test_a_query_without_hits_is_graded_by_what_a_search_finds(serve, asked):
    page = serve(replace(asked, task=replace(asked.task, beyond=Beyond())))
    page.get_by_role("button", name="tent for 2").click()
    assert page.locator("#find").is_visible()
    press(page, "f", *"broken", "Enter")
    wait_for(page, "the engine does not answer")
    page.fill("#find-words", "nothing")
    press(page, "Enter")
    wait_for(page, "No documents found.")
    page.fill("#find-words", "Tent")
    press(page, "Enter")
    wait_for(page, "2 documents found.")
    assert page.locator("main img").count() == 0
    page.get_by_role("button", name="Grade Tent Trio").click()
    wait_for(page, "Added. Query 3 of 3, document 1 of 1: tent for 2. Tent Trio, not graded")
    press(page, "3")
    wait_for(page, "Graded perfect (3)")
    assert asked.file.grades == {("tents", "x2"): 3.0}
    assert page.inner_text("#count") == "1 of 4 graded"
    page.get_by_role("button", name="tent for 2").click()
    press(page, "f", *"x9")
    page.get_by_role("button", name="Look up the id").click()
    wait_for(page, "1 document found.")
    assert "Known by its id" in page.inner_text("#found")
    page.fill("#find-words", "x8")
    page.get_by_role("button", name="Look up the id").click()
    wait_for(page, "found no document with the id 'x8'")


def test_pictures_come_from_the_hosts_that_the_suite_names_and_links_tell_nobody(serve, session):
    shown = replace(
        DOCUMENTS[0],
        image="https://images.invalid/red.png",
        link="https://shop.invalid/red",
        highlights={"title": Highlight("Red running shoes", ((0, 3), (12, 17)))},
    )
    display = Display(title="title", image="image", image_hosts=("images.invalid",))
    task = replace(session.task, suite=replace(session.task.suite, display=display))
    view = replace(session, task=task, documents=[shown, replace(shown, document="b", image="https://evil.invalid/a")])
    server = make_server(view)
    document, other = build_session(view)["documents"]
    assert (document["image"], other["image"]) == (shown.image, None)
    page = serve(replace(view, documents=[replace(shown, image=None)]))
    link = page.get_by_role("link", name="Red running shoes")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == (shown.link, "noreferrer noopener")
    assert page.locator("#title mark").all_inner_texts() == ["Red", "shoes"]
    server.local.start()
    with closing(http.client.HTTPConnection("127.0.0.1", server.local.address.port)) as connection:
        connection.request("GET", "/")
        policy = connection.getresponse().headers["Content-Security-Policy"]
    server.local.close()
    assert "; img-src data: images.invalid; " in policy


def test_the_grades_and_comments_of_others_stand_side_by_side(serve, session):
    others = {
        "ben": JudgeAnswer("shoes", "b", 0.0, comment="These are blue." + HOSTILE),
        "carla": JudgeAnswer("shoes", "b", 3.0),
    }
    page = serve(replace(session, others={("shoes", "b"): others}), viewport={"width": 1400, "height": 900})
    assert page.locator("#list").get_by_role("img", name="disagreed").count() == 1
    press(page, "j")
    wait_for(page, "Blue shoes")
    texts = [row.inner_text().split("\t") for row in page.locator("#others-rows tr").all()]
    assert texts == [["ben", "bad (0)", "These are blue." + HOSTILE], ["carla", "perfect (3)", ""]]
    press(page, "1")
    wait_for(page, "Graded fair (1)")
    assert page.locator("#list").get_by_role("img", name="disagreed").count() == 0


def test_keys_move_skip_undo_and_take_a_grade_away(serve, session):
    page = serve(session)
    press(page, "2", "k")
    wait_for(page, "Red running shoes, graded good (2)")
    pressed = page.locator("#grades [aria-pressed=true]")
    assert pressed.inner_text().split() == ["good", "2"]
    press(page, "2")
    wait_for(page, "Grade taken away. Query 1 of 2, document 1 of 2: red shoes. Red running shoes, not graded")
    assert pressed.count() == 0
    press(page, "s", "ArrowRight", "ArrowRight", "ArrowLeft", "1")
    wait_for(page, "Graded fair (1)")
    press(page, "u")
    wait_for(page, "Undone. Query 1 of 2, document 2 of 2")
    press(page, "u", "u", "u")
    wait_for(page, "There is nothing to undo.")
    assert session.file.grades == {}


def test_grades_are_there_after_a_restart_and_the_first_open_document_is_shown(serve, session):
    page = serve(session)
    press(page, "2")
    wait_for(page, "Graded good (2)")
    page.reload()
    page.wait_for_selector("#item:not([hidden])")
    assert page.locator("#place").inner_text() == "Query 1 of 2, document 2 of 2"
    page = serve(replace(session, file=JudgeFile.read(session.file.path)))
    assert page.locator("#count").inner_text() == "1 of 3 graded"
    press(page, "u")
    wait_for(page, "Undone")
    assert JudgeFile.read(session.file.path).grades == {}


def test_the_keys_are_listed_and_the_list_is_closed_by_escape(serve, session):
    page = serve(session)
    press(page, "?")
    listed = page.get_by_role("dialog").inner_text()
    assert "grade perfect (3)" in listed
    assert "undo the last grade" in listed
    press(page, "2", "Escape")
    assert page.get_by_role("dialog").count() == 0
    assert session.file.grades == {}
    press(page, "Control+3", "Alt+3")
    assert page.locator("#count").inner_text() == "0 of 3 graded"


def test_a_file_that_changed_is_offered_to_be_added_to(serve, session):
    changed = [True]

    def write():
        if changed[0]:
            raise FilesChanged("shop.relevance.yaml was changed since judging began; nothing was written")
        return ["wrote 1 new grade to shop.relevance.yaml"]

    page = serve(session, write, lambda: changed.__setitem__(0, False))
    page.get_by_role("button", name="Write the grades").click()
    offer = page.get_by_role("button", name="Add the grades to the changed file")
    offer.wait_for()
    assert "was changed since judging began; nothing was written. The grades are kept." in page.inner_text("#changed")
    press(page, "Enter")
    wait_for(page, "wrote 1 new grade")


def test_a_grade_that_could_not_be_kept_is_said(serve, session):
    page = serve(session)
    session.file.path.mkdir()
    try:
        press(page, "2")
        wait_for(page, "the grade could not be kept: Is a directory")
    finally:
        session.file.path.rmdir()
    assert page.locator("#count").inner_text() == "0 of 3 graded"
    press(page, "2")
    wait_for(page, "Graded good (2)")


def test_nothing_from_an_index_runs(serve, session):
    page = serve(session)
    press(page, "j", "j")
    wait_for(page, "Query 2 of 2")
    assert page.locator("main img, main script, main b").count() == 0
    assert HOSTILE[:20] in page.locator("#query").inner_text()


@pytest.mark.parametrize("width", [400, 700, 1000, 1400, 1600])
def test_no_window_needs_to_be_scrolled_sideways(serve, asked, width):
    view = replace(asked, task=replace(asked.task, beyond=Beyond()))
    page = serve(view, viewport={"width": width, "height": 800})
    press(page, "f", *"Tent", "Enter")
    wait_for(page, "2 documents found.")
    press(page, "Escape")
    for _ in DOCUMENTS:
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert find_small(page.get_by_role("button")) == []
        press(page, "j")


@pytest.mark.parametrize("words", [5, 600])
def test_query_document_and_grades_stand_in_one_screen_of_a_telephone(serve, asked, words):
    documents = (replace(DOCUMENTS[0], snippet="shoes " * words), *DOCUMENTS[1:])
    page = serve(replace(asked, documents=documents), viewport={"width": 400, "height": 800})
    assert is_in_view(page, "#query")
    assert is_in_view(page, "#title")
    assert page.locator("#snippet").bounding_box()["y"] < page.locator("#grades").bounding_box()["y"]
    assert is_in_view(page, "#grades")
    page.evaluate("document.getElementById('answers').previousElementSibling.scrollIntoView({block: 'center'})")
    assert is_in_view(page, "#query")
    assert is_in_view(page, "#grades")
    page.get_by_role("button", name="fair").click()
    wait_for(page, "document 2 of 2")
    assert is_in_view(page, "#query")
    assert is_in_view(page, "#title")


def is_in_view(page, selector):
    box = page.locator(selector).bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


@pytest.mark.parametrize("state", ["graded", "help", "changed", "found"])
def test_axe_finds_nothing_and_every_text_has_contrast_enough(serve, asked, state):
    def write():
        raise FilesChanged("shop.relevance.yaml was changed since judging began; nothing was written")

    others = {("shoes", "a"): {"ben": JudgeAnswer("shoes", "a", 0.0), "carla": JudgeAnswer("shoes", "a", 3.0)}}
    view = replace(asked, task=replace(asked.task, beyond=Beyond()), others=others)
    page = serve(view, write, viewport={"width": 1400, "height": 800})
    keys = {
        "graded": ("2", "k"),
        "help": ("?",),
        "changed": ("w", "Enter"),
        "found": ("t", "k", "g", "f", *"Tent", "Enter"),
    }
    press(page, *keys[state])
    page.wait_for_timeout(100)
    assert find_violations_in_each_scheme(page) == []
    assert find_faint_texts(page) == []
    page.set_viewport_size({"width": 400, "height": 800})
    assert find_violations(page, **NO_CONTRAST) == []
    assert find_faint_texts(page) == []


def test_the_focus_is_seen_and_moves_through_the_grades(serve, session):
    page = serve(session)
    seen = []
    for _ in range(4):
        press(page, "Tab")
        seen.append(page.evaluate("document.activeElement.innerText.split(/\\s/)[0]"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert seen == ["bad", "fair", "good", "perfect"]
    press(page, "Space")
    wait_for(page, "Graded perfect (3)")
    assert page.locator("#said").get_attribute("aria-live") == "polite"


@pytest.fixture
def chunks(session):
    """The session of a suite that says in which field quotes are looked for."""
    suite = replace(session.task.suite, display=Display(text="body", fields=("manual", "body")))
    texts = {"manual": "boiler", "body": "The valve opens at 3 bar. Below 2 bar it closes."}
    document = PooledDocument("shoes", "red shoes", "c-7", {"current": 1}, texts=texts)
    other = replace(document, document="c-8", texts={"manual": "pump"})
    return replace(session, task=replace(session.task, suite=suite), documents=[document, other])


def select(page, words):
    """Select *words*, which are in one field, as a judge does with the mouse."""
    page.evaluate(
        """words => {
            const text = [...document.querySelectorAll("#fields dd")].find(dd => dd.textContent.includes(words));
            const start = text.textContent.indexOf(words), range = document.createRange();
            range.setStart(text.firstChild, start);
            range.setEnd(text.firstChild, start + words.length);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""",
        words,
    )


def test_selected_words_are_marked_as_quotes_removed_and_undone(serve, chunks):
    page = serve(chunks)
    press(page, "q")
    wait_for(page, "Select words in body first.")
    select(page, "boiler")
    press(page, "q")
    wait_for(page, "Select words in body first.")
    page.select_option("#quote-from", "manual")
    select(page, "The valve opens at 3 bar")
    press(page, "q")
    wait_for(page, "Marked as quote, perfect (3): The valve opens at 3 bar")
    page.select_option("#quote-grade", "1")
    select(page, "Below 2 bar it")
    page.click("#quote")
    wait_for(page, "Marked as quote, fair (1): Below 2 bar it")
    select(page, "he valve")
    press(page, "q")
    wait_for(page, "expected whole words of the text in body")
    listed = page.locator("#quote-list li div")
    assert listed.all_inner_texts() == [
        "The valve opens at 3 bar perfect (3), from boiler", "Below 2 bar it fair (1), from boiler",
    ]  # fmt: skip
    page.locator("#quote-list button").first.click()
    wait_for(page, "Quote removed.")
    assert listed.all_inner_texts() == ["Below 2 bar it fair (1), from boiler"]
    press(page, "u")
    wait_for(page, "Undone.")
    assert listed.count() == 2
    kept = JudgeFile.read(chunks.file.path).answers["shoes", "c-7"]
    assert [(one.text, one.grade, one.document) for one in kept.quotes] == [
        ("The valve opens at 3 bar", 3.0, "boiler"), ("Below 2 bar it", 1.0, "boiler"),
    ]  # fmt: skip
    page.reload()
    page.wait_for_selector("#item:not([hidden])")
    assert listed.count() == 2
    assert find_violations_in_each_scheme(page) == []
    press(page, "j")
    page.wait_for_selector("#quotes", state="hidden")


def test_where_no_field_has_quotes_the_page_does_not_offer_them(serve, session):
    page = serve(session)
    assert page.locator("#quotes").is_hidden()
    press(page, "q", "?")
    assert "quote" not in page.locator("#keys").inner_text().replace("grade or quote", "")


def test_other_browsers_have_an_accessible_page_that_takes_grades(other_browser, session):
    server = make_server(session)
    with closing(server.local):
        server.local.start()
        other_browser.open(link_of(server))
        other_browser.wait_for("() => document.querySelector('#item:not([hidden])')")
        other_browser.press("3")
        other_browser.wait_for_text("#count", "1 of 3 graded")
        other_browser.check_page()
    assert session.file.read(session.file.path).grades == {("shoes", "a"): 3.0}
