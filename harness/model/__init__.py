"""
The values that cross module borders, frozen, and nothing else.

They flow one way::

    Suite(queries, judgments, thresholds) -> SearchRequest -> Response -> Run -> Score -> Verdict -> Report

Nothing here knows YAML, HTTP or a screen. `Report` and what it holds are written as JSON and read again, so they hold
only plain values.
"""

from __future__ import annotations

from harness.model.baselines import Baseline, BaselineFile, BaselineQuery, Question, Reference
from harness.model.comparisons import (
    Agreement,
    Comparison,
    ComparisonReport,
    MeasureComparison,
    MovedDocument,
    QueryComparison,
    Side,
    SideKind,
)
from harness.model.conditions import (
    AgreementCondition,
    BaselineCondition,
    Before,
    Condition,
    DropCondition,
    HitCount,
    InTop,
    LatencyCondition,
    Operator,
    ScoreCondition,
    SignificanceCondition,
    StatisticKind,
    Threshold,
    Unresolved,
    Waiver,
    WorseCondition,
)
from harness.model.measures import Gain, GainKind, Measure, Parameter, Profile
from harness.model.places import Json, Mark
from harness.model.reports import (
    BaselineSummary,
    MeasureSummary,
    MissingDocument,
    QueryReport,
    RankedDocument,
    Report,
    SuiteReport,
    TagSummary,
)
from harness.model.searches import (
    ANY_TEXT,
    Cluster,
    Engine,
    Failure,
    FailureKind,
    Hit,
    IndexFacts,
    Ranking,
    Response,
    Run,
    SearchRequest,
    TailSearch,
)
from harness.model.suites import Fixture, HttpRequest, Judgment, Query, RequestTemplate, Suite, Target
from harness.model.verdicts import Outcome, Score, Status, Verdict

__all__ = [
    "ANY_TEXT",
    "Agreement",
    "AgreementCondition",
    "Baseline",
    "BaselineCondition",
    "BaselineFile",
    "BaselineQuery",
    "BaselineSummary",
    "Before",
    "Cluster",
    "Comparison",
    "ComparisonReport",
    "Condition",
    "DropCondition",
    "Engine",
    "Failure",
    "FailureKind",
    "Fixture",
    "Gain",
    "GainKind",
    "Hit",
    "HitCount",
    "HttpRequest",
    "InTop",
    "IndexFacts",
    "Json",
    "Judgment",
    "LatencyCondition",
    "Mark",
    "Measure",
    "MeasureComparison",
    "MeasureSummary",
    "MissingDocument",
    "MovedDocument",
    "Operator",
    "Outcome",
    "Parameter",
    "Profile",
    "Query",
    "QueryComparison",
    "QueryReport",
    "Question",
    "RankedDocument",
    "Ranking",
    "Reference",
    "Report",
    "RequestTemplate",
    "Response",
    "Run",
    "Score",
    "ScoreCondition",
    "SearchRequest",
    "Side",
    "SideKind",
    "SignificanceCondition",
    "StatisticKind",
    "Status",
    "Suite",
    "SuiteReport",
    "TagSummary",
    "TailSearch",
    "Target",
    "Threshold",
    "Unresolved",
    "Verdict",
    "Waiver",
    "WorseCondition",
]
