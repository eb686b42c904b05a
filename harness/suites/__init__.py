"""Suite files: YAML -> `harness.model.Suite`, or all problems of a file with their places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import Problem, SuiteError

if TYPE_CHECKING:
    from harness.config import Configs
    from harness.files.judge_files import JudgeFile
    from harness.model.suite import Suite
    from harness.suites.given_body import GivenBody

__all__ = ["load_suite", "load_suites"]


def load_suite(
    path: Path,
    environ: Mapping[str, str] | None,
    *,
    needs_judgments: bool = True,
    machines: bool = True,
    configs: Configs | None = None,
    body: GivenBody | None = None,
) -> Suite:
    """
    Load and check one suite, with the judgments, queries and fixture that it names.

    All these files must be in the folder of the relevance.toml above the suite, or without one in the suite's own.

    Args:
        path: The suite file, as errors name it.
        environ: The source of `${VARIABLES}`. None is for collecting and checking: a variable without a default stays
            as written, and conditions with variables become `UnresolvedCondition`.
        needs_judgments: Whether it is an error that a suite that scores has no judgment at all.
        machines: Whether grades of the machines that `judges` name are judgments; not where people are to judge.
        configs: Say which configuration counts; those of the working directory and the environment where None.
        body: Replaces the body of one of its requests.

    Returns:
        The suite. Its *variables* hold what was taken from the environment and may be secret.

    Raises:
        SuiteError: With everything that is wrong in the suite and in the files that it names.
        UsageError: *body* does not fit.
    """
    from dataclasses import replace

    from harness.suites.loading import load_unchecked

    loaded = load_unchecked(path, environ, configs=configs, body=body)
    machine_files: dict[str, JudgeFile] = {}
    if machines and loaded.names_machines:
        from harness.suites.judges import read_machine_files

        machine_files = read_machine_files(loaded, is_required=needs_judgments)
    sample = None
    if any(threshold.is_estimated for threshold in loaded.all_thresholds):
        from harness.suites.judges import read_needed_sample

        sample = read_needed_sample(loaded, is_required=needs_judgments)
    has_machine_grades = any(file.grades for file in machine_files.values())
    problems = loaded.judgments.problems.found
    if has_machine_grades or not needs_judgments:
        problems = [problem for problem in problems if problem.code != "no-judgments"]
    loaded.reading.problems.extend(problems)
    loaded.require_sound()
    suite = loaded.suite
    if machine_files:
        from harness.suites.judges import add_machine_grades

        suite = add_machine_grades(suite, machine_files)
    return suite if sample is None else replace(suite, sample=sample)


def load_suites(
    paths: Iterable[Path],
    environ: Mapping[str, str] | None,
    *,
    needs_judgments: bool = True,
    machines: bool = True,
    configs: Configs | None = None,
    body: GivenBody | None = None,
) -> tuple[Suite, ...]:
    """
    Load several suites, each path once, as `load_suite` does.

    Raises:
        SuiteError: With everything that is wrong in any of them.
        UsageError: *body* does not fit one of them.
    """
    suites: list[Suite] = []
    problems: list[Problem] = []
    for path in dict.fromkeys(paths):
        try:
            suite = load_suite(
                path, environ, needs_judgments=needs_judgments, machines=machines, configs=configs, body=body
            )
            suites.append(suite)
        except SuiteError as error:
            problems.extend(error.problems)
    if problems:
        # Suites may share a relevance.toml, whose problems each of them has.
        raise SuiteError(tuple(dict.fromkeys(problems)))
    return tuple(suites)
