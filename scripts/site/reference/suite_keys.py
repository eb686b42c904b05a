"""The keys of a suite, from its JSON Schema: for each place where keys stand, a table of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from harness.suites.fixtures import SETTINGS
from harness.suites.shape import suite_schema
from harness.words import one_of
from reference.markdown import write_paragraph, write_table

Schema = dict[str, Any]

DEFAULT = re.compile(r" Default: (.+?)\.$")
"""The end of a description that has its own column."""

SCALAR = ["string", "number", "boolean"]
"""The type of a text, which may be written as a number."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a suite where keys stand: one shape of the schema."""

    heading: str
    shape: str
    introduction: str
    level: int = 2

    @property
    def anchor(self) -> str:
        """The anchor of the heading."""
        return self.heading.lower().replace(" ", "-")


PLACES = (
    Place("Keys of a suite", "SuiteShape", "The top of the file. A suite has either `request` or `requests`."),
    Place("target", "TargetShape", "Where the suite runs, or one of its requests."),
    Place("grades", "GradeShape", "What a name of `grades` stands for is a number, or a mapping:"),
    Place(
        "request and requests",
        "RequestShape",
        "A request is the body of `_search`, unless it has one of these keys but `gate`. A request has one of `body`, "
        "`file` and `http`.",
    ),
    Place("request http", "HttpShape", "A request to an HTTP service, and JSONPaths into its answer.", 3),
    Place("request http documents", "DocumentsShape", "A request to an HTTP service for documents by their ids.", 3),
    Place("queries", "QueryShape", "An item of `queries`: an information need with its judgments."),
    Place("queries quotes", "QuoteShape", "An item of `quotes`: a judgment of a text in place of an id.", 3),
    Place("queries variants", "QueryVariantsShape", "`variants` of a query is a list of texts, or a mapping:", 3),
    Place("queries from a file", "QueryFileShape", "`queries` is a list, the path of a file, or a mapping:", 3),
    Place("judgments", "JudgmentFilesShape", "`judgments` of the suite is a path, a list of paths, or a mapping:"),
    Place("thresholds", "ThresholdShape", "An item of `thresholds` is a text, or a mapping:"),
    Place("expect", "ExpectationShape", "An item of `expect` is a text, or a mapping:"),
    Place("xfail and skip", "WaiverShape", "The value of `xfail` and of `skip`, wherever they stand."),
    Place("variants", "VariantRulesShape", "The rules of the suite, for each query without `variants` of its own."),
    Place("vectors", "VectorFileShape", "What a name of `vectors` stands for is the path of a file, or a mapping:"),
    Place("display", "DisplayShape", "What is shown and read of a document beside its id."),
    Place("fixture", "FixtureShape", "An index that the suite builds with `--allow-write`."),
    Place("tune", "TuneShape", "What `relevance tune` may change of the requests."),
    Place("tune parameters", "ParameterShape", "A parameter has a range, `choices` or a `switch`.", 3),
)
"""In the order of the page."""

MORE = {
    ("SuiteShape", "grades"): "suites.md#grades-and-judgments",
    ("SuiteShape", "judgments"): "suites.md#grades-and-judgments",
    ("SuiteShape", "judges"): "suites.md#whose-grades-count",
    ("SuiteShape", "guidelines"): "suites.md#for-those-who-judge",
    ("SuiteShape", "gain"): "suites.md#grades-and-judgments",
    ("SuiteShape", "profile"): "profiles.md",
    ("SuiteShape", "request"): "suites.md#requests",
    ("SuiteShape", "requests"): "suites.md#several-requests",
    ("SuiteShape", "measures"): "measures.md",
    ("SuiteShape", "thresholds"): "thresholds.md#thresholds",
    ("SuiteShape", "expect"): "thresholds.md#expectations",
    ("SuiteShape", "queries"): "suites.md#queries",
    ("SuiteShape", "vectors"): "suites.md#vectors",
    ("SuiteShape", "variants"): "../guides/variants.md#made-variants",
    ("SuiteShape", "undefined"): "outcomes.md#a-query",
    ("SuiteShape", "baseline"): "baselines.md#when-the-baseline-cannot-be-used",
    ("SuiteShape", "display"): "suites.md#for-those-who-judge",
    ("SuiteShape", "checks"): "../engines/index.md#what-is-checked",
    ("SuiteShape", "warm_up"): "../explanation/reliability.md#point-in-time",
    ("SuiteShape", "fixture"): "../engines/index.md#fixtures",
    ("SuiteShape", "tune"): "../guides/tuning.md",
    ("TargetShape", "cluster"): "suites.md#target",
    ("TargetShape", "point_in_time"): "../explanation/reliability.md#point-in-time",
    ("TargetShape", "ids"): "../engines/index.md#the-same-id-in-two-indexes",
    ("RequestShape", "target"): "../guides/several-engines.md",
    ("RequestShape", "gate"): "suites.md#several-requests",
    ("QueryShape", "nothing"): "suites.md#nothing-to-find",
    ("QueryShape", "quotes"): "suites.md#quotes",
    ("QueryShape", "weight"): "suites.md#weights",
    ("QueryShape", "variants"): "../guides/variants.md",
    ("QueryShape", "same_as"): "../guides/variants.md#other-queries",
    ("ThresholdShape", "estimate"): "../explanation/estimates.md",
    ("ThresholdShape", "severity"): "outcomes.md#a-threshold",
    ("JudgmentFilesShape", "files"): "judgments.md",
}
"""Where more stands of a key."""


