"""What was seen of a hold-out: trials that were sent its queries, and decisions that were made on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

from harness.errors import UsageError
from harness.files.hold_outs import add_look, build_hold_out_path
from harness.masking import fingerprint
from harness.model import HoldOut, HoldOutLook, Json, TuningGain
from harness.tuning.asking import fingerprint_requests
from harness.tuning.preparing import Tuning
from harness.tuning.study import Study
from harness.words import counted

LOOKS = "looks"
"""The name under which the looks at a hold-out are kept with a study."""


def check_hold_out(tuning: Tuning, study: Study) -> tuple[Tuning, list[str]]:
    """
    Compare the hold-out with what the studies of the suite know of its queries.

    Returns:
        *tuning* with all looks at its hold-out that are known, also where its file was removed and drawn again; and a
        warning where trials were sent queries of it, and the user goes on by force.

    Raises:
        UsageError: Trials were sent queries of it.
    """
    sent = study.list_sent(tuning.suite.name)
    seen = [query.id for query in tuning.held_out_queries if query.id in sent]
    sentences = []
    if seen:
        sentence = (
            f"trials of earlier tunings were sent {counted(seen, 'query')} of the {len(tuning.held_out_queries)} in "
            f"{build_hold_out_path(tuning.path)}: what was tuned on is no evidence"
        )
        if not tuning.options.force:
            remedy = "put back the hold-out that was there before, or go on all the same with --force"
            raise UsageError(f"{sentence}; {remedy}")
        tuning = replace(tuning, is_seen=True)
        sentences.append(sentence)
    hold_out = tuning.hold_out
    for look in list_kept_looks(tuning, study):
        hold_out = add_look(build_hold_out_path(tuning.path), hold_out, look, tuning.suite.roots)
    return replace(tuning, hold_out=hold_out), sentences


def list_kept_looks(tuning: Tuning, study: Study) -> list[HoldOutLook]:
    """The looks at the hold-out of *tuning* that studies of the suite have kept, the oldest first."""
    queries = fingerprint(list(tuning.hold_out.queries))
    looks = []
    for notes in study.list_notes(tuning.suite.name, LOOKS):
        looks += [HoldOutLook(**note["look"]) for note in notes if note["queries"] == queries]
    return sorted(looks, key=lambda look: look.created)


def keep_look(tuning: Tuning, study: Study, values: Mapping[str, Json], gain: TuningGain) -> HoldOut:
    """The hold-out with the look at the choice with *values*, which is written beside the suite and with the study."""
    assert gain.p_value is not None
    look = HoldOutLook(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        measure=tuning.measure.text,
        request=tuning.request,
        compared=fingerprint_look(tuning, values),
        difference=gain.difference,
        p_value=gain.p_value,
    )
    hold_out = add_look(build_hold_out_path(tuning.path), tuning.hold_out, look, tuning.suite.roots)
    if hold_out != tuning.hold_out:
        queries = fingerprint(list(hold_out.queries))
        study.write_note(LOOKS, [*(study.read_note(LOOKS) or []), {"queries": queries, "look": asdict(look)}])
    return hold_out


def fingerprint_look(tuning: Tuning, values: Mapping[str, Json]) -> str:
    """A fingerprint of all that a decision follows from: with other judgments it is another look."""
    suite = tuning.suite
    parts: list[Json] = [
        fingerprint_requests(suite, tuning.space.today, tuning.request),
        fingerprint_requests(suite, values, tuning.request),
        [tuning.measure.text, str(suite.gain), str(suite.profile)],
        [[query.id, dict(query.judgments), query.weight] for query in tuning.held_out_queries],
    ]
    return fingerprint(parts)
