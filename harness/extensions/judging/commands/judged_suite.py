"""The suite of a command with the files of its judges, and the options that commands on them share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from harness.agreement import ResolutionRule
from harness.cli.found_suites import find_one_suite
from harness.cli.headings import rare_option
from harness.cli.shared_options import Decorated, OutputType, add_options
from harness.config import Configs
from harness.errors import UsageError
from harness.extensions.judging.findings import Scale, parse_scale
from harness.extensions.judging.pools_and_lint import read_judged
from harness.extensions.judging.targets import GRADE_WRITERS, GradeTarget
from harness.extensions.judging.writing import GradedFiles
from harness.files.judge_files import JudgeFile, Questions, build_judge_path, fingerprint_questions, read_judge_files
from harness.model.suite import Suite
from harness.options import RunOptions
from harness.report.outputs import Output
from harness.suites.files import find_roots
from harness.words import did_you_mean

depth_option = click.option(
    "--depth",
    metavar="RANK",
    type=click.IntRange(min=1),
    help="Pool this many hits per query; by default the suite's deepest cutoff.",
)


_RULES = [str(rule) for rule in ResolutionRule]


@dataclass(frozen=True, slots=True)
class JudgedSuite:
    """A suite at *path* with its *judges* by name, whose files are in *folder*; beside the suite where that is None."""

    path: Path
    suite: Suite
    questions: Questions
    judges: dict[str, JudgeFile]
    folder: Path | None
    configs: Configs
    roots: Sequence[str] = ()
    """The folders that the files may be in; none where the user named the *folder*."""

    @classmethod
    def read(cls, suite_path: Path, folder: Path | None, options: RunOptions) -> JudgedSuite:
        """
        The suite of *suite_path*, a file or a folder with a single suite.

        Raises:
            HarnessError: The suite or the file of a judge is wrong.
        """
        path = find_one_suite(suite_path, options.root)
        roots = list_roots(path, folder, options.root)
        configs = Configs.from_options(options, os.environ)
        suite = read_judged(path, None, configs=configs)[0].suite
        questions = fingerprint_questions(suite)
        return cls(path, suite, questions, read_judge_files(path, folder, questions, roots), folder, configs, roots)

    def add_people(self, names: Iterable[str]) -> None:
        """
        Add those of *names* who have graded nothing yet.

        Raises:
            UsageError: One is a machine: what a person adds to its file would count as the machine's.
        """
        for name in names:
            path = build_judge_path(self.path, name, self.folder)
            file = self.judges.setdefault(name, JudgeFile(path, self.questions, self.roots))
            if file.is_machine:
                why = f"{name} is a machine here, whose grades are no person's"
                raise UsageError(f"{file.path}: {why}; choose another --judge")

    def check_has_graded(self, judge: str) -> None:
        """
        Check that *judge*, whose grades settle or are compared, has graded a document.

        Raises:
            UsageError: The judge has not.
        """
        names = [name for name, file in self.judges.items() if file.grades]
        if judge in names:
            return
        others = "nobody has"
        if names:
            others = f"only {', '.join(names)} {'has' if len(names) == 1 else 'have'}"
        raise UsageError(f"{judge} has graded no document, and {others}{did_you_mean(judge, names)}")


def list_roots(path: Path, folder: Path | None, root: Path | None) -> tuple[str, ...]:
    """The folders that files beside the suite at *path* may be in; none where the user named their *folder*."""
    if folder is not None:
        return ()
    return tuple(map(str, find_roots(path, root)))


# Options.


suite_argument = click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))

folder_option = rare_option(
    "--progress",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder where grades are kept; by default the suite's.",
)


class ScaleType(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes no argument here
    """Reads ``0..3``."""

    name = "LOW..HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Scale:  # noqa: ARG002
        """Parse *value*."""
        return value if isinstance(value, Scale) else parse_scale(str(value))


scale_option = rare_option(
    "--scale", metavar="LOW..HIGH", type=ScaleType(), help="The lowest and the highest grade, such as 0..3."
)

rule_option = rare_option(
    "--resolve",
    "rule",
    type=click.Choice(_RULES),
    default=_RULES[0],
    show_default=True,
    help="If several judges graded a document: the grade that it gets.",
)


def writing_options(command: Decorated) -> Decorated:
    """Give *command* the options that say where grades are written, and which of several."""
    options = (
        rare_option(
            "--output",
            "outputs",
            multiple=True,
            type=OutputType(GRADE_WRITERS, "csv=grades.csv"),
            help="Write the grades to csv=FILE or jsonl=FILE instead of the suite; may be repeated.",
        ),
        rule_option,
        rare_option(
            "--most-apart",
            metavar="N",
            type=click.FloatRange(min=0),
            default=math.inf,
            help="If several judges graded a document: write no grade where theirs are further apart.",
        ),
        scale_option,
    )
    return add_options(command, options)


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """The values of `writing_options`."""

    outputs: Sequence[Output]
    rule: ResolutionRule
    most_apart: float
    scale: Scale | None

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> WritingOptions:
        """
        Take the values out of the *arguments* of a command.

        Raises:
            click.UsageError: A value is no number.
        """
        options = cls(
            outputs=arguments.pop("outputs"),
            rule=ResolutionRule(arguments.pop("rule")),
            most_apart=arguments.pop("most_apart"),
            scale=arguments.pop("scale"),
        )
        if math.isnan(options.most_apart):
            raise click.UsageError("found nan for --most-apart, expected a number of at least 0")
        return options

    def make_target(self, judged: JudgedSuite, settler: str | None) -> GradeTarget:
        """
        Where the grades of the judges of *judged* are written; those of *settler* come before the rule.

        Raises:
            HarnessError: An output holds grades of others, or a file cannot be read.
        """
        target = GradeTarget(
            files=GradedFiles.read(judged.path, judged.configs),
            folder=judged.folder,
            rule=self.rule,
            most_apart=self.most_apart,
            outputs=self.outputs,
            scale=self.scale,
            settler=settler,
        )
        target.check(judged.judges)
        return target


def split_names(text: str | None) -> tuple[str, ...]:
    """
    The names in *text*, which are separated by commas.

    >>> split_names("title, text,")
    ('title', 'text')
    """
    names = [name.strip() for name in (text or "").split(",")]
    return tuple(name for name in names if name)
