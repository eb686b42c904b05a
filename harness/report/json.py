"""JSON that is written and read back: reports, comparisons, scores of run files; errors of invalid files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, core_schema, to_json

from harness.errors import FormatError
from harness.extensions.migrate.verification import VerificationReport
from harness.extensions.tuning.model import TuningReport
from harness.model.comparison import ComparisonReport, PlanReport, SidesReport
from harness.model.inspection import QueryInspection
from harness.model.report import QueryReport, Report
from harness.model.run import Unit, Verdict
from harness.model.suite import Json, Measure
from harness.model.timing import LatencyFigures

if TYPE_CHECKING:
    from harness.metrics.evaluate import RunScores


# A format follows a dataclass of `harness.model`, field by field. Its version is under ``schema``; a file of another
# version is refused with a sentence, never read in part. JSON has no infinity and no NaN, so these are written as the
# strings "Infinity", "-Infinity" and "NaN".


T = TypeVar("T")

_NOT_PLAIN = re.compile(r"[^\x00-\x7e]+")
_COMMAND = re.compile(r"#(?=#(?:vso|teamcity)?\[)")
"""The beginning of what CI systems execute anywhere in a line of a log. JSON has a `#` in strings only."""


@dataclass(frozen=True)
class JsonForm(Generic[T]):
    """
    The JSON format of a *kind*; *noun* is the name of such a file in errors.

    *version* is the version that is written, and the only one that is read.
    """

    kind: type[T]
    noun: str
    version: int

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self.kind)

    def dumps(self, value: T) -> str:
        """*value* as JSON text, two blanks a level, ASCII only, with a newline at its end."""
        return _dump(self._adapter, value, indent=2) + "\n"

    def loads(self, text: str, *, path: str | None = None) -> T:
        """
        Read what `dumps` wrote; errors name *path*, or the noun without one.

        Raises:
            FormatError: not JSON, another version, or fields that are missing or of the wrong type; names all of them.
        """
        path = path or self.noun
        raw = self._parse(text, path)
        version = raw.get("schema") if isinstance(raw, dict) else None
        # In Python true equals 1.
        if version != self.version or isinstance(version, bool):
            found = "no schema version" if version is None else f"schema version {version!r}"
            reason = f"this version of the harness cannot read this {self.noun}; write it anew"
            raise FormatError.at(path, 0, 0, f"found {found}, expected {self.version}: {reason}")
        try:
            return self._adapter.validate_python(raw)
        except ValidationError as error:
            faults = [f"{self._name_place(fault['loc'])}: {fault['msg']}" for fault in error.errors(include_url=False)]
            raise FormatError.at(path, 0, 0, f"not a {self.noun}: {'; '.join(faults)}") from None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of what `dumps` writes; docstrings below fields are their descriptions."""
        # The adapter of a dataclass itself takes no configuration.
        adapter = TypeAdapter(list[self.kind], config=ConfigDict(use_attribute_docstrings=True))  # type: ignore[name-defined]
        definitions = adapter.json_schema(mode="serialization", schema_generator=_Schema)["$defs"]
        root = definitions.pop(self.kind.__name__)
        root["properties"]["schema"] = {"const": self.version, "title": "Schema"}
        title = f"relevance-harness {self.noun}"
        return {"$schema": _Schema.schema_dialect, "$defs": definitions, **root, "title": title}

    def _parse(self, text: str, path: str) -> Json:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError.at(path, error.lineno, error.colno, f"not JSON: {error.msg}") from None
        except RecursionError:
            raise FormatError.at(path, 0, 0, f"not a {self.noun}: nested too deeply") from None
        except ValueError:
            raise FormatError.at(path, 0, 0, f"not a {self.noun}: a number has too many digits") from None

    def _name_place(self, location: tuple[int | str, ...]) -> str:
        return ".".join(map(str, location)) or self.noun


class _Schema(GenerateJsonSchema):
    """Allows for a number the three strings that replace infinities and NaN."""

    def float_schema(self, schema: core_schema.FloatSchema) -> dict[str, Any]:
        return {"anyOf": [super().float_schema(schema), {"enum": ["Infinity", "-Infinity", "NaN"]}]}


def _dump(adapter: TypeAdapter[Any], value: object, *, indent: int | None) -> str:
    """*value* as JSON text, on one line without an *indent*."""
    plain = adapter.dump_python(value, mode="json")
    try:
        text = _encode(plain, indent)
    except PydanticSerializationError:
        text = _encode(_replace_surrogates(plain), indent)
    return escape_json_commands(_escape_non_ascii(text))


def _encode(plain: Json, indent: int | None) -> str:
    """*plain* as JSON text; indented here, as the encoder of the standard library takes ten times as long to indent."""
    return to_json(plain, indent=indent, inf_nan_mode="strings").decode()


def _replace_surrogates(value: Json) -> Json:
    """*value* with U+FFFD for each lone surrogate, which UTF-8 cannot encode."""
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def escape_json_commands(text: str) -> str:
    r"""
    The same JSON in a *text* that no CI system executes when it is printed into a log.

    >>> escape_json_commands('{"title": "##[stop-commands]x"}')
    '{"title": "\\u0023#[stop-commands]x"}'
    """
    return _COMMAND.sub(r"\\u0023", text) if "##" in text else text


