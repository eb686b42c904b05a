"""Three judges in three browsers at the same time, with the command that serves them; a browser and the command die."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, suppress

import pytest

from builders.pages import find_faint_texts, find_violations_in_each_scheme
from extensions.judging.builders.tls_proxy import run_proxy
from harness.files.judge_files import JudgeFile

pytest.importorskip("waitress")
psutil = pytest.importorskip("psutil")

SUITE = """\
suite: shop
target: {cluster: default}
request:
  http: {path: /search, params: {q: "{{text}}"}, ids: "$.hits[*].id", titles: "$.hits[*].title"}
grades: {bad: 0, fair: 1, good: 2}
measures: [nDCG@5]
queries:
  - {id: shoes, text: red shoes, need: "Shoes for women, to buy now."}
  - {id: boots, text: rubber boots}
"""

NAMES = ("anna", "ben", "carol")


class Command:
    """`relevance judge team`, as a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.links = {}
        self.process = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"

    def start(self, *words):
        command = [
            sys.executable,
            "-m",
            "harness",
            "judge",
            "team",
            "shop.relevance.yaml",
            "-q",
            "--serve",
            self.address,
        ]
        judges = ["--judge", "anna", "--judge", "ben", "--settler", "carol"]
        self.process = subprocess.Popen([*command, *judges, *words], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        for name in NAMES:
            line = self.process.stdout.readline()
            assert line.startswith(f"{name} ")
            if "#token=" in line:
                self.links[name] = line.rpartition(": ")[2].strip()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture
def stopped_command(tmp_path, httpserver):
    """The command, which a test starts as it needs."""
    hits = [{"id": name, "title": f"Title of {name}"} for name in "abcde"]
    httpserver.expect_request("/search", query_string={"q": "green"}).respond_with_json(
        {"hits": [{"id": "z", "title": "Green"}]}
    )
    httpserver.expect_request("/search").respond_with_json({"hits": hits})
    (tmp_path / "relevance.toml").write_text(
        f'[clusters.default]\nurl = "{httpserver.url_for("/")}"\nservice = "http"\n'
    )
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    command = Command(tmp_path)
    yield command
    command.kill()


@pytest.fixture
def command(stopped_command):
    stopped_command.start()
    return stopped_command


@pytest.fixture
def open_page(stopped_command, launch):
    """Opens the link of a judge in a browser of its own, or in *browser*."""
    contexts = []

    def open_link(judge, browser=None, **options):
        contexts.append((browser or launch()).new_context(**options))
        page = contexts[-1].new_page()
        page.goto(stopped_command.links[judge])
        wait_for(page, "#about", f"Judge: {judge}")
        return page

    yield open_link
    for context in contexts:
        if context.browser.is_connected():
            context.close()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def wait_for(page, selector, text):
    page.locator(selector, has_text=text).wait_for(state="attached", timeout=15_000)


def read_grades(command, judge):
    grades = JudgeFile.read(command.folder / f"shop.judged-by.{judge}.jsonl").grades
    return {f"{query}/{document}": grade for (query, document), grade in grades.items()}


def test_three_judges_grade_at_the_same_time_and_nothing_is_lost(command, open_page, launch):
    anna, carol = open_page("anna"), open_page("carol")
    before = set(list_browsers())
    crashing = launch()  # of which the processes are known
    started = set(list_browsers()) - before
    ben = open_page("ben", crashing)
    wait_for(carol, "#said", "There is nothing to judge yet.")
    press(anna, "2", "2", "0")
    press(ben, "0", "2", "1")
    wait_for(ben, "#count", "3 of 10 graded")
    wait_for(anna, "#count", "3 of 10 graded")
    wait_for(anna, "#team", "ben 3 of 10")
    press(anna, "k")
    for process in started:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert list(read_grades(command, "ben").values()) == [0.0, 2.0, 1.0]

    # Who settles has what they differ on, without a reload, and decides it.
    wait_for(carol, "#count", "0 of 2 graded")
    rows = carol.locator("#others-rows tr").all_inner_texts()
    assert [row.split() for row in rows] == [["anna", "good", "(2)"], ["ben", "bad", "(0)"]]
    press(carol, "1")
    wait_for(carol, "#count", "1 of 2 graded")

    # The command dies. A page says so, and goes on once it is there again.
    command.kill()
    wait_for(anna, "#said", "The command does not answer any more.")
    command.start("--keep-links")
    ben = open_page("ben")
    assert ben.locator("#count").inner_text() == "3 of 10 graded"
    press(ben, "2")
    wait_for(ben, "#count", "4 of 10 graded")
    wait_for(anna, "#team", "ben 4 of 10")
    press(anna, "s", "2")
    wait_for(anna, "#count", "4 of 10 graded")

    press(carol, "0", "w", "Enter")
    wait_for(carol, "#said", "to shop.relevance.yaml")
    written = (command.folder / "shop.relevance.yaml").read_text()
    assert len(re.findall(r"\b[abcde]: [a-z]+", written)) == 4
    press(anna, "w", "Enter")
    wait_for(anna, "#said", "Thank you. The grades are kept")
    assert command.process.stdout.readline().startswith("carol is done")
    assert command.process.stdout.readline().startswith("wrote 4 new grades")
    assert command.process.stdout.readline() == "anna is done: graded 4 of 10 documents\n"


def list_browsers():
    """The processes of the browsers that tests started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        # One may end meanwhile.
        with suppress(psutil.Error):
            if any(word.startswith("--remote-debugging") for word in process.cmdline()):
                found.append(process.pid)
    return found


def test_two_windows_of_a_judge_show_the_same(command, open_page, browser):
    first, second = open_page("anna", browser), open_page("anna", browser)
    press(first, "2")
    wait_for(first, "#count", "1 of 10 graded")
    wait_for(second, "#said", "Another window changed a grade or a quote.")
    assert second.locator("#count").inner_text() == "1 of 10 graded"
    press(second, "u")
    wait_for(first, "#count", "0 of 10 graded")


def test_the_token_is_not_in_the_address_after_the_page_is_open(command, open_page, browser):
    page = open_page("anna", browser)
    assert page.url == f"http://{command.address}/"
    page.reload()
    wait_for(page, "#about", "Judge: anna")
    # Another link in the same tab is that of another judge.
    page.goto(command.links["ben"])
    wait_for(page, "#about", "Judge: ben")
    assert page.url == f"http://{command.address}/"
    page.go_back()
    assert "token" not in page.url
    # Who has no link reads why.
    with closing(browser.new_page()) as stranger:
        stranger.goto(f"http://{command.address}/")
        wait_for(stranger, "#said", "the link is not complete, or does not hold any more; ask for a new one")


def test_what_one_window_found_beyond_the_pool_is_in_the_other(command, open_page, browser):
    first, second = open_page("anna", browser), open_page("anna", browser)
    answer = first.evaluate(
        """async () => {
          const headers = { "X-Relevance-Token": sessionStorage.token, "Content-Type": "application/json" };
          const ask = async (path, sent) =>
            (await fetch(path, { method: "POST", headers, body: JSON.stringify(sent) })).json();
          await ask("search", { query: "shoes", words: "green" });
          return ask("grade", { query: "shoes", document: "z", grade: 1 });
        }"""
    )
    assert answer["grade"] == 1
    wait_for(second, "#count", "1 of 11 graded")


@pytest.mark.parametrize("path", ["", "/judging"])
def test_behind_a_proxy_with_tls_a_judge_grades_and_the_proxy_sees_no_link(stopped_command, open_page, browser, path):
    seen, command = [], stopped_command
    with run_proxy(path, seen) as proxy:
        proxy.target = command.address
        command.start("--public-url", f"{proxy.url}/")
        assert command.links["anna"].startswith(f"{proxy.url}/#token=")
        page = open_page("anna", browser, ignore_https_errors=True)
        press(page, "2")
        wait_for(page, "#count", "1 of 10 graded")
        assert page.url == f"{proxy.url}/"
        page.context.close()
    lines = [entry.partition(" HTTP/1.1 ")[0] for entry in seen]
    token = command.links["anna"].partition("#token=")[2]
    assert f"POST {path}/grade" in lines
    assert not any(token in line for line in lines)
    assert not any("Referer" in entry for entry in seen)


def test_the_page_of_who_settles_is_accessible(stopped_command, open_page, browser):
    for judge, grade in (("anna", 2), ("ben", 0)):
        lines = [{"query": "shoes", "document": "a", "grade": grade, "comment": f"As {judge} sees it."}]
        path = stopped_command.folder / f"shop.judged-by.{judge}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    stopped_command.start()
    for width in (400, 1400):
        page = open_page("carol", browser, viewport={"width": width, "height": 900})
        wait_for(page, "#others-rows", "As ben sees it.")
        assert find_violations_in_each_scheme(page) == []
        assert find_faint_texts(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
