"""No text of a report keeps a secret, wherever it came from."""

from dataclasses import dataclass, fields, replace

from builders.secret_texts import SECRET, find_staying, mask
from harness.model.inspection import Explanation
from harness.model.report import MeasureSummary, MissingDocument, QueryReport, RankedDocument, SuiteReport
from harness.model.run import Engine, Hit, HitColumns, IndexState, Ranking, Run, Status, Verdict
from harness.model.scores import Outcome
from harness.model.suite import Profile, Waiver
from harness.redaction import UNMASKED_FIELDS, redact


def report(secret):
    document = RankedDocument(1, "a", 1, 1.0, 2.0, f"title {secret}")
    return SuiteReport(
        name="suite",
        path="s.relevance.yaml",
        request="request",
        cluster=f"https://user:{secret}@host",
        index=f"index-{secret}",
        engine=Engine("fake"),
        profile=Profile.STANDARD,
        gain="exponential",
        depth=10,
        summaries=(MeasureSummary("P@1", "", 1.0, 1.0, 1.0, 1.0, 1, 0),),
        verdicts=(
            Verdict("v", f"threshold {secret}", Status.XFAILED, f"reason {secret}", waiver=Waiver(f"waits {secret}")),
            Verdict("w", "threshold", Status.PASSED, "reason"),
        ),
        queries=(
            QueryReport(
                "q",
                f"text {secret}",
                Outcome.SCORED,
                f"reason {secret}",
                scores={"P@1": 1.0},
                ranking=(document, RankedDocument(2, "b")),
                ideal=(document,),
                missing=(MissingDocument("c", 1, title=f"title {secret}"), MissingDocument("d", 1)),
            ),
        ),
        notes=(f"note {secret}",),
    )


def test_every_text_is_masked_and_nothing_else_changes():
    assert redact(report(SECRET), mask) == report("${PASSWORD}")


def test_an_index_that_is_not_there_stays_so():
    service = SuiteReport("s", "s", "r", "c", None, Engine("http"), Profile.STANDARD, "linear", 10, (), (), ())
    assert redact(service, mask) == service


def test_what_a_report_makes_when_it_is_read_is_masked():
    made = []

    def make_field(name):
        made.append(name)
        return getattr(complete, name)

    complete = replace(report(SECRET).queries[0], question=f"text:{SECRET}")
    late = replace(complete)
    late.make_late(make_field)
    [query] = redact(replace(report(SECRET), queries=(late,)), mask).queries
    assert made == []
    assert query == replace(report("${PASSWORD}").queries[0], question=f"text:{SECRET}")
    assert sorted(made) == ["ideal", "missing", "question", "ranking"]


def test_to_mask_a_ranking_of_ids_and_scores_makes_no_hits():
    ranking = Ranking(tail=(Hit("c", 1.0, f"title {SECRET}"),))
    ranking.make_late(HitColumns((f"a-{SECRET}", "b"), (2.0, 1.0)))
    masked = redact(ranking, mask)
    assert masked.tail == (Hit("c", 1.0, "title ${PASSWORD}"),)
    assert masked.columns == ranking.columns
    assert redact(masked, mask) is masked


@dataclass(frozen=True)
class Added:
    """A type that `UNMASKED_FIELDS` does not have."""

    text: str
    more: tuple[dict[str, str | None], ...]
    number: int | None = None


def test_what_nobody_named_is_masked():
    assert redact(Added(SECRET, ({"a": SECRET, "b": None},)), mask) == Added(
        "${PASSWORD}", ({"a": "${PASSWORD}", "b": None},)
    )


def test_what_is_not_masked_exists():
    for kind, names in UNMASKED_FIELDS.items():
        assert set(names) <= {one.name for one in fields(kind)}, kind


STAYING = {
    "VariantReport": {"agreements", "losses"},
    "ComparedRequest": {"agreements", "losses", "request"},
    "MissedHit": {"id"},
    "BaselineSummary": {"created"},
    "CheckedField": {"name"},
    "ClauseMatch": {"place"},
    "Definitions": {"matched", "named"},
    "Engine": {"kind", "version"},
    "Explanation": {"document", "index", "nearest"},
    "Failure": {"reason"},
    "FoundQuotes": {"quotes", "shares"},
    "Hit": {"id", "texts", "urls", "values"},
    "IndexFacts": {"mapping", "mapping_json", "missing", "settings", "settings_json"},
    "IndexState": {"filters", "uuids", "visible", "writes"},
    "LatencyFigures": {"blamed", "reason"},
    "Mark": {"path"},
    "MeasureSummary": {"gain", "measure"},
    "MissingDocument": {"id", "similar"},
    "MovedDocument": {"id"},
    "NamedField": {"place"},
    "QueryBaseline": {"scores"},
    "QueryReport": {"duplicates", "id", "machine_shares", "question", "scores", "tags", "tail"},
    "RankedDocument": {"id"},
    "Ranking": {"duplicates", "took_doubt", "total_doubt"},
    "Repeat": {"responses", "variants"},
    "Route": {"client_cert", "client_key", "client_key_password", "proxy", "proxy_login"},
    "Run": {"deepened", "index", "request", "resent", "responses", "target_changed", "titles", "variants"},
    "ScorePart": {"field"},
    "SentRequest": {
        "body",
        "ca_certs",
        "encoded",
        "fingerprint",
        "headers",
        "login",
        "method",
        "url",
        "variables",
        "verbatim",
    },
    "ShardCopy": {"allocation", "node"},
    "SuiteReport": {"gain", "path", "request", "searched"},
    "SuiteTiming": {"copies", "repeats", "resent"},
    "TagSummary": {"tag", "verdicts"},
    "TargetChecks": {"absent", "examples", "unread"},
    "TextDiff": {"name"},
    "UnstableQuery": {"query"},
    "Verdict": {"blamed", "caveat", "id", "markers", "measure", "query", "tag"},
}
"""By class, the fields whose texts stay: ids and names, which connect values, and what was masked before."""


def test_ids_and_names_stay_and_every_other_text_is_masked():
    assert find_staying(Run, SuiteReport, Explanation, IndexState) == STAYING
