"""docs/guides/queries.md shows what its commands print, for a log whose 500 queries have less traffic by their rank."""

from itertools import product
from pathlib import Path

from builders.typed_page import assert_shown, follow_page, type_command

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "queries.md").read_text(encoding="utf-8")
THINGS = (
    "tent",
    "head torch",
    "running shoes",
    "sleeping bag",
    "rain jacket",
    "stove",
    "rucksack",
    "water bottle",
    "map",
    "rope",
)
KINDS = ("", "red", "light", "warm", "cheap", "waterproof", "large", "women's", "kids'", "second hand")
USES = ("", "for winter", "for two", "on sale", "for hiking")


def write_log(path):
    texts = [" ".join(filter(None, (kind, thing, use))) for use, kind, thing in product(USES, KINDS, THINGS)]
    lines = [f"{text},{4000 // rank}" for rank, text in enumerate(texts, start=1)]
    others = ["Tent,150", "anna.bell@example.org,7", "order 00412345678,3"]
    path.write_text("\n".join(["search_term,searches", *lines, *others, ""]), encoding="utf-8")


def test_the_commands_print_what_the_page_shows(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    write_log(Path("searches.csv"))
    typed = 0
    for line, shown in follow_page(PAGE):
        status, printed = type_command(line, capfd)
        assert status == 0, printed
        assert_shown(shown, printed, line)
        typed += 1
    assert typed == 2
