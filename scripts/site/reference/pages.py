"""The pages of docs/ with generated parts, and the texts that these parts should have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from reference import arguments, codes, commands, grammar, measures, plugin, settings, skill, suite_keys

DOCS = Path(__file__).resolve().parents[3] / "docs"

SKILL = DOCS / "examples" / "SKILL.md"
"""The page for agents as a file, which is generated whole."""

PARTS: Mapping[str, Callable[[], str]] = {
    **arguments.PARTS,
    **codes.PARTS,
    **commands.PARTS,
    **grammar.PARTS,
    **measures.PARTS,
    **plugin.PARTS,
    **settings.PARTS,
    **suite_keys.PARTS,
}
"""What makes each part, by the name in the comment above it."""

GENERATED = re.compile(
    r"^<!-- begin generated: (?P<name>.+?) -->\n.*?^<!-- end generated -->$", re.MULTILINE | re.DOTALL
)

NOTE = "<!-- scripts/site/make-reference writes the generated parts of this page. -->\n\n"
"""The first line of a page with such a part."""


def find_generated_parts() -> list[str]:
    """The names of the generated parts of all pages; one that stands twice is there twice."""
    names = []
    for page in DOCS.rglob("*.md"):
        names.extend(GENERATED.findall(page.read_text(encoding="utf-8")))
    return names


def find_outdated_pages() -> dict[Path, str]:
    """The pages of which a part is not what the code gives, with the texts that they should have."""
    outdated = {}
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        new_text = GENERATED.sub(write_part, text)
        if GENERATED.search(text) and not text.startswith(NOTE):
            new_text = NOTE + new_text
        if new_text != text:
            outdated[page] = new_text
    skill_text = skill.make_skill((DOCS / "guides" / "agents.md").read_text(encoding="utf-8"))
    if not SKILL.exists() or SKILL.read_text(encoding="utf-8") != skill_text:
        outdated[SKILL] = skill_text
    return outdated


def write_part(match: re.Match[str]) -> str:
    """A part with its two comments, with what the code gives between them."""
    name = match["name"]
    if name not in PARTS:
        raise SystemExit(f"there is no part {name!r}, only {', '.join(PARTS)}")
    return f"<!-- begin generated: {name} -->\n\n{PARTS[name]().strip()}\n\n<!-- end generated -->"
