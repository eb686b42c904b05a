import pytest

from builders import reports
from harness.model.report import QueryReport, Report, SuiteReport


@pytest.fixture
def red_shoes() -> QueryReport:
    return reports.red_shoes()


@pytest.fixture
def suite() -> SuiteReport:
    return reports.products()


@pytest.fixture
def report(suite) -> Report:
    return reports.report_of(suite)
