"""
Grades that grow old: those of documents that changed since they were graded, and those given before a day.

What a document was like is known from the files of judges, or was recorded for the grades of a suite that no judge's
file has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path

from harness.agreement import Pair
from harness.config import Configs
from harness.errors import SearchError
from harness.extensions.judging.findings import PlacedJudgment
from harness.extensions.judging.graded_documents import (
    GradedDocument,
    build_record_path,
    read_graded_documents,
    write_graded_documents,
)
from harness.extensions.judging.model import FindingKind, JudgmentFinding
from harness.extensions.judging.pool import PooledRun, add_texts, pool_runs
from harness.extensions.judging.pools_and_lint import Lint, read_judged
from harness.extensions.judging.texts import (
    ANY_TEXT,
    TITLE,
    TextOptions,
    fingerprint_texts,
    look_up_texts,
    read_pooled_texts,
)
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile, describe_outdated, fingerprint_questions, read_judge_files
from harness.metrics.run_scores import failure_text
from harness.model.run import Failure, Hit, Ranking
from harness.model.suite import Mark, Suite
from harness.options import RunOptions
from harness.redaction import redact
from harness.run import Matrix, Runner
from harness.run.cell import AnsweredCell, Progress
from harness.run.connections import move_to_target
from harness.search.dialects import find_dialect
from harness.suites import load_suites
from harness.suites.display import list_shown_fields
from harness.suites.requests import choose_template
from harness.words import count, format_exactly, listed


@dataclass(frozen=True, slots=True)
class AgeOptions:
    """What is looked for, and where."""

    run: RunOptions
    before: date | None = None
    """Grades given before this day are old; None for no day."""
    offline: bool = False
    """Whether documents are not looked up, so that only days are compared."""
    record: bool = False
    """Whether to record what the documents of other grades are like today."""
    folder: Path | None = None
    """Has the files of judges; they are beside the suite where None."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a grade: who gave it and when, and a fingerprint of each text that was shown, by field."""

    grade: float
    giver: str
    """The judge's name; empty for a record, whose *time* is no more than the day on which the grade was there."""
    time: str
    """In ISO 8601; empty where it is not known."""
    shown: Mapping[str, str]

    @property
    def day(self) -> date | None:
        """The day, in UTC."""
        return datetime.fromisoformat(self.time).date() if self.time else None


@dataclass(frozen=True, slots=True)
class AgedGrade:
    """A grade in force with its place, and what is known of it, the best evidence first."""

    judgment: PlacedJudgment
    grade: float
    evidence: tuple[Evidence, ...]

    @property
    def pair(self) -> Pair:
        """Its query and document."""
        return self.judgment.query, self.judgment.document

    def find_shown(self) -> Evidence | None:
        """The evidence that says what the document was like."""
        return next((evidence for evidence in self.evidence if evidence.shown), None)

    def find_dated(self) -> Evidence | None:
        """The evidence that says when the grade was given."""
        return next((evidence for evidence in self.evidence if evidence.time), None)

    @property
    def needs_record(self) -> bool:
        """Whether nothing says what the document was like when it got this grade."""
        return not any(evidence.shown and evidence.grade == self.grade for evidence in self.evidence)


@dataclass(frozen=True, slots=True)
class KnownTexts:
    """What documents are like today: a fingerprint of each text, by field, of each query and document."""

    texts: Mapping[Pair, Mapping[str, str]] = field(default_factory=dict)
    looked_up: bool = False
    """Whether a document that is not in *texts* is not in the index."""


def age_suites(
    paths: Sequence[Path], options: AgeOptions, *, environ: Mapping[str, str], progress: Progress | None = None
) -> Lint:
    """
    Find the grades of suites that are old, or were given to a document that changed.

    Args:
        paths: Suite files.
        options: What the user asked for.
        environ: Where variables and logins are looked up; left alone where offline.
        progress: Receives how far the searches are.

    Raises:
        InputError: A suite, relevance.toml, or a file of a judge is wrong.
        UsageError: An option asks for what cannot be, or the record cannot be written.
        EngineStartError: The embedded node could not be started.
    """
    configs = Configs.from_options(options.run, environ)
    lint = Lint(suites=len(paths))
    with Runner(environ, progress) as runner:
        for path in paths:
            judged, _ = read_judged(path, None, configs=configs)
            judges = read_judge_files(path, options.folder, fingerprint_questions(judged.suite), judged.suite.roots)
            record_file = BesideFile(build_record_path(path), judged.suite.roots)
            records = read_graded_documents(record_file)
            grades = list_grades(judged.judged, judges, records)
            lint.judgments += len(grades)
            lint.notes += [f"{path}: {sentence}" for sentence in describe_outdated(judges)]
            today = KnownTexts()
            if grades and not options.offline:
                [suite] = load_suites([path], environ, needs_judgments=False, machines=False, configs=configs)
                try:
                    today = _look_up_today(suite, grades, options.run, runner, configs)
                except SearchError as error:
                    lint.errors.append(f"{path}: {error}")
            lint.findings += find_changed(grades, today)
            if options.before is not None:
                lint.findings += find_old(grades, options.before)
            recorded = _record(record_file, grades, today, records, options) if options.record else 0
            if recorded:
                lint.notes.append(f"recorded {count(recorded, 'document')} in {record_file.path}")
            lint.notes += [f"{path}: {note}" for note in _list_notes(grades, today, options)]
    lint.findings.sort()
    return lint


