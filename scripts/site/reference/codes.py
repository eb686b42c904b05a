"""The codes of problems and of causes, from the modules that have them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

from harness.errors import MEANINGS_OF_CODES, HarnessError
from harness.model.run import Cause
from reference.markdown import write_table


def write_problem_codes() -> str:
    rows = [*MEANINGS_OF_CODES.items(), *list_error_codes()]
    return write_table(("code", "the problem"), ((f"`{code}`", meaning) for code, meaning in rows))


def list_error_codes(error: type[HarnessError] = HarnessError) -> Iterator[tuple[str, str]]:
    """The codes that subclasses of *error* have of their own, with the first sentence of their docstrings."""
    for kind in error.__subclasses__():
        if "code" in vars(kind):
            sentence, _, _ = inspect.cleandoc(kind.__doc__ or "").partition(". ")
            yield kind.code, f"{sentence.rstrip('.')}."
        yield from list_error_codes(kind)


def write_causes() -> str:
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(Cause))).body
    assert isinstance(definition, ast.ClassDef)
    # Below each member stands its docstring.
    members = [statement for statement in definition.body[1:] if isinstance(statement, ast.Assign)]
    meanings = [statement for statement in definition.body[1:] if isinstance(statement, ast.Expr)]
    rows = []
    for member, meaning in zip(members, meanings, strict=True):
        rows.append((f"`{ast.literal_eval(member.value)}`", str(ast.literal_eval(meaning.value))))
    return write_table(("cause", "meaning"), rows)


PARTS = {"codes of problems": write_problem_codes, "causes of verdicts": write_causes}
