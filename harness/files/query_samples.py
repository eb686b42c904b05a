"""
The random sample of a suite's queries that people grade, in a JSON file beside the suite.

It is drawn before anything is graded: queries that somebody chose say nothing of the others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from harness.errors import FormatError, UsageError
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.masking import fingerprint
from harness.model import QuerySample, Suite
from harness.words import count


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
    return QuerySample(seed, tuple(shuffled[:size]), fingerprint_population(queries))


def extend_sample(suite_path: Path, suite: Suite, size: int, seed: int) -> QuerySample:
    """
    The sample of *suite*, whose file is *suite_path*: the kept one, extended to *size*, else a new one, which is still
    to be written.

    Raises:
        FormatError: The file of the sample is none.
        UsageError: The sample that is kept was drawn otherwise, or is larger.
    """
    path = build_sample_path(suite_path)
    sample = draw_sample([query.id for query in suite.queries], size, seed)
    if BesideFile(path).exists():
        kept = read_sample(path, suite.roots)
        is_extended = kept.queries == sample.queries[: len(kept.queries)]
        if kept.population != sample.population or not is_extended:
            queries = count(len(kept.queries), "query")
            raise UsageError(
                f"{path} holds {queries} drawn with seed {kept.seed}, perhaps from other queries of the suite, which "
                f"{size} drawn with seed {seed} do not extend; remove it to draw others, before anybody grades"
            )
    return sample


def is_drawn(sample: QuerySample, queries: Collection[str]) -> bool:
    """Whether *sample* is what its seed draws of *queries*; one that somebody chose or changed is not."""
    if not 1 <= len(sample.queries) <= len(queries):
        return False
    return sample == draw_sample(queries, len(sample.queries), sample.seed)


def fingerprint_population(queries: Iterable[str]) -> str:
    """A fingerprint of the ids *queries*, whatever their order."""
    return fingerprint(sorted(queries))


def write_sample(path: Path, sample: QuerySample, roots: Sequence[str] = ()) -> None:
    """
    Write *sample* to *path*, which must be in *roots*.

    Raises:
        UsageError: It cannot be written.
    """
    content = {"seed": sample.seed, "population": sample.population, "queries": sample.queries}
    try:
        BesideFile(path, roots).write(json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None


def read_sample(path: Path, roots: Sequence[str] = ()) -> QuerySample:
    """
    Read the sample in *path*, which must be in *roots*.

    Raises:
        FormatError: The file cannot be read, or is none that was written here.
    """
    try:
        content = json.loads(BesideFile(path, roots, follows_links=True).read())
        return QuerySample(int(content["seed"]), tuple(map(str, content["queries"])), str(content["population"]))
    except OSError as error:
        raise FormatError.at(path, 0, 0, f"the file cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        message = "this is no sample of queries, expected an object with seed, population and queries"
        raise FormatError.at(path, 0, 0, f"{message}; draw one with `harness judge SUITE --sample N`") from None
