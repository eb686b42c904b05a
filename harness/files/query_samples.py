"""
The random sample of a suite's queries that people grade, in a JSON file beside the suite.

It is drawn before anything is graded: queries that somebody chose say nothing of the others. The file names the sizes
at which an estimate decides, before anybody knows what it says: who looks after each query until it passes is wrong
more often than promised.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.errors import FormatError, UsageError
from harness.extensions import Remedy, find_remedy
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.files.versioned import VersionedJson
from harness.masking import fingerprint
from harness.model.suite import QuerySample, Suite
from harness.words import count


@cache
def _make_form() -> VersionedJson[QuerySample]:
    """The form of the file."""
    remedy = find_remedy(Remedy.DRAW_SAMPLE, "draw one with `{command}`", suite="SUITE", size="N", seed="S")
    return VersionedJson(
        QuerySample,
        "sample of queries",
        remedy=remedy or "restore the file",
        is_merged=True,
        is_strict=True,
        had_no_version=True,
    )


def build_sample_path(suite: Path) -> Path:
    """
    The file of the sample of *suite*.

    >>> str(build_sample_path(Path("shop.relevance.yaml")))
    'shop.sample.json'
    """
    return suite.with_name(f"{cut_suffix(suite)}.sample.json")


def draw_sample(queries: Collection[str], size: int, seed: int) -> QuerySample:
    """
    Draw *size* of *queries*, each with the same chance; a larger size with the same *seed* adds to a smaller one.

    Raises:
        UsageError: There are fewer queries.
    """
    if not 1 <= size <= len(queries):
        raise UsageError(
            f"found {size} queries to draw, expected 1 to {len(queries)}, the number of the suite's queries"
        )
    shuffled = sorted(queries)
    random.Random(seed).shuffle(shuffled)
    return QuerySample(seed, tuple(shuffled[:size]), fingerprint_population(queries), (size,))


def choose_sample(suite_path: Path, suite: Suite, sizes: Sequence[int], seed: int) -> QuerySample:
    """
    The sample of *suite* where estimates decide at *sizes*: the kept one, else a new one, which is still to be written.

    Args:
        suite_path: Where the suite stands.
        suite: Whose queries are drawn.
        sizes: Ascending; the last one is that of the sample. Of a sample that is kept, also one of its sizes.
        seed: Of the order in which queries are drawn.

    Raises:
        FormatError: The file of the sample is none.
        UsageError: The sample that is kept was drawn otherwise, or decides at other sizes.
    """
    path = build_sample_path(suite_path)
    queries = [query.id for query in suite.queries]
    drawn = replace(draw_sample(queries, sizes[-1], seed), sizes=tuple(sizes))
    if not BesideFile(path).exists():
        return drawn
    kept = read_sample(path, suite.roots)
    is_same_draw = (kept.seed, kept.population) == (seed, drawn.population)
    is_same_order = is_same_draw and kept.queries[: sizes[-1]] == drawn.queries
    is_same_size = drawn.sizes == kept.looks or (len(sizes) == 1 and sizes[0] in kept.looks)
    if is_same_order and is_same_size:
        return kept
    named = ",".join(map(str, kept.looks))
    raise UsageError(
        f"{path} holds {count(len(kept.queries), 'query')} drawn with seed {kept.seed}, perhaps from other queries of "
        f"the suite, with estimates at {named} judged queries; found {','.join(map(str, sizes))} with seed {seed}, "
        f"expected --sample {named} or one of these sizes, with seed {kept.seed}: sizes are named before anybody "
        "grades; remove the file to draw others before that"
    )


def is_drawn(sample: QuerySample, queries: Collection[str]) -> bool:
    """Whether *sample* is what its seed draws of *queries*; one that somebody chose or changed is not."""
    if not 1 <= len(sample.queries) <= len(queries):
        return False
    drawn = draw_sample(queries, len(sample.queries), sample.seed)
    return replace(sample, sizes=drawn.sizes) == drawn


def fingerprint_population(queries: Iterable[str]) -> str:
    """A fingerprint of the ids *queries*, whatever their order."""
    return fingerprint(sorted(queries))


def write_sample(path: Path, sample: QuerySample, roots: Sequence[str] = ()) -> None:
    """
    Write *sample* to *path*, which must be in *roots*.

    Raises:
        UsageError: It cannot be written.
    """
    _make_form().write(BesideFile(path, roots), replace(sample, sizes=sample.looks))


def read_sample(path: Path, roots: Sequence[str] = ()) -> QuerySample:
    """
    Read the sample in *path*, which must be in *roots*.

    Raises:
        FormatError: The file cannot be read, or is none that was written here.
    """
    form = _make_form()
    sample = form.read(BesideFile(path, roots, follows_links=True))
    # A file without sizes was written when each number of judged queries decided: its sample decides as a whole.
    sizes = sample.looks
    if list(sizes) != sorted(set(sizes)) or sizes[0] < 1 or sizes[-1] != len(sample.queries):
        found = f"found sizes {list(sizes)} of {count(len(sample.queries), 'query')}"
        expected = "expected ascending sizes of which the last is the number of queries"
        raise FormatError.at(path, 0, 0, f"not a sample of queries: {found}, {expected}; {form.remedy}")
    return replace(sample, sizes=sizes)
