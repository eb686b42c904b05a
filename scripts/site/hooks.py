"""
Hooks of mkdocs: pages that stand outside docs/, and links to files of the repository.

On a code host the pages link to files by their paths in the repository. The site has a copy of each file that a page
links to, at the same path.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages at the top of the repository."""

README = "README.md"
"""Its sections are on the first page of the site, which is where links to them lead."""

UPWARDS = re.compile(r"\]\((\.\./[^)#]+)")
"""A link from a page to a file in another folder."""

INSIDE = re.compile(r"\]\(docs/")
"""A link from a page at the top of the repository into docs/."""

SECTION = re.compile(r"^\[[^\]]+\]\(\.\./README\.md#([\w-]+)\)$", re.MULTILINE)
"""A line that is only a link to a section of the README."""

TOP = re.compile(r"\]\((?!docs/|https?:|#)([^)#]+)")
"""A link between files at the top of the repository."""

PICTURE = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img alt="([^"]+)" src="([^"]+)"[^>]*>\s*</picture>'
)
"""A picture in two schemes, as a code host shows it."""

PLACEHOLDER = "OWNER/relevance-harness"
"""The repository in the pages, which do not know where they are kept."""

REPOSITORY_VARIABLE = "RELEVANCE_REPOSITORY_URL"
"""Names the variable of the environment with the address of the repository."""

EMPTY_HEADER = re.compile(r"<th([^>]*)></th>")

REPORTS = {
    "a-red-gate.html": "A gate that failed",
    "a-run.html": "A run whose gate holds",
    "a-comparison.html": "A comparison of two requests",
}
"""The reports that `scripts/site/build` makes, and their names in the navigation."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Show the reports in the navigation, if they have been made."""
    if find_reports(config):
        reports = [{title: f"demo/{name}"} for name, title in REPORTS.items()]
        config.nav.insert(1, {"Reports to look at": reports})
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages at the top of the repository, and the files that pages link to."""
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=INSIDE.sub("](", text)))
    for path in find_linked_files():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for report in find_reports(config):
        files.append(File.generated(config, f"demo/{report.name}", abs_src_path=str(report)))
    return files


def find_reports(config: MkDocsConfig) -> list[Path]:
    """The files of the reports to show; none where they have not been made."""
    files = [ROOT / config.extra["reports"] / name for name in REPORTS]
    return files if all(file.is_file() for file in files) else []


def find_linked_files() -> list[str]:
    """The paths of the files outside docs/ that pages link to, without those that are pages of the site."""
    linked: set[str] = set()
    for page in DOCS.rglob("*.md"):
        for link in UPWARDS.findall(page.read_text(encoding="utf-8")):
            linked.add(find_outside(link, page.parent))
    for name in PAGES:
        linked.update(TOP.findall((ROOT / name).read_text(encoding="utf-8")))
    return sorted(path for path in linked if path not in (*PAGES, README) and (ROOT / path).is_file())


def find_outside(link: str, folder: Path) -> str:
    """The path in the repository to which *link* leads from a page in *folder*; empty if it is in docs/."""
    target = (folder / link).resolve()
    return "" if target.is_relative_to(DOCS) else target.relative_to(ROOT).as_posix()


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Bring in sections of the README, lead links out of docs/ to copies, and let the site's switch choose pictures."""
    markdown = SECTION.sub(lambda match: read_section(match[1]), markdown)
    folder = (DOCS / page.file.src_uri).parent

    def lead_to_copy(match: re.Match[str]) -> str:
        outside = find_outside(match[1], folder)
        if not outside:
            return match[0]
        if outside == README:
            return f"]({os.path.relpath(DOCS / 'index.md', folder)}"
        return f"]({os.path.relpath(DOCS / outside, folder)}"

    # The theme has a switch of its own between light and dark, and resolves only the paths of Markdown.
    markdown = PICTURE.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", markdown)
    markdown = name_repository(markdown, os.environ.get(REPOSITORY_VARIABLE, "").rstrip("/"))
    return UPWARDS.sub(lead_to_copy, markdown)


def name_repository(markdown: str, repository: str) -> str:
    """*markdown* with the address, or the owner and the name, of *repository* in place of the placeholder."""
    if not repository:
        return markdown
    owner_and_name = "/".join(repository.split("/")[-2:])
    return markdown.replace(f"https://github.com/{PLACEHOLDER}", repository).replace(PLACEHOLDER, owner_and_name)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Make the empty corner of a table a plain cell: a header without a text is read out as one without a name."""
    return EMPTY_HEADER.sub(r"<td\1></td>", html)


def read_section(anchor: str) -> str:
    """The text below the heading of the README that has this anchor."""
    text = (ROOT / README).read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, content = section.partition("\n")
        if heading.lower().replace(" ", "-") == anchor:
            return INSIDE.sub("](", content.strip())
    raise ValueError(f"{README} has no section #{anchor}")
