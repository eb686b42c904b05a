"""Suite file -> text -> nodes -> variables (``${NAME}``) -> shape (pydantic), with all problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

from pydantic import ValidationError

from harness.config import Configs
from harness.errors import InputError, SuiteError
from harness.files.border import Border, conceal, is_quotable
from harness.files.opening import YamlSource, read_source
from harness.masking import SHORTEST_SECRET
from harness.model import Mark
from harness.suites.shape import QueryShape, Shape, SuiteShape, UnknownKey
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode, compose, describe, resolve
from harness.words import shortened

_DOLLAR = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")
_SHORTEST_NUMBER = 8


@dataclass(slots=True)
class Variables:
    """
    Fills the scalars of one suite.

    *environ* is None while a suite is only checked: then defaults are used, and variables without one stay as written.
    So do those that *find_refusal* says why the suite may not read; they are never looked up.
    *taken* collects the values from the environment, *used* each variable with its scalar and its place in it.
    """

    problems: Problems
    environ: Mapping[str, str] | None
    find_refusal: Callable[[str], str]
    taken: dict[str, str] = field(default_factory=dict)
    used: list[tuple[str, ScalarNode, int]] = field(default_factory=list)
    _filled: dict[int, Node] = field(default_factory=dict)

    def fill(self, node: Node) -> Node:
        """A copy of *node* with all variables below it replaced; the value of an alias is filled once."""
        known = self._filled.get(id(node))
        if known is not None:
            return known
        filled = self._fill_new(node)
        self._filled[id(node)] = filled
        return filled

    def _fill_new(self, node: Node) -> Node:
        if isinstance(node, MappingNode):
            return self.fill_mapping(node)
        if isinstance(node, ListNode):
            return ListNode(node.mark, map(self.fill, node))
        return self._fill_scalar(node) if "$" in node else node

    def fill_mapping(self, node: MappingNode) -> MappingNode:
        """As `fill`, for a mapping; its keys are not changed."""
        mapping = MappingNode(node.mark, ((key, self.fill(value)) for key, value in node.items()))
        mapping.repeats = [replace(one, value=self.fill(one.value)) for one in node.repeats]
        return mapping

    def _fill_scalar(self, scalar: ScalarNode) -> ScalarNode:
        names: list[str] = []
        unset: list[str] = []
        refused: list[str] = []
        put_in: list[str] = []

        def value_of(match: re.Match[str]) -> str:
            put_in.append("$" if match.group() == "$$" else match.group())
            if match.group() == "$$":
                return "$"
            if match[1] is None:
                self.problems.note_inside(scalar, match.start(), _malformed(scalar, match.start()))
                return match.group()
            names.append(match[1])
            self.used.append((match[1], scalar, match.start()))
            refusal = self.find_refusal(match[1])
            if refusal:
                self.problems.note_inside(scalar, match.start(), refusal)
                refused.append(match[1])
                return match.group()
            value = self._value(match[1], match[2])
            if value is None:
                unset.append(match[1])
                return match.group()
            put_in[-1] = _masked(match[1], match[2], value)
            return value

        text = _DOLLAR.sub(value_of, scalar)
        masked = iter(put_in)
        if self.environ is not None:
            for name in dict.fromkeys(unset):
                self.problems.note_inside(scalar, scalar.find("${" + name), _not_set(name))
        whole = _DOLLAR.fullmatch(scalar) is not None and len(names) == 1
        in_place = _DOLLAR.sub(lambda _: next(masked), scalar)
        return scalar.filled(text, in_place, tuple(names), (*unset, *refused), whole=whole)

    def _value(self, name: str, default: str | None) -> str | None:
        """The variable's value; as in a shell, *default* if it is unset or empty."""
        value = None if self.environ is None else self.environ.get(name)
        if not value and default is not None:
            return default
        if value:
            self.taken[name] = value
        return value

    def worth_masking(self) -> dict[str, str]:
        """
        The values from the environment that may be secret.

        Short numbers, booleans and short words, such as a language code, are not: masking them would make reports
        unreadable.
        """
        return {name: value for name, value in self.taken.items() if _may_be_secret(value)}