def _escape_non_ascii(text: str) -> str:
    """JSON text with an escape for DEL and everything but ASCII, which occur in strings only."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _NOT_PLAIN.sub(lambda found: json.dumps(found[0])[1:-1], text)


_REPORT_FORM = JsonForm(Report, "report", version=1)

report_schema = _REPORT_FORM.schema


NO_QUERIES = '\n      "queries": []'
"""The queries of a suite without any. No string of JSON holds a line break, so nothing else in a report matches it."""


@cache
def _make_query_adapter() -> TypeAdapter[QueryReport]:
    return TypeAdapter(QueryReport)


def dumps_report(report: Report) -> str:
    """*report* as JSON text, a query a line."""
    return "".join(dump_report_parts(report))


def dump_report_parts(report: Report) -> Iterator[str]:
    """
    *report* as JSON text, a query a line, in parts that need not be in memory at once.

    Figures of verdicts that depend on latencies are in their `timing`.
    """
    suites = tuple(replace(suite, queries=()) for suite in report.suites)
    rest = _REPORT_FORM.dumps(_change_verdicts(replace(report, suites=suites), _separate_latency))
    for suite in report.suites:
        before, _, rest = rest.partition(NO_QUERIES)
        yield f"{before}{NO_QUERIES[:-1]}"
        for place, query in enumerate(suite.queries):
            yield f"{',' if place else ''}\n        {_dump(_make_query_adapter(), query, indent=None)}"
        yield "\n      ]" if suite.queries else "]"
    yield rest


def loads_report(text: str, *, path: str | None = None) -> Report:
    """
    Read what `dumps_report` wrote; errors name *path*.

    Raises:
        FormatError: See `JsonForm.loads`.
    """
    report = _change_verdicts(_REPORT_FORM.loads(text, path=path), _merge_latency)
    return replace(report, suites=tuple(replace(suite, queries=tuple(suite.queries)) for suite in report.suites))


def _change_verdicts(report: Report, change: Callable[[Verdict], Verdict]) -> Report:
    suites = (replace(suite, verdicts=tuple(map(change, suite.verdicts))) for suite in report.suites)
    return replace(report, suites=tuple(suites))


def _separate_latency(verdict: Verdict) -> Verdict:
    if verdict.unit is not Unit.MILLISECONDS:
        return verdict
    figures = LatencyFigures(verdict.reason, verdict.observed, verdict.blamed, verdict.repeats)
    return replace(verdict, reason="", observed=None, blamed=(), repeats=None, timing=figures)


def _merge_latency(verdict: Verdict) -> Verdict:
    if verdict.timing is None:
        return verdict
    return replace(verdict, **asdict(verdict.timing), timing=None)


_COMPARISON_FORM = JsonForm(ComparisonReport, "comparison", version=1)

dumps_comparison = _COMPARISON_FORM.dumps
loads_comparison = _COMPARISON_FORM.loads
comparison_schema = _COMPARISON_FORM.schema


_SIDES_FORM = JsonForm(SidesReport, "comparison of several sides", version=1)

dumps_sides = _SIDES_FORM.dumps
loads_sides = _SIDES_FORM.loads
sides_schema = _SIDES_FORM.schema


_INSPECTION_FORM = JsonForm(QueryInspection, "inspection", version=1)

dumps_inspection = _INSPECTION_FORM.dumps
inspection_schema = _INSPECTION_FORM.schema

_VERIFICATION_FORM = JsonForm(VerificationReport, "verification", version=1)

dumps_verification = _VERIFICATION_FORM.dumps
verification_schema = _VERIFICATION_FORM.schema


_PLAN_FORM = JsonForm(PlanReport, "plan", version=1)

dumps_plan = _PLAN_FORM.dumps
plan_schema = _PLAN_FORM.schema


_TUNING_FORM = JsonForm(TuningReport, "tuning", version=1)

dumps_tuning = _TUNING_FORM.dumps
loads_tuning = _TUNING_FORM.loads
tuning_schema = _TUNING_FORM.schema


def dump_scores(evaluation: RunScores, measures: Mapping[str, Measure], *, complete: bool = False) -> str:
    """
    ``{"profile": …, "measures": {"nDCG@10": {"mean": x, "queries": {"q1": x}}}}``, null where a score is undefined.

    Where the order of documents with equal scores moves the mean, the figures have
    ``"over_ties": {"least": x, "greatest": x}``.

    Queries that are in no mean are listed under ``"left_out": {"not_in_run": [ids], "not_judged": [ids]}``; an empty
    list is left out. ``"near_ids"`` is a sentence on hits that are judged under another form of their id, if any are.

    Args:
        evaluation: The scores.
        measures: The measures to write, by the text to write them under.
        complete: Whether judged queries that are not in the run were counted.
    """
    by_measure: dict[str, Json] = {}
    for text, measure in measures.items():
        figures: dict[str, Json] = {"mean": evaluation.mean(measure.text)}
        if measure.text in evaluation.summed:
            figures["sum"] = evaluation.sum(measure.text)
        over_ties = evaluation.means_over_ties(measure.text)
        if over_ties is not None:
            figures["over_ties"] = {"least": over_ties[0], "greatest": over_ties[1]}
        by_measure[text] = {**figures, "queries": dict(evaluation.scores[measure.text])}
    plain: dict[str, Json] = {"profile": str(evaluation.profile), "measures": by_measure}
    left_out = {"not_in_run": () if complete else evaluation.missing, "not_judged": evaluation.unjudged}
    if any(left_out.values()):
        plain["left_out"] = {why: list(queries) for why, queries in left_out.items() if queries}
    if evaluation.near_ids:
        plain["near_ids"] = evaluation.near_ids
    return escape_json_commands(json.dumps(plain, indent=2, allow_nan=False))