def list_grades(
    judgments: Sequence[PlacedJudgment],
    judges: Mapping[str, JudgeFile],
    records: Mapping[Pair, GradedDocument],
) -> list[AgedGrade]:
    """
    The grades in force: those of the suite and its files, and those of judges of documents that the suite lacks.

    Evidence of the same grade comes first, then the latest: a grade may be the median of several judges, or corrected.
    """
    evidence = _collect_evidence(judges, records)
    placed: dict[Pair, PlacedJudgment] = {}
    for judgment in judgments:
        pair = (judgment.query, judgment.document)
        if judgment.grade is not None:
            placed.setdefault(pair, judgment)
    for file in judges.values():
        for pair, grade in file.grades.items():
            mark = Mark(str(file.path), file.lines.get(pair, 0), 1)
            placed.setdefault(pair, PlacedJudgment(*pair, grade, mark))
    grades = []
    for pair, judgment in placed.items():
        if judgment.grade is not None:
            best_first = sort_evidence(evidence.get(pair, []), judgment.grade)
            grades.append(AgedGrade(judgment, judgment.grade, tuple(best_first)))
    return grades


def _collect_evidence(
    judges: Mapping[str, JudgeFile], records: Mapping[Pair, GradedDocument]
) -> dict[Pair, list[Evidence]]:
    evidence: dict[Pair, list[Evidence]] = {}
    for name, file in judges.items():
        for pair, answer in file.answers.items():
            if answer.grade is not None:
                evidence.setdefault(pair, []).append(Evidence(answer.grade, name, answer.time or "", answer.shown))
    for pair, record in records.items():
        known = Evidence(record.grade, "", record.day.isoformat(), record.shown)
        evidence.setdefault(pair, []).append(known)
    return evidence


def sort_evidence(evidence: Sequence[Evidence], grade: float) -> list[Evidence]:
    """*evidence* of *grade* first, then the latest; a record of another grade is left out, as it was changed since."""
    known = [item for item in evidence if item.giver or item.grade == grade]
    return sorted(known, key=lambda item: (item.grade == grade, item.time), reverse=True)


def find_changed(grades: Sequence[AgedGrade], today: KnownTexts) -> Iterator[JudgmentFinding]:
    """The grades whose document has another text today in a field that was shown."""
    for aged in grades:
        evidence, texts = aged.find_shown(), today.texts.get(aged.pair)
        if evidence is None or texts is None:
            continue
        changed = [name for name in evidence.shown if _is_changed(name, evidence.shown, texts, today)]
        if changed:
            fields = listed(["its longest text" if name == ANY_TEXT else name for name in changed])
            sentence = (
                f"{aged.judgment} changed in {fields} since {_describe_giving(aged, evidence)}; grade it again with "
                "relevance judge SUITE --regrade"
            )
            yield JudgmentFinding(aged.judgment.mark, FindingKind.CHANGED_DOCUMENT, sentence)


def _is_changed(name: str, before: Mapping[str, str], now: Mapping[str, str], today: KnownTexts) -> bool:
    """Whether the text of the field *name* is another one by now."""
    # A service returns the fields that the suite names today, perhaps not those that were shown.
    if name not in now and not today.looked_up:
        return False
    return now.get(name) != before[name]


def _describe_giving(aged: AgedGrade, evidence: Evidence) -> str:
    if not evidence.giver:
        return f"grade {format_exactly(aged.grade)} was recorded on {evidence.day}"
    on_day = f" on {evidence.day}" if evidence.time else ""
    return f"{evidence.giver} gave it grade {format_exactly(evidence.grade)}{on_day}"


def find_old(grades: Sequence[AgedGrade], before: date) -> Iterator[JudgmentFinding]:
    """The grades that were given before a day, as far as that is known."""
    for aged in grades:
        evidence = aged.find_dated()
        if evidence is None or evidence.day is None or evidence.day >= before:
            continue
        giver = f"of {evidence.giver}, of {evidence.day}" if evidence.giver else f"recorded on {evidence.day}"
        sentence = (
            f"grade {format_exactly(aged.grade)} of {aged.judgment}, {giver}, is older than {before}; grade it again "
            "with relevance judge SUITE --regrade"
        )
        yield JudgmentFinding(aged.judgment.mark, FindingKind.OLD_GRADE, sentence)


