"""Where the grades of judges are written: the suite and its judgment files, or files of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.agreement import Pair, ResolutionRule, resolve
from harness.errors import UsageError
from harness.extensions.judging.findings import Scale
from harness.extensions.judging.pools_and_lint import read_judged
from harness.extensions.judging.session import check_on_scale
from harness.extensions.judging.writing import GradedFiles, check_output, format_grades_csv, format_grades_json_lines
from harness.files.judge_files import (
    JudgeFile,
    collect_given,
    describe_outdated,
    fingerprint_questions,
    read_judge_files,
)
from harness.report.output_files import is_same_file, refuse_twins, write_output
from harness.report.outputs import Output
from harness.words import count, format_exactly

GRADE_WRITERS = {"csv": format_grades_csv, "jsonl": format_grades_json_lines}


@dataclass(slots=True)
class GradeTarget:
    """Where grades are written, and which of several are."""

    files: GradedFiles
    """The suite and its files."""
    folder: Path | None
    """Has the files of the judges; they are beside the suite where None."""
    rule: ResolutionRule
    most_apart: float
    outputs: Sequence[Output]
    """Are written in place of *files*."""
    scale: Scale | None
    settler: str | None = None
    """The judge whose grades take precedence over the rule."""

    def check(self, judges: Mapping[str, JudgeFile]) -> None:
        """
        Check that no output holds grades of others than *judges*.

        Raises:
            UsageError: An output does, or two are one file.
        """
        refuse_twins(self.outputs)
        for output in self.outputs:
            if is_same_file(output.path, self.files.suite):
                raise UsageError(f"{output.path} is the suite itself; write to another file")
            check_output(output.path, collect_given(judges.values()))

    def reread(self) -> None:
        """Read the files again."""
        self.files = GradedFiles.read(self.files.suite, self.files.configs)

    def write(self) -> list[str]:
        """
        Write the resolved grades; returns sentences on them.

        Raises:
            HarnessError: Nothing was written.
        """
        suite = read_judged(self.files.suite, None, configs=self.files.configs)[0].suite
        # Read again: others may have judged meanwhile.
        everybody = read_judge_files(self.files.suite, self.folder, fingerprint_questions(suite), suite.roots)
        # The grades of machines count from their own files, where the suite names them in `judges`.
        judges = {name: file for name, file in everybody.items() if not file.is_machine}
        check_on_scale(judges.values(), suite, self.scale)
        for file in judges.values():
            file.check_whole()
        grades = {name: file.grades for name, file in judges.items()}
        resolution = resolve(grades, self.rule, most_apart=self.most_apart, settler=self.settler)
        lines = list(describe_outdated(judges))
        if self.outputs:
            lines += self._write_outputs(resolution.grades, judges)
        else:
            lines += self._write_to_suite(resolution.grades, judges)
        if resolution.open:
            documents = count(len(resolution.open), "document")
            options = "relevance judge agreement, and --settler or --resolve of relevance judge write"
            lines.append(f"no grade was written for {documents} on which judges differ; see {options}")
        return lines

    def _write_outputs(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> list[str]:
        self.check(judges)
        lines = []
        for output in self.outputs:
            write_output(output, GRADE_WRITERS[output.kind](grades), "the grades")
            lines.append(f"wrote {count(len(grades), 'grade')} to {output.path}")
        quotes = sum(len(answer.quotes) for file in judges.values() for answer in file.answers.values())
        if quotes:
            lines.append(f"left out {count(quotes, 'quote')}: quotes are written into a suite only")
        return lines

    def _write_to_suite(self, grades: Mapping[Pair, float], judges: Mapping[str, JudgeFile]) -> list[str]:
        written = self.files.write(grades, collect_given(judges.values()), judges.values())
        # What was written is no change by somebody else when grades are written once more.
        self.reread()
        lines = []
        if written.files:
            changed = f", and {written.changed:,} changed" if written.changed else ""
            quotes = f", and {count(written.quotes, 'new quote')}" if written.quotes else ""
            files = " and ".join(map(str, written.files))
            lines.append(f"wrote {count(written.added, 'new grade')}{changed}{quotes} to {files}")
        else:
            lines.append("no grade is new; nothing was written")
        for (query, document), grade in written.kept.items():
            lines.append(
                f"document {document} of query {query} keeps its grade {format_exactly(grade)}, which no judge gave"
            )
        if written.unknown:
            lines.append(f"left out {count(written.unknown, 'grade')} for queries that the suite does not have")
        for reason, number in written.quotes_left_out.items():
            lines.append(f"left out {count(number, 'quote')}: {reason}")
        return lines
