"""
The description of the package, made from README.md, and the address of its documentation.

https://hatch.pypa.io/latest/plugins/metadata-hook/custom/
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"<picture>.*?</picture>\n*|<img\b[^>]*>\n*|!\[[^\]]*\]\((?!https://)[^)]*\)\n*", re.DOTALL)
"""A picture of the repository."""

LINK = re.compile(r"\[([^\]]+)\]\((?!https://)[^)]+\)")
"""A link to a file of the repository, or to a heading."""

DOCUMENTATION_VARIABLE = "RELEVANCE_DOCUMENTATION_URL"
"""Names the variable of the environment with the address of the site, to which errors of the package then lead."""


class DescriptionHook(MetadataHookInterface):
    """Sets the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description to README.md without what leads nowhere on the page of a package, and the URLs."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": describe_package(readme)}
        documentation = os.environ.get(DOCUMENTATION_VARIABLE, "").strip()
        metadata["urls"] = {"Documentation": documentation} if documentation else {}


def describe_package(readme: str) -> str:
    """*readme* with the words of its links to the repository in place of these links, and without pictures."""
    return LINK.sub(r"\1", PICTURE.sub("", readme))
