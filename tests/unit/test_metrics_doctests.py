"""Every example in a docstring of the metrics and measures holds."""

import pytest

pytest.importorskip("numpy")

import doctest
import importlib
import inspect
import pkgutil

import harness.metrics


def modules_of(package):
    yield package.__name__
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield module.name


@pytest.mark.parametrize("name", list(modules_of(harness.metrics)))
def test_docstring_examples_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


HELPERS = {
    "batch_blend",
    "batch_found",
    "batch_total",
    "blend",
    "require_relevant",
}
"""What modules with measures share that is no formula; every other public function of these has an example."""


def test_every_formula_has_an_example():
    formulas = [
        function
        for name in modules_of(harness.metrics)
        for module in [importlib.import_module(name)]
        if hasattr(module, "MEASURES")
        for function in vars(module).values()
        if inspect.isfunction(function) and function.__module__ == name and not function.__name__.startswith("_")
    ]
    assert len(formulas) > len(HELPERS)
    assert {function.__name__ for function in formulas if ">>>" not in function.__doc__} == HELPERS
