"""What a run of pytest or of the command shows, as a test asks for it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

__all__ = ["entries", "kinds", "one_line", "properties"]


def entries(junit: Path) -> list[ET.Element]:
    """The entry of each item in a file of JUnit XML."""
    return list(ET.parse(junit).iter("testcase"))


def kinds(entry: ET.Element) -> list[str]:
    """What became of an item: `failure`, `error` or `skipped`; nothing where it passed."""
    return [child.tag for child in entry if child.tag != "properties"]


def properties(entry: ET.Element) -> dict[str, str]:
    """The properties of an entry by name."""
    return {one.attrib["name"]: one.attrib["value"] for one in entry.iter("property")}


def one_line(text: str) -> str:
    """Lines are broken where the terminal ends; what is said is not."""
    return " ".join(text.split())
