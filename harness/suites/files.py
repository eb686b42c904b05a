"""The files that a suite names: found beside the suite, and never behind the border."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath

from harness.files.border import Border, is_quotable
from harness.files.paths import config_path
from harness.suites.yaml import Problems, ScalarNode


def find_roots(suite: Path, root: Path | None) -> tuple[Path, ...]:
    """
    The folders that files of *suite* may be in: that of the relevance.toml above it, else its own; and *root*, which
    the user named.
    """
    folder = suite.parent
    config = config_path(folder)
    own = config.parent if config else folder.resolve()
    return (own,) if root is None else (own, root)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a suite names: *path* to open, *name* for errors, and the scalar *written* that named it."""

    path: Path
    name: str
    written: ScalarNode


@dataclass(frozen=True, slots=True)
class SuiteFiles:
    """Finds the files that a suite names, relative to the *border*'s folder; none of them may be behind the border."""

    border: Border
    problems: Problems
    found: list[Path] = field(default_factory=list)
    """The files that were found so far."""

    def find(self, written: ScalarNode) -> NamedFile | None:
        """
        The file that *written* names, None if it is refused, or unknown because its variable is not set.

        Problems of a file with the name of no known format are noted without what was found in it.
        """
        if written.unset:
            return None
        # Refused on every system: a suite that works on Windows only is a surprise in CI.
        if PurePosixPath(written).is_absolute() or PureWindowsPath(written).drive or "\0" in written:
            self.problems.note(written.mark, f"found {written.raw!r}, expected a path relative to the suite")
            return None
        path = self.border.folder / written
        sentence = self._explain_refusal(path)
        if sentence:
            self.problems.note(written.mark, f"the file {written.raw!r} {sentence}", "unreadable-file")
            return None
        if not is_quotable(path):
            self.problems.concealed.add(str(path))
        self.found.append(path)
        return NamedFile(path, str(path), written)

    def _explain_refusal(self, path: Path) -> str | None:
        """Why the file at *path* cannot be used, as the end of a sentence; None if it can."""
        try:
            sentence = self.border.explain_refusal(path)
            if sentence is not None:
                return sentence
            if not path.exists():
                return f"does not exist:  {path}"
            return None if path.is_file() else "is not a file"
        except (OSError, RuntimeError) as error:
            return f"cannot be read: {getattr(error, 'strerror', None) or error}"
