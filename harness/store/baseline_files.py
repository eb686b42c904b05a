"""
The file of a suite's baselines: one JSON file beside it.

People read it in a diff, so it is sorted, with one fact of a query a line. Its numbers are exact.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.errors import BaselineError, FormatError, MissingBaseline, UnwritableBaseline
from harness.files.beside import BesideFile
from harness.files.border import Border
from harness.files.versioned import MOST_READ, VersionedJson, read_limited
from harness.files.writing import is_replaceable, write_whole
from harness.model.kept import BaselineFile
from harness.model.suite import Json, Suite
from harness.options import format_options

_SUFFIX = ".baseline.json"
"""How the name of a file of baselines ends beside its suite."""

_FIRST_BYTES = 65_536


def build_baseline_path(suite: str | Path) -> Path:
    """
    The path of a suite's baselines: beside the suite.

    >>> build_baseline_path("suites/products.relevance.yaml").as_posix()
    'suites/products.baseline.json'
    """
    path = Path(suite)
    stem = path.name.removesuffix(path.suffix).removesuffix(".relevance")
    return path.with_name(f"{stem}{_SUFFIX}")


def find_baseline(suite: str | Path, roots: Sequence[str], file: Path | None) -> Path:
    """
    The path of the baselines of a suite: *file*, which the user named, else the one beside the suite.

    Args:
        suite: The file of the suite.
        roots: As `Suite.roots`; empty if the suite could not be loaded.
        file: The file that the user named.

    Raises:
        UnwritableBaseline: The one beside the suite, or its folder, is a link that leads out of *roots*.
    """
    if file is not None:
        return file
    path = build_baseline_path(suite)
    # The folder may be a link too.
    linked = path if path.is_symlink() else path.parent
    folders = list(map(Path, roots)) or [path.parent]
    sentence = Border(path.parent, folders).explain_refusal(linked)
    if sentence:
        what = "is a link" if linked == path else "is in a folder with a link"
        raise UnwritableBaseline(
            f"the baseline {path.as_posix()} {what} that is not followed: what it leads to {sentence}; remove the link"
        )
    return path


def choose_roots(suite: Suite, file: Path | None) -> Sequence[str] | None:
    """The folders that the baselines of *suite* may be in: those of the suite, and any for a *file* that was named."""
    return suite.roots if file is None else None


def has_baseline(suite: Suite, file: Path | None) -> bool:
    """Whether *file* was named, or there is a file of baselines beside the suite."""
    return file is not None or (bool(suite.path) and build_baseline_path(suite.path).exists())


def suggest_save(suite: str | Path, file: Path | None = None, searched: Mapping[str, str | bool] | None = None) -> str:
    """
    What to do about an unusable baseline.

    Args:
        suite: The file of the suite.
        file: The file of baselines that was named in place of the one beside the suite.
        searched: `RunOptions.searched` of the run that has no baseline.
    """
    options = dict(searched or {})
    if file is not None:
        options["baseline"] = file.as_posix()
    words = format_options(options)
    return f"`{shlex.join(['relevance', 'baseline', 'save', Path(suite).as_posix(), *words])}` saves one"


def read_baselines(path: Path, roots: Sequence[str] | None = None) -> BaselineFile:
    """
    Read a file of baselines.

    Args:
        path: The file.
        roots: As of `choose_roots`.

    Raises:
        BaselineError: The file does not exist, cannot be read, is not a baseline, or is of another version.
    """
    file = None if roots is None else BesideFile(path, roots, follows_links=True)
    try:
        content = read_limited(path) if file is None else file.read(MOST_READ)
    except FileNotFoundError:
        raise MissingBaseline(f"there is no baseline: {path.as_posix()} does not exist") from None
    except OSError as error:
        raise BaselineError(f"the baseline {path.as_posix()} cannot be read: {error.strerror or error}") from None
    return loads(content, path.as_posix())


def loads(text: str | bytes, path: str) -> BaselineFile:
    """As `read_baselines`, from text; *path* is named in errors."""
    try:
        return BASELINES.loads(text, path=path)
    except FormatError as error:
        problem = error.problems[0]
        place = f"{path}:{problem.line}:{problem.column}"
        raise BaselineError(f"the baseline {place} cannot be read: {problem.message}") from None


def _split_rankings(raw: Json) -> Json:
    """
    *raw* with the documents and the scores of each ranking apart, which a file has in pairs.

    Raises:
        ValidationError: A hit is no such pair, or a score is true or false, which pydantic takes for 1 and 0.
    """
    from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

    problems: list[InitErrorDetails] = []
    no_hit = PydanticCustomError("hit", "Input should be a document and its score")
    for place, kept in _list_kept_queries(raw):
        scores = kept.get("scores")
        if isinstance(scores, dict):
            for measure, score in scores.items():
                if isinstance(score, bool):
                    problems.append({"type": "float_type", "loc": (*place, "scores", measure), "input": score})
        # An earlier version may have written a file without what is known of ties.
        kept.setdefault("closed", False)
        ranking = kept.get("ranking", [])
        if not isinstance(ranking, list):
            continue
        for rank, hit in enumerate(ranking):
            if not _is_hit(hit):
                problems.append({"type": no_hit, "loc": (*place, "ranking", rank), "input": hit})
        if not problems:
            kept["ranking"] = [document for document, _ in ranking]
            kept["engine_scores"] = [score for _, score in ranking]
    if problems:
        raise ValidationError.from_exception_data("baseline", problems)
    return raw


def _list_kept_queries(raw: Json) -> Iterator[tuple[tuple[str, ...], dict[str, Json]]]:
    """The place and the content of each query in *raw*; the check of its shape finds where that is another."""
    requests = raw.get("requests") if isinstance(raw, dict) else None
    if not isinstance(requests, dict):
        return
    for request, entry in requests.items():
        queries = entry.get("queries") if isinstance(entry, dict) else None
        if not isinstance(queries, dict):
            continue
        for query, kept in queries.items():
            if isinstance(kept, dict):
                yield ("requests", request, "queries", query), kept


def _is_hit(value: Json) -> bool:
    if not isinstance(value, list) or len(value) != 2 or isinstance(value[1], bool):
        return False
    return isinstance(value[0], str) and (value[1] is None or isinstance(value[1], int | float))


BASELINES = VersionedJson(
    BaselineFile,
    "baseline",
    remedy="`relevance baseline save` writes it anew",
    is_merged=True,
    unpack=_split_rankings,
)


def is_baseline_file(path: Path) -> bool:
    """Whether *path* is named like a file of baselines, is empty, or begins like one."""
    if path.name.endswith(_SUFFIX):
        return True
    with suppress(OSError), path.open("rb") as file:
        begin = file.read(_FIRST_BYTES)
        return not begin.strip() or (begin.startswith(b"{") and b'"requests"' in begin)
    return False


def refuse_irregular(path: Path) -> None:
    """
    Refuse to save baselines at *path* if that is a device, a pipe or a folder, whose content cannot be replaced.

    Raises:
        UnwritableBaseline: Neither a regular file nor nothing is there.
    """
    if not is_replaceable(path):
        raise UnwritableBaseline(f"the baseline {path.as_posix()} cannot be written: it is not a regular file")


def write_baselines(path: Path, file: BaselineFile, roots: Sequence[str] | None = None) -> None:
    """
    Write *file*, whole or not at all; arguments are those of `read_baselines`.

    Raises:
        UnwritableBaseline: It cannot be written.
    """
    try:
        if roots is None:
            write_whole(path, _encode(file))
        else:
            BesideFile(path, roots).write(_encode(file))
    except OSError as error:
        reason = error.strerror or error
        raise UnwritableBaseline(f"the baseline {path.as_posix()} cannot be written: {reason}") from None


def _encode(file: BaselineFile) -> bytes:
    """UTF-8; text with a lone surrogate, which UTF-8 cannot encode, has everything but ASCII escaped."""
    try:
        return dumps(file).encode()
    except UnicodeEncodeError:
        return dumps(file, ascii_only=True).encode()


def dumps(file: BaselineFile, *, ascii_only: bool = False) -> str:
    """
    *file* as JSON text: keys sorted, a line for each fact of a query.

    A weight of 1 is left out, and so are params, a tail, sort values, quotes, a state of its own and a cluster where
    there are none, that scores are not exact, and that a ranking is not short.
    """
    plain = BASELINES.adapter.dump_python(file, mode="json")
    for entry in plain["requests"].values():
        if not entry["cluster"]:
            del entry["cluster"]
        entry["queries"] = {name: _make_plain_query(query) for name, query in entry["queries"].items()}
    return "\n".join(_format_lines(plain, "", ascii_only=ascii_only)) + "\n"


def _make_plain_query(query: dict[str, Json]) -> dict[str, Json]:
    """*query* as the file has it: its ranking in pairs, without what it has by default or what only a history has."""
    scores = query.pop("engine_scores")
    query["ranking"] = [[document, score] for document, score in zip(query["ranking"], scores, strict=True)]
    if query["weight"] == 1:
        del query["weight"]
    # None says that params are too large to be kept.
    if query["params"] == {}:
        del query["params"]
    if query["created"] is None:
        del query["created"], query["documents"]
    for name in ("tail", "sort", "exact_scores", "short", "found_quotes"):
        if not query[name]:
            del query[name]
    for name in ("ties", "judged", "tags"):
        del query[name]
    return query


def _format_lines(value: Json, indent: str, *, ascii_only: bool) -> list[str]:
    """JSON lines of *value*: anything that contains a mapping takes several lines, other lists and values one."""
    if not _holds_mappings(value):
        return [json.dumps(value, sort_keys=True, ensure_ascii=ascii_only, allow_nan=False)]
    if isinstance(value, list):
        begin, end = "[", "]"
        members = [("", item) for item in value]
    else:
        begin, end = "{", "}"
        members = [(f"{json.dumps(key, ensure_ascii=ascii_only)}: ", value[key]) for key in sorted(value)]
    lines = [begin]
    for name, item in members:
        first_line, *other_lines = _format_lines(item, indent + " ", ascii_only=ascii_only)
        lines += [f"{indent} {name}{first_line}", *other_lines]
        lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    return [*lines, indent + end]


def _holds_mappings(value: Json) -> bool:
    """Whether *value* has a mapping in it, at any depth."""
    if isinstance(value, dict):
        items = list(value.values())
    elif isinstance(value, list):
        items = value
    else:
        return False
    return any(isinstance(item, dict) or _holds_mappings(item) for item in items)
