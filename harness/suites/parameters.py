"""
The parameters of requests that `relevance tune` tries with other values: ``tune: parameters:`` of a suite.

A request has a parameter as ``{{param:NAME}}``, or the parameter has a JSON pointer to its place in the body. Either
place is filled with the value of today when the suite is loaded, so that every other run knows literal values only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from harness.errors import UsageError
from harness.model.suite import (
    GRID,
    HttpRequest,
    Json,
    ParameterCondition,
    ParameterKind,
    RequestTemplate,
    Suite,
    TunedParameter,
    TuningSpace,
    match_placeholders,
)
from harness.search.esql import is_esql
from harness.search.pointers import find_value, put_value
from harness.suites.placeholders import fill_but_source, format_value, is_name, read_parameter_name
from harness.suites.reading import Reading
from harness.suites.scalars import format_optional
from harness.suites.shape import ParameterShape
from harness.suites.yaml import MappingNode, Node, Problems, ScalarNode
from harness.words import count, did_you_mean, listed, shorten

_FORMS = "expected one of: {from: 0.5, to: 8}, {choices: [a, b]} or {switch: true}"

MOST_CHOICES = 100
"""The choices of a parameter: more are a range."""


def format_choice(value: Json) -> str:
    """
    *value* as JSON; one value has one text.

    >>> format_choice({"b": 1, "a": ["x"]})
    '{"a": ["x"], "b": 1}'
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


# Reading.


def read_tuning(reading: Reading, templates: Mapping[str, RequestTemplate]) -> TuningSpace | None:
    """The parameters of a suite, *templates* being its requests as written; None if there are none, or problems."""
    shape, problems = reading.shape.tune, reading.problems
    if shape is None:
        return None
    node = reading.root.find_child("tune")
    if not shape.parameters:
        problems.note(reading.find_mark("tune"), "found no parameters, expected 'parameters' with at least one by name")
        return None
    nodes = node.find_child("parameters")
    above: dict[str, TunedParameter | None] = {}
    for name, entry in shape.parameters.items():
        reader = _ParameterReader(str(name), entry, nodes.find_child(name), nodes.find_key(name), problems)
        above[str(name)] = reader.read(templates, above, checking=reading.checking)
    parameters = [parameter for parameter in above.values() if parameter is not None]
    return TuningSpace(tuple(parameters), templates) if len(parameters) == len(above) else None


