"""Whatever the bytes of a suite are, the loader gives a suite or says what is wrong; ids stay as written."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import SuiteError
from harness.files.opening import TextSource
from harness.model.suite import Mark
from harness.suites import load_suite
from harness.suites.queries import make_row_of_two
from harness.suites.reading import read_query
from harness.suites.shape import QueryShape
from harness.suites.yaml import MappingNode, Problems, ScalarNode

SUITE = """\
suite: shop
target: {index: products, cluster: "${RELEVANCE_CLUSTER:-default}"}
grades: {good: 2, bad: 0}
gain: {2: 1.5, 0: -1}
requests:
  current:
    query: {match: {title: "{{text}}"}}
  candidate: {index: other, body: {query: {terms: {brand: "{{brands}}"}}}}
measures: ["nDCG@10", "P(rel=2)@5"]
thresholds:
  - "mean nDCG@10 >= 0.8 for head"
  - {threshold: "every P@5 >= 0.2", xfail: {reason: later, until: 2027-01-01}, markers: [slow]}
queries:
  - id: 007
    text: red 'shoes' # with laces
    tags: [head]
    params: {brands: [a, b]}
    judgments: {sku-1: good, sku-2: bad, 1.10: 2}
    thresholds: ["nDCG@10 >= 0.1"]
    expect: ["sku-1 in top 3", "hits >= 1"]
"""

KEYS = [
    *("suite", "target", "grades", "gain", "request", "requests", "measures", "thresholds", "queries", "judgments"),
    *(
        "undefined",
        "profile",
        "depth",
        "display",
        "title",
        "need",
        "guidelines",
        "fixture",
        "markers",
        "id",
        "text",
        "params",
        "tags",
        "expect",
    ),
    *("xfail", "skip", "reason", "until", "threshold", "cluster", "index", "engine", "body", "http", "path", "ids"),
    *("files", "other_queries", "documents", "mappings", "json", "headers", "size", "weight", "a"),
]
SCALARS = st.one_of(
    st.sampled_from(
        [
            "nDCG@10",
            "mean nDCG@10 >= 0.8",
            "sku in top 3",
            "{{text}}",
            "${RELEVANCE_X}",
            "${RELEVANCE_X:-1}",
            "linear",
            ".",
        ]
    ),
    st.integers(-3, 12),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=8),
)
TREES = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.lists(children, max_size=4),
        st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), children, max_size=6),
    ),
    max_leaves=25,
)


def load_bytes(content: bytes, environ):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.relevance.yaml"
        path.write_bytes(content)
        (path.parent / "relevance.toml").touch()  # so that this folder is the root
        return load_suite(path, environ)


def check(content: bytes) -> None:
    """Either environment gives a suite or a `SuiteError` whose problems all have a sentence."""
    for environ in (None, {}):
        problems = problems_of(content, environ)
        assert problems is None or len(problems) > 0
        assert all(problem.message.strip() and "\n" not in problem.message for problem in problems or ())


def problems_of(content: bytes, environ):
    """What is wrong with a suite, None where nothing is."""
    try:
        load_bytes(content, environ)
    except SuiteError as error:
        return error.problems
    return None


@settings(deadline=None)
@given(st.binary(max_size=200))
@example(b"")
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example(b"\xef\xbb\xbf\x00\x81")
def test_any_bytes_are_a_suite_or_a_suite_error(content):
    check(content)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("abc:-[]{}&*!|>'\"%@`#, \n\t$?<=0123~"), max_size=60))
@example("[" * 5000)
@example("{" * 5000)
@example("? " * 5000)
@example("- " * 5000)
@example("&a " * 50)
def test_any_yaml_like_text_is_a_suite_or_a_suite_error(text):
    check(text.encode())


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from(KEYS), TREES, max_size=10))
@example({"thresholds": [{"\n": None}]})
def test_any_tree_is_a_suite_or_a_suite_error(tree):
    check(yaml.safe_dump(tree, allow_unicode=True).encode())


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_damage_to_a_suite_is_a_suite_or_a_suite_error(data):
    start = data.draw(st.integers(0, len(SUITE)))
    end = data.draw(st.integers(start, min(len(SUITE), start + 30)))
    inserted = data.draw(
        st.text(max_size=5) | st.sampled_from(["\t", "[", "{", "*x", "&x", "!!str ", "\n---\n", "${", "\x00"])
    )
    check((SUITE[:start] + inserted + SUITE[end:]).encode("utf-8", "surrogatepass"))


NAMES = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cf", "Co", "Cn", "Zs")),
    min_size=1,
)


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=5, unique=True), st.lists(NAMES, min_size=1, max_size=5, unique=True))
@example(["007", "7", "1.10", "1.1", "null", "true", "0x10", "2027-01-01"], ["no", "012", "12:30", "1e3", "~", "$x"])
def test_quoted_ids_come_back_as_they_were(queries, documents):
    entries = [
        {"id": query, "text": "t", "judgments": dict.fromkeys(documents, 1)}
        for query in (name.replace("$", "$$") for name in queries)
    ]
    suite = {"suite": "s", "target": {"index": "i"}, "request": {"query": "{{text}}"}, "queries": entries}
    loaded = load_bytes(json.dumps(suite, ensure_ascii=False).encode(), None)
    assert [query.id for query in loaded.queries] == queries
    assert all(list(query.judgments) == documents for query in loaded.queries)


@settings(deadline=None)
@given(st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,4})?|[0-9]{4}-[0-9]{2}-[0-9]{2}|0x[0-9a-f]{1,4}", fullmatch=True))
def test_plain_ids_that_look_like_numbers_or_dates_stay_as_they_are_written(name):
    text = re.sub(r"007|1\.10", name, SUITE)  # at once: *name* may hold either
    loaded = load_bytes(text.encode(), None)
    assert loaded.queries[0].id == name
    assert loaded.queries[0].judgments[name] == 2.0


@given(st.text(max_size=5), st.text(max_size=5))
@example("q\u200b1", "red shoes")
@example("q1", "\u00a0")
def test_a_row_of_two_is_what_its_mapping_is(query_id, text):
    mark = Mark("queries.tsv", 1, 1)
    nodes = {key: ScalarNode(value, mark, plain=False) for key, value in {"id": query_id, "text": text}.items()}
    mapping = MappingNode(mark, [(ScalarNode(key, mark, plain=False), node) for key, node in nodes.items()])
    checked = read_query(mapping, Problems(TextSource("queries.tsv", "")))
    row = make_row_of_two(query_id, text, mark)

    if checked is None:
        assert row == mapping
    else:
        assert isinstance(row, QueryShape)
        assert vars(row) == vars(checked)
