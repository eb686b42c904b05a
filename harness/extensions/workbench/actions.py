"""What the page asks for: each action takes what the page sent, and returns JSON values."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from harness.errors import HarnessError, InputError, UsageError
from harness.extensions.workbench.answers import Answers
from harness.extensions.workbench.bench import Bench, TextRun
from harness.extensions.workbench.causes import plan_causes
from harness.extensions.workbench.figures import ScoredSide, make_rows
from harness.extensions.workbench.grading import Grading
from harness.extensions.workbench.holding_out import UnjudgedHitsError, describe_hold_out, give_verdict
from harness.extensions.workbench.rankings import RankedSide, Rankings, find_query, make_side
from harness.extensions.workbench.scored_tries import LIVE
from harness.extensions.workbench.writing import PlannedChange, plan_request, plan_values
from harness.local_server import Action, RefusedAction, Route
from harness.means import mean_of
from harness.model.suite import Query
from harness.run import Runner
from harness.words import count, shorten

LONGEST_NAME = 200


class Actions:
    """Answers the page of one session."""

    def __init__(self, bench: Bench, grading: Grading, runner: Runner, environ: Mapping[str, str]) -> None:
        self.bench = bench
        self.scored = bench.scored
        self.grading = grading
        self._runner = runner
        self._environ = environ
        self._said = ""
        """Why the suite could not be loaded again, which is said once."""
        self._finishing = threading.Lock()
        """Each look is counted, also of two windows that finish at once."""
        self._verdicts: dict[int, str] = {}
        """Of the queries held out, by the number of the try."""
        self._told_unjudged: set[int] = set()
        """The tries of which it was told that unjudged hits may turn their verdict round."""
        self._rankings = Rankings(bench.scored, grading.given)
        self._answers = Answers(bench.scored, grading)
        bench.scored.replace_judgments(grading.list_judgments())

    @property
    def table(self) -> dict[Route, Action]:
        """By method and path."""
        return {
            ("GET", "/session"): self.show_session,
            ("POST", "/try"): self.begin,
            ("GET", "/answers"): self.wait_for_answers,
            ("GET", "/try"): self.show_try,
            ("GET", "/query"): self.show_query,
            ("POST", "/explain"): self.explain,
            ("POST", "/grade"): self.grade,
            ("POST", "/undo"): self.undo,
            ("POST", "/again"): self.again,
            ("POST", "/keep"): self.keep,
            ("POST", "/write"): self.write,
            ("POST", "/finish"): self.finish,
            ("POST", "/why"): self.find_causes,
            ("GET", "/changes"): self.show_changes,
        }

    # The session.

    def show_session(self, _: str, __: Mapping[str, Any]) -> dict[str, Any]:
        """All that the page begins with."""
        scored, material = self.scored, self.scored.material
        self.bench.values = {}
        live = scored.live
        hold_out = None
        if material.hold_out is not None:
            hold_out = {
                "queries": len(material.hold_out.queries),
                "looks": len(material.hold_out.looks),
                "sentence": describe_hold_out(material.hold_out),
            }
        weights = {query.id: query.weight for query in scored.suite.queries if query.id in live.scores}
        return {
            "suite": material.masker.mask(material.suite.name),
            "request": material.request,
            "against": "live" if material.live.name == material.request else material.live.name,
            "measure": material.measure.text,
            "depth": scored.suite.depth,
            "manual": material.is_manual,
            "judge": material.options.judge,
            "choices": [
                {"grade": choice.grade, "name": choice.name, "key": choice.key, "description": ""}
                for choice in self.grading.choices
            ],
            "text": material.text,
            "live_text": material.live.text,
            "dials": self._answers.list_dials(material.text, {}),
            "queries": list(map(self._answers.build_query, scored.suite.queries)),
            "live": mean_of(live.scores, weights) if live.scores else None,
            "has_explain": material.explains,
            "has_why": material.live.answered is not None,
            "watches": True,
            "hold_out": hold_out,
            "tries": self._answers.list_tries(),
            "shown": None,
            "notes": list(material.notes),
        }

    def show_changes(self, _: str, __: Mapping[str, Any]) -> dict[str, Any]:
        """Whether a file of the suite was changed: it is loaded again then, and what is live is answered again."""
        try:
            is_changed = self.bench.reload_if_changed()
        except HarnessError as error:
            said = f"The suite was changed, and cannot be used now: {self.scored.material.masker.mask(str(error))}"
            is_new = said != self._said
            self._said = said
            return {"said": said if is_new else None, "reload": False}
        self._said = ""
        if not is_changed:
            return {"said": None, "reload": False}
        self.grading.original = self.scored.suite
        self.scored.replace_judgments(self.grading.list_judgments())
        self._rankings = Rankings(self.scored, self.grading.given)
        return {
            "said": "The suite or its index was changed: it is loaded again, and your text is kept.",
            "reload": True,
        }

    # Texts.

    def begin(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Send a text."""
        text, numbers = sent.get("text"), sent.get("values") or {}
        first = sent.get("first") or []
        if not isinstance(text, str) or not isinstance(numbers, Mapping) or not isinstance(first, list):
            raise UsageError("expected a text, values by their pointers, and a list of queries")
        if not all(map(_is_finite, numbers.values())):
            raise UsageError("expected numbers as values")
        try:
            begun, text, values = self.bench.begin(
                text, numbers, list(map(str, first)), force=sent.get("force") is True
            )
        except InputError as error:
            problem = error.problems[0]
            answer: dict[str, Any] = {"error": problem.message, "line": problem.line or None, "column": problem.column}
            raise RefusedAction(422, answer) from None
        answer = {"text": text, "dials": self._answers.list_dials(text, values)}
        return answer | ({"run": begun.id} if isinstance(begun, TextRun) else {"try": begun})

    def again(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Send one query once more."""
        return {"run": self.bench.begin_again(_read_number(sent, "try"), str(sent.get("query"))).id}

    def wait_for_answers(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The rows of a run that are new, and its figures when it is over."""
        since = _read_number(sent, "since")
        run = self.bench.wait(str(sent.get("run")), since)
        is_over = run.is_over
        rows = run.rows[since:]
        answer: dict[str, Any] = {
            "run": run.id,
            "part_of": run.again if run.is_part else None,
            "since": since + len(rows),
            "rows": [row.to_json() for row in rows],
            "done": since + len(rows),
            "total": run.searches,
            "over": is_over,
            "superseded": run.is_superseded,
            "try": None,
            "summary": None,
            "error": run.error or None,
        }
        if run.is_superseded:
            return answer | {"rows": []}
        if is_over and run.finished is not None:
            number = run.finished.number
            answer["try"] = self._answers.build_try(run.finished)
            answer["summary"] = self._answers.build_summary(number)
        elif is_over and run.again == LIVE:
            answer["try"] = self._answers.build_live()
            answer["summary"] = self._answers.build_summary(LIVE)
        return answer

    def show_try(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """An earlier try, without a search."""
        number = _read_number(sent, "number")
        shown = self.scored.find_shown(number)
        self.bench.values = dict(shown.values)
        row = self._answers.build_live() if number == LIVE else self._answers.build_try(self.scored.tries.find(number))
        return {
            "text": shown.text,
            "dials": self._answers.list_dials(shown.text, shown.values),
            "rows": [row.to_json() for row in self.scored.list_rows(number)],
            "summary": self._answers.build_summary(number),
            "stale": row["stale"],
            "row": row,
        }

    def keep(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a try by a name."""
        name = str(sent.get("name") or "").strip()
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise UsageError(f"expected a name of at most {LONGEST_NAME} characters")
        return self._answers.build_try(self.scored.tries.rename(_read_number(sent, "try"), name))

    # One query.

    def show_query(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Both rankings of a query."""
        query = str(sent.get("id"))
        find_query(self.scored.suite, query)
        tried = None
        if "try" in sent:
            tried = self._find_side(_read_number(sent, "try"), query)
        elif "run" in sent:
            run = self.bench.find_run(str(sent["run"]))
            if query in run.responses:
                side = ScoredSide(self.scored.suite, self.scored.material.measure, run.responses, self.scored.live.run)
                tried = make_side(run.suite, side, query)
        return self._rankings.show(query, self._find_side(LIVE, query), tried)

    def explain(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Why a hit has its score."""
        query = str(sent.get("query"))
        number = LIVE if sent.get("side") == "live" else _read_number(sent, "try")
        side = self._find_side(number, query)
        lines = self._rankings.explain(query, str(sent.get("document")), side, above=sent.get("above") is True)
        return {"lines": lines}

    def _find_side(self, number: int, query: str) -> RankedSide:
        shown = self.scored.find_shown(number)
        suite = shown.suite
        material = self.scored.material
        if number == LIVE:
            name = material.live.name if material.live.name in suite.requests else material.request
            suite = replace(suite, requests={name: suite.requests[name]})
        else:
            suite = material.read_request(shown.text, shown.values)
        return make_side(suite, shown.side, query)

    # Grades.

    def grade(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Keep a grade; both sides are scored by it at once. What is graded below a variant is so for its query."""
        query_id, document = str(sent.get("query")), str(sent.get("document"))
        query = self._find_owner(query_id)
        if not self.scored.has_document(query, document):
            raise UsageError(f"found {shorten(document)!r}, expected a document that was found, or is judged")
        title = self._rankings.title(document)
        said = self.grading.record((query.id, document), sent.get("grade"), title, self.scored.suite)
        return self._describe_grade(query_id, sent, said)

    def undo(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Undo the last grade of this session."""
        query, document = self.grading.undo()
        name = self._rankings.title(document) or document
        return self._describe_grade(query, sent, f"Undone: the grade of {name}.")

    def _find_owner(self, query_id: str) -> Query:
        query = self.scored.find_owner(query_id)
        if query is None:
            raise UsageError(f"found no query {shorten(query_id)!r} among those that are shown")
        return query

    def _describe_grade(self, query: str, sent: Mapping[str, Any], said: str) -> dict[str, Any]:
        scored = self.scored
        scored.replace_judgments(self.grading.list_judgments())
        number = None if sent.get("try") is None else _read_number(sent, "try")
        owner = self._find_owner(query)
        answer: dict[str, Any] = {
            "query": query,
            "live": {row.query: row.score for row in make_rows(scored.live, scored.live, owner)},
            "rows": [],
            "summary": None,
            "tries": self._answers.list_tries(),
            "said": said,
        }
        tried = None
        if number is not None:
            side = scored.find_shown(number).side
            answer["rows"] = [row.to_json() for row in make_rows(scored.live, side, owner)]
            answer["summary"] = self._answers.build_summary(number)
            tried = self._find_side(number, query)
        answer["ranking"] = self._rankings.show(query, self._find_side(LIVE, query), tried)
        return answer

    # The suite, and the queries held out.

    def write(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Show what writing a try into the suite would change; with the token of that, write it."""
        plan = self._plan_change(sent)
        if sent.get("write") is not True:
            return {"diff": plan.diff, "file": plan.files, "token": plan.token}
        if sent.get("token") != plan.token:
            raise RefusedAction(409, {"error": f"{plan.files} was changed meanwhile; nothing was written."})
        try:
            plan.texts.write(plan.changes)
        except UsageError as error:
            raise RefusedAction(409, {"error": str(error)}) from None
        what = "the values"
        if sent.get("how") != "values":
            what = f"the request {sent.get('name')}"
            self.scored.note_written()
        return {"written": plan.files, "sentence": f"Wrote {what} to {plan.files}."}

    def _plan_change(self, sent: Mapping[str, Any]) -> PlannedChange:
        number = _read_number(sent, "try")
        shown = self.scored.find_shown(number)
        material = self.scored.material
        if sent.get("how") == "values":
            return plan_values(material, self._environ, shown.text, shown.values)
        if shown.values:
            raise UsageError("parameters of 'tune' have other values here: write the values, or put them into the text")
        return plan_request(material, self._environ, str(sent.get("name")), shown.text, self._write_comment(number))

    def _write_comment(self, number: int) -> str:
        """The date, the difference, and the number of tries, for who reads the suite."""
        summary = self.scored.summarize_try(number)
        tries = len(self.scored.tries.tries)
        parts = [f"Tried on {date.today().isoformat()} against {self.scored.material.live.name}"]
        if summary.difference is not None:
            figures = f"{self.scored.material.measure.text} {summary.difference:+.3f}"
            if summary.interval is not None:
                figures += f" ({summary.interval[0]:+.3f} to {summary.interval[1]:+.3f})"
            parts.append(f"{figures} on {count(len(self.scored.suite.queries), 'query')}")
        parts.append(f"one of {count(tries, 'try')}" if tries != 1 else "the only try")
        if number in self._verdicts:
            parts.append(self._verdicts[number])
        return ": ".join([parts[0], ", ".join(parts[1:])]) + "."

    def find_causes(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Which change of a try moved the results; what would be sent for that, unless the page says to send it."""
        causes = plan_causes(self.scored, _read_number(sent, "try"))
        if sent.get("send") is not True:
            return {"lines": causes.list_lines(), "searches": causes.searches}
        return {"lines": causes.find(self._runner, self._environ), "searches": 0}

    def finish(self, _: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict of the queries that were held out."""
        number = _read_number(sent, "try")
        shown = self.scored.find_shown(number)
        material = self.scored.material
        with self._finishing:
            tried = material.read_request(shown.text, shown.values)
            # Who asks a second time was told of unjudged hits.
            needs_grades = number not in self._told_unjudged
            try:
                verdict = give_verdict(material, tried, self._runner, needs_grades=needs_grades)
            except UnjudgedHitsError:
                self._told_unjudged.add(number)
                raise
            # The suite may have been loaded again meanwhile.
            self.scored.material = replace(self.scored.material, hold_out=verdict.hold_out)
        self._verdicts[number] = verdict.short
        return {
            "verdict": verdict.verdict,
            "sentence": verdict.sentence + self.grading.offer_blind_page(),
            "interval": verdict.interval,
            "looks": verdict.looks,
        }


def _is_finite(number: Any) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    # A whole number of JSON may be greater than all floats are.
    return is_number and abs(number) <= sys.float_info.max


def _read_number(sent: Mapping[str, Any], name: str) -> int:
    """The whole number that the page sent as *name*."""
    value = sent.get(name)
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise UsageError(f"expected a whole number as {name}")
    return int(text)
