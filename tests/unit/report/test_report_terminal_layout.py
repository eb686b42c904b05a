"""Which of two layouts a width gets."""

import pytest
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.report.terminal import Fitting, render_plain


def table(cell):
    found = Table(box=None, padding=0, show_header=False)
    found.add_row(cell)
    return found


@pytest.mark.parametrize(("width", "shown"), [(19, "narrow"), (20, "w" * 20), (200, "w" * 20)])
def test_a_table_is_wide_where_it_fits_whole(width, shown):
    assert render_plain([Fitting(table("w" * 20), Text("narrow"))], width) == shown


@pytest.mark.parametrize(("width", "shown"), [(79, "narrow"), (80, "wide")])
def test_a_width_may_be_asked_for(width, shown):
    assert render_plain([Fitting(Text("wide"), Text("narrow"), least=80)], width) == shown


def test_what_is_indented_has_less_room():
    assert render_plain([Padding(Fitting(table("w" * 20), Text("narrow")), (0, 0, 0, 2))], 21).strip() == "narrow"
