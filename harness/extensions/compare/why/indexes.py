"""
How two indexes differ that exist already, as a whole and for each query that moved.

It is listed and no cause is named, as nothing can be built to show it. Of a query the first that differs is listed: a
document that moved is absent or another, the query's tokens, the mapping of its fields, or the statistics of its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.errors import SearchError, SuiteError
from harness.extensions.compare.why.differences import FIXTURE, split_requests
from harness.extensions.compare.why.sentences import name_difference
from harness.masking import fingerprint
from harness.model.inspection import Explained, Explanation
from harness.model.run import IndexFacts, Ranking, Run
from harness.model.suite import Json, Query, RequestTemplate, Suite
from harness.search.fields import find_named_fields
from harness.search.protocol import Search
from harness.suites.requests import build_request
from harness.words import count, listed, shorten

QUERIES_LISTED = 20
DIFFERENCES_LISTED = 10

DOCUMENTS_COMPARED = 5
"""Documents of a query whose sources are asked for, those that moved highest in the rankings."""

FIELDS_ANALYZED = 5
"""Fields of the request whose tokens are asked for."""

TEXT_TYPES = frozenset({"annotated_text", "match_only_text", "search_as_you_type", "text"})
"""The types of fields whose texts are analyzed."""

TOKENS_SHOWN = 80
"""Characters of the tokens of a query."""


@dataclass(frozen=True, slots=True)
class IndexSide:
    """The rankings of a request on one of the two indexes."""

    name: str
    """What the report calls the index."""
    index: str
    search: Search
    """Of its server."""
    suite: Suite
    template: RequestTemplate
    """The same request on both."""
    run: Run


def describe_indexes(sides: tuple[IndexSide, IndexSide], queries: Sequence[Query]) -> Iterator[str]:
    """
    How the indexes of *sides* differ, a sentence each.

    Args:
        sides: The same request on both.
        queries: Those that moved, the first of which are looked at.
    """
    facts = [side.search.index_facts(side.index) for side in sides]
    yield from _describe_facts(sides, facts)
    looked_at = queries[:QUERIES_LISTED]
    finder = _DifferenceFinder(sides, [_take_only(fact.mapping_json) for fact in facts])
    finder.read_sources(looked_at)
    yield from [finder.find_first(query) for query in looked_at]
    if len(queries) > len(looked_at):
        yield f"{count(len(queries) - len(looked_at), 'more query')} that moved, not looked at"
    yield from finder.problems


def list_moved_hits(old: Run, new: Run, query: str) -> list[tuple[str, int]]:
    """The documents whose rank is not the same in the two rankings of *query*, each with its better rank, in order."""
    ranks: list[dict[str, int]] = []
    for run in (old, new):
        response = run.responses.get(query)
        ids = response.ids if isinstance(response, Ranking) else ()
        ranks.append({document: rank for rank, document in enumerate(ids, start=1)})
    moved = []
    for document in ranks[0] | ranks[1]:
        found = [by_document[document] for by_document in ranks if document in by_document]
        if len(found) == 1 or found[0] != found[1]:
            moved.append((document, min(found)))
    return sorted(moved, key=lambda hit: hit[1])


def _describe_facts(sides: Sequence[IndexSide], facts: Sequence[IndexFacts]) -> Iterator[str]:
    """The numbers of documents, and the first differences of mappings and settings, as far as they can be read."""
    first, second = (side.name for side in sides)
    counts = [fact.documents for fact in facts]
    if None not in counts and counts[0] != counts[1]:
        yield f"{first} has {counts[0]:,} documents, {second} has {counts[1]:,}"
    for what, prints, texts in (
        ("mapping", [fact.mapping for fact in facts], [fact.mapping_json for fact in facts]),
        ("settings", [fact.settings for fact in facts], [fact.settings_json for fact in facts]),
    ):
        if None in prints:
            yield f"the {what} of {sides[prints.index(None)].name} cannot be read"
            continue
        if prints[0] == prints[1]:
            continue
        if None in texts:
            yield f"the {what} of {second} differs, and is too large to be listed"
            continue
        splitting = split_requests(*({FIXTURE: _take_only(text)} for text in texts))
        changes = [
            f"{difference.pointer.removeprefix(f'/{FIXTURE}')} {name_difference(difference)}"
            for difference in splitting.list_differences()
        ]
        yield f"the {what} of {second} differs: {listed(changes, DIFFERENCES_LISTED)}"


def _take_only(text: Json) -> Json:
    """The mapping of the only index where *text* is a list with one for each."""
    return text[0] if isinstance(text, list) and len(text) == 1 else text


@dataclass(slots=True)
class _DifferenceFinder:
    """Finds the first that differs between two indexes, query by query; what cannot be read is asked for once."""

    sides: tuple[IndexSide, IndexSide]
    mappings: Sequence[Json]
    """Of both indexes; None where it is unknown, a list where there are several."""
    moved: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """The documents that moved, by query, with their better rank."""
    sources: list[Mapping[str, Json]] | None = None
    """Of documents that moved, by both indexes; None where they cannot be read."""
    problems: list[str] = field(default_factory=list)
    """What could not be read."""
    unread: set[str] = field(default_factory=set)
    """The names of what is not asked for any more."""

    def read_sources(self, queries: Sequence[Query]) -> None:
        """Read the sources of the documents that moved highest in *queries*."""
        first, second = (side.run for side in self.sides)
        for query in queries:
            self.moved[query.id] = list_moved_hits(first, second, query.id)[:DOCUMENTS_COMPARED]
        documents = list(dict.fromkeys(document for hits in self.moved.values() for document, _ in hits))
        if not documents:
            return
        sources: list[Mapping[str, Json]] = []
        for side in self.sides:
            id_field = side.suite.find_target(side.template.name).id_field
            try:
                sources.append(side.search.inspector.read_sources(side.index, documents, id_field))
            except SearchError as error:
                problem = f"documents are not compared: their sources in {side.name} cannot be read: {error}"
                self.problems.append(problem)
                return
        self.sources = sources
        for side, found in zip(self.sides, sources, strict=True):
            if found and None in found.values():
                problem = f"documents are compared by their ids alone: {side.name} does not keep all sources"
                self.problems.append(problem)

    def find_first(self, query: Query) -> str:
        """The first that differs for *query*."""
        steps: tuple[tuple[str, Callable[[Query], str]], ...] = (
            ("documents", self.compare_documents),
            ("tokens", self.compare_tokens),
            ("mappings", self.compare_mappings),
            ("statistics", self.compare_statistics),
        )
        for what, compare in steps:
            if what in self.unread:
                continue
            try:
                sentence = compare(query)
            except (SearchError, SuiteError) as error:
                self.unread.add(what)
                self.problems.append(f"{what} are not compared: {error}")
                continue
            if sentence:
                return f"{query.id}: {sentence}"
        return f"{query.id}: nothing differs of what could be read"

    def compare_documents(self, query: Query) -> str:
        """The first document that moved and is not in both indexes, or is another; empty if there is none."""
        if self.sources is None:
            return ""
        for document, rank in self.moved[query.id]:
            absent = [side.name for side, found in zip(self.sides, self.sources, strict=True) if document not in found]
            if len(absent) == 1:
                return f"{document}, at rank {rank} in the other, is not in {absent[0]}"
            if absent:
                continue
            contents = [found[document] for found in self.sources]
            if None not in contents and contents[0] != contents[1]:
                prints = [fingerprint(content) for content in contents]
                return f"{document} is another: {self._join(prints, 'its source has the fingerprint')}"
        return ""

    def compare_tokens(self, query: Query) -> str:
        """The first field of the request for which the text of *query* has other tokens; empty if there is none."""
        if not query.text:
            return ""
        analyzed = 0
        for name in find_named_fields(self.sides[0].template.body):
            definitions = [_find_definition(mapping, name) for mapping in self.mappings]
            if analyzed == FIELDS_ANALYZED:
                break
            # A field that only one index has is a difference of their mappings.
            if any(definition is not None and definition.get("type") not in TEXT_TYPES for definition in definitions):
                continue
            analyzed += 1
            by_field = [{"field": name}, {"field": name}]
            by_search = []
            for definition in definitions:
                analyzer = (definition or {}).get("search_analyzer")
                by_search.append({"field": name} if analyzer is None else {"analyzer": analyzer})
            for verb, analyses in (("has", by_field), ("is searched for", by_search)):
                if analyses is by_search and by_search == by_field:
                    continue
                tokens = [
                    side.search.inspector.list_tokens(side.index, query.text, analysis)
                    for side, analysis in zip(self.sides, analyses, strict=True)
                ]
                if tokens[0] != tokens[1]:
                    shown = [shorten(" ".join(found), TOKENS_SHOWN) or "nothing" for found in tokens]
                    return self._join(shown, f"{name} {verb} the tokens")
        return ""

    def compare_mappings(self, query: Query) -> str:  # noqa: ARG002
        """The first field of the request that is mapped otherwise; empty if there is none."""
        if not all(isinstance(mapping, Mapping) for mapping in self.mappings):
            return ""
        for name in find_named_fields(self.sides[0].template.body):
            first, second = (_find_definition(mapping, name) for mapping in self.mappings)
            if first != second:
                return f"{name} is mapped otherwise"
        return ""

    def compare_statistics(self, query: Query) -> str:
        """What differs of the two explanations of the highest document that moved and both have; empty if nothing."""
        documents = [document for document, _ in self.moved[query.id]]
        if self.sources is not None:
            documents = [document for document in documents if all(document in found for found in self.sources)]
        if not documents:
            return ""
        explanations = []
        for side in self.sides:
            response = side.run.responses.get(query.id)
            ranking = response.ids if isinstance(response, Ranking) else ()
            request = build_request(side.suite, replace(side.template, index=side.index), query)
            [explanation] = side.search.inspector.explain(request, documents[:1], ranking=ranking)
            if explanation.outcome is Explained.UNKNOWN:
                raise SearchError(f"{explanation.document} is not explained in {side.name}: {explanation.reason}")
            explanations.append(explanation)
        scored = [explanation.outcome in (Explained.SCORED, Explained.LEFT_OUT) for explanation in explanations]
        if scored[0] != scored[1]:
            return f"{documents[0]} does not match the request in {self.sides[scored.index(False)].name}"
        return self._compare_parts(documents[0], explanations[0], explanations[1])

    def _compare_parts(self, document: str, first: Explanation, second: Explanation) -> str:
        """What differs of the statistics in two explanations of *document*."""
        parts = [{part.clause: part for part in explanation.parts} for explanation in (first, second)]
        for clause in parts[0] | parts[1]:
            pair = [found.get(clause) for found in parts]
            if pair[0] is None or pair[1] is None:
                name = self.sides[pair[0] is None].name
                return f"{clause} adds to the score of {document} in {name} alone"
            for attribute, words in (
                ("containing", f"{clause}, by the number of documents with it:"),
                ("idf", f"{clause}, by its inverse document frequency:"),
                ("average_length", f"{clause}, by the average length of the field:"),
            ):
                values = [getattr(part, attribute) for part in pair]
                if None not in values and values[0] != values[1]:
                    return self._join([f"{value:.6g}" for value in values], words)
        if first.score is not None and second.score is not None and first.score != second.score:
            scores = [f"{score:.6g}" for score in (first.score, second.score)]
            return self._join(scores, f"the score of {document} is")
        return ""

    def _join(self, values: Sequence[str], words: str) -> str:
        """Both *values* behind the same *words*, each with the name of its index."""
        first, second = (f"{value} in {side.name}" for value, side in zip(values, self.sides, strict=True))
        return f"{words} {first}, {second}"


def _find_definition(mapping: Json, name: str) -> Mapping[str, Json] | None:
    """How a *mapping* defines the field *name*, which may be a subfield; None where it does not, or is none."""
    found = mapping
    for key in name.split("."):
        members: Json = None
        if isinstance(found, Mapping):
            members = {**(found.get("properties") or {}), **(found.get("fields") or {})}
        if not members or key not in members:
            return None
        found = members[key]
    return found if isinstance(found, Mapping) else None
