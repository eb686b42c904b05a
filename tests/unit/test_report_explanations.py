"""What is printed of explained scores: what a part is computed from, and what of it differs between two documents."""

from harness.model.inspection import PartKind, ScoreDetail, ScoreFactor, ScorePart
from harness.report.inspection_document import build_details, describe_coarse_parts, explain_difference
from harness.report.terminal import print_table, render_plain


def make_function(clicks: float, *, total: float) -> tuple[ScoreDetail, ...]:
    return (
        ScoreDetail("function score, score mode [sum]", total, 0),
        ScoreDetail("log1p(doc['clicks'].value)", clicks, 1),
        ScoreDetail("constant", 3.0, 1),
    )


def make_term(text: str, clicks: float, *, total: float) -> ScorePart:
    factor = ScoreFactor("function score", total, make_function(clicks, total=total))
    return ScorePart(PartKind.TERM, f"title:{text}", total, 1.0, (factor,), field="title", term=text)


def test_a_factor_of_several_parts_is_printed_once_with_all_that_it_is_computed_from():
    parts = [make_term("shoe", 1.5, total=4.5), make_term("red", 1.5, total=4.5)]
    [table] = build_details(parts)
    assert render_plain(print_table(table)).splitlines() == [
        "value  function score, in the engine's words",
        "  4.5  function score, score mode [sum]",
        "  1.5    log1p(doc['clicks'].value)",
        "    3    constant",
    ]


def test_the_function_that_differs_between_two_documents_is_named_and_no_other():
    first, second = make_term("shoe", 1.5, total=4.5), make_term("shoe", 1.2, total=4.2)
    assert explain_difference(first, second).split("; ") == [
        "times function score 4.5 and function score 4.2",
        "function score, score mode [sum] 4.5 and 4.2",
        "log1p(doc['clicks'].value) 1.5 and 1.2",
    ]
    assert explain_difference(first, first) == ""


def test_a_part_is_called_coarse_only_if_the_engine_says_nothing_of_it():
    vector = ScorePart(PartKind.VECTOR, "vector similarity", 0.9, 0.9, details=(ScoreDetail("within top k", 0.9, 0),))
    told = ScorePart(PartKind.OTHER, "x", 2.0, 2.0, details=(ScoreDetail("x", 2.0, 0), ScoreDetail("w", 2.0, 1)))
    function = ScorePart(PartKind.FUNCTION, "function score", 4.5, 4.5, details=make_function(1.5, total=4.5))
    assert list(describe_coarse_parts([vector, told, function])) == [
        "vector similarity: the engine gives its value and no finer parts"
    ]
