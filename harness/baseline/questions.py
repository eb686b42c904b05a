"""
What a request asked of each query: the values of the query that the request uses.

Only these decide what was sent. So a baseline of a lexical request stays valid where `vectors:`, a param, or anything
else that another request uses, is added or changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from harness.masking import Masker, fingerprint, keep_small, shorten_vector, shorten_vectors
from harness.model.baseline import TEXT, BaselineQuery, Question
from harness.model.run import Run
from harness.model.suite import Json, Query, Suite


@dataclass(frozen=True, slots=True)
class UsedValues:
    """The values of a query that a request uses, by the *names* of its placeholders; None for all that a query has."""

    names: frozenset[str] | None
    vectors: frozenset[str] = frozenset()
    """The names of params that are vectors from files, of any length."""

    def fingerprint(self, query: Query) -> str:
        """
        The name and a fingerprint of each value of *query* that is used. Logins in a value do not count.

        >>> UsedValues(frozenset({"near"})).fingerprint(Query("q", "tent", {"near": [0.5, 1], "brand": "Acme"}))
        'near:e3d6ebbc8bdf12f7'
        """
        values = _read_masked_values(query)
        fingerprints = {}
        for name, value in self._select(values["text"], values["params"]).items():
            # A value with a variable differs where the variable has another value. Of that a fingerprint is known.
            text = json.dumps(value)
            digests = values.get("values", {})
            variables = {variable: digests[variable] for variable in digests if f"${{{variable}}}" in text}
            fingerprints[name] = fingerprint([value, variables]) if variables else fingerprint(value)
        return " ".join(f"{name}:{fingerprints[name]}" for name in sorted(fingerprints))

    def make_question(self, query: Query, masker: Masker) -> Question:
        """The text of *query* and the params that are used, with secrets hidden by *masker*."""
        values = _read_masked_values(query)
        params = self._select(values["text"], values["params"])
        params.pop(TEXT, None)
        return Question(self.fingerprint(query), masker.mask(values["text"]), keep_small(masker.mask_json(params)))

    def _select(self, text: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The used ones of *text* and *params*, with vectors shortened."""
        values = {}
        for name, value in {**params, TEXT: text}.items():
            if self.names is not None and name not in self.names:
                continue
            is_vector = name in self.vectors and isinstance(value, list)
            values[name] = shorten_vector(value) if is_vector else shorten_vectors(value)
        return values


def select_request_values(suite: Suite, request: str) -> UsedValues:
    """What the request of that name uses; all values if *suite* has no such request."""
    template = suite.requests.get(request)
    if template is None:
        return select_all_values(suite)
    return UsedValues(template.placeholders, frozenset(suite.vectors))


def select_run_values(suite: Suite, run: Run) -> UsedValues:
    """What the request of *run* used; all values if hooks, which see the whole query, could change it."""
    if run.hooked:
        return select_all_values(suite)
    return select_request_values(suite, run.request)


def select_all_values(suite: Suite) -> UsedValues:
    """All values of a query."""
    return UsedValues(None, frozenset(suite.vectors))


def read_question(kept: BaselineQuery) -> Question:
    """The question of a query in a baseline."""
    return Question(kept.question, kept.text, kept.params)


def fits_fingerprints(kept: BaselineQuery) -> bool:
    """Whether the fingerprints of *kept* are those of its text and params, as far as these are known and not masked."""
    fingerprints = read_question(kept).fingerprints
    # Every request uses a value, so one without fingerprints was not written by the harness.
    if not fingerprints:
        return False
    if kept.params is None:
        return True
    if not kept.params.keys() <= fingerprints.keys():
        return False
    values = {**kept.params, TEXT: kept.text}
    return all(name in values and fits_fingerprint(values[name], digest) for name, digest in fingerprints.items())


def fits_fingerprint(value: Json, expected: str | None) -> bool:
    """Whether *expected* is the fingerprint of *value*; true if a part of it is masked, which cannot be checked."""
    return "${" in json.dumps(value) or fingerprint(value) == expected


def _read_masked_values(query: Query) -> Json:
    """The text and the params as they are written, where the environment has values of their variables."""
    return {"text": query.text, "params": query.params} if query.masked is None else query.masked
