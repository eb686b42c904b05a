"""The grammars of thresholds and expectations, from the docstrings of the modules that read them."""

from __future__ import annotations

import inspect
import textwrap
from functools import partial
from types import ModuleType

from harness.gate import expectations, grammar


def write_grammar(module: ModuleType) -> str:
    """The grammar that the docstring of *module* has, as a block of code."""
    _, _, rest = inspect.cleandoc(module.__doc__ or "").partition("::\n\n")
    block = rest.partition("\n\n")[0]
    return f"```\n{textwrap.dedent(block)}\n```"


PARTS = {
    "the grammar of thresholds": partial(write_grammar, grammar),
    "the grammar of expectations": partial(write_grammar, expectations),
}