def _list_notes(grades: Sequence[AgedGrade], today: KnownTexts, options: AgeOptions) -> Iterator[str]:
    """How many grades nothing is known of."""
    total = count(len(grades), "grade")
    undated = sum(aged.find_dated() is None for aged in grades)
    if undated and options.before is not None:
        yield f"nothing says when {undated:,} of {total} were given; --record notes today as the day of these"
    unknown = sum(aged.find_shown() is None for aged in grades)
    if unknown and not options.record:
        yield f"nothing says what the documents of {unknown:,} of {total} were like; --record keeps what they are today"
    if today.looked_up:
        missing = {aged.pair[1] for aged in grades if aged.pair not in today.texts}
        if missing:
            yield f"{count(len(missing), 'graded document')} not found; see relevance judgments lint"


def _record(
    file: BesideFile,
    grades: Sequence[AgedGrade],
    today: KnownTexts,
    records: Mapping[Pair, GradedDocument],
    options: AgeOptions,
) -> int:
    """Record the documents of which nothing is known; returns how many."""
    in_force = {aged.pair: aged.grade for aged in grades}
    # A record of a grade that is gone or changed would be kept for ever.
    kept = {pair: record for pair, record in records.items() if in_force.get(pair) == record.grade}
    added = {}
    for aged in grades:
        texts = today.texts.get(aged.pair)
        if aged.needs_record and texts:
            added[aged.pair] = GradedDocument(*aged.pair, aged.grade, options.run.day(), texts)
    if added or len(kept) < len(records):
        write_graded_documents(file, (kept | added).values())
    return len(added)


# What documents are like today.


def _look_up_today(
    suite: Suite, grades: Sequence[AgedGrade], options: RunOptions, runner: Runner, configs: Configs
) -> KnownTexts:
    """
    The texts of the graded documents today, in the fields that were shown and those of the suite.

    Raises:
        SearchError: They could not be looked up.
    """
    suite = move_to_target(suite, options.request)
    has_ids = find_dialect(suite.target.service).looks_up_documents(choose_template(suite, options.request))
    options = replace(options, unjudged=True)
    if has_ids:
        # Documents are looked up by id: one query is enough to open the target.
        options = replace(options, queries=(suite.queries[0].id,))
    [answered] = runner.answer([suite], options, matrix=Matrix.from_options(options), configs=configs)
    if answered.search is None:
        raise SearchError(_explain_no_answer(answered))
    shown = _choose_shown(suite, grades, has_ids=has_ids)
    if not has_ids:
        return KnownTexts(_read_texts(answered, suite, answered.run.responses, shown, has_ids=False))
    query = suite.queries[0]
    ids = sorted({aged.pair[1] for aged in grades})
    of_query = replace(suite, queries=(query,))
    ranking = Ranking(tuple(map(Hit, ids)))
    texts = _read_texts(answered, of_query, {query.id: ranking}, shown, has_ids=True)
    found = {}
    for aged in grades:
        pair_looked_up = (query.id, aged.pair[1])
        if pair_looked_up in texts:
            found[aged.pair] = texts[pair_looked_up]
    return KnownTexts(found, looked_up=True)


def _explain_no_answer(answered: AnsweredCell) -> str:
    for response in answered.mask_run().responses.values():
        if isinstance(response, Failure):
            return failure_text(response)
    return "the server did not answer"


def _choose_shown(suite: Suite, grades: Sequence[AgedGrade], *, has_ids: bool) -> TextOptions:
    """The fields that are shown today, and those that were shown when grades were given."""
    fields = dict.fromkeys(suite.display.fields)
    for aged in grades:
        evidence = aged.find_shown()
        if evidence is not None:
            fields |= dict.fromkeys(evidence.shown)
    title = suite.display.title or TITLE
    named = tuple(name for name in fields if name not in (ANY_TEXT, title))
    if has_ids and (ANY_TEXT in fields or not suite.display.fields):
        return TextOptions(named, has_snippet=True)
    return TextOptions(named)


def _read_texts(
    answered: AnsweredCell, suite: Suite, responses: Mapping[str, object], shown: TextOptions, *, has_ids: bool
) -> dict[Pair, dict[str, str]]:
    """
    A fingerprint of each text of the hits in *responses*, which have ids alone if *has_ids*.

    Raises:
        SearchError: Some could not be looked up.
    """
    # Without grades, so that each hit is in the pool.
    queries = tuple(replace(query, judgments={}) for query in suite.queries if query.id in responses)
    suite = replace(suite, queries=queries)
    rankings = {query: response for query, response in responses.items() if isinstance(response, Ranking)}
    depth = max((len(ranking.hits) for ranking in rankings.values()), default=0)
    if not depth or answered.search is None:
        return {}
    pooled = PooledRun(answered.run.request, replace(answered.run, responses=rankings))
    pool = pool_runs(suite, [pooled], depth)
    mask = answered.cell.masker.mask
    read = look_up_texts if has_ids else read_pooled_texts
    hits, notes = read(answered.search, suite, pool, [pooled], shown)
    if notes:
        raise SearchError(mask(notes[0]))
    hits = {pair: redact(hit, mask) for pair, hit in hits.items()}
    fields = shown.fields or list_shown_fields(suite, [answered.run.request])
    texts = {}
    for document in add_texts(pool, hits, suite.display, fields).documents:
        pair = document.pair
        if pair in hits:
            texts[pair] = fingerprint_texts(document, suite.display)
    return texts
