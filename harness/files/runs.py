"""
Run files: TREC runs, CSV, JSON lines or Parquet -> query to its ranking, and its scores by a judgment file.

Large TREC files are scored in bulk, everything else as dicts of ids. Only the second way reports problems of a file:
the first gives up on any irregular file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import GradeError, MeasureError, UsageError
from harness.files.judgments import find_grade_line, read_judgments, read_subtopic_judgments
from harness.files.opening import RUNS, FileFormat, FileProblems, Record, detect_format
from harness.files.records import read_pairs
from harness.files.tables import read_number
from harness.files.trec import Irregular, read_blocks, read_rankings_in_bulk
from harness.metrics import definition_of, gain_in_force, is_of_novelty, parse_measure
from harness.metrics.evaluate import RunScores, evaluate, evaluate_novelty, evaluate_trec
from harness.metrics.near_ids import JudgedRanking, describe_near_ids
from harness.metrics.registry import batch_formula_of
from harness.metrics.ties import find_tie_ranges
from harness.model.suite import Gain, Measure, Profile

if TYPE_CHECKING:
    from harness.metrics.bulk import TrecJudgments


@dataclass(frozen=True, slots=True)
class StoredRanking:
    """
    One query's documents and their scores, side by side, in the order of the file.

    The caller decides which order counts: trec_eval sorts by score, and ignores the order of lines and the rank column.
    """

    documents: list[str]
    scores: list[float]

    def sort_documents(self) -> list[str]:
        """The documents by score, the highest first; those of equal score keep the order of the file."""
        # To sort what is sorted is cheap, and most files are sorted.
        if sorted(self.scores, reverse=True) == self.scores:
            return self.documents
        order = sorted(range(len(self.scores)), key=self.scores.__getitem__, reverse=True)
        return [self.documents[index] for index in order]

    def remove(self, document: str) -> StoredRanking:
        """The ranking without *document*."""
        if document not in self.documents:
            return self
        place = self.documents.index(document)
        documents = self.documents[:place] + self.documents[place + 1 :]
        return StoredRanking(documents, self.scores[:place] + self.scores[place + 1 :])

    def sort_with_scores(self) -> list[tuple[str, float]]:
        """As `sort_documents`, each with its score."""
        return list(zip(self.sort_documents(), sorted(self.scores, reverse=True), strict=True))


def read_run(path: Path) -> dict[str, StoredRanking]:
    """
    Read a run file.

    The suffix decides the format: .csv, .jsonl, .ndjson and .parquet have columns or keys named query, document and
    score, and others are ignored; everything else is a TREC run, six columns separated by blanks or tabs: query, Q0,
    document, rank, score, tag, of which Q0, rank, tag and anything after it are ignored. A .gz or .zst file is
    unpacked.

    Returns:
        A ranking per query. Scores are 64-bit floats and may be infinite, never NaN; no document comes twice for a
        query.

    Raises:
        FormatError: With each malformed line, score that is not a number, and document that comes twice for a query.
        UsageError: The file needs a package that is not installed.
    """
    if detect_format(path) is FileFormat.TREC:
        try:
            bulk = read_rankings_in_bulk(path, str(path))
        except Irregular:
            return _read_carefully(path)
        return {query: StoredRanking(documents, scores) for query, (documents, scores) in bulk.items()}
    return _read_carefully(path)


def _read_carefully(path: Path) -> dict[str, StoredRanking]:
    rankings = read_pairs(path, RUNS, str(path), _read_score, twice="comes twice")
    return {query: StoredRanking(list(scores), list(scores.values())) for query, scores in rankings.items()}


def _read_score(record: Record, findings: FileProblems) -> float | None:
    subject = f"the score of document {record.document!r} for query {record.query!r}"
    score = read_number(record.value)
    if score is None:
        findings.add(record.line, f"found {record.value!r} as {subject}, expected a number")
    elif math.isnan(score):
        findings.add(record.line, f"{subject} is NaN, expected a number")
        return None
    return score


LARGE = 1 << 18
"""The size of a run, in bytes, from which on the import of numpy pays."""


_BLOCK = 1 << 19
"""Bytes of lines that are scored in bulk at once."""


@dataclass(frozen=True, slots=True)
class StoredJudgments:
    """A judgment file: *grades* by query and document, or *subtopics* by query, document and subtopic."""

    grades: Mapping[str, Mapping[str, float]]
    subtopics: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None


@dataclass(frozen=True)
class FileScorer:
    """
    Scores runs with one judgment file, which is read once.

    *gain* is None for the profile's own. *complete* counts a judged query that a run does not hold as one that returned
    nothing. *remove_query* removes the document that has the id of its query from the ranking.
    """

    judgments: Path
    measures: Sequence[Measure]
    gain: Gain | None
    profile: Profile
    complete: bool = False
    remove_query: bool = False

    def score(self, run: Path) -> RunScores:
        """
        The scores of a run file.

        Raises:
            FormatError: a file is wrong; holds all its problems.
            UsageError: a file needs a package that is not installed, or the measures need different judgments.
            MeasureError: a grade that a gain map or a measure's scale does not hold.
        """
        in_bulk = self._score_in_bulk(run)
        if in_bulk is None:
            return self._score_dicts(run)
        return replace(in_bulk, near_ids=describe_near_ids(self._read_first_rankings(run)))

    def _read_first_rankings(self, run: Path) -> Iterator[JudgedRanking]:
        """The rankings at the beginning of a run that was scored in bulk, in the order of the file."""
        judgments = self._bulk_judgments
        assert judgments is not None
        first = next(iter(read_blocks(run, str(run), _BLOCK)), b"")
        documents: dict[bytes, list[str]] = {}
        for line in first.splitlines():
            fields = line.split(maxsplit=3)
            if not fields:
                continue
            documents.setdefault(fields[0], []).append(fields[2].decode())
        # The rest of the last query may be in the next block.
        for query in list(documents)[:-1]:
            yield JudgedRanking(documents[query], judgments.list_documents(query.decode()))

    def _score_in_bulk(self, run: Path) -> RunScores | None:
        """The scores, computed in bulk; None where the lines have to be read one by one."""
        # In bulk, documents are removed from no ranking.
        if self.remove_query or not _is_large_trec(run):
            return None
        judged = self._bulk_judgments
        if judged is None:
            return None
        from harness.metrics.bulk import CannotReadInBulk

        lines = read_blocks(run, str(run), _BLOCK)
        try:
            return evaluate_trec(
                lines, judged, self.measures, gain=self.gain, profile=self.profile, complete=self.complete
            )
        except (Irregular, CannotReadInBulk, MeasureError):
            return None

    @cached_property
    def _bulk_judgments(self) -> TrecJudgments | None:
        batched = all(batch_formula_of(measure, self.profile) for measure in self.measures)
        if not batched or detect_format(self.judgments) is not FileFormat.TREC:
            return None
        from harness.metrics import bulk

        try:
            return bulk.read_judgments(read_blocks(self.judgments, str(self.judgments), _BLOCK))
        except (Irregular, bulk.CannotReadInBulk):
            return None

    def read_rankings(self, run: Path) -> dict[str, StoredRanking]:
        """The rankings of a run file as they are scored; raises what `read_run` raises."""
        rankings = read_run(run)
        if self.remove_query:
            return {query: ranking.remove(query) for query, ranking in rankings.items()}
        return rankings

    def read(self) -> None:
        """Read the judgments now, so that their problems are reported first."""
        _ = self._stored_judgments

    @property
    def judged_queries(self) -> Collection[str]:
        """The ids of the queries that are judged."""
        return (self._stored_judgments.subtopics or self._stored_judgments.grades).keys()

    @property
    def grades(self) -> Mapping[str, Mapping[str, float]]:
        """The grades by query and document; none where documents are judged by subtopic."""
        return self._stored_judgments.grades

    @cached_property
    def _stored_judgments(self) -> StoredJudgments:
        """The judgments, by subtopic if there are measures of novelty, else one grade per document."""
        of_novelty = [measure.text for measure in self.measures if is_of_novelty(measure)]
        others = [measure.text for measure in self.measures if not is_of_novelty(measure)]
        if of_novelty and others:
            raise UsageError(
                f"{', '.join(of_novelty)} need judgments by subtopic, and {', '.join(others)} one grade a document; "
                "ask for them one after the other"
            )
        path = self.judgments
        return (
            StoredJudgments({}, read_subtopic_judgments(path)) if of_novelty else StoredJudgments(read_judgments(path))
        )

    def _score_dicts(self, run: Path) -> RunScores:
        # A mistake in the judgments is told before one in the run.
        judgments, stored = self._stored_judgments, self.read_rankings(run)
        judged: Mapping[str, Collection[str]] = judgments.subtopics or judgments.grades
        near_ids = describe_near_ids(
            JudgedRanking(ranking.documents, judged.get(query, ())) for query, ranking in stored.items()
        )
        # trec_eval sorts by score and then by id, so its profile takes the scores and needs no ranges for ties.
        if self.profile is Profile.TREC:
            documents = {query: ranking.documents for query, ranking in stored.items()}
            scores = {query: ranking.scores for query, ranking in stored.items()}
            return replace(self.score_rankings(documents, self.measures, scores), near_ids=near_ids)
        rankings = {query: ranking.sort_documents() for query, ranking in stored.items()}
        evaluation = self.score_rankings(rankings, self.measures)
        evaluation = replace(evaluation, near_ids=near_ids)
        if judgments.subtopics is not None:
            return evaluation
        scored = {query: ranking.sort_with_scores() for query, ranking in stored.items()}
        ranges = find_tie_ranges(scored, self.grades, self.measures, gain=self.gain, profile=self.profile)
        return replace(evaluation, tie_ranges=ranges)

    def score_rankings(
        self,
        rankings: Mapping[str, Sequence[str]],
        measures: Sequence[Measure],
        scores: Mapping[str, Sequence[float | None]] | None = None,
    ) -> RunScores:
        """
        The scores of rankings in memory.

        Args:
            rankings: Query id to document ids, best first.
            measures: The measures to compute.
            scores: Query id to the score of each document, for profiles that order by them.

        Raises:
            MeasureError: a grade that a gain map or a measure's scale does not hold; names the file of the judgments
                and the first line with that grade.
        """
        judged, complete = self._stored_judgments, self.complete
        try:
            if judged.subtopics is not None:
                return evaluate_novelty(
                    rankings,
                    judged.subtopics,
                    measures,
                    gain=self.gain,
                    profile=self.profile,
                    scores=scores,
                    complete=complete,
                )
            return evaluate(
                rankings,
                judged.grades,
                measures,
                gain=self.gain,
                profile=self.profile,
                scores=scores,
                complete=complete,
            )
        except GradeError as error:
            line = find_grade_line(self.judgments, error.grade)
            place = f"{self.judgments}:{line}:1" if line else f"{self.judgments}"
            raise MeasureError(f"{place}: {error}") from None
        except MeasureError as error:
            raise MeasureError(f"{self.judgments}: {error}") from None


def _is_large_trec(run: Path) -> bool:
    is_trec = detect_format(run) is FileFormat.TREC and run.is_file()
    return is_trec and run.stat().st_size >= LARGE and find_spec("numpy") is not None


@dataclass(frozen=True, slots=True)
class FileOptions:
    """
    How files are scored.

    *measures* maps each text that the user gave to its measure. *gain* is None for the profile's own.
    *complete* counts a judged query that the run does not hold as one that returned nothing. *remove_query* removes
    the document that has the id of its query from the ranking, as BEIR does: its query may be a document of the corpus.
    """

    measures: Mapping[str, Measure]
    profile: Profile = Profile.STANDARD
    gain: Gain | None = None
    complete: bool = False
    remove_query: bool = False

    def make_scorer(self, judgments: Path) -> FileScorer:
        """A scorer for *judgments*, with each measure once, however often and in whatever form it was given."""
        measures = list({measure.text: measure for measure in self.measures.values()}.values())
        return FileScorer(judgments, measures, self.gain, self.profile, self.complete, self.remove_query)


def read_measures(texts: Sequence[str]) -> dict[str, Measure]:
    """
    Each of *texts* with its measure.

    Raises:
        UsageError: some are not measures; names all of these.
    """
    measures, problems = {}, []
    for text in texts:
        try:
            measures[text] = parse_measure(text)
        except MeasureError as error:
            problems.append(f"measure {text!r}: {error}")
    if problems:
        raise UsageError("\n".join(problems))
    return measures


def list_gains(options: FileOptions) -> dict[str, str]:
    """The gain of each measure in words, by the text that the user gave; empty for measures without gain."""
    gains = {}
    for text, measure in options.measures.items():
        has_gain = "gain" in definition_of(measure).parameters
        gains[text] = str(gain_in_force(measure, options.gain, options.profile)) if has_gain else ""
    return gains


def evaluate_files(judgments: Path, run: Path, options: FileOptions) -> RunScores:
    """
    Score a run file.

    The ranking of a query is its documents by score, the highest first: the order of lines and the rank column are
    ignored. The profile orders equal scores: `trec` by document id from the last to the first, every other one in the
    order of the file.

    Raises:
        FormatError: a file is wrong; holds all its problems.
        UsageError: a file needs a package that is not installed.
    """
    return options.make_scorer(judgments).score(run)
