"""A suite of two queries with documents to judge, and the index that it searches."""

import harness.search.dialects
from harness.model.run import Hit, Ranking
from harness.search.testing import FakeSearch
from harness.search.texts import make_snippet, read_texts

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
requests:
  current: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@3"]
queries:
  - {id: shoes, text: red shoes, judgments: {a: 2, b: 0}}   # two
  - {id: boots, text: rubber boots, judgments: {d: 1}}
"""

DOCUMENTS = {
    name: {"title": f"Title of {name}", "text": f"The words of {name}.", "shop": {"city": "Bern"}} for name in "abdxyz"
}
RANKINGS = {"shoes": ["x", "a", "y", "b"], "boots": ["d", "z"]}


OTHER_WORDS = {"wellies": ["z", "d"]}
"""What other words than those of the queries find."""


class Index(FakeSearch):
    """Ranks queries and other words, and finds documents by id with the fields that are asked for."""

    def _respond(self, request):
        ids = request.body["query"].get("ids", {}).get("values")
        if ids is None:
            words = request.body["query"]["match"]["title"]
            if words in OTHER_WORDS:
                return Ranking(tuple(map(Hit, OTHER_WORDS[words])))
            return Ranking(tuple(map(Hit, RANKINGS.get(request.query, DOCUMENTS)))[: request.body["size"]])
        return Ranking(tuple(make_hit(one, DOCUMENTS[one], request) for one in ids if one in DOCUMENTS))


def make_hit(document, source, request):
    """The hit of a *document* with what the *request* asks of its *source*."""
    snippet = make_snippet(source, request.title_field) if request.has_snippet else None
    title = source["title"] if request.title_field else None
    return Hit(document, title=title, snippet=snippet, texts=read_texts(source, request.fields))


def set_up_shop(folder, monkeypatch):
    """Write the suite and its relevance.toml into *folder*, and have the index answer every search."""
    (folder / "relevance.toml").write_text('[clusters.default]\nurl = "http://one:9200"\n')
    (folder / "shop.relevance.yaml").write_text(SUITE)
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: Index({}))
