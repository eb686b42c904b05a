"""A try in the suite: a second request, or other values of its parameters; shown as a diff before it is written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.drafts.suite_texts import FileChange, SuiteTexts
from harness.errors import UsageError
from harness.extensions.workbench.opening import Material
from harness.model.suite import Json
from harness.search.pointers import find_value
from harness.store.what_changed import build_request_json
from harness.suites import load_suite
from harness.suites.parameters import choose_today, explain_impossible, fill_parameters

_NAME = re.compile(r"[\w.-]{1,80}")


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What writing would change."""

    texts: SuiteTexts
    changes: Sequence[FileChange]

    @property
    def token(self) -> str:
        """Tells this change from another one: with another file it is another."""
        digest = hashlib.sha256()
        for change in self.changes:
            digest.update(change.before + b"\0" + change.after)
        return digest.hexdigest()

    @property
    def diff(self) -> list[str]:
        """A unified diff of all files."""
        return [line for change in self.changes for line in change.list_diff()]

    @property
    def files(self) -> str:
        """The names of the files."""
        return ", ".join(str(change.path) for change in self.changes)


def plan_request(material: Material, environ: Mapping[str, str], name: str, text: str, comment: str) -> PlannedChange:
    """
    The change that adds *text* to the suite as the request *name*, below a *comment*.

    Raises:
        InputError: The suite is wrong by now.
        UsageError: The name is taken or none, or the text cannot be put into the suite without changing more.
    """
    if not _NAME.fullmatch(name):
        raise UsageError("expected a name of letters, digits, '-', '_' and '.' for the request")
    if material.texts.is_in_file and "$" in text:
        raise UsageError("the text has a dollar sign, which begins a variable in a suite; write it there by hand")
    texts = SuiteTexts.read(load_suite(material.options.path, environ, configs=material.configs, needs_judgments=False))
    return PlannedChange(texts, [texts.add_text(name, material.vectors.restore(text), comment)])


def plan_values(material: Material, environ: Mapping[str, str], text: str, values: Mapping[str, Json]) -> PlannedChange:
    """
    The change with which the request has the values of the parameters that *text* with *values* has.

    Raises:
        InputError: The suite is wrong by now.
        UsageError: The text differs in more than its parameters, or has the same values.
    """
    suite = load_suite(material.options.path, environ, configs=material.configs, needs_judgments=False)
    request = material.request
    if suite.tuning is None:
        raise UsageError("the suite has no parameters under 'tune'; write a second request")
    tried = material.read_request(text, values)
    template = tried.requests[request]
    masked = template.body if template.masked is None else template.masked.get("body", template.body)
    wanted: dict[str, Json] = {}
    space = choose_today(suite.tuning, request)
    for parameter in space.parameters:
        value = values.get(parameter.name, parameter.today)
        if parameter.pointer:
            try:
                value = find_value(template.body, parameter.pointer)
                if find_value(masked, parameter.pointer) != value:
                    # Its value belongs into no file, and into no sentence.
                    raise UsageError(f"the parameter {parameter.name!r} has a variable; write a second request")
            except LookupError:
                value = parameter.today
        problem = explain_impossible(parameter, value)
        if problem:
            raise UsageError(f"the parameter {parameter.name!r} has {value!r}, {problem}; write a second request")
        wanted[parameter.name] = value
    filled = fill_parameters(suite, wanted)
    if build_request_json(filled, request) != build_request_json(tried, request):
        raise UsageError("the text differs in more than the values of parameters; write a second request")
    texts = SuiteTexts.read(suite)
    changes = texts.put_values(request, wanted)
    if not changes:
        raise UsageError("the suite has these values already")
    return PlannedChange(texts, changes)