def _masked(name: str, default: str | None, value: str) -> str:
    """The masked form of *value*: the name of its variable if it may be a secret; the suite's default is not."""
    return "${" + name + "}" if value != default and _may_be_secret(value) else value


def _may_be_secret(value: str) -> bool:
    if len(value) < SHORTEST_SECRET:
        return False
    return isinstance(resolve(value), str) or len(value) >= _SHORTEST_NUMBER


def _malformed(scalar: ScalarNode, start: int) -> str:
    end = scalar.find("}", start)
    found = scalar[start : end + 1] if end >= 0 else scalar[start:]
    return f"found {shortened(found)!r}, expected ${{NAME}} or ${{NAME:-default}}; write a literal ${{ as $${{"


def _not_set(name: str) -> str:
    return f"the environment variable {name} is not set; set it, or give a default with ${{{name}:-default}}"


AShape = TypeVar("AShape", bound=Shape)

MOST_BYTES = 16 * 2**20
"""The largest suite file; millions of judgments belong in separate files."""


@dataclass(frozen=True, slots=True)
class Reading:
    """
    A suite file as far as it could be read.

    *broken* are the top keys with problems, and those that are misspelled: their values are incomplete, and checks that
    need all of them would name the wrong line. *used* are the variables in it, as `Variables.used`.
    """

    shape: SuiteShape
    broken: frozenset[str]
    root: MappingNode
    problems: Problems
    variables: Mapping[str, str]
    used: Sequence[tuple[str, ScalarNode, int]]
    checking: bool

    def key_mark(self, key: str) -> Mark:
        """The place of a top key, or the beginning of the suite if it is missing."""
        return self.root.find_key(key).mark if key in self.root else self.root.mark


def read_suite_file(path: Path, environ: Mapping[str, str] | None, configs: Configs) -> Reading:
    """
    Read a suite file; *configs* say which variables it may read.

    Raises:
        SuiteError: The file cannot be read, or is not one YAML mapping. Other problems are in the reading.
    """
    is_quoted = is_quotable(path)
    try:
        return _read_suite(path, environ, configs, is_quoted=is_quoted)
    except InputError as error:
        raise SuiteError(error.problems if is_quoted else list(map(conceal, error.problems))) from None


def _read_suite(path: Path, environ: Mapping[str, str] | None, configs: Configs, *, is_quoted: bool) -> Reading:
    source = read_source(path, str(path), limit=MOST_BYTES, kind=YamlSource)
    problems = Problems(source, concealed=set() if is_quoted else {str(path)})
    root, found = compose(source)
    problems.extend(found)
    mapping = _require_mapping(root, problems)
    variables = Variables(problems, environ, partial(configs.find_refusal, folder=path.parent))
    filled = variables.fill_mapping(mapping)
    shape, broken = _validate(filled, problems)
    return Reading(shape, broken, filled, problems, variables.worth_masking(), variables.used, environ is None)


def _require_mapping(root: Node | None, problems: Problems) -> MappingNode:
    if isinstance(root, MappingNode):
        return root
    if root is None:
        problems.extend([problems.source.make_problem(0, 0, "the file is empty; expected a suite")])
    else:
        problems.note(root.mark, f"found {describe(root)}, expected a suite: a mapping with suite, request, queries")
    raise SuiteError(problems.found)


def _validate(root: MappingNode, problems: Problems) -> tuple[SuiteShape, frozenset[str]]:
    """The shape of the valid parts; problems of the others are noted."""
    shape, unknown, places = _shaped(SuiteShape, root, problems)
    misspelled = frozenset(key.meant for key in unknown if key.meant)
    if shape is not None:
        return shape, misspelled
    broken = misspelled.union(str(place[0]) for place in places)
    return SuiteShape.model_validate(_without(root, places), context=[]), broken


