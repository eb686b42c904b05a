"""
The answer of an HTTP service -> a ranking, or why there is none, by the paths of the request.

Where the request has a path to the hits, the other paths of hits are read in each of them. Else each path finds a list
for the whole answer, and values belong together by the list indexes in their places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from jsonpath import JSONPathError

from harness.metrics.ranking import finite
from harness.model.run import Failure, FailureKind, FieldScalar, Hit, Ranking, Response
from harness.model.suite import HttpRequest, Json
from harness.search.hits import (
    MalformedAnswer,
    describe_kind,
    describe_value,
    drop_repeated_hits,
    is_text,
    list_scalars,
    make_excerpt,
    make_printable,
    make_storable,
    read_score,
    read_total,
)
from harness.search.jsonpaths import (
    SECONDS_TO_MATCH,
    MissingList,
    find_all,
    find_column,
    find_items,
    list_members,
    start_matching,
)
from harness.search.texts import find_url, make_text
from harness.words import count

NUMBER_TEXT = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
"""A text that is a number of JSON. Services write 64-bit numbers so, because JavaScript has fewer bits."""


@dataclass(frozen=True, slots=True)
class _HitValues:
    """What the paths of a request find of one hit; None where they find nothing."""

    identity: Json
    score: Json = None
    title: Json = None
    sort: tuple[Json, ...] = ()
    """A value for each path of the order."""
    fields: Mapping[str, Json] = field(default_factory=dict)


def read_service_answer(content: Json, http: HttpRequest) -> Response:
    """
    The ranking in *content*, found by the paths of *http*; a failure if the service says that there is none.

    Raises:
        MalformedAnswer: A path finds nothing, or a value of the wrong type, or a regular expression takes too long.
        UsageError: A path is not a JSONPath.
    """
    with _follow_paths(http):
        return _read_response(content, http)


def read_error(content: Json, http: HttpRequest) -> str:
    """
    The reason in *content*, the answer with an error status to *http*; empty if it gives none at the path for it.

    Raises:
        MalformedAnswer: As `read_service_answer`.
        UsageError: A path is not a JSONPath.
    """
    with _follow_paths(http):
        return _find_error(content, http)


@contextmanager
def _follow_paths(http: HttpRequest) -> Iterator[None]:
    """Raise MalformedAnswer for an answer in which the paths of *http* cannot be followed to their end."""
    start_matching()
    try:
        yield
    except TimeoutError:
        raise MalformedAnswer(
            f"the regular expressions of the paths take more than {SECONDS_TO_MATCH:g} s for this answer"
        ) from None
    except (JSONPathError, RecursionError) as error:
        # The library follows `..` a hundred levels down.
        paths = ", ".join(f"`{path}`" for path in http.response_paths)
        raise MalformedAnswer(f"the nesting of the answer is too deep for {paths}: name the list") from error


def _find_error(content: Json, http: HttpRequest) -> str:
    """The reason that an answer without hits gives; empty if it gives none."""
    if http.error is None:
        return ""
    reasons = []
    for value in find_all(content, http.error):
        if _is_set(value):
            text = value if isinstance(value, str) else make_text(value)
            reasons.append(make_excerpt(make_printable(text)) or describe_value(value))
    return "; ".join(dict.fromkeys(reasons))


def _read_response(content: Json, http: HttpRequest) -> Response:
    if not isinstance(content, (Mapping, list)):
        raise MalformedAnswer(f"the answer should be an object or a list, found {describe_kind(content)}")
    error, partial = _find_error(content, http), _find_partial(content, http)
    try:
        ranking = _read_ranking(content, http)
    except MalformedAnswer:
        # What is wrong with the hits follows from what the service says about them.
        if error:
            return Failure(FailureKind.ERROR, error)
        if partial:
            return Failure(FailureKind.PARTIAL, partial)
        raise
    if error and not ranking.hits:
        return Failure(FailureKind.ERROR, error)
    _check_partial(content, http)
    if error and not partial:
        # As of a shard that failed, or of one field of GraphQL.
        partial = f"the service returned hits and an error (`{http.error}`): {error}"
    return Failure(FailureKind.PARTIAL, partial) if partial else ranking


def _find_partial(content: Json, http: HttpRequest) -> str:
    """Why the results in *content* are not those of all documents, in words; empty if they are."""
    if http.partial is None:
        return ""
    for value in find_all(content, http.partial):
        if _is_set(value):
            found = make_excerpt(make_text(value), 200) or describe_value(value)
            return f"the service searched only a part of the documents (`{http.partial}`: {found})"
    return ""


def _check_partial(content: Json, http: HttpRequest) -> None:
    """
    Refuse a path of `partial` that finds nothing: if it is misspelled, results of half of the documents would pass.

    A preset knows where its engine leaves it out, and a suite says so.
    """
    if http.partial is None or http.partial_optional or "partial" in http.preset_paths:
        return
    if not find_all(content, http.partial):
        raise MalformedAnswer(
            f"`{http.partial}` of `partial` finds nothing{list_members(content)}; correct the path, or set "
            "`partial_optional: true` if the service leaves it out where all documents were searched"
        )


def _is_set(value: Json) -> bool:
    """Whether *value* says that there is something: it is not null, false, 0, empty, or "false"."""
    return bool(value) and value != "false"


def _read_ranking(content: Json, http: HttpRequest) -> Ranking:
    """The ranking in *content*, whatever else it says."""
    took, took_doubt = _find_took(content, http)
    try:
        values_of_hits = _read_each_hit(content, http) if http.hits else _read_columns(content, http)
    except MissingList as error:
        total, total_doubt = _read_missing_list(content, http, error)
        return Ranking(total=total, took=took, total_doubt=total_doubt, took_doubt=took_doubt, exact_scores=True)
    _check_found(values_of_hits, http)
    hits = [_make_hit(values, http) for values in values_of_hits]
    unique_hits, duplicates = drop_repeated_hits(hits, unique_ids=http.unique_ids)
    total, is_lower_bound, total_doubt = _find_total(content, http, len(hits))
    if total and not hits:
        matches = count(total, "document")
        place = http.hits or http.ids
        found = "no hit" if http.hits else "no id"
        raise MalformedAnswer(f"`{place}` finds {found}, and `{http.total}` says that {matches} match")
    return Ranking(
        unique_hits,
        total=total,
        took=took,
        total_is_lower_bound=is_lower_bound,
        duplicates=duplicates,
        total_doubt=total_doubt,
        took_doubt=took_doubt,
        exact_scores=True,
    )


# The hits.


def _read_columns(content: Json, http: HttpRequest) -> list[_HitValues]:
    """What the paths, each to a list in the whole answer, find of each hit."""
    ids = find_items(content, http.ids)
    scores = _find_optional_column(content, http.scores, ids)
    titles = _find_optional_column(content, http.titles, ids)
    orders = [find_column(content, path, ids) for path in http.sort]
    columns = {name: find_column(content, path, ids) for name, path in http.fields.items()}
    values_of_hits = []
    for place, identity in ids.items():
        sort = tuple(order.get(place) for order in orders)
        fields = {name: column.get(place) for name, column in columns.items()}
        values_of_hits.append(_HitValues(identity, scores.get(place), titles.get(place), sort, fields))
    return values_of_hits


def _find_optional_column(
    content: Json, text: str | None, ids: Mapping[tuple[int, ...], Json]
) -> Mapping[tuple[int, ...], Json]:
    return {} if text is None else find_column(content, text, ids)


def _read_each_hit(content: Json, http: HttpRequest) -> list[_HitValues]:
    """What the paths, of which `$` is a hit, find in each of the hits."""
    values_of_hits = []
    for rank, hit in enumerate(find_items(content, http.hits or "").values(), start=1):
        identities = find_all(hit, http.ids)
        if len(identities) != 1:
            raise MalformedAnswer(_explain_no_id(content, hit, rank, http))
        values_of_hits.append(
            _HitValues(
                identities[0],
                None if http.scores is None else _find_single(hit, http.scores, rank),
                None if http.titles is None else _find_any(hit, http.titles),
                tuple(_find_single(hit, path, rank) for path in http.sort),
                {name: _find_any(hit, path) for name, path in http.fields.items()},
            )
        )
    return values_of_hits


def _explain_no_id(content: Json, hit: Json, rank: int, http: HttpRequest) -> str:
    """Why *hit*, at *rank* of *content*, has no id, as a sentence with the likely mistake."""
    found = find_all(hit, http.ids)
    what = count(len(found), "value") if found else "nothing"
    sentence = f"`{http.ids}` should find one id in each hit, found {what} in hit {rank}"
    if not found and find_all(content, http.ids):
        return f"{sentence}, but in the whole answer: where `hits` is given, `$` is the hit"
    return sentence + list_members(hit, "the hit")


def _find_single(hit: Json, text: str, rank: int) -> Json:
    """The only value at the path *text* in *hit*; None if there is none."""
    values = find_all(hit, text)
    if len(values) > 1:
        raise MalformedAnswer(f"`{text}` should find one value in each hit, found {len(values)} in hit {rank}")
    return values[0] if values else None


def _find_any(hit: Json, text: str) -> Json:
    """The value at the path *text* in *hit*, a list if there are several; None if there is none."""
    values = find_all(hit, text)
    if len(values) > 1:
        return values
    return values[0] if values else None


def _check_found(values_of_hits: list[_HitValues], http: HttpRequest) -> None:
    """Refuse a path of scores or of the order that finds nothing in any hit, unless it is that of a preset."""
    if not values_of_hits:
        return
    number = count(len(values_of_hits), "hit")
    needs_scores = http.scores is not None and "scores" not in http.preset_paths
    if needs_scores and all(values.score is None for values in values_of_hits):
        raise MalformedAnswer(f"`{http.scores}` finds no score of {number}; if there are none, remove it")
    order = () if "sort" in http.preset_paths else http.sort
    for place, path in enumerate(order):
        if all(values.sort[place] is None for values in values_of_hits):
            raise MalformedAnswer(f"`{path}` finds no value of {number} for the order; if there are none, remove it")


def _make_hit(values: _HitValues, http: HttpRequest) -> Hit:
    identity = values.identity
    if not is_text(identity) and type(identity) is not int:
        raise MalformedAnswer(
            f"`{http.ids}` should find ids, which are texts or whole numbers; found {describe_value(identity)}"
        )
    texts: Mapping[str, str] | None = None
    urls: Mapping[str, str] | None = None
    scalars: Mapping[str, tuple[FieldScalar, ...]] | None = None
    if http.fields:
        texts, urls, scalars = _make_texts(values.fields), _find_urls(values.fields), _list_values(values.fields)
    return Hit(
        str(identity),
        read_score(_read_number(values.score), f"`{http.scores}`"),
        _make_title(values.title),
        texts=texts,
        sort=tuple(map(make_storable, values.sort)) if http.sort else None,
        urls=urls,
        values=scalars,
    )


def _make_title(value: Json) -> str | None:
    """*value* as a title: a text as it is, or all texts and numbers in it."""
    if isinstance(value, str):
        return make_printable(value)
    return make_text(value) or None


def _make_texts(values: Mapping[str, Json]) -> dict[str, str]:
    texts = {name: make_text(value) for name, value in values.items()}
    return {name: text for name, text in texts.items() if text}


def _list_values(values: Mapping[str, Json]) -> dict[str, tuple[FieldScalar, ...]]:
    scalars = {name: tuple(list_scalars(value)) for name, value in values.items()}
    return {name: found for name, found in scalars.items() if found}


def _find_urls(values: Mapping[str, Json]) -> dict[str, str]:
    urls = {name: find_url(value) for name, value in values.items()}
    return {name: url for name, url in urls.items() if url is not None}


def _read_number(value: Json) -> Json:
    """
    The number that a text spells; any other value as it is.

    >>> _read_number("0.25"), _read_number("17"), _read_number("high"), _read_number(3)
    (0.25, 17, 'high', 3)
    """
    if not isinstance(value, str) or NUMBER_TEXT.fullmatch(value) is None:
        return value
    try:
        return int(value)
    except ValueError:
        return float(value)


# What is beside the hits.


def _read_missing_list(content: Json, http: HttpRequest, error: MissingList) -> tuple[int | None, str]:
    """
    The total of an answer that has no list of hits, where nothing matches, or why it is unknown.

    The total must say so, or the suite, if the list alone is missing: an error has no list either.

    Raises:
        MalformedAnswer: *error*, if neither says so.
    """
    total, _, doubt = _find_total(content, http, 0)
    if total == 0:
        return 0, ""
    # A service that leaves an empty list out may leave a total of 0 out too.
    if total is None and http.ids_optional and error.has_parent:
        if http.total is not None and find_all(content, http.total):
            return None, doubt
        return 0, ""
    raise error


def _find_total(content: Json, http: HttpRequest, returned: int) -> tuple[int | None, bool, str]:
    """The number of matching documents, whether it is a lower bound, and why it is unknown."""
    if http.total is None:
        return None, False, ""
    values = find_all(content, http.total)
    if len(values) != 1:
        return None, False, f"`{http.total}` finds {len(values)} values"
    is_lower_bound, doubt = _find_lower_bound(content, http)
    if doubt:
        return None, False, doubt
    # A lower bound may be less than the hits that came with it.
    total, doubt = read_total(_read_number(values[0]), f"`{http.total}`", 0 if is_lower_bound else returned)
    return total, is_lower_bound and total is not None, doubt


def _find_lower_bound(content: Json, http: HttpRequest) -> tuple[bool, str]:
    """Whether the total is a lower bound only, or why that is unknown."""
    if http.total_exact is None:
        return False, ""
    values = find_all(content, http.total_exact)
    if not values and "total_exact" in http.preset_paths:
        return False, ""
    if len(values) != 1:
        return False, f"`{http.total_exact}` finds {len(values)} values"
    if not isinstance(values[0], bool):
        return False, f"`{http.total_exact}` is {describe_value(values[0])}, which is neither true nor false"
    return not values[0], ""


def _find_took(content: Json, http: HttpRequest) -> tuple[float | None, str]:
    """The service's own milliseconds, or why they are unknown."""
    if http.took is None:
        return None, ""
    values = find_all(content, http.took)
    if len(values) != 1:
        return None, f"`{http.took}` finds {len(values)} values"
    milliseconds = finite(_read_number(values[0]))
    if milliseconds is None or milliseconds < 0:
        return None, f"`{http.took}` is {describe_value(values[0])}"
    return milliseconds, ""
