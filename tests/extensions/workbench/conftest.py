"""A suite in a folder of its own, the scripted engine that it is tried on, and a session."""

import pytest

from extensions.workbench.builders.tried_shop import ShopEngine, open_actions, write_suite


@pytest.fixture
def engine():
    with ShopEngine() as engine:
        yield engine


@pytest.fixture
def path(tmp_path):
    return write_suite(tmp_path)


@pytest.fixture
def actions(engine, path):
    with open_actions(path, engine.url) as actions:
        yield actions
