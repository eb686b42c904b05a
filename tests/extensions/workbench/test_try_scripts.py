"""The scripts of the page, as files."""

import re
from importlib import resources

from harness.extensions.workbench.page import ASSETS

PAGE = resources.files("harness.extensions.workbench.page")
MOST_BYTES = 60 * 1024


def test_own_scripts_weigh_60_kb_at_most():
    own = [name for kind, package, name in ASSETS.values() if kind == "text/javascript" and package.endswith("page")]
    sizes = [len((PAGE / name).read_bytes()) for name in own if (PAGE / name).is_file()]
    assert len(sizes) == len([path for path in PAGE.iterdir() if path.name.endswith(".js")])
    assert sum(sizes) <= MOST_BYTES


def test_each_key_of_the_page_is_in_its_list():
    script = (PAGE / "try.js").read_text(encoding="utf-8")
    moves = script.partition("const moves = {")[2].partition("};")[0]
    keys = [first or second for first, second in re.findall(r'^  (?:"(.)"|(\w)): ', moves, re.MULTILINE)]
    listed = re.findall(r"<kbd>(.)</kbd></dt>", (PAGE / "try.html").read_text(encoding="utf-8"))
    assert keys == listed