@dataclass(frozen=True, slots=True)
class _ParameterReader:
    """Reads the parameter *name* from its shape, and notes its problems at its node."""

    name: str
    shape: ParameterShape
    node: MappingNode
    key: ScalarNode
    problems: Problems

    def read(
        self, templates: Mapping[str, RequestTemplate], above: Mapping[str, TunedParameter | None], *, checking: bool
    ) -> TunedParameter | None:
        """
        The parameter; None where a problem was noted.

        *above* are the parameters that stand above it, by name; one with problems is None.
        """
        known = len(self.problems.found)
        if not is_name(self.name):
            self._note(None, f"found {self.name!r}, expected a name of letters, digits, _ and -")
        self._refuse_variables(self.node)
        kind = self._read_kind()
        if kind is None or len(self.problems.found) > known:
            return None
        shape = self.shape
        choices = tuple(shape.choices)
        if kind is ParameterKind.SWITCH:
            choices = (False, True)
        parameter = TunedParameter(
            name=self.name,
            kind=kind,
            today=None,
            low=shape.low or 0.0,
            high=shape.high or 0.0,
            log=shape.log,
            choices=choices,
            only_if=self._read_conditions(above),
            pointer=format_optional(shape.pointer) or "",
            grid=shape.grid or GRID,
            mark=self.key.mark,
        )
        self._check_today()
        if len(self.problems.found) > known:
            return None
        if parameter.pointer in ("/esql", "/size") and any(is_esql(template.body) for template in templates.values()):
            expected = 'expected a param beside it, such as params: {boost: "{{param:boost}}"}, and ?boost in the text'
            self._note("pointer", f"found {parameter.pointer!r}, which is the text of ES|QL; {expected}")
            return None
        if parameter.pointer:
            return replace(parameter, today=find_pointed(parameter, templates))
        today = self.shape.today
        # A variable of the request that has no value yet may become any.
        if checking and isinstance(today, str) and "${" in today:
            return replace(parameter, today=today)
        problem = explain_impossible(parameter, today)
        if problem:
            self._note("today", f"found {shorten(format_choice(today))} as the value of today, {problem}")
            return None
        return replace(parameter, today=_normalize_number(kind, today))

    def _note(self, key: str | None, message: str) -> None:
        """Note *message* at *key* of the parameter, or at its name."""
        place: Any = self.key
        if key is not None and key in self.node:
            place = self.node.find_key(key)
        self.problems.note(place.mark, message)

    def _refuse_variables(self, node: Node) -> None:
        if isinstance(node, ScalarNode):
            if node.variables:
                message = f"found {node.raw!r}, expected a value without variables, so that a study can be continued"
                self.problems.note(node.mark, message)
            return
        children = node.values() if isinstance(node, MappingNode) else node
        for child in children:
            self._refuse_variables(child)

    def _read_kind(self) -> ParameterKind | None:
        """The kind, by the keys; None where they contradict each other, which is noted."""
        shape = self.shape
        is_range = shape.low is not None or shape.high is not None
        found = [("a range", is_range), ("choices", "choices" in self.node), ("a switch", shape.switch)]
        forms = [name for name, is_given in found if is_given]
        if len(forms) != 1:
            what = " and ".join(forms) if forms else "neither a range nor choices nor a switch"
            self._note(None, f"found {what}, {_FORMS}")
            return None
        if is_range:
            return self._read_range()
        for key in ("log", "integer", "grid"):
            if key in self.node:
                self._note(key, f"'{key}' is for a range with from and to; remove it")
        if shape.switch:
            return ParameterKind.SWITCH
        texts = [format_choice(choice) for choice in shape.choices]
        if len(texts) < 2 or len(texts) > MOST_CHOICES:
            self._note("choices", f"found {count(len(texts), 'choice')}, expected 2 to {MOST_CHOICES}")
        repeated = sorted({text for text in texts if texts.count(text) > 1})
        if repeated:
            self._note("choices", f"found {listed(repeated)} more than once, expected each choice once")
        if None in shape.choices:
            self._note("choices", "found nothing among the choices, expected a value")
        return ParameterKind.CHOICE

    def _read_range(self) -> ParameterKind | None:
        low, high = self.shape.low, self.shape.high
        if low is None or high is None:
            lacking = "from" if low is None else "to"
            self._note(None, f"found a range without '{lacking}', expected both limits: {{from: 0.5, to: 8}}")
            return None
        if low >= high:
            self._note("from", f"found {low:g} to {high:g}, expected a 'from' below 'to'")
        if self.shape.log and low <= 0:
            self._note("from", f"found {low:g} with 'log: true', expected a 'from' above 0")
        if self.shape.grid == 1:
            self._note("grid", "found 1, expected at least 2 values in a grid")
        if not self.shape.integer:
            return ParameterKind.FLOAT
        for key, limit in (("from", low), ("to", high)):
            if not limit.is_integer():
                self._note(key, f"found {limit:g} with 'integer: true', expected a whole number")
        return ParameterKind.INTEGER

    def _read_conditions(self, above: Mapping[str, TunedParameter | None]) -> tuple[ParameterCondition, ...]:
        """The conditions of `only_if`; problems are noted."""
        conditions = []
        for name, value in self.shape.only_if.items():
            if name not in above:
                known = f"known are {listed(list(above))}" if above else "and none stands above it"
                guess = did_you_mean(str(name), above)
                message = f"found {str(name)!r}, expected the name of a parameter that stands above this one; {known}"
                self.problems.note(name.mark, message + guess)
                continue
            other = above[name]
            if other is None:
                continue
            values = value if isinstance(value, list) else [value]
            for item in values:
                problem = explain_impossible(other, item)
                if problem:
                    found = shorten(format_choice(item))
                    self.problems.note(name.mark, f"found {found} as a value of {other.name!r}, {problem}")
            conditions.append(ParameterCondition(other.name, tuple(values)))
        return tuple(conditions)

    def _check_today(self) -> None:
        """Note where the value of today is missing, or is given twice: a pointer leads to it."""
        shape = self.shape
        if shape.pointer is None:
            if shape.today is None:
                self._note(None, "the key 'today' is missing: the value of the parameter in every other run")
            return
        if shape.today is not None:
            self._note("today", "found 'today' beside 'pointer', which leads to the value of today; remove it")
        if not str(shape.pointer).startswith("/"):
            expected = "expected a JSON pointer into the body, such as /query/bool/boost"
            self._note("pointer", f"found {str(shape.pointer)!r}, {expected}")


