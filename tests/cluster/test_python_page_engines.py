"""The examples of docs/reference/python.md, as they stand there, on the product suite and real engines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.api import Relevance
from harness.options import RunOptions

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"
SERVER = "http://127.0.0.1:9200"
TESTS = "def test_the_shop"
FIGURES = "before.mean('nDCG@10'):.4f"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def example(word: str) -> str:
    """The one example with *word* in it; those with a prompt are run by doctest."""
    [found] = [block for block in BLOCKS if word in block and ">>>" not in block]
    return found


def executed(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "docs/reference/python.md", "exec"), names)
    return names


def test_each_example_is_run_by_one_of_these_or_by_doctest() -> None:
    """That of a comparison is run among the tests of comparisons."""
    words = (TESTS, "def test_the_candidate", FIGURES, "client=", "body=")
    assert [example(word) for word in words] == [block for block in BLOCKS if ">>>" not in block]


@pytest.mark.one_engine
def test_the_tests_in_python_pass(engine_url: str) -> None:
    tests = {name: test for name, test in executed(example(TESTS)).items() if name.startswith("test_")}
    assert len(tests) == 2
    with Relevance(ROOT, options=RunOptions(url=engine_url)) as relevance:
        for test in tests.values():
            test(relevance)


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_outside_pytest_it_prints_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    executed(example(FIGURES))
    printed = capsys.readouterr().out.strip()
    assert f"prints `{printed}`" in PAGE.read_text(encoding="utf-8")
    assert printed == "0.7058 0.8701"


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_another_body_prints_what_the_page_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    monkeypatch.chdir(ROOT)
    names = executed(example("body="))
    assert f"prints\n\n```\n{capsys.readouterr().out}```\n" in PAGE.read_text(encoding="utf-8")
    # The last expression of a cell of a notebook is shown so.
    assert "nDCG@10" in names["after"]._repr_html_()
    assert "another body" in names["compared"]._repr_html_()


@pytest.mark.cluster
def test_a_client_of_one_s_own_serves(
    elasticsearch_urls: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    text = example("client=")
    assert SERVER in text
    names = executed(text.replace(SERVER, elasticsearch_urls[0]))
    names["client"].close()
    assert capsys.readouterr().out == "0.7058\n"
