"""Documents beyond the pool, of a real HTTP service: found by words, and by ids among the hits of the query."""

import json
import threading
import time
from contextlib import ExitStack

import pytest
from werkzeug import Response

from harness.errors import SearchError
from harness.extensions.judging.beyond_pool import MOST_WAITING_SEARCHES
from harness.extensions.judging.pools_and_lint import PoolOptions
from harness.extensions.judging.session import JudgeOptions, open_views
from harness.files.judge_files import JudgeFile
from harness.options import RunOptions
from harness.run import Matrix

SUITE = """\
suite: shop
target: {cluster: api}
display: {title: name, link: url}
depth: 5
measures: ["P@2"]
request:
  http:
    path: /search
    params: {q: WORDS, kind: "{{kind}}"}
    ids: "$.hits[*].id"
    fields: {name: "$.hits[*].name", url: "$.hits[*].url"}
queries:
  - {id: lamps, text: camping lamp, params: {kind: camping lamp}, judgments: {p3: 1}}
"""


@pytest.fixture
def open_beyond(tmp_path, monkeypatch, httpserver):
    """What finds other documents for a suite, whose service knows *camping lamp* and *lantern*."""

    def answer(request):
        names = {"camping lamp": ["p1", "p2", "p3"], "lantern": ["p9", "p1"]}.get(request.args["q"])
        if names is None:
            return Response("no such words", status=400)
        hits = [{"id": name, "name": f"Lamp {name}", "url": f"https://shop.example/{name}"} for name in names]
        return Response(json.dumps({"hits": hits}), content_type="application/json")

    def answer_ids(request):
        known = {f"p{number}" for number in range(1, 20)}
        names = [name for name in request.args.getlist("id") if name in known]
        hits = [{"id": name, "name": f"Lamp {name}", "url": f"https://shop.example/{name}"} for name in names]
        return Response(json.dumps({"hits": hits}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    httpserver.expect_request("/documents").respond_with_handler(answer_ids)
    monkeypatch.chdir(tmp_path)
    url = httpserver.url_for("").rstrip("/")
    (tmp_path / "relevance.toml").write_text(f'[clusters.api]\nurl = "{url}"\nservice = "http"\n')
    suite = tmp_path / "shop.relevance.yaml"
    with ExitStack() as resources:

        def open_suite(words='"{{text}}"', documents=""):
            suite.write_text(SUITE.replace("WORDS", words).replace("queries:", f"{documents}queries:"))
            judges = {"anna": JudgeFile(tmp_path / "shop.judged-by.anna.jsonl")}
            options = JudgeOptions(PoolOptions(RunOptions(), Matrix()), ("anna",))
            views = open_views(suite, judges, options, environ={}, resources=resources)
            return views["anna"].task.beyond

        yield open_suite


def test_other_words_find_hits_with_their_texts_and_without_ranks(open_beyond):
    found = open_beyond().search_words("lamps", "lantern")
    assert [(one.document, one.title, one.link, one.ranks) for one in found] == [
        ("p9", "Lamp p9", "https://shop.example/p9", {}),
        ("p1", "Lamp p1", "https://shop.example/p1", {}),
    ]


def test_ids_are_those_that_the_query_returned(open_beyond):
    beyond = open_beyond()
    assert [(one.document, one.title) for one in beyond.find_ids("lamps", ["p3", "p9"])] == [("p3", "Lamp p3")]
    assert "search for words" in beyond.id_remedy


DOCUMENTS = '    documents: {path: /documents, params: {id: "{{ids}}"}}\n'


def test_ids_are_looked_up_where_the_suite_says_how(open_beyond):
    beyond = open_beyond(documents=DOCUMENTS)
    found = beyond.find_ids("lamps", ["p3", "p19", "p99"])
    assert [(one.document, one.title) for one in found] == [("p3", "Lamp p3"), ("p19", "Lamp p19")]
    assert beyond.id_remedy == ""


def test_an_answer_that_is_none_is_an_error_with_its_reason(open_beyond):
    with pytest.raises(SearchError, match="400"):
        open_beyond().search_words("lamps", "nothing")


def test_a_request_without_the_text_is_not_searched_with_words(open_beyond):
    with pytest.raises(SearchError, match=r"has no \{\{text\}\} to search other words with; give an id"):
        open_beyond('"{{kind}}"').search_words("lamps", "lantern")


def test_a_search_is_refused_where_too_many_judges_wait(open_beyond):
    beyond = open_beyond()
    answers = []

    def search():
        try:
            answers.append(len(beyond.search_words("lamps", "lantern")))
        except SearchError as error:
            answers.append(str(error))

    with beyond._lock:
        threads = [threading.Thread(target=search) for _ in range(MOST_WAITING_SEARCHES + 1)]
        for thread in threads:
            thread.start()
        while not answers:
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert answers == ["other judges are searching; try again in a moment"] + [2] * MOST_WAITING_SEARCHES
