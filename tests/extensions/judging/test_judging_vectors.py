"""The page shows no vector of a query, and a grade does not depend on one."""

from dataclasses import replace
from functools import partial

import pytest

from builders.questions import LONG, PLAIN, WITHOUT_VECTORS, load_questions
from extensions.judging.builders.judging import make_view
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.page.session_json import build_session
from harness.files.judge_files import JudgeFile, fingerprint_questions
from harness.model.suite import Query as PlainQuery


@pytest.fixture
def load(tmp_path):
    return partial(load_questions, tmp_path)


def session_of(suite, path):
    documents = [PooledDocument("tents", "tent", "a", {"lexical": 1})]
    return make_view(suite, documents, (), JudgeFile(path, fingerprint_questions(suite)))


@pytest.mark.parametrize("near", [PLAIN["near"], LONG], ids=["short", "long"])
def test_the_page_shows_no_vector_and_grades_do_not_depend_on_one(load, tmp_path, near):
    path, suite = tmp_path / "shop.judged-by.anna.jsonl", load(near=near)
    [shown] = build_session(session_of(suite, path))["queries"]
    assert (shown["text"], shown["params"]) == ("tent", {"brand": "Acme"})
    JudgeFile(path, fingerprint_questions(suite)).grade(("tents", "a"), 1.0)
    for changed in (load(near=[*near[1:], 7.5]), load(WITHOUT_VECTORS), suite):
        now = JudgeFile.read(path, fingerprint_questions(changed))
        assert (now.grades, now.outdated) == ({("tents", "a"): 1.0}, set())
    for changed in (load(TEXT="family tent", near=near), load(BRAND="Other", near=near)):
        assert JudgeFile.read(path, fingerprint_questions(changed)).outdated == {("tents", "a")}


def test_a_vector_among_the_params_is_not_shown_either(load, tmp_path):
    suite = load(WITHOUT_VECTORS)
    query = PlainQuery("tents", "tent", {"brand": "Acme", "sizes": [1, 2.5], "near": LONG, "deep": {"near": LONG}})
    [shown] = build_session(session_of(replace(suite, queries=(query,)), tmp_path / "x.jsonl"))["queries"]
    assert set(shown["params"]) == {"brand", "sizes", "deep"}
    assert shown["params"]["deep"].count("0.25") == 3
