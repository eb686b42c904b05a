"""Runs that repeat another one: they do not make a drop the median."""

from dataclasses import replace

from harness.history.repeats import JudgedRun, choose_entries
from tests.builders.histories import entry_of, ranking_of, run_of, suite_of

SUITE = suite_of()
GOOD = run_of(SUITE)
BAD = run_of(SUITE, shoes=ranking_of("x", "a"))


def keep(run, day, commit):
    return entry_of(SUITE, run, day=day, commit=commit)


def choose(entries, run, commit, most):
    return [entry.created[8:10] for entry in choose_entries(entries, JudgedRun(SUITE, run, commit), most)]


def test_runs_of_the_judged_commit_do_not_count_if_there_are_others():
    entries = [keep(GOOD, day, f"good{day}") for day in range(3)]
    retries = [keep(BAD, day, "bad") for day in range(3, 9)]
    assert choose(entries + retries, BAD, "bad", 3) == ["01", "02", "03"]
    # Nor do they for a threshold that looks back less far than another one.
    assert choose(entries + retries, BAD, "bad", 5) == ["05", "04", "01", "02", "03"]


def test_an_unchanged_commit_is_compared_with_its_first_runs():
    entries = [keep(GOOD, day, "same") for day in range(4)]
    assert choose(entries, GOOD, "same", 2) == ["02", "01"]


def test_another_commit_has_a_vote_a_day():
    entries = [keep(GOOD, 0, "good"), *(keep(BAD, 1, "bad") for _ in range(3)), keep(GOOD, 2, "good")]
    assert choose(entries, GOOD, "new", 3) == ["01", "02", "03"]
    assert choose(entries, GOOD, "new", 4) == ["02", "01", "02", "03"]


def test_another_request_or_mapping_is_no_repetition():
    entry = keep(GOOD, 0, "same")
    mapped = replace(entry, state=replace(entry.state, mapping="m2"))
    asked = replace(entry, state=replace(entry.state, request="other"))
    judged = JudgedRun(SUITE, GOOD, "same")
    repeats = [judged.is_repeated_by(one) for one in (entry, mapped, asked)]
    assert repeats == [True, False, False]
    assert JudgedRun(SUITE, replace(GOOD, facts=None), "same").is_repeated_by(mapped)


def test_without_a_commit_the_same_rankings_are_a_repetition():
    entries = [keep(GOOD, 0, None), keep(GOOD, 1, None), *(keep(BAD, day, None) for day in (2, 3, 4))]
    assert choose(entries, BAD, None, 2) == ["01", "02"]
    assert choose(entries, GOOD, None, 2) == ["04", "05"]
    tied = run_of(SUITE, shoes=ranking_of(("x", 1.0), ("a", 1.0)))
    swapped = run_of(SUITE, shoes=ranking_of(("a", 1.0), ("x", 1.0)))
    assert JudgedRun(SUITE, swapped, None).is_repeated_by(keep(tied, 0, None))
