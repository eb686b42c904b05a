"""
The text of one request of a loaded suite, and other texts that are read in its place, with problems at their lines.

The rest of the suite is not read again: a text is checked as if it stood in the suite, against the same queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import yaml

from harness.config import Configs
from harness.errors import SuiteError
from harness.files.editing import compose_nodes, find_end, find_node
from harness.files.opening import MOST_PROBLEMS, YamlSource
from harness.files.trec import BYTE_ORDER_MARK
from harness.masking import Masker
from harness.model.suite import Json, Mark, RequestTemplate, Suite, TuningSpace
from harness.process import gc_paused
from harness.suites.display import add_title_paths
from harness.suites.dumping import format_block
from harness.suites.parameters import fill_templates, find_unfit_texts
from harness.suites.placeholders import check_placeholders
from harness.suites.presets import PresetFilling, add_field_paths
from harness.suites.reading import Reading, Variables, read_suite_file, validate_suite
from harness.suites.requests import list_request_nodes, read_templates
from harness.suites.targets import check_services, check_targets, read_own_targets
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode, compose, describe, find_child
from harness.words import listed

TEXT = "request"
"""What errors call a text, in place of a file."""

Check = Callable[[Node, Problems], None]
"""Notes what else a text must not have; takes its nodes."""


@dataclass(frozen=True, slots=True)
class RequestTexts:
    """Reads texts for the request *name* of *suite*, whose file is *reading*."""

    suite: Suite
    reading: Reading
    name: str
    configs: Configs
    environ: Mapping[str, str]

    @classmethod
    def prepare(cls, suite: Suite, name: str, configs: Configs, environ: Mapping[str, str]) -> RequestTexts:
        """
        Read the file of *suite*, which was loaded from it.

        Raises:
            SuiteError: The file cannot be read any more.
        """
        return cls(suite, read_suite_file(Path(suite.path), environ, configs), name, configs, environ)

    @property
    def written(self) -> str:
        """The request as the suite has it: variables and placeholders are not filled."""
        text = Path(self.suite.path).read_bytes().removeprefix(BYTE_ORDER_MARK).decode()
        node = find_node(compose_nodes(text), ["request"] if self._is_single else ["requests", self.name])
        own = cut_text(text, node)
        if own is not None and not self.is_in_file and _stands_alone(own):
            return own
        request = self._find_request(self.reading.root)
        return format_block(_restore_written(request), 0, 0).lstrip("\n").strip() + "\n"

    @property
    def node(self) -> Node:
        """The request as it was read, with the content of its file."""
        return self._find_request(self.reading.root)

    @property
    def is_in_file(self) -> bool:
        """Whether the request has a file of its own, in which variables are not replaced."""
        mark = self._find_request(self.reading.root).mark
        body = find_child(self._find_request(self.reading.root), "body")
        paths = {mark.path, "" if body is None else body.mark.path}
        return bool(paths & set(map(str, self.reading.request_files)))

    def read(self, text: str, values: Mapping[str, Json], check: Check) -> Suite:
        """
        The suite with *text* as its only request, and *values* for its parameters.

        Raises:
            SuiteError: The text is no request of this suite, or *check* noted something; problems have places in it.
            UsageError: A value cannot be inserted into a text.
        """
        with gc_paused():
            problems = Problems(YamlSource(TEXT, text))
            node, mistakes = compose(problems.source)
            problems.extend(mistakes)
            if not isinstance(node, MappingNode):
                found = "nothing" if node is None else describe(node)
                problems.note(Mark(TEXT, 1, 1), f"found {found}, expected a request: a mapping")
            if not isinstance(node, MappingNode) or problems.found:
                self._raise(problems)
            filled: Node = node
            if not self.is_in_file:
                filled = Variables(problems, self.environ, self._explain_other_variable).fill(node)
            reading = self._read_request(filled, problems)
            # With the defaults of a preset, as the suite's own request has them.
            check(self._find_request(reading.root), problems)
            if problems.found:
                self._raise(problems)
            templates = self._read_templates(reading, filled)
            if problems.found:
                self._raise(problems)
            suite = self._put_templates(templates, values)
            check_targets(suite, reading)
            check_services(suite, reading)
            if problems.found:
                self._raise(problems)
            return suite

    @property
    def _is_single(self) -> bool:
        return self.reading.shape.requests is None

    def _find_request(self, root: MappingNode) -> Node:
        requests = root if self._is_single else root.find_child("requests")
        request: Node = requests.find_child("request" if self._is_single else self.name)
        return request

    def _explain_other_variable(self, name: str) -> str:
        """Why a text may not read the variable *name*: the suite does not; empty where it does."""
        known = dict.fromkeys(used for used, _, _ in self.reading.used)
        if name in known:
            return self.configs.find_refusal(name, folder=Path(self.suite.path).parent)
        has = f"those of the suite: {listed(list(known))}" if known else "no variable, as the suite has none"
        return f"found the variable {name}, expected {has}"

    def _read_request(self, request: Node, problems: Problems) -> Reading:
        """The reading of a suite with *request* alone."""
        kept = [(key, self.reading.root.find_child(key)) for key in self.reading.root if key in _BESIDE]
        mark = self.reading.root.mark
        name = ScalarNode(self.name, request.mark, plain=True)
        key, below = "requests", MappingNode(request.mark, [(name, request)])
        if self._is_single:
            key, below = "request", request  # type: ignore[assignment]
        root = MappingNode(mark, [*kept, (ScalarNode(key, request.mark, plain=True), below)])
        filling = PresetFilling(self.configs)
        root = filling.insert(root)
        shape, broken = validate_suite(root, problems)
        return replace(self.reading, shape=shape, broken=broken, root=root, problems=problems, presets=filling.filled)

    def _read_templates(self, reading: Reading, request: Node) -> dict[str, RequestTemplate]:
        """The request as a template, checked against the queries; parameters are not filled."""
        templates = read_own_targets(reading, read_templates(reading), list_request_nodes(reading))
        parameters: Mapping[str, str] = {}
        if self.suite.tuning is not None:
            parameters = {one.name: find_unfit_texts(one) for one in self.suite.tuning.parameters}
        # A param of the queries that this request does not use is no mistake of it: another request may.
        unused = Problems(reading.problems.source)
        check_placeholders({self.name: request}, self.suite.queries, parameters, unused)
        reading.problems.extend(problem for problem in unused.found if problem.path == TEXT)
        names = [*filter(None, (self.suite.display.title, *self.suite.display.fields))]
        templates = add_field_paths(templates, reading.presets, names)
        return add_title_paths(templates, self.suite.display.title)

    def _put_templates(self, templates: Mapping[str, RequestTemplate], values: Mapping[str, Json]) -> Suite:
        space = self.suite.tuning
        if space is None:
            return replace(self.suite, requests=dict(templates))
        # What a pointer leads to stands in the text.
        placeholders = tuple(parameter for parameter in space.parameters if not parameter.pointer)
        space = TuningSpace(placeholders, templates)
        return replace(self.suite, requests=fill_templates(space, {**space.today, **values}))

    def _raise(self, problems: Problems) -> NoReturn:
        masker = Masker(self.reading.variables)
        raise SuiteError(
            [replace(problem, message=masker.mask(problem.message)) for problem in problems.list_first(MOST_PROBLEMS)]
        )


_BESIDE = frozenset({"suite", "target", "depth", "display", "vectors"})
"""The keys of a suite beside its requests that say how these are read."""


def cut_text(text: str, node: yaml.Node) -> str | None:
    """The lines of *node* in *text*, moved to the first column; None where it does not stand in lines of its own."""
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return None
    column = node.start_mark.column
    begin = node.start_mark.index - column
    lines = text[begin : find_end(text, node)].splitlines()
    if text[begin : node.start_mark.index].strip():
        return None
    return "".join(f"{line[column:]}\n" for line in lines)


def check_text(text: str) -> None:
    """Raise SuiteError, with its place, where *text* is no YAML, or exceeds a limit."""
    compose(YamlSource(TEXT, text))


def _stands_alone(text: str) -> bool:
    """Whether *text* is YAML by itself: it has no alias of an anchor elsewhere."""
    try:
        node, mistakes = compose(YamlSource(TEXT, text))
    except SuiteError:
        return False
    return node is not None and not mistakes


def _restore_written(node: Node) -> Json:
    """*node* with its scalars as they were written, variables not filled."""
    if isinstance(node, MappingNode):
        return {key: _restore_written(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_restore_written(item) for item in node]
    return ScalarNode(node.raw, node.mark, plain=node.plain)
