"""docs/engines/: each page has the same parts, and that of a service lists what is filled in for it."""

import re
from pathlib import Path

import pytest

from harness.search.presets import PRESETS

FOLDER = Path(__file__).parents[2] / "docs" / "engines"
PAGES = ["elasticsearch", "opensearch", *PRESETS]


def read_page(name):
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_the_parts_of_a_page(name):
    headings = re.findall(r"^## (.*)$", read_page(name), re.MULTILINE)
    assert headings == ["Connecting", "A suite", "What is special", "Limits"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_page_lists_what_is_filled_in(name):
    preset = PRESETS[name]
    _, _, rest = read_page(name).partition("\nThese keys of `http` are filled in:\n\n")
    table, _, _ = rest.partition("\n\n")
    keys, values = {}, ""
    for row in table.splitlines()[2:]:
        _, key, value, _ = re.split(r" *\| *", row)
        keys.update(dict.fromkeys(re.findall(r"`(\w+)`", key)))
        values += f" {value}"
    filled_in = dict(preset.defaults)
    if preset.size:
        filled_in["size"] = preset.size
    listed = {*filled_in, *(["documents"] if preset.documents else [])}
    assert set(keys) == listed
    for value in filter(None, [*filled_in.values(), preset.body_size]):
        assert f"`{value}`" in values


@pytest.mark.parametrize("name", PRESETS)
def test_a_page_names_the_parameters_that_are_refused_because_they_skip_hits(name):
    _, _, limits = read_page(name).partition("\n## Limits\n")
    words = set(re.findall(r"`(\w+)`", limits))
    for place in PRESETS[name].offsets:
        assert re.split(r"[./]", place)[-1] in words
