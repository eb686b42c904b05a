"""The files that a suite names: relative to it, and never outside its root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from harness.suites.nodes import Written
from harness.suites.problems import Problems


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that a suite names: *path* to open, *name* for errors, and the scalar *written* that named it."""

    path: Path
    name: str
    written: Written


@dataclass(frozen=True, slots=True)
class SuiteFiles:
    """Finds files beside the suite in *folder*; *root* is the folder that none of them may leave."""

    folder: Path
    root: Path
    problems: Problems

    def find(self, written: Written) -> NamedFile | None:
        """
        The file that *written* names, None where it is refused, or not known before its variable is set.

        Links are followed before the root is compared, so neither `..` nor a link leads out of it.
        """
        if written.unset:
            return None
        if PurePosixPath(written).is_absolute() or PureWindowsPath(written).drive or "\0" in written:
            self.problems.at(written.mark, f"found {written.raw!r}, expected a path relative to the suite")
            return None
        path = self.folder / written
        sentence = self._refusal(path)
        if sentence:
            self.problems.at(written.mark, f"the file {written.raw!r} {sentence}")
            return None
        return NamedFile(path, str(path), written)

    def _refusal(self, path: Path) -> str | None:
        try:
            root = self.root.resolve()
            if not path.resolve().is_relative_to(root):
                return f"is outside of the suite's root, the folder {root}"
            if not path.exists():
                return f"does not exist; looked for it at {path}"
            return None if path.is_file() else "is not a file"
        except (OSError, RuntimeError) as error:
            return f"cannot be read: {getattr(error, 'strerror', None) or error}"