def read_query(entry: MappingNode, problems: Problems) -> QueryShape | None:
    """The shape of a query in a query file; None where it has problems, which are noted."""
    shape, unknown, _ = _shaped(QueryShape, entry, problems)
    return None if unknown else shape


def _shaped(
    model: type[AShape], node: MappingNode, problems: Problems
) -> tuple[AShape | None, list[UnknownKey], list[tuple[int | str, ...]]]:
    """The shape of *node*, or None and the places of its problems; unknown keys are noted and left out."""
    unknown: list[UnknownKey] = []
    failures: list[Any] = []
    shape = None
    try:
        shape = model.model_validate(node, context=unknown)
    except ValidationError as error:
        failures = error.errors(include_url=False)
    for key in unknown:
        problems.note(key.mark, str(key))
    for failure in failures:
        _note(failure, problems, with_key=model is QueryShape)
    return shape, unknown, [failure["loc"] for failure in failures]


def _note(failure: Any, problems: Problems, *, with_key: bool) -> None:
    """Note a failure of pydantic's with our own message, at its node; *with_key* if that is a whole line of a file."""
    node, kind = failure["input"], failure["type"]
    mark = failure.get("ctx", {}).get("mark") or node.mark
    if kind == "missing":
        problems.note(mark, f"the key {failure['loc'][-1]!r} is missing")
        return
    expected = {"list_type": "a list", "dict_type": "a mapping", "either": failure["msg"]}.get(kind, failure["msg"])
    message = failure["msg"] if kind == "harness" else f"found {describe(node)}, expected {expected}"
    message = f"{failure['loc'][0]}: {message}" if with_key and failure["loc"] else message
    problems.note(mark, message, "no value" if isinstance(node, ScalarNode) and node.empty else "")


def _without(root: MappingNode, places: Sequence[tuple[int | str, ...]]) -> MappingNode:
    """*root* without the top keys at *places*, and without single queries if only these are invalid."""
    queries = {place[2] for place in places if _in_query(place)}
    dropped = {place[0] for place in places if not _in_query(place)}
    kept = MappingNode(root.mark, ((key, value) for key, value in root.items() if key not in dropped))
    if queries and "queries" in kept:
        entries = root.find_child("queries")
        sound = (entry for index, entry in enumerate(entries) if index not in queries)
        kept[root.find_key("queries")] = ListNode(entries.mark, sound)
    return kept


def _in_query(place: tuple[int | str, ...]) -> bool:
    return len(place) > 2 and place[0] == "queries" and isinstance(place[2], int)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a suite names: *path* to open, *name* for errors, and the scalar *written* that named it."""

    path: Path
    name: str
    written: ScalarNode


@dataclass(frozen=True, slots=True)
class SuiteFiles:
    """Finds the files that a suite names, relative to the *border*'s folder; none of them may be behind the border."""

    border: Border
    problems: Problems

    def find(self, written: ScalarNode) -> NamedFile | None:
        """
        The file that *written* names, None if it is refused, or unknown because its variable is not set.

        Problems of a file with the name of no known format are noted without what was found in it.
        """
        if written.unset:
            return None
        if PurePosixPath(written).is_absolute() or PureWindowsPath(written).drive or "\0" in written:
            self.problems.note(written.mark, f"found {written.raw!r}, expected a path relative to the suite")
            return None
        path = self.border.folder / written
        sentence = self._refusal(path)
        if sentence:
            self.problems.note(written.mark, f"the file {written.raw!r} {sentence}")
            return None
        if not is_quotable(path):
            self.problems.concealed.add(str(path))
        return NamedFile(path, str(path), written)

    def _refusal(self, path: Path) -> str | None:
        try:
            sentence = self.border.explain_refusal(path)
            if sentence is not None:
                return sentence
            if not path.exists():
                return f"does not exist:  {path}"
            return None if path.is_file() else "is not a file"
        except (OSError, RuntimeError) as error:
            return f"cannot be read: {getattr(error, 'strerror', None) or error}"
