"""Runs that repeat another one: they do not make a drop the median."""

from dataclasses import replace

import pytest

from builders.histories import entry_of, make_kept_suite, ranking_of, run_of
from harness.model.run import IndexState
from harness.store.commits import DIRTY
from harness.store.repeats import JudgedRun, choose_entries

SUITE = make_kept_suite()
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
    assert choose(entries + retries, BAD, "bad", 5) == ["08", "09", "01", "02", "03"]


def test_an_unchanged_commit_is_compared_with_its_last_runs():
    entries = [keep(GOOD, day, "same") for day in range(4)]
    assert choose(entries, GOOD, "same", 2) == ["03", "04"]


def test_nights_of_one_commit_count_if_their_rankings_differ():
    low, high, tonight = (run_of(SUITE, shoes=ranking_of(*hits)) for hits in ("xy", "ab", "xab"))
    nights = [keep(low, day, "same") for day in range(5)] + [keep(high, day, "same") for day in range(5, 10)]
    assert choose(nights, tonight, "same", 5) == ["06", "07", "08", "09", "10"]
    older = [keep(low, day, f"old{day}") for day in range(5)]
    nights = [keep(high, day, "same") for day in range(5, 25)]
    assert choose(older + nights, tonight, "same", 3) == ["23", "24", "25"]


def with_content(content, hits, uuid="u"):
    run = run_of(SUITE, shoes=ranking_of(*hits))
    return replace(run, states=(IndexState(uuids={"products": uuid}, writes={"0": content}),))


@pytest.mark.parametrize(
    ("content", "hits", "day", "commit", "is_repeat"),
    [
        (1, "ab", 0, "same", True),  # The same again.
        (2, "ab", 0, "same", True),  # Documents were written that change no ranking.
        (2, "ab", 9, "same", True),
        (1, "ba", 0, "same", True),  # A job that was started again, on an engine that answered otherwise.
        (1, "ba", 9, "same", False),  # Nine days ago, so that another thing changed the rankings.
        (2, "ba", 0, "same", False),  # The index changed.
        (1, "ab", 0, "other", False),
        (1, "ab", 0, None, True),
        (1, "ba", 0, None, False),
        (1, "ba", 0, f"same{DIRTY}", False),  # Files of the commit were changed, such as hooks.
        (1, "ab", 0, f"same{DIRTY}", True),
    ],
)
def test_a_repetition_has_the_commit_and_the_rankings_or_the_index(content, hits, day, commit, is_repeat):
    judged = JudgedRun(SUITE, with_content(1, "ab"), "same", "2026-11-01")
    assert judged.is_repeated_by(keep(with_content(content, hits), day, commit)) is is_repeat


def test_another_engine_is_no_repetition_though_its_index_is_the_same():
    entry = keep(with_content(1, "ba"), 0, "same")
    judged = JudgedRun(SUITE, with_content(1, "ab"), "same", "2026-11-01")
    assert not judged.is_repeated_by(replace(entry, engine="opensearch 3.9.0"))


def test_a_night_that_was_started_again_has_one_vote():
    nights = [keep(with_content(day, "ab"), day, "same") for day in range(4)]
    again = [keep(with_content(4, hits), 4, "same") for hits in ("xy", "yx", "zy", "xz")]
    chosen = choose_entries(nights + again, JudgedRun(SUITE, with_content(5, "xzy"), "same", "2026-11-06"), 5)
    assert chosen == [*nights, again[-1]]


def test_runs_of_one_day_count_if_the_index_changed_between_them():
    runs = [keep(with_content(number, "ab"), 1, "other") for number in (1, 1, 2)]
    judged = JudgedRun(SUITE, with_content(3, "ba"), "new", "2026-11-03")
    # The rankings are the same, so for a commit that is gone they are one.
    assert choose_entries(runs, judged, 1) == [runs[2]]
    assert choose_entries(runs, replace(judged, commit="other"), 2) == runs[1:]


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
