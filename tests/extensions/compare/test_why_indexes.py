"""How two live indexes differ for a query that moved: the first of documents, tokens, mappings and statistics."""

import pytest

pytest.importorskip("numpy")

from dataclasses import replace

from builders.suites import make_suite
from harness.errors import RequestRefused, SearchError
from harness.extensions.compare.why.indexes import QUERIES_LISTED, IndexSide, describe_indexes, list_moved_hits
from harness.masking import fingerprint
from harness.model.inspection import Explained, Explanation, PartKind, ScorePart
from harness.model.run import Engine, Hit, IndexFacts, Ranking, Run
from harness.model.suite import Query, RequestTemplate
from harness.search.protocol import NOTHING_KNOWN, Inspector

BODY = {"query": {"multi_match": {"query": "{{text}}", "fields": ["title^3", "brand", "price"]}}}
TYPES = {"title": {"type": "text"}, "brand": {"type": "text"}, "price": {"type": "float"}}


def make_facts(documents=3, **fields):
    mapping = [{"properties": TYPES | fields}]
    return IndexFacts(fingerprint(mapping), fingerprint([]), documents, (), mapping, [])


class Index(Inspector):
    """A search and its inspector: *sources* by id, *tokens* by field or analyzer, *parts* of each explanation."""

    def __init__(self, facts):
        self.facts = facts
        self.sources = {"a": {"title": "sofa"}, "b": {"title": "couch"}}
        self.tokens = {}
        self.parts = ()
        self.matches = True
        self.asked = []
        self.refuses = {}

    inspector = property(lambda self: self)

    def index_facts(self, index):
        return self.facts

    def note(self, what, value):
        self.asked.append((what, value))
        if what in self.refuses:
            raise self.refuses[what]

    def read_sources(self, index, ids, id_field):
        self.note("sources", tuple(ids))
        return {document: self.sources[document] for document in ids if document in self.sources}

    def list_tokens(self, index, text, analysis):
        [name] = analysis.values()
        self.note("tokens", name)
        return self.tokens.get(name, (text,))

    def explain(self, request, documents, *, ranking, known=()):
        self.note("explanation", documents[0])
        assert request.body["query"]["multi_match"]["query"]
        outcome = Explained.SCORED if self.matches else Explained.UNMATCHED
        return (Explanation(documents[0], outcome, score=1.0, parts=self.parts),)


class Pair:
    """Two indexes that rank alike but for a and b."""

    def __init__(self, rankings=("ab", "ba"), queries=1):
        self.queries = [Query(f"q{number}", f"sofa{number}") for number in range(queries)]
        self.indexes = [Index(make_facts()), Index(make_facts())]
        self.rankings = rankings

    def describe(self):
        template = RequestTemplate("new", BODY)
        suite = make_suite(*self.queries, requests={"new": template})
        sides = []
        for name, index, ids in zip(("old", "next"), self.indexes, self.rankings, strict=True):
            run = Run({query.id: Ranking(tuple(map(Hit, ids))) for query in self.queries}, Engine("fake"))
            sides.append(IndexSide(name, name, index, suite, template, run))
        return list(describe_indexes(tuple(sides), self.queries))


@pytest.fixture
def pair():
    return Pair()


def make_part(**values):
    return ScorePart(PartKind.TERM, "title:sofa", 1.0, 1.0, field="title", term="sofa", **values)


def test_all_documents_that_moved_are_listed_by_rank():
    runs = [Run({"q": Ranking(tuple(map(Hit, ids)))}, Engine("fake")) for ids in ("abcd", "acbe")]
    assert list_moved_hits(*runs, "q") == [("b", 2), ("c", 2), ("d", 4), ("e", 4)]
    assert list_moved_hits(*runs, "none") == []


def test_a_document_that_is_absent(pair):
    del pair.indexes[1].sources["b"]
    assert pair.describe() == ["q0: b, at rank 1 in the other, is not in next"]


def test_a_document_that_is_another(pair):
    pair.indexes[1].sources["a"] = {"title": "sofa bed"}
    [sentence] = pair.describe()
    first, second = fingerprint({"title": "sofa"}), fingerprint({"title": "sofa bed"})
    assert sentence == f"q0: a is another: its source has the fingerprint {first} in old, {second} in next"
    assert all(what == "sources" for index in pair.indexes for what, _ in index.asked)


