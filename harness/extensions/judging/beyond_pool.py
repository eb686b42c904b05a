"""
Documents beyond the pool: the target is asked once more while judges grade, with other words or for ids.

The requests are those of the suite, with its hooks. What is found has no rank: the query itself did not return it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from harness.errors import HarnessError, SearchError, UsageError
from harness.extensions.judging.model import PooledDocument
from harness.extensions.judging.pool import PooledRun, add_texts, pool_runs
from harness.extensions.judging.texts import TextOptions, look_up_texts, read_pooled_texts
from harness.metrics.run_scores import failure_text
from harness.model.run import Failure, Hit, Ranking, Response
from harness.model.suite import Query, Suite, select_by_id
from harness.redaction import redact
from harness.run.cell import AnsweredCell
from harness.run.plan import plan_searches
from harness.search.dialects import find_dialect
from harness.suites.display import list_shown_fields
from harness.suites.requests import choose_template

MOST_WAITING_SEARCHES = 4
"""Searches of judges that are under way or wait. More would leave the page's server no thread to keep grades with."""

_SECONDS = 30.0
"""After these no further request is sent for one search: somebody waits for it."""


@dataclass(frozen=True, slots=True)
class BeyondPool:
    """The target of a suite, with the first of the requests that it was pooled with; its connection is open."""

    answered: AnsweredCell
    shown: TextOptions = field(default_factory=TextOptions)
    """What is shown of the documents."""
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)
    """The server is asked for one judge at a time."""
    _places: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MOST_WAITING_SEARCHES), compare=False, repr=False
    )

    @property
    def suite(self) -> Suite:
        """The selected queries."""
        return self.answered.cell.selection.selected

    @property
    def _looks_up_documents(self) -> bool:
        template = choose_template(self.suite, self.answered.run.request)
        return find_dialect(self.suite.target.service).looks_up_documents(template)

    @property
    def id_remedy(self) -> str:
        """What a sentence on a missing id adds for the server."""
        if self._looks_up_documents:
            return ""
        sentence = "; an HTTP service whose request has no `documents` looks up no ids, so that only hits of the query "
        return sentence + "are found: search for words"

    def search_words(self, query_id: str, words: str) -> list[PooledDocument]:
        """
        The hits of the suite's request for *query_id* with *words* in place of its text.

        Raises:
            HarnessError: There is no answer, or the words make a request that cannot be sent.
        """
        [query] = select_by_id(self.suite.queries, {query_id})
        asked = replace(query, text=words, masked=None)
        with self._wait_for_turn():
            ranking = self._search(asked)
            return self._describe(asked, ranking.hits)

    def find_ids(self, query_id: str, ids: Sequence[str]) -> list[PooledDocument]:
        """
        The documents *ids* that exist; where documents cannot be looked up by id, those that the query returned.

        Raises:
            HarnessError: There is no answer.
        """
        [query] = select_by_id(self.suite.queries, {query_id})
        with self._wait_for_turn():
            if self._looks_up_documents:
                return self._describe(query, [Hit(document) for document in ids], are_ids=True)
            response = self.answered.run.responses.get(query_id)
            hits = response.hits if isinstance(response, Ranking) else ()
            return self._describe(query, [hit for hit in hits if hit.id in ids])

    @contextmanager
    def _wait_for_turn(self) -> Iterator[None]:
        """
        Wait until the server may be asked. Secrets are masked in the message of an error that leaves the block.

        Raises:
            SearchError: Too many searches wait already.
        """
        if not self._places.acquire(blocking=False):
            raise SearchError("other judges are searching; try again in a moment")
        try:
            with self._lock:
                yield
        except HarnessError as error:
            raise SearchError(self.answered.cell.masker.mask(str(error))) from None
        finally:
            self._places.release()

    def _search(self, asked: Query) -> Ranking:
        """The ranking of *asked*, by the suite's request."""
        cell, search = self.answered.cell, self.answered.search
        if search is None:
            raise SearchError("the server did not answer when judging began")
        suite = replace(self.suite, queries=(asked,))
        template = choose_template(suite, self.answered.run.request)
        if "text" not in template.placeholders:
            raise UsageError(f"the request {template.name} has no {{{{text}}}} to search other words with; give an id")
        has_hooks = cell.options.hooks.has_search_hooks
        [request] = plan_searches(suite, template.name, further=False, titles=has_hooks).requests
        request = replace(request, index=self.answered.run.index)
        response: Response
        [response] = cell.options.hooks.wrap(search, {}).search([request], budget=_SECONDS)
        if isinstance(response, Failure):
            raise SearchError(failure_text(response))
        return response

    def _describe(self, query: Query, hits: Sequence[Hit], *, are_ids: bool = False) -> list[PooledDocument]:
        """*hits* with what is shown of them; those that have only an id are left out if they do not exist."""
        run, search = self.answered.run, self.answered.search
        if search is None or not hits:
            return []
        # No grade, so that each hit is in the pool.
        suite = replace(self.suite, queries=(replace(query, judgments={}),))
        pooled = PooledRun(run.request, replace(run, responses={query.id: Ranking(hits=tuple(hits))}))
        pool = pool_runs(suite, [pooled], len(hits))
        read = look_up_texts if are_ids else read_pooled_texts
        texts, notes = read(search, suite, pool, [pooled], self.shown)
        if are_ids:
            if notes and not texts:
                raise SearchError(notes[0])
            existing = [document for document in pool.documents if (query.id, document.document) in texts]
            pool = replace(pool, documents=tuple(existing))
        texts = {place: redact(hit, self.answered.cell.masker.mask) for place, hit in texts.items()}
        shown = self.shown.fields or list_shown_fields(suite, [run.request])
        pool = add_texts(pool, texts, suite.display, shown)
        return [replace(document, ranks={}) for document in pool.documents]
