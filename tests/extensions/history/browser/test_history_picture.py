"""The pictures of the page of a history."""

from builders.golden import page_lines
from builders.pictures import photograph
from extensions.history.builders.planted_history import make_history, make_suite
from harness.extensions.history import page as history
from harness.extensions.history.timeline import build_timelines


def test_the_pictures_of_a_history(hold_picture, open_html):
    page = history.render(build_timelines(make_history(160), make_suite()))
    hold_picture("history", page_lines(page), lambda: photograph(open_html, "history", page))
