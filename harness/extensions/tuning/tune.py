"""A whole tuning: its hold-out, its trials, and what is concluded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.config import Configs
from harness.extensions.tuning.asking import SuiteRunner
from harness.extensions.tuning.concluding import conclude_tuning
from harness.extensions.tuning.hold_outs import build_hold_out_path, keep_hold_out
from harness.extensions.tuning.looking import check_hold_out
from harness.extensions.tuning.model import TuningReport
from harness.extensions.tuning.preparing import TuningOptions, choose_storage, name_study, prepare_tuning
from harness.extensions.tuning.study import StudySettings, open_study
from harness.extensions.tuning.trials import TuningProgress, make_trials
from harness.masking import Masker
from harness.redaction import redact


def tune(
    path: Path,
    options: TuningOptions,
    runner: SuiteRunner,
    environ: Mapping[str, str],
    progress: TuningProgress | None = None,
) -> TuningReport:
    """
    Tune the parameters of a request of the suite at *path*, and decide on the hold-out whether that is a gain.

    Args:
        path: The suite.
        options: How it is tuned.
        runner: Sends the queries.
        environ: Where variables of the suite are looked up.
        progress: Receives how far it is.

    Raises:
        InputError: The suite, the hold-out or relevance.toml is wrong.
        UsageError: The suite has no parameters, or too few queries, or the storage cannot be used.
        SearchError: Today's request has no answers, or the engine does not answer any more; the trials are kept.
    """
    from harness.suites import load_suite

    configs = Configs.from_options(options.run, environ)
    suite = load_suite(path, environ, configs=configs)
    tuning = prepare_tuning(path, suite, options, configs, runner)
    settings = StudySettings(name_study(tuning), tuning.space, options.sampler, options.seed)
    with open_study(choose_storage(path, suite, options.storage), settings) as study:
        if progress is not None:
            progress.study_opened(len(study.kept), options.trials)
        tuning, seen = check_hold_out(tuning, study)
        # Only now: a tuning that is refused leaves no hold-out behind.
        keep_hold_out(build_hold_out_path(path), tuning.hold_out, tuning.suite.roots)
        stopped, warnings = make_trials(tuning, study, progress)
        report = conclude_tuning(tuning, study, progress, stopped, [*seen, *warnings])
    return redact(report, Masker(suite.variables).mask)
