"""Services and engines that are slow, fail or end, two windows and an editor, on the page of ``relevance try``."""

import json
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("waitress")
pytest.importorskip("pytest_httpserver")

from werkzeug import Response

from builders.engine import Fault
from extensions.workbench.builders.opened_page import open_pages, press, read_lead, type_title, wait_for
from extensions.workbench.builders.tried_shop import SUITE, open_actions, write_suite
from harness.extensions.workbench.page import ASSETS
from harness.local_server import LocalServer, Site
from harness.local_server.access import OneUser

SERVICE = """\
suite: shop
target: {cluster: shop}
measures: [nDCG@3]
depth: 3
requests:
  current:
    http:
      path: /search
      params:
        q: "{{text}}"
        fields: title^3
      hits: $.hits
      ids: $.id
      titles: $.title
queries:
"""
SERVICE += "".join(f"  - {{id: q{number}, text: shoe {number}, judgments: {{a: 2, b: 1}}}}\n" for number in range(6))


@contextmanager
def serve(actions):
    """The link to a page of *actions*."""
    server = LocalServer(Site(ASSETS, actions.table, 2**20), OneUser("anna"))
    server.start()
    try:
        yield server.address.build_link(server.access.token)
    finally:
        server.close()


@contextmanager
def open_service(browser, httpserver, folder, respond, **run):
    """A page on a service: *respond* gets the params of what is asked with another text than today's."""

    def answer(request):
        params = request.args.to_dict()
        if params["fields"] != "title^3":
            refused = respond(params)
            if refused is not None:
                return refused
        ids = ["b", "a", "c"] if params["fields"] == "title^3" else ["a", "b", "c"]
        hits = [{"id": name, "title": f"Shoe {name}"} for name in ids]
        return Response(json.dumps({"hits": hits}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    config = folder / "relevance.toml"
    config.write_text(f'[clusters.shop]\nurl = "{httpserver.url_for("")}"\nservice = "http"\n')
    path = folder / "shop.relevance.yaml"
    path.write_text(SERVICE)
    with (
        open_actions(path, None, run={"config": config, **run}) as actions,
        serve(actions) as link,
        open_pages(browser) as open_link,
    ):
        yield open_link(link)


def test_a_service_that_answers_late(browser, httpserver, tmp_path):
    answers = threading.Event()

    def respond(_):
        answers.wait(60)

    with open_service(browser, httpserver, tmp_path, respond, budget=60) as page:
        type_title(page, "6")
        wait_for(page, "sent")
        assert page.locator("#list .bar").count() == 0
        assert "try 1" not in read_lead(page)
        answers.set()
        wait_for(page, "done")
        assert read_lead(page)["won / lost / same"] == "6 / 0 / 0"


def test_a_service_that_fails_every_third_query(browser, httpserver, tmp_path):
    def respond(params):
        return Response("the shelf is empty", status=503) if int(params["q"][-1]) % 3 == 0 else None

    with open_service(browser, httpserver, tmp_path, respond) as page:
        type_title(page, "6")
        wait_for(page, "done")
        assert read_lead(page)["won / lost / same"] == "4 / 0 / 0"
        page.locator("#list .none").nth(1).wait_for()
        assert page.locator("#list .none").all_inner_texts() == ["no answer"] * 2
        press(page, "Escape", "Home")
        page.locator("#unanswered", has_text="503").wait_for()
        page.select_option("#filter-state", "unanswered")
        page.locator("#queries-heading", has_text="Queries 2 of 6").wait_for()


def test_an_engine_that_ends_in_the_middle_and_comes_back(browser, engine, path):
    with (
        open_actions(path, engine.url, run={"budget": 1.0}) as actions,
        serve(actions) as link,
        open_pages(browser) as open_link,
    ):
        page = open_link(link)
        type_title(page, "6")
        wait_for(page, "done")
        engine.faults.append(Fault(status=None, times=1000))
        press(page, "Backspace", "7")
        wait_for(page, "failed")
        page.locator("#problem", has_text="no query has an answer").wait_for()
        page.locator("#list .none").nth(11).wait_for()
        assert page.locator("#list .bar").count() == 0, "no row shows a score of another try"
        engine.faults.clear()
        press(page, "Control+Enter")
        wait_for(page, "done")
        assert read_lead(page)["try 2"] == "1.0000"


def test_two_windows_of_a_page(browser, actions):
    with serve(actions) as link, open_pages(browser) as open_link:
        first, second = open_link(link), open_link(link)
        type_title(first, "6")
        wait_for(first, "done")
        type_title(second, "9")
        wait_for(second, "done")
        assert read_lead(first)["try 1"] == "1.0000"
        assert "title^6" in first.input_value("#text")
        assert "try 2" in read_lead(second)
        type_title(first, "8")
        wait_for(first, "done")
        assert "try 3" in read_lead(first)
        assert "try 2" in read_lead(second)
        assert "title^9" in second.input_value("#text")


def test_a_suite_that_an_editor_saves_meanwhile(browser, engine, path):
    with open_actions(path, engine.url) as actions, serve(actions) as link, open_pages(browser) as open_link:
        page = open_link(link)
        type_title(page, "6")
        wait_for(page, "done")
        write_suite(path.parent, SUITE.replace("measures: [nDCG@5]", "measures: [P@1]"))
        page.locator("#notes", has_text="your text is kept").wait_for()
        page.locator("#lead dt", has_text="P@1 live").wait_for()
        assert "title^6" in page.input_value("#text")
        wait_for(page, "done")
