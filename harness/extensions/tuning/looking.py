"""What was seen of a hold-out: trials that were sent its queries, and decisions that were made on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

from harness.errors import UsageError
from harness.extensions.tuning.asking import fingerprint_requests
from harness.extensions.tuning.hold_outs import add_look, build_hold_out_path, group_same_queries, simplify_text
from harness.extensions.tuning.model import HoldOut, HoldOutLook, TuningGain
from harness.extensions.tuning.preparing import Tuning, list_judged
from harness.extensions.tuning.study import Study
from harness.masking import fingerprint
from harness.model.kept import TEXT_PLACEHOLDER
from harness.model.suite import Json, Query, Suite
from harness.store.what_changed import fingerprint_request, select_request_values
from harness.suites.parameters import fill_parameters
from harness.words import counted

LOOKS = "looks"
"""The name under which the looks at a hold-out are kept with a study."""


def list_signs(suite: Suite, request: str, query: Query) -> tuple[str, ...]:
    """
    By what *query* is known again under another id, in another suite, or in another hold-out, as fingerprints.

    These are its text, but for case and blanks; and all values that *request* sends for it, where it has no text or
    does not send it.
    """
    signs = []
    values = select_request_values(suite, request)
    text = query.text if query.masked is None else query.masked["text"]
    simplified = simplify_text(text)
    if simplified:
        signs.append(f"text {fingerprint(simplified)}")
    sends_text = values.names is None or TEXT_PLACEHOLDER in values.names
    if not simplified or not sends_text:
        sent = values.fingerprint(query)
        if sent:
            signs.append(f"values {fingerprint(sent)}")
    return tuple(signs)


def check_hold_out(tuning: Tuning, study: Study) -> tuple[Tuning, list[str]]:
    """
    Compare the hold-out with what the studies in the storage know of its queries.

    Returns:
        *tuning* with all looks at its hold-out that are known, also where its file was removed and drawn again; and a
        warning where trials are sent queries of it, and the user goes on by force.

    Raises:
        UsageError: Trials were sent queries of it, or are to be sent the same queries.
    """
    suite, path = tuning.suite, build_hold_out_path(tuning.path)
    signs = {query.id: list_signs(suite, tuning.request, query) for query in suite.queries}
    sent = study.list_sent(suite.name)
    tuned = {query.id for query in tuning.tuning_queries}
    seen: set[str] = set()
    to_be_seen: set[str] = set()
    # Who has tuned on one of several queries that are the same has seen all of them.
    for family in group_same_queries(suite.queries):
        ids = {query.id for query in family}
        if any(query in sent.ids or not sent.signs.isdisjoint(signs[query]) for query in ids):
            seen |= ids
        elif not tuned.isdisjoint(ids):
            to_be_seen |= ids
    sentences = []
    for what, queries in (
        ("trials of earlier tunings were sent", seen),
        ("queries to tune on are the same as", to_be_seen),
    ):
        held_out = [query.id for query in tuning.held_out_queries if query.id in queries]
        if held_out:
            of_all = f"{counted(held_out, 'query')} of the {len(tuning.held_out_queries)} in {path}"
            sentences.append(f"{what} {of_all}: what was tuned on is no evidence")
    if sentences:
        if not tuning.options.force:
            remedy = (
                "put back the hold-out, the ids and the texts that were there before, or go on all the same with "
                "--force"
            )
            raise UsageError(f"{'; '.join(sentences)}; {remedy}")
        tuning = replace(tuning, is_seen=True)
    study.write_signs({query: signs[query] for query in tuned})
    hold_out = tuning.hold_out
    for look in list_kept_looks(tuning, study):
        hold_out = add_look(path, hold_out, look, suite.roots)
    return replace(tuning, hold_out=hold_out), sentences


def list_kept_looks(tuning: Tuning, study: Study) -> list[HoldOutLook]:
    """
    The looks at the hold-out of *tuning* that studies in the storage have kept, the oldest first.

    A look at half of its queries, whatever their ids were, is one at it. Of looks without signs only those at the same
    ids are known.
    """
    ids = fingerprint(list(tuning.hold_out.queries))
    signs_of_queries = [set(signs) for signs in list_held_out_signs(tuning).values()]
    looks = []
    for notes, may_be_of_suite in study.list_notes(tuning.suite.name, LOOKS):
        for note in notes:
            seen_signs = note.get("signs")
            if seen_signs is None:
                is_same = may_be_of_suite and note["queries"] == ids
            else:
                seen_queries = sum(not signs.isdisjoint(seen_signs) for signs in signs_of_queries)
                is_same = 2 * seen_queries >= len(signs_of_queries)
            if is_same:
                looks.append(HoldOutLook(**note["look"]))
    return sorted(looks, key=lambda look: look.created)


def list_held_out_signs(tuning: Tuning) -> dict[str, tuple[str, ...]]:
    """The signs of each query of the hold-out."""
    return {query.id: list_signs(tuning.suite, tuning.request, query) for query in tuning.held_out_queries}


def write_look(tuning: Tuning, study: Study, values: Mapping[str, Json], gain: TuningGain) -> HoldOut:
    """The hold-out with the look at the choice with *values*, which is written beside the suite and with the study."""
    assert gain.p_value is not None
    look = HoldOutLook(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        measure=tuning.measure.text,
        request=tuning.request,
        compared=fingerprint_look(tuning, values),
        difference=gain.difference,
        p_value=gain.p_value,
        choice=fingerprint_request(fill_parameters(tuning.suite, values), tuning.request),
    )
    hold_out = add_look(build_hold_out_path(tuning.path), tuning.hold_out, look, tuning.suite.roots)
    if hold_out != tuning.hold_out:
        signs: set[str] = set()
        for signs_of_query in list_held_out_signs(tuning).values():
            signs.update(signs_of_query)
        note = {"queries": fingerprint(list(hold_out.queries)), "signs": sorted(signs), "look": asdict(look)}
        study.write_note(LOOKS, [*(study.read_note(LOOKS) or []), note])
    return hold_out


def fingerprint_look(tuning: Tuning, values: Mapping[str, Json]) -> str:
    """A fingerprint of all that a decision follows from: with other judgments it is another look."""
    suite = tuning.suite
    parts: list[Json] = [
        fingerprint_requests(suite, tuning.space.today, tuning.request),
        fingerprint_requests(suite, values, tuning.request),
        [tuning.measure.text, str(suite.gain), str(suite.profile)],
        [[query.id, list_judged(query), query.weight] for query in tuning.held_out_queries],
    ]
    return fingerprint(parts)
