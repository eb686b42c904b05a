"""What a suite says to those who judge: needs, descriptions of grades, guidelines, and the fields that are shown."""

from pathlib import Path

import pytest

from harness.errors import SuiteError
from harness.model.suite import Display, Suite
from harness.store.what_changed import build_request_json
from harness.suites import load_suite

SUITE = """\
suite: shop
target: {index: products}
guidelines: guide.md
grades:
  exact: {grade: 2, description: "The product that was asked for."}
  related: {grade: 1}
  wrong: 0
display:
  title: name
  fields: [summary, price]
  image: image_url
  image_hosts: [images.shop.com, "cdn.shop.com:8443"]
  link: url
request: {query: {match: {name: "{{text}}"}}}
queries:
  file: queries.csv
  inline:
    - {id: tents, text: tent 2, need: A light tent for two people., judgments: {sku-2: exact}}
"""
GUIDE = "# How to grade\nThink of the *shopper*.\n"


def load(folder: Path, *, suite: str = SUITE, queries: str = "id,text,need\nboots,boots,Boots for rain.\n") -> Suite:
    (folder / "guide.md").write_text(GUIDE)
    (folder / "queries.csv").write_text(queries)
    path = folder / "shop.relevance.yaml"
    path.write_text(suite)
    return load_suite(path, {})


def test_all_of_it_is_read(tmp_path: Path) -> None:
    suite = load(tmp_path)
    needs = {query.id: query.need for query in suite.queries}
    assert needs == {"boots": "Boots for rain.", "tents": "A light tent for two people."}
    assert suite.guidelines == GUIDE
    assert suite.grades == {"exact": 2.0, "related": 1.0, "wrong": 0.0}
    assert suite.grade_descriptions == {2.0: "The product that was asked for."}
    hosts = ("images.shop.com", "cdn.shop.com:8443")
    assert suite.display == Display("name", ("summary", "price"), "image_url", hosts, "url")


def test_json_lines_have_needs_and_none_is_said_by_default(tmp_path: Path) -> None:
    lines = '{"id": "boots", "text": "boots", "need": "Boots for rain."}\n{"id": "hats", "text": "hats"}\n'
    (tmp_path / "queries.jsonl").write_text(lines)
    suite = load(tmp_path, suite=SUITE.replace("queries.csv", "queries.jsonl"))
    needs = {query.id: query.need for query in suite.queries}
    assert needs == {"boots": "Boots for rain.", "hats": "", "tents": "A light tent for two people."}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("related: {grade: 1}", "related: {grade: good}", "6:20: found 'good', expected a number"),
        ("related: {grade: 1}", "related: {}", "6:12: the key 'grade' is missing"),
        ("related: {grade: 1}", "related: [1]", "6:12: found a list, expected a number, or a mapping with grade"),
        ("wrong: 0", "wrong: {grade: 0, descripton: no}", "7:21: unknown key 'descripton'"),
        ("[images.shop.com,", '["https://images.shop.com",', "12:17: found 'https://images.shop.com', expected a host"),
        ("[images.shop.com,", '["*; script-src *",', "12:17: found '*; script-src *', expected a host such as"),
        ("  image: image_url\n", "", "11:17: 'image_hosts' is for pictures; name the field 'image' too"),
        ("guidelines: guide.md", "guidelines: ../guide.md", "3:13: the file '../guide.md' "),
        ("guidelines: guide.md", "guidelines: guid.md", "3:13: the file 'guid.md' does not exist"),
        ("display:\n", "display:\n  titel: name\n", "9:3: unknown key 'titel', expected title, fields, image,"),
        ("need: A light tent for two people.", "need: [a, b]", "18:39: found a list"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in SUITE
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, suite=SUITE.replace(old, new, 1))
    assert sentence in str(caught.value)


def test_a_need_that_differs_between_the_file_and_the_suite_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="query 'tents' has another need at"):
        load(tmp_path, queries="id,text,need\ntents,tent 2,Any tent.\n")


SERVICE = """\
suite: shop
display: {title: name, fields: [price], link: url}
requests:
  current: {http: {path: "/{{text}}", ids: "$.h[*].id", fields: {name: "$.h[*].n", price: "$.h[*].p", url: $.u}}}
  next:
    http:
      {path: "/{{text}}", ids: "$[*].id", titles: "$[*].t", fields: {name: "$[*].n", price: "$[*].p", url: "$[*].u"}}
queries: [{id: tents, text: tent, judgments: {sku-2: 1}}]
"""


