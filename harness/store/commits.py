"""The commit and the branch that a run is of: as CI names them, else as git does."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

_SECONDS = 5
"""How long git is waited for, each time it is asked."""

DIRTY = "-dirty"
"""The end of a commit that does not say what was run, as `git describe --dirty` has it."""

COMMIT_VARIABLES = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",  # GitLab
    "BUILD_SOURCEVERSION",  # Azure Pipelines
    "CIRCLE_SHA1",
    "BITBUCKET_COMMIT",
    "BUILDKITE_COMMIT",
    "GIT_COMMIT",  # Jenkins
)

BRANCH_VARIABLES = (
    "GITHUB_HEAD_REF",  # of a pull request, of which GITHUB_REF_NAME is "12/merge"
    "GITHUB_REF_NAME",
    "CI_COMMIT_REF_NAME",  # GitLab
    "BUILD_SOURCEBRANCHNAME",  # Azure Pipelines
    "CIRCLE_BRANCH",
    "BITBUCKET_BRANCH",
    "BUILDKITE_BRANCH",
    "GIT_BRANCH",  # Jenkins
)


def find_commit(environ: Mapping[str, str], folder: Path) -> tuple[str | None, str | None]:
    """
    The commit and the branch, None where they are not known.

    The commit of git ends with `DIRTY` where files of it were changed. Files that git does not know do not count: the
    history itself may be among them.

    Args:
        environ: Holds the variables of a CI service, which count first: its working tree has no branch.
        folder: A folder in the working tree.
    """
    commit, branch = _find_first(environ, COMMIT_VARIABLES), _find_first(environ, BRANCH_VARIABLES)
    if commit is None:
        commit, own_branch = _ask_git_for_commit(folder)
        branch = branch or own_branch
        if commit is not None and _ask_git(folder, "status", "--porcelain", "--untracked-files=no") != "":
            commit += DIRTY
    return commit, branch


def _find_first(environ: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = environ.get(name, "").strip()
        if value:
            return value
    return None


def _ask_git_for_commit(folder: Path) -> tuple[str | None, str | None]:
    """What is checked out in *folder*; None without git, outside of a repository, or before its first commit."""
    answer = _ask_git(folder, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    lines = [] if answer is None else answer.split("\n")
    if len(lines) < 2 or not lines[0]:
        return None, None
    # A commit may be checked out without a branch: git then says "HEAD".
    branch = None if lines[1] in ("", "HEAD") else lines[1]
    return lines[0], branch


def _ask_git(folder: Path, *words: str) -> str | None:
    """What git prints for *words*, without a lock of its own; None if it fails."""
    command = ["git", "--no-optional-locks", *words]
    try:
        answer = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return answer.stdout
