"""
The hold-out of a suite: the queries that no trial of a tuning is sent, in a JSON file beside the suite.

It is drawn before the first trial and kept, with each decision that was made on it: a hold-out that is drawn anew, or
looked at again and again, is tuned on in the end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unicodedata import normalize

from harness.errors import UsageError
from harness.extensions.tuning.model import HoldOut, HoldOutLook
from harness.files.beside import BesideFile
from harness.files.paths import cut_suffix
from harness.files.query_samples import fingerprint_population
from harness.files.versioned import VersionedJson
from harness.model.suite import Query, Suite
from harness.words import count

_FORM = VersionedJson(
    HoldOut, "hold-out", remedy="put back the file that was there", is_merged=True, is_strict=True, had_no_version=True
)

_SHARE = 0.4
"""The share of the queries that are held out."""


def build_hold_out_path(suite: Path) -> Path:
    """
    The file of the hold-out of *suite*.

    >>> str(build_hold_out_path(Path("shop.relevance.yaml")))
    'shop.holdout.json'
    """
    return suite.with_name(f"{cut_suffix(suite)}.holdout.json")


def draw_hold_out(queries: Sequence[Query], share: float, seed: int) -> HoldOut:
    """
    Draw about *share* of *queries* at random, with the same tags and weights as the others as far as possible.

    The queries are ordered by whether some result is right for them, by their tags, then by weight, and in random order
    where these are alike; one is drawn from each of as many pieces of this order as there are queries to draw. At least
    one is drawn, and one is left. Queries of the same text, and those that the suite calls the same, are drawn
    together: who has tuned on one has seen both.

    Raises:
        UsageError: There are fewer than two queries that are not the same.
    """
    families = group_same_queries(queries)
    if len(families) < 2:
        found = count(len(families), "different query")
        raise UsageError(f"found {found}, expected at least 2: one to tune on, one to hold out")
    generator = random.Random(seed)
    shuffled = sorted(families, key=lambda family: family[0].id)
    generator.shuffle(shuffled)

    def rank_family(family: Sequence[Query]) -> tuple[bool, list[str], float]:
        """Sorts families that are alike beside each other."""
        return family[0].nothing, sorted(family[0].tags), sum(query.weight for query in family)

    ordered = sorted(shuffled, key=rank_family)
    size = min(max(round(len(ordered) * share), 1), len(ordered) - 1)
    drawn: set[str] = set()
    for piece in range(size):
        first, end = piece * len(ordered) // size, (piece + 1) * len(ordered) // size
        drawn.update(query.id for query in ordered[generator.randrange(first, end)])
    ids = tuple(query.id for query in queries if query.id in drawn)
    return HoldOut(seed, share, ids, fingerprint_population(query.id for query in queries))


def group_same_queries(queries: Sequence[Query]) -> list[list[Query]]:
    """The *queries* in groups of the same text, or that the suite calls the same; most groups have one query."""
    root_of: dict[str, str] = {}

    def find_root(name: str) -> str:
        while root_of.setdefault(name, name) != name:
            name = root_of[name]
        return name

    for query in queries:
        others = [f"query {variant.id}" for variant in query.variants if variant.is_query]
        text = simplify_text(query.text)
        if text:
            others.append(f"text {text}")
        for other in others:
            root_of[find_root(other)] = find_root(f"query {query.id}")
    families: dict[str, list[Query]] = {}
    for query in queries:
        families.setdefault(find_root(f"query {query.id}"), []).append(query)
    return list(families.values())


def simplify_text(text: str) -> str:
    r"""
    What the texts of queries share that are the same but for case, blanks and the form in Unicode.

    >>> simplify_text("  Red \tSHOES "), simplify_text("cafe\u0301") == simplify_text("caf\u00e9")
    ('red shoes', True)
    """
    return " ".join(normalize("NFKC", text).casefold().split())


def load_hold_out(path: Path, queries: Sequence[Query], seed: int, roots: Sequence[str] = ()) -> HoldOut:
    """
    The hold-out that *path* has; else one that is drawn from *queries*, which `keep_hold_out` writes.

    Args:
        path: The file of the hold-out.
        queries: All queries of the suite.
        seed: The seed to draw with; the file has its own.
        roots: The folders that the file may be in, those of `Suite.roots`.

    Raises:
        FormatError: The file is none of a hold-out.
        UsageError: It was drawn from other queries.
    """
    if not BesideFile(path).exists():
        return draw_hold_out(queries, _SHARE, seed)
    hold_out = read_hold_out(path, roots)
    if hold_out.population != fingerprint_population(query.id for query in queries):
        raise UsageError(
            f"{path} was drawn from other queries than those that the suite has now; without the file another one is "
            "drawn, of which earlier trials and decisions may have seen queries: only queries that are new are "
            "evidence then"
        )
    return hold_out


def keep_hold_out(path: Path, hold_out: HoldOut, roots: Sequence[str] = ()) -> None:
    """
    Write *hold_out* to *path*, if it was drawn now.

    Raises:
        UsageError: It cannot be written, or another tuning has written another one meanwhile.
    """
    if not BesideFile(path).exists():
        write_hold_out(path, hold_out, roots)
    elif set(read_hold_out(path, roots).queries) != set(hold_out.queries):
        raise UsageError(f"{path} was written by another tuning meanwhile; the same command takes it")


def add_look(path: Path, hold_out: HoldOut, look: HoldOutLook, roots: Sequence[str] = ()) -> HoldOut:
    """*hold_out* with *look*, which is written to *path*; a look at the same two requests again is no other one."""
    looks = {known.compared: known for known in hold_out.looks}
    known = looks.setdefault(look.compared, look)
    # Looks of earlier versions do not say what was chosen.
    looks[look.compared] = replace(known, choice=known.choice or look.choice)
    looked = replace(hold_out, looks=tuple(looks.values()))
    if looked == hold_out:
        return hold_out
    write_hold_out(path, looked, roots)
    return looked


def list_choosing_queries(suite: Suite, request: str) -> frozenset[str]:
    """
    The queries of *suite* by which the request with the fingerprint *request* was chosen; none where it was not.

    Raises:
        FormatError: The file of the hold-out cannot be read, or is none that was written here.
    """
    path = build_hold_out_path(Path(suite.path))
    if not BesideFile(path).exists():
        return frozenset()
    hold_out = read_hold_out(path, suite.roots)
    if all(look.choice != request for look in hold_out.looks):
        return frozenset()
    return frozenset(query.id for query in suite.queries) - set(hold_out.queries)


def write_hold_out(path: Path, hold_out: HoldOut, roots: Sequence[str] = ()) -> None:
    """
    Write *hold_out* to *path*, which must be in *roots*.

    Raises:
        UsageError: It cannot be written.
    """
    _FORM.write(BesideFile(path, roots), hold_out)


def read_hold_out(path: Path, roots: Sequence[str] = ()) -> HoldOut:
    """
    Read the hold-out in *path*, which must be in *roots*.

    Raises:
        FormatError: The file cannot be read, or is none that was written here.
    """
    return _FORM.read(BesideFile(path, roots, follows_links=True))
