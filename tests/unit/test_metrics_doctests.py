"""Every example in a docstring of the metrics and measures holds."""

import pytest

pytest.importorskip("numpy")

import doctest
import importlib
import inspect
import pkgutil

import harness.metrics
from harness.metrics import parse_measure, score_diverse_query, score_query
from harness.metrics.registry import DEFINITIONS


def list_modules(package):
    yield package.__name__
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield module.name


@pytest.mark.parametrize("name", list(list_modules(harness.metrics)))
def test_docstring_examples_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def score_grades(text, grades, unreturned=()):
    """The score of hits with these grades, None for an unjudged one; further judged documents are *unreturned*."""
    ids = [f"hit {rank}" for rank, _ in enumerate(grades)]
    judgments = {document: grade for document, grade in zip(ids, grades, strict=True) if grade is not None}
    judgments |= {f"other {number}": grade for number, grade in enumerate(unreturned)}
    return score_query(parse_measure(text), ids, judgments)


def score_covers(text, covers):
    """The score of hits each of which covers the subtopics that are letters of its text."""
    judgments = {f"hit {rank}": dict.fromkeys(covered, 1.0) for rank, covered in enumerate(covers)}
    return score_diverse_query(parse_measure(text), list(judgments), judgments)


FORMULAS = {definition.name: definition.formula or definition.diverse for definition in DEFINITIONS}
WITHOUT_EXAMPLE = {"NumQ", "NumRet", "NumRel", "NumRelRet"}
"""Plain counts."""


@pytest.mark.parametrize("name", FORMULAS)
def test_the_example_of_a_formula_holds(name):
    helpers = {"score_grades": score_grades, "score_covers": score_covers}
    [example] = doctest.DocTestFinder().find(FORMULAS[name], name, globs=helpers)
    assert bool(example.examples) == (name not in WITHOUT_EXAMPLE)
    assert doctest.DocTestRunner().run(example).failed == 0


HELPERS = {"batch_blend", "batch_dcg", "batch_found", "batch_recall", "batch_total", "blend", "find_range_of_count"}
"""What modules with measures share that is no formula; every other public function of these has an example."""


def test_every_public_function_has_an_example():
    functions = [
        function
        for name in list_modules(harness.metrics)
        for module in [importlib.import_module(name)]
        if hasattr(module, "MEASURES")
        for function in vars(module).values()
        if inspect.isfunction(function) and function.__module__ == name and not function.__name__.startswith("_")
    ]
    assert len(functions) > len(HELPERS)
    assert {function.__name__ for function in functions if ">>>" not in function.__doc__} == HELPERS
