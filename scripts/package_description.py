"""
The description of the package, made from README.md, and the addresses on its page.

All of them come from one variable of the environment, RELEVANCE_REPOSITORY_URL, the address of the repository, such as
https://github.com/OWNER/relevance-harness. Without it the description has no links and pictures of the repository.

https://hatch.pypa.io/latest/plugins/metadata-hook/custom/
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY_VARIABLE = "RELEVANCE_REPOSITORY_URL"
"""Names the variable with the address of the repository."""

PICTURE = re.compile(r'<picture>.*?<img alt="([^"]*)" src="([^"]+)">\s*</picture>', re.DOTALL)
"""A picture in two schemes. The page of a package has no dark scheme."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://)([^)]+)\)")
"""A link to a file of the repository, to a heading, or a picture."""

CHECKOUT = re.compile(r"\n^Until the first release\b.*?\n(?=\n)|\n^## In a checkout\n.*", re.DOTALL | re.MULTILINE)
"""What README.md says to those who have the repository. The page of a package has other readers."""

VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


class DescriptionHook(MetadataHookInterface):
    """Sets the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description to README.md with absolute links, and the addresses of the project."""
        root = Path(self.root)
        repository = read_repository()
        version = VERSION.search((root / "harness" / "__init__.py").read_text(encoding="utf-8"))
        assert version is not None
        readme = (root / "README.md").read_text(encoding="utf-8")
        text = describe_package(readme, repository, f"v{version[1]}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = list_urls(repository)


def read_repository() -> str:
    """The address of the repository in the environment; empty if it is not there."""
    return os.environ.get(REPOSITORY_VARIABLE, "").strip().rstrip("/")


def list_urls(repository: str) -> dict[str, str]:
    """The addresses of the project by their labels; none without that of the *repository*."""
    if not repository:
        return {}
    urls = {
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
    github = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", repository)
    if github:
        # Where .github/workflows/docs.yml publishes the site.
        urls["Documentation"] = f"https://{github[1].lower()}.github.io/{github[2]}/latest"
    return urls


def describe_package(readme: str, repository: str, tag: str) -> str:
    """
    *readme* with absolute links to the files of the *repository* at *tag*.

    Without a repository the words of a link stand in its place, and paragraphs of pictures or links alone are left out.
    """
    text = CHECKOUT.sub("", PICTURE.sub(r"![\1](\2)", readme))
    if not repository:
        paragraphs = text.split("\n\n")
        text = "\n\n".join(paragraph for paragraph in paragraphs if LINK.sub("", paragraph).strip(" ·\n"))

    def make_absolute(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if target.startswith("#") or not repository:
            return words
        return f"{mark}[{words}]({repository}/{'raw' if mark else 'blob'}/{tag}/{target})"

    return LINK.sub(make_absolute, text)
