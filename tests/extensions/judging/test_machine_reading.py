"""Answers of a language model: one grade of the scale, or none."""

import pytest

from harness.extensions.judging.machine.reading import Completion, GivenGrade, NoGrade, read_completion

SCALE = [0.0, 0.5, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ('{"reason": "fits", "grade": 3}', 3.0),
        ('{"grade": 0, "reason": ""}', 0.0),
        ('\n  {"reason": "half", "grade": 0.5}\n', 0.5),
        ('{"reason": "fits", "grade": 2.0}', 2.0),
        ('```json\n{"reason": "fits", "grade": 1}\n```', 1.0),
        ('```\n{"reason": "fits", "grade": 1}\n```\n', 1.0),
        ('Here it is: {"reason": "fits", "grade": 3}', 3.0),
        ('It fits in part.\n\n```json\n{"reason": "in part", "grade": 2}\n```', 2.0),
        ('<think>hm, 3 or {"grade": 3}?</think>{"reason": "half", "grade": 0.5}', 0.5),
        ('\n<Thinking>\nlong\n</Thinking>\n\nSo:\n{"reason": "no", "grade": 0}\n', 0.0),
        ('<think>\n\n</think>\n```\n{"reason": "fits", "grade": 1}\n```', 1.0),
        ('The brand differs. {"grade": 3}?\n</think>\n{"reason": "no", "grade": 0}', 0.0),
        ('{"reason": "says <think>3</think>", "grade": 1}', 1.0),
        ('{"reason": "says </think>", "grade": 1}', 1.0),
    ],
)
def test_a_grade_of_the_scale_is_read(text, grade):
    given = read_completion(Completion(text, "stop"), SCALE)
    assert isinstance(given, GivenGrade)
    assert given.grade == grade


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the answer is not one JSON object"),
        ("3", "the answer is not one JSON object"),
        ("The grade is 3.", "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": 3} I am sure.', "the answer is not one JSON object"),
        ('First {"grade": 0}, then {"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('Either } or {"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('```\n{"reason": "no", "grade": 0}\n```\n{"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('It fits:\n```json\n{"reason": "fits", "grade": 3}\n```\nOr not.', "the answer is not one JSON object"),
        ('<think>{"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('<think>hm</think>', "the answer is not one JSON object"),
        ('<think>a<think>b</think>c{"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": 3}<think>no, 0</think>', "the answer is not one JSON object"),
        ('{"reason": "no", "grade": 0}</think>{"reason": "fits", "grade": 3}', "the answer is not one JSON object"),
        ('Hm, [{"reason": "fits", "grade": 3}]', "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": 3} {"reason": "no", "grade": 0}', "the answer is not one JSON object"),
        ('[{"reason": "fits", "grade": 3}]', "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": 3', "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": 0, "grade": 3}', "the answer is not one JSON object"),
        ('{"reason": "fits", "grade": NaN}', "the answer is not one JSON object"),
        ("[" * 100_000, "the answer is not one JSON object"),
        ('{"grade": 3}', "the answer does not have just a reason and a grade"),
        ('{"reason": "fits", "grade": 3, "score": 0}', "the answer does not have just a reason and a grade"),
        ('{"reason": null, "grade": 3}', "the reason is no text"),
        ('{"reason": "fits", "grade": "3"}', "the grade is no number"),
        ('{"reason": "fits", "grade": true}', "the grade is no number"),
        ('{"reason": "fits", "grade": null}', "the grade is no number"),
        ('{"reason": "fits", "grade": [3]}', "the grade is no number"),
        ('{"reason": "fits", "grade": 4}', "the grade 4 is not on the scale"),
        ('{"reason": "fits", "grade": -1}', "the grade -1 is not on the scale"),
        ('{"reason": "fits", "grade": 2.5}', "the grade 2.5 is not on the scale"),
        ('{"reason": "fits", "grade": 1e999}', "the grade of more than 20 digits is not on the scale"),
        ('{"reason": "fits", "grade": 1%s}' % ("0" * 400), "the grade of more than 20 digits is not on the scale"),
    ],
)  # fmt: skip
def test_anything_else_is_no_grade_and_is_kept_as_it_came(text, why):
    assert read_completion(Completion(text, "stop"), SCALE) == NoGrade(why, text)


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        (Completion('{"reason": "fits", "grade": 3}', "length"), "the answer was cut"),
        (Completion('{"reason": "fits", "grade": 3}', "content_filter"), "the model refused"),
        (Completion('{"reason": "fits", "grade": 3}', ""), "the answer ended with nothing, not with stop"),
        (Completion('{"reason": "fits", "grade": 3}', "tool_calls"), "the answer ended with tool_calls, not with stop"),
    ],
)
def test_an_answer_that_did_not_end_by_itself_is_no_grade_though_it_can_be_read(completion, why):
    assert read_completion(completion, SCALE) == NoGrade(why, completion.text)


def test_a_refusal_is_no_grade_and_is_kept_as_the_answer():
    completion = Completion("", "stop", refusal="I cannot help with that.")
    assert read_completion(completion, SCALE) == NoGrade("the model refused", "I cannot help with that.")
