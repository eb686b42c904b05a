"""The examples in the help of commands."""

from __future__ import annotations


def format_examples(*commands: str, before: str = "") -> str:
    """
    The end of a command's help: the paragraph *before*, if there is one, and *commands*, one a line.

    >>> format_examples("relevance validate suites/").splitlines()[1:]
    ['Examples:', '  relevance validate suites/']
    """
    lines = "\n".join(f"  {command}" for command in commands)
    # click keeps the line ends of a paragraph that begins with \b.
    examples = f"\b\nExamples:\n{lines}"
    if not before:
        return examples
    return f"{before}\n\n{examples}"