def find_pointed(parameter: TunedParameter, templates: Mapping[str, RequestTemplate]) -> Json:
    """
    What the pointer of *parameter* leads to in the first of *templates* that has it; None where none has.

    Any value may stand there: a request is edited by hand, and only `relevance tune` needs the parameter.
    """
    for template in templates.values():
        with suppress(LookupError):
            return _normalize_number(parameter.kind, find_value(template.body, parameter.pointer))
    return None


def explain_impossible(parameter: TunedParameter, value: Json) -> str:
    """
    What is expected where *parameter* cannot have *value*; empty where it can.

    >>> explain_impossible(TunedParameter("boost", ParameterKind.FLOAT, 2, 1, 8), 9)
    'expected a number from 1 to 8'
    """
    if parameter.has_choices:
        texts = [format_choice(choice) for choice in parameter.choices]
        return "" if format_choice(value) in texts else f"expected one of {listed(texts)}"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_within = is_number and parameter.low <= value <= parameter.high
    if parameter.kind is ParameterKind.INTEGER:
        is_whole = is_within and float(value).is_integer()
        return "" if is_whole else f"expected a whole number from {parameter.low:g} to {parameter.high:g}"
    return "" if is_within else f"expected a number from {parameter.low:g} to {parameter.high:g}"


def _normalize_number(kind: ParameterKind, value: Json) -> Json:
    """*value*, as an integer if it is a whole number in a range."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind not in (ParameterKind.FLOAT, ParameterKind.INTEGER) or not is_number:
        return value
    return int(value) if float(value).is_integer() else float(value)


# Filling.


def fill_today(space: TuningSpace) -> dict[str, RequestTemplate]:
    """The templates of *space* with the values of today."""
    # What a pointer leads to stands there already; two requests may have two values.
    placeholders = tuple(parameter for parameter in space.parameters if not parameter.pointer)
    return fill_templates(replace(space, parameters=placeholders), space.today)


def choose_today(space: TuningSpace, request: str) -> TuningSpace:
    """
    *space* with the values of today that *request* has: a pointer may lead to another value in another request.

    Raises:
        UsageError: A pointer leads nowhere in all requests, or to a value that its parameter cannot have.
    """
    tuned = {request: space.templates[request]}
    parameters = []
    for parameter in space.parameters:
        today = parameter.today
        if parameter.pointer:
            found = find_pointed(parameter, {**tuned, **space.templates})
            if found is None:
                raise UsageError(
                    f"the pointer {parameter.pointer!r} of the parameter {parameter.name!r} leads nowhere in the body "
                    f"of a request; requests are {listed(list(space.templates))}"
                )
            today = found
        problem = explain_impossible(parameter, today)
        if problem:
            found_text = shorten(format_choice(today))
            raise UsageError(f"the request {request!r} has {found_text} at {parameter.pointer!r}, {problem}")
        parameters.append(replace(parameter, today=today))
    return replace(space, parameters=tuple(parameters))


def fill_parameters(suite: Suite, values: Mapping[str, Json]) -> Suite:
    """
    *suite*, whose requests have *values* of its parameters.

    Raises:
        UsageError: A list or an object would be inserted into a text.
    """
    assert suite.tuning is not None
    requests = fill_templates(suite.tuning, values)
    titles = {name: template.http.titles for name, template in suite.requests.items() if template.http is not None}
    for name, template in requests.items():
        # The paths of titles are added when a suite is loaded.
        if template.http is not None:
            requests[name] = replace(template, http=replace(template.http, titles=titles[name]))
    return replace(suite, requests=requests)


def fill_templates(space: TuningSpace, values: Mapping[str, Json]) -> dict[str, RequestTemplate]:
    """The requests of *space* with *values*; raises as `fill_parameters`."""
    return {name: _fill_template(template, space, values) for name, template in space.templates.items()}


def _fill_template(template: RequestTemplate, space: TuningSpace, values: Mapping[str, Json]) -> RequestTemplate:
    masked = template.masked
    if masked is not None:
        masked = {part: fill_value(value, values) for part, value in masked.items()}
        if "body" in masked:
            masked["body"] = _put_values(masked["body"], space, values)
        if "http" in masked and isinstance(masked["http"], Mapping) and "json" in masked["http"]:
            masked["http"] = {**masked["http"], "json": _put_values(masked["http"]["json"], space, values)}
    body = fill_but_source(template.body, partial(fill_value, values=values))
    return replace(
        template,
        body=_put_values(body, space, values),
        url_params=fill_value(template.url_params, values),
        http=None if template.http is None else _fill_http(template.http, space, values),
        masked=masked,
    )


def _fill_http(http: HttpRequest, space: TuningSpace, values: Mapping[str, Json]) -> HttpRequest:
    return replace(
        http,
        path=_fill_text(http.path, values, encode=partial(quote, safe="")),
        params=fill_value(http.params, values),
        headers={name: _fill_text(value, values) for name, value in http.headers.items()},
        json=_put_values(fill_value(http.json, values), space, values),
    )


def _put_values(body: Json, space: TuningSpace, values: Mapping[str, Json]) -> Json:
    """*body* with the values of the parameters that have pointers; one that leads nowhere is of another request."""
    for parameter in space.parameters:
        if parameter.pointer:
            try:
                body = put_value(body, parameter.pointer, values[parameter.name])
            except LookupError:
                continue
    return body


def fill_value(node: Json, values: Mapping[str, Json]) -> Json:
    """*node* with its parameters; a text that is one parameter becomes the value with its type."""
    if isinstance(node, str):
        matches = list(match_placeholders(node))
        if len(matches) == 1 and matches[0].group() == node:
            name = read_parameter_name(matches[0][1])
            # One that is no parameter is noted by `check_placeholders`.
            return values.get(name, node) if name is not None else node
        return _fill_text(node, values)
    if isinstance(node, list):
        return [fill_value(item, values) for item in node]
    if isinstance(node, Mapping):
        return {_fill_text(key, values): fill_value(value, values) for key, value in node.items()}
    return node


def _fill_text(text: str, values: Mapping[str, Json], *, encode: Callable[[str], str] = str) -> str:
    """*text* with its parameters inserted as text; other placeholders stay for the queries."""
    filled, end = "", 0
    for match in match_placeholders(text):
        name = read_parameter_name(match[1])
        if name is not None and name in values:
            filled += text[end : match.start()] + encode(format_value(values[name], f"param:{name}"))
            end = match.end()
    return filled + text[end:]


def find_unfit_texts(parameter: TunedParameter) -> str:
    """Why a value of *parameter* cannot be inserted into a text; empty where all can."""
    for value in parameter.choices:
        try:
            format_value(value, f"param:{parameter.name}")
        except UsageError as error:
            return str(error)
    return ""