def test_only_documents_that_moved_are_asked_for_and_few():
    pair = Pair(rankings=("abcdefghij", "abjihgfedc"), queries=QUERIES_LISTED + 3)
    said = pair.describe()
    assert said[-1] == "3 more queries that moved, not looked at"
    assert len(said) == QUERIES_LISTED + 1
    for index in pair.indexes:
        assert [value for what, value in index.asked if what == "sources"] == [("c", "j", "d", "i", "e")]


def test_other_tokens(pair):
    pair.indexes[1].tokens["brand"] = ("sofa|couch", "0")
    assert pair.describe() == ["q0: brand has the tokens sofa0 in old, sofa|couch 0 in next"]
    # A number is not analyzed.
    assert ("tokens", "price") not in pair.indexes[0].asked


def test_other_tokens_of_a_search(pair):
    """The analyzer of a search is asked for by its name."""
    title = {"title": {"type": "text", "search_analyzer": "shop"}}
    pair.indexes[1].facts = make_facts(**title)
    pair.indexes[1].tokens["shop"] = ("couch",)
    said = pair.describe()
    assert said[0].startswith("the mapping of next differs: /properties/title/search_analyzer")
    assert said[1:] == ["q0: title is searched for the tokens sofa0 in old, couch in next"]


def test_another_mapping_with_the_same_tokens(pair):
    pair.indexes[1].facts = make_facts(brand={"type": "text", "similarity": "boolean"})
    assert pair.describe()[1:] == ["q0: brand is mapped otherwise"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (({"containing": 3}, {"containing": 4}), "by the number of documents with it: 3 in old, 4 in next"),
        (({"idf": 0.5}, {"idf": 0.25}), "by its inverse document frequency: 0.5 in old, 0.25 in next"),
        (({"average_length": 3.5}, {"average_length": 4}), "by the average length of the field: 3.5 in old, 4 in next"),
    ],
)
def test_other_statistics(pair, values, sentence):
    for index, of_index in zip(pair.indexes, values, strict=True):
        index.parts = (make_part(**of_index),)
    assert pair.describe() == [f"q0: title:sofa, {sentence}"]


def test_a_document_that_does_not_match(pair):
    pair.indexes[1].matches = False
    assert pair.describe() == ["q0: a does not match the request in next"]


def test_a_clause_in_one_explanation_alone(pair):
    pair.indexes[1].parts = (make_part(),)
    assert pair.describe() == ["q0: title:sofa adds to the score of a in next alone"]


def test_nothing_differs(pair):
    assert pair.describe() == ["q0: nothing differs of what could be read"]


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        ("sources", "documents are not compared: their sources in next cannot be read: no right"),
        ("tokens", "tokens are not compared: no right"),
        ("explanation", "statistics are not compared: no right"),
    ],
)
def test_what_is_refused_is_said_once(refused, sentence):
    """The rest is compared as ever, and what was refused is asked for once."""
    pair = Pair(queries=3)
    pair.indexes[1].refuses[refused] = RequestRefused("no right", 403, ())
    said = pair.describe()
    assert said[-1] == sentence
    assert said[:-1] == [f"q{number}: nothing differs of what could be read" for number in range(3)]
    assert [what for what, _ in pair.indexes[1].asked].count(refused) == 1


def test_sources_that_are_not_kept(pair):
    pair.indexes[0].sources["a"] = None
    pair.indexes[1].sources["a"] = {"title": "other"}
    said = pair.describe()
    assert said[-1] == "documents are compared by their ids alone: old does not keep all sources"
    assert said[0] == "q0: nothing differs of what could be read"


def test_facts_that_cannot_be_read(pair):
    pair.indexes[0].facts = NOTHING_KNOWN
    large = make_facts()
    said = pair.describe()
    assert said[:2] == ["the mapping of old cannot be read", "the settings of old cannot be read"]
    pair.indexes = [Index(large), Index(replace(large, mapping="0", mapping_json=None, documents=4))]
    assert pair.describe()[:2] == [
        "old has 3 documents, next has 4",
        "the mapping of next differs, and is too large to be listed",
    ]


def test_a_server_that_tells_nothing_of_its_indexes():
    with pytest.raises(SearchError, match="no indexes that can be read"):
        Inspector().read_sources("i", ["a"], None)
    with pytest.raises(SearchError, match="does not say how it analyzes"):
        Inspector().list_tokens("i", "a", {"field": "title"})
