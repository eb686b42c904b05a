"""Every example in a docstring of the metrics and measures holds."""

import doctest
import importlib
import pkgutil

import pytest

import harness.metrics


def modules_of(package):
    yield package.__name__
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield module.name


@pytest.mark.parametrize("name", list(modules_of(harness.metrics)))
def test_docstring_examples_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_formula_has_an_example():
    formulas = [
        (name, function)
        for name in modules_of(harness.metrics)
        for module in [importlib.import_module(name)]
        if hasattr(module, "MEASURES")
        for function in map(vars(module).get, module.__all__)
        if callable(function) and not isinstance(function, type)
    ]
    assert formulas
    assert [f"{name}.{function.__name__}" for name, function in formulas if ">>>" not in function.__doc__] == []
