"""The example of the page on hybrid search, tuned."""

from pathlib import Path

from builders.typed_page import find_blocks, split_commands

ROOT = Path(__file__).parents[3]


PAGE = (ROOT / "docs" / "guides" / "hybrid.md").read_text(encoding="utf-8")


def test_example_has_the_command_of_the_guide():
    """The page on hybrid search tunes the example with the command of the guide."""
    tuning = (ROOT / "docs" / "guides" / "tuning.md").read_text(encoding="utf-8")
    commands = [line for block in find_blocks(PAGE, "console") for line, _ in split_commands(block)]
    [command] = [line for line in commands if line.startswith("relevance tune ")]
    assert f"$ {command}\n" in tuning
