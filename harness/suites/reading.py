"""Suite file -> text -> nodes -> variables (``${NAME}``) -> shape, with all problems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from harness.config import Configs
from harness.errors import InputError, SuiteError
from harness.files.border import Border, conceal, is_quotable
from harness.files.opening import YamlSource, read_source
from harness.masking import SHORTEST_SECRET
from harness.model.suite import Mark
from harness.suites.files import SuiteFiles, find_roots
from harness.suites.given_body import GivenBody, make_body_node, replace_body
from harness.suites.kinds import Mistakes, Place, Shape
from harness.suites.presets import FilledPreset, PresetFilling
from harness.suites.request_files import RequestFiles
from harness.suites.shape import QueryShape, SuiteShape
from harness.suites.yaml import ListNode, MappingNode, Node, Problems, ScalarNode, compose, describe, resolve
from harness.words import shorten

_DOLLAR = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")
_DOLLAR_WITHOUT_END = re.compile(r"\$\$|\$\{(?:(?!)()())?")
"""The same where no closing brace follows, so that no variable does."""

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
        filled = self._filled.get(id(node))
        if filled is not None:
            return filled
        if isinstance(node, MappingNode):
            filled = self.fill_mapping(node)
        elif isinstance(node, ListNode):
            filled = ListNode(node.mark, map(self.fill, node))
        elif "$" in node:
            filled = self._fill_scalar(node)
        else:
            filled = node
        self._filled[id(node)] = filled
        return filled

    def fill_mapping(self, node: MappingNode) -> MappingNode:
        """As `fill`, for a mapping; its keys are not changed."""
        mapping = MappingNode(node.mark, ((key, self.fill(value)) for key, value in node.items()))
        mapping.repeats = [replace(repeat, value=self.fill(repeat.value)) for repeat in node.repeats]
        return mapping

    def _fill_scalar(self, scalar: ScalarNode) -> ScalarNode:
        """A copy of *scalar* with its variables replaced; notes those that are refused, and those without a value."""
        names: list[str] = []
        unset: dict[str, None] = {}
        refused: list[str] = []
        notes: dict[int, str] = {}
        text, masked, end = "", "", 0
        for match in _match_dollars(scalar):
            text_before = scalar[end : match.start()]
            end = match.end()
            name, default = match[1], match[2]
            # What cannot be filled stays as written.
            value = in_place = match.group()
            if value == "$$":
                value = in_place = "$"
            elif name is None:
                notes[match.start()] = _describe_malformed(scalar, match.start())
            else:
                names.append(name)
                self.used.append((name, scalar, match.start()))
                refusal = self.find_refusal(name)
                found = None if refusal else self._find_value(name, default)
                if refusal:
                    notes[match.start()] = refusal
                    refused.append(name)
                elif found is None:
                    if self.environ is not None and name not in unset:
                        message = f"the environment variable {name} is not set; "
                        notes[match.start()] = f"{message}set it, or give a default with ${{{name}:-default}}"
                    unset[name] = None
                else:
                    value = found
                    # The suite's own default is no secret.
                    is_masked = found != default and _may_be_secret(found)
                    in_place = f"${{{name}}}" if is_masked else found
            text += text_before + value
            masked += text_before + in_place
        text += scalar[end:]
        masked += scalar[end:]
        self.problems.note_all_inside(scalar, notes)
        whole = len(names) == 1 and _DOLLAR.fullmatch(scalar) is not None
        return scalar.fill(text, masked, tuple(names), (*unset, *refused), whole=whole)

    def _find_value(self, name: str, default: str | None) -> str | None:
        """The variable's value; as in a shell, *default* if it is unset or empty."""
        value = None if self.environ is None else self.environ.get(name)
        if not value and default is not None:
            return default
        if value:
            self.taken[name] = value
        return value

    def list_secrets(self) -> dict[str, str]:
        """
        The values from the environment that may be secret, by the names of their variables.

        Short numbers, booleans and short words, such as a language code, are not: masking them would make reports
        unreadable.
        """
        return {name: value for name, value in self.taken.items() if _may_be_secret(value)}


def _may_be_secret(value: str) -> bool:
    if len(value) < SHORTEST_SECRET:
        return False
    return isinstance(resolve(value), str) or len(value) >= _SHORTEST_NUMBER


def _match_dollars(text: str) -> Iterator[re.Match[str]]:
    """The matches of `_DOLLAR` in *text*, in their order."""
    # After the last closing brace no variable ends, and each default would be searched to the end of the text.
    border = text.rfind("}") + 1
    yield from _DOLLAR.finditer(text, 0, border)
    yield from _DOLLAR_WITHOUT_END.finditer(text, border)


def _describe_malformed(scalar: ScalarNode, start: int) -> str:
    text = scalar[start : start + 100]  # more than is shown
    end = text.find("}")
    found = text[: end + 1] if end >= 0 else text
    return f"found {shorten(found)!r}, expected ${{NAME}} or ${{NAME:-default}}; write a literal ${{ as $${{"


AShape = TypeVar("AShape", bound=Shape)

LARGEST_SUITE = 16 * 2**20
"""The largest suite file; millions of judgments belong in separate files."""


@dataclass(frozen=True, slots=True)
class Reading:
    """
    A suite file as far as it could be read.

    *broken* are the top keys with problems, and those that are misspelled: their values are incomplete, and checks that
    need all of them would name the wrong line. *used* are the variables in it, as `Variables.used`. *request_files* are
    the files whose content stands for requests in *root*, and *presets* are those whose defaults are in it, by the name
    of the request.
    """

    shape: SuiteShape
    broken: frozenset[str]
    root: MappingNode
    problems: Problems
    variables: Mapping[str, str]
    used: Sequence[tuple[str, ScalarNode, int]]
    checking: bool
    request_files: Sequence[Path]
    presets: Mapping[str, FilledPreset]

    def find_mark(self, key: str) -> Mark:
        """The place of a top key, or the beginning of the suite if it is missing."""
        return self.root.find_key(key).mark if key in self.root else self.root.mark