def write_suite_keys() -> str:
    """A section for each place where keys of a suite stand."""
    schema = suite_schema()
    shapes = {"SuiteShape": schema, **schema["$defs"]}
    return "\n\n".join(write_place(place, shapes[place.shape]) for place in PLACES)


def write_place(place: Place, shape: Schema) -> str:
    """The heading of *place*, what stands there, and a table of its keys."""
    required = shape.get("required", [])
    rows = []
    for key, value in shape["properties"].items():
        description = value.get("description", "")
        default = DEFAULT.search(description)
        stated = default[1] if default else ""
        link = MORE.get((place.shape, key))
        name = f"[`{key}`]({link})" if link else f"`{key}`"
        rows.append(
            (name, describe_value(value), DEFAULT.sub("", description), "required" if key in required else stated)
        )
    parts = [
        f"{'#' * place.level} {place.heading}",
        write_paragraph(place.introduction),
        write_table(("key", "value", "meaning", "default"), rows),
    ]
    if place.shape == "FixtureShape":
        names = ", ".join(f"`{name}`" for name in sorted(SETTINGS))
        parts.append(write_paragraph(f"`settings` may have these, and those below them: {names}."))
    return "\n\n".join(parts)


def describe_value(value: Schema) -> str:
    """
    What stands behind a key.

    >>> describe_value({"items": {"type": SCALAR}, "type": "array"})
    'list of texts'
    """
    return one_of(list(dict.fromkeys(list_kinds(value))))


def list_kinds(value: Schema) -> list[str]:
    """The kinds of value that may stand behind a key, each in a few words."""
    branches = value.get("oneOf") or value.get("anyOf")
    if branches:
        return [kind for branch in branches if not is_variable(branch) for kind in list_kinds(branch)]
    if "enum" in value:
        return [f"`{word}`" for word in value["enum"]]
    if "const" in value:
        return [f"`{value['const']}`"]
    if "$ref" in value:
        return [f"[mapping](#{find_place(value).anchor})"]
    if "not" in value:
        return ["body"]
    if value.get("type") == "array":
        return [describe_list(value.get("items", {}))]
    if value.get("type") == "object":
        return [describe_mapping(value)]
    return [describe_scalar(value)]


def is_variable(branch: Schema) -> bool:
    """Whether *branch* is that of a variable in place of a value."""
    return "${" in branch.get("pattern", "").replace("\\", "")


def find_place(value: Schema) -> Place:
    """The place of the shape to which *value* refers."""
    name = value["$ref"].rpartition("/")[2]
    return next(place for place in PLACES if place.shape == name)


def describe_list(items: Schema) -> str:
    """A list of *items*."""
    branches = items.get("oneOf", [items])
    shapes = [branch for branch in branches if "$ref" in branch]
    if not shapes:
        return "list" if not items else "list of texts"
    mappings = f"[mappings](#{find_place(shapes[0]).anchor})"
    return f"list of {mappings}" if len(branches) == 1 else f"list of texts or {mappings}"


def describe_mapping(value: Schema) -> str:
    """A mapping of names to values of one type."""
    values = value.get("additionalProperties")
    if not isinstance(values, dict):
        return "mapping"
    return f"by name: {describe_value(values)}"


def describe_scalar(value: Schema) -> str:
    """A value that is neither a list nor a mapping."""
    kinds = value.get("type")
    if kinds == SCALAR or kinds == "string":
        return "date" if value.get("format") == "date" else "text"
    if kinds == "integer":
        return f"whole number, at least {value['minimum']}" if "minimum" in value else "whole number"
    if kinds == "number":
        return "number above 0" if "exclusiveMinimum" in value else "number"
    if kinds == "boolean":
        return "`true` or `false`"
    if isinstance(kinds, list):
        return one_of([describe_scalar({"type": kind}) for kind in kinds])
    return "anything"


PARTS = {"the keys of a suite": write_suite_keys}
