"""
Hooks of mkdocs: pages that stand outside docs/, and links to files of the repository.

On a code host the pages link to files by their paths in the repository. The site has a copy of each file that a page
links to, at the same path.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages at the top of the repository."""

OUTSIDE = re.compile(r"\]\(\.\./([^)#]+)")
"""A link from a page in docs/ to a file outside it."""

INSIDE = re.compile(r"\]\(docs/")
"""A link from a page at the top of the repository into docs/."""

TOP = re.compile(r"\]\((?!docs/|https?:|#)([^)#]+)")
"""A link between files at the top of the repository."""


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages at the top of the repository, and the files that pages link to."""
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=INSIDE.sub("](", text)))
    for path in find_linked_files():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def find_linked_files() -> list[str]:
    """The paths of the files outside docs/ that pages link to, without the pages of `PAGES`."""
    linked: set[str] = set()
    for page in (ROOT / "docs").glob("*.md"):
        linked.update(OUTSIDE.findall(page.read_text(encoding="utf-8")))
    for name in PAGES:
        linked.update(TOP.findall((ROOT / name).read_text(encoding="utf-8")))
    return sorted(path for path in linked if path not in PAGES and (ROOT / path).is_file())


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Let links to files outside docs/ lead to their copies on the site."""
    return OUTSIDE.sub(r"](\1", markdown)