def test_over_http_the_title_is_read_by_the_path_of_its_field(tmp_path: Path) -> None:
    suite = load(tmp_path, suite=SERVICE)
    titles = {name: template.http.titles for name, template in suite.requests.items() if template.http}
    assert titles == {"current": "$.h[*].n", "next": "$[*].n"}
    without = load(tmp_path, suite=SERVICE.replace("title: name, ", ""))
    assert [template.http.titles for template in without.requests.values() if template.http] == [None, "$[*].t"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (
            "fields: [price]",
            "fields: [prise]",
            "2:33: the request 'current' has no path for the field 'prise', expected one of name, price, url; "
            "did you mean 'price'?",
        ),
        ("link: url", "link: page", "2:47: the request 'current' has no path for the field 'page', expected one of"),
        (
            'name: "$[*].n", ',
            "",
            "2:18: the request 'next' has no path for the field 'name', expected one of price, url",
        ),
        (
            ', fields: {name: "$[*].n", price: "$[*].p", url: "$[*].u"}',
            "",
            "2:18: the request 'next' has no path for the field 'name', expected one under 'fields' beside 'ids'",
        ),
        ('price: "$.h[*].p"', "price: hits", "found 'hits', expected a JSONPath such as $.hits[*].id"),
    ],
)
def test_over_http_a_field_needs_a_path(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in SERVICE
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, suite=SERVICE.replace(old, new, 1))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("param", ["en", "${RELEVANCE_LANG:-en}"])
def test_what_is_shown_of_the_hits_of_a_service_is_no_part_of_what_is_asked(tmp_path: Path, param: str) -> None:
    suite = SERVICE.replace(
        '{path: "/{{text}}", ids: "$.h', f'{{path: "/{{{{text}}}}", params: {{l: "{param}"}}, ids: "$.h'
    )
    assert suite != SERVICE
    other = suite.replace('price: "$.h[*].p"', 'price: "$.h[*].cost"')
    requests = [build_request_json(load(tmp_path, suite=text), "current") for text in (suite, other)]
    assert requests[0] == requests[1]
    assert requests[0]["http"]["ids"] == "$.h[*].id"
    assert "fields" not in requests[0]["http"]


@pytest.mark.parametrize(
    ("written", "guidelines"),
    [
        ("|\n  # Grades\n  Think of the *shopper*.\n", "# Grades\nThink of the *shopper*."),
        (">\n  Think of the shopper,\n  not of the shop.\n", "Think of the shopper, not of the shop."),
        ("Prices do not count.", "Prices do not count."),
        (
            '"Prices do not count, see https://shop.example/guide"',
            "Prices do not count, see https://shop.example/guide",
        ),
        ('" guide.md"', None),
    ],
)
def test_guidelines_are_a_text_or_the_path_of_a_file(tmp_path, written, guidelines):
    suite = SUITE.replace("guidelines: guide.md\n", f"guidelines: {written.rstrip()}\n")
    if guidelines is None:
        with pytest.raises(SuiteError, match="does not exist"):
            load(tmp_path, suite=suite)
    else:
        assert load(tmp_path, suite=suite).guidelines == guidelines


@pytest.mark.parametrize("written", ["our guide.md", "../guide.md", "guidelines"])
def test_a_path_of_guidelines_that_is_wrong_is_an_error_at_its_place(tmp_path, written):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, suite=SUITE.replace("guidelines: guide.md", f"guidelines: {written}"))
    assert ":3:13: " in str(caught.value)
    assert written in str(caught.value)


def test_a_value_of_the_environment_is_not_in_the_text(tmp_path):
    suite = SUITE.replace("guidelines: guide.md", "guidelines: Tell nobody ${RELEVANCE_KEY}!")
    (tmp_path / "queries.csv").write_text("id,text\nboots,boots\n")
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(suite)
    assert load_suite(path, {"RELEVANCE_KEY": "s3cret-key"}).guidelines == "Tell nobody ${RELEVANCE_KEY}!"