def read_suite_file(
    path: Path, environ: Mapping[str, str] | None, configs: Configs, body: GivenBody | None = None
) -> Reading:
    """
    Read a suite file; *configs* say which variables it may read, and *body* replaces that of a request.

    Raises:
        UsageError: *body* does not fit.
        SuiteError: The file cannot be read, or is not one YAML mapping. Other problems are in the reading.
    """
    is_quoted = is_quotable(path)
    try:
        return _read_suite(path, environ, configs, body, is_quoted=is_quoted)
    except InputError as error:
        problems = error.problems if is_quoted else [conceal(problem) for problem in error.problems]
        raise SuiteError(problems) from None


def _read_suite(
    path: Path, environ: Mapping[str, str] | None, configs: Configs, body: GivenBody | None, *, is_quoted: bool
) -> Reading:
    source = read_source(path, str(path), limit=LARGEST_SUITE, kind=YamlSource)
    problems = Problems(source, concealed=set() if is_quoted else {str(path)})
    root, syntax_problems = compose(source)
    problems.extend(syntax_problems)
    if root is None:
        problems.extend([source.make_problem(0, 0, "the file is empty; expected a suite")])
        raise SuiteError(problems.found)
    if not isinstance(root, MappingNode):
        message = f"found {describe(root)}, expected a suite: a mapping with suite, request, queries"
        problems.note(root.mark, message)
        raise SuiteError(problems.found)
    variables = Variables(problems, environ, partial(configs.find_refusal, folder=path.parent))
    filled = variables.fill_mapping(root)
    complete, files, broken_by_files = filled, list[Path](), set[str]()
    if _has_requests_with("file", filled):
        border = Border(path.parent, find_roots(path, configs.root))
        request_files = RequestFiles(SuiteFiles(border, problems))
        complete = request_files.insert(filled)
        files, broken_by_files = request_files.paths, request_files.broken
    if body is not None:
        complete = replace_body(complete, variables.fill(make_body_node(body.body)), body.request)
    presets: Mapping[str, FilledPreset] = {}
    if _has_requests_with("http", complete):
        filling = PresetFilling(configs)
        complete = filling.insert(complete)
        presets = filling.filled
    shape, broken = validate_suite(complete, problems)
    return Reading(
        shape=shape,
        broken=broken | broken_by_files,
        root=complete,
        problems=problems,
        variables=variables.list_secrets(),
        used=variables.used,
        checking=environ is None,
        request_files=files,
        presets=presets,
    )


def _has_requests_with(key: str, suite: MappingNode) -> bool:
    """Whether a request of *suite* has *key*."""
    requests = [suite.find_child("request")]
    by_name = suite.find_child("requests")
    if isinstance(by_name, MappingNode):
        requests += by_name.values()
    return any(isinstance(request, MappingNode) and key in request for request in requests)


def validate_suite(root: MappingNode, problems: Problems) -> tuple[SuiteShape, frozenset[str]]:
    """The shape of the valid parts, and the top keys of the others, whose problems are noted."""
    shape, mistakes = _validate(SuiteShape, root, problems)
    misspelled = frozenset(unknown.meant for unknown in mistakes.unknown if unknown.meant)
    if not mistakes.found:
        return shape, misspelled
    places = [mistake.place for mistake in mistakes.found]
    broken = misspelled.union(str(place[0]) for place in places)
    return SuiteShape.read_mapping(_drop_invalid(root, places), Mistakes(), ()), broken


def read_query(entry: MappingNode, problems: Problems) -> QueryShape | None:
    """The shape of a query in a query file; None where it has problems, which are noted."""
    shape, mistakes = _validate(QueryShape, entry, problems)
    return None if mistakes.found or mistakes.unknown else shape


def _validate(model: type[AShape], node: MappingNode, problems: Problems) -> tuple[AShape, Mistakes]:
    """The shape of *node*, which has no meaning where there are mistakes; these are noted."""
    mistakes = Mistakes()
    shape = model.read_mapping(node, mistakes, ())
    for unknown in mistakes.unknown:
        problems.note(unknown.mark, str(unknown), "unknown-key")
    for mistake in mistakes.found:
        # The place of a problem in a query file is a whole line.
        key = f"{mistake.place[0]}: " if model is QueryShape and mistake.code != "missing-key" else ""
        problems.note(mistake.mark, f"{key}{mistake.message}", mistake.code)
    return shape, mistakes


def _drop_invalid(root: MappingNode, places: Sequence[Place]) -> MappingNode:
    """*root* without the top keys at *places*, and without single queries if only these are invalid."""
    dropped_keys: set[int | str] = set()
    dropped_queries: set[int | str] = set()
    for place in places:
        is_in_query = len(place) > 2 and place[0] == "queries" and isinstance(place[2], int)
        if is_in_query:
            dropped_queries.add(place[2])
        else:
            dropped_keys.add(place[0])
    kept = MappingNode(root.mark, ((key, value) for key, value in root.items() if key not in dropped_keys))
    if dropped_queries and "queries" in kept:
        queries = root.find_child("queries")
        valid = [query for index, query in enumerate(queries) if index not in dropped_queries]
        kept[root.find_key("queries")] = ListNode(queries.mark, valid)
    return kept
