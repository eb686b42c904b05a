"""The judging page, its command and docs/guides/judging.md say the same in the same words."""

import re
from pathlib import Path

import pytest

import harness.extensions.judging.page
from harness.extensions.judging.commands.page import SOMEBODY, command

TEXT = (Path(__file__).parents[3] / "docs" / "guides" / "judging.md").read_text(encoding="utf-8")
PAGE = Path(harness.extensions.judging.page.__file__).parent
SCRIPT = (PAGE / "judge.js").read_text(encoding="utf-8")
SCRIPTS = "".join(path.read_text(encoding="utf-8") for path in sorted(PAGE.glob("*.js")))
HTML = (PAGE / "judge.html").read_text(encoding="utf-8")

KEYS = dict(re.findall(r"^\| `(\S)`.* \| (.+) \|$", TEXT, re.MULTILINE))
"""What the page says that a key does, from the table of the docs."""


@pytest.mark.parametrize("key", ["n", "q", "s", "u", "/", "g", "?"])
def test_the_list_of_keys_says_what_the_docs_say(key):
    said = KEYS[key].replace("next and previous query", "next query")
    assert re.search(rf'^  "?{re.escape(key)}"?: \["{re.escape(said)}[";]', SCRIPT, re.MULTILINE)


def test_finishing_alone_is_what_the_docs_say():
    assert f'return "{KEYS["w"]}"' in SCRIPTS


def test_all_keys_are_in_the_docs():
    moves = re.search(r"^const moves = \{(.*?)\n\};", SCRIPT, re.DOTALL | re.MULTILINE)[1]
    keys = re.findall(r'^  "?(\S)"?: \[', moves, re.MULTILINE)
    # Two rows have the keys of both directions.
    assert sorted(keys) == sorted([*KEYS, "k", "p"])
    for arrow in "→↓←↑":
        assert f"`{arrow}`" in TEXT
        assert arrow in moves


def test_the_button_of_the_docs_is_the_one_of_the_page():
    [button] = re.findall(r"^\*(Write .+?)\* puts them", TEXT, re.MULTILINE)
    assert f'id="finish">{button}</button>' in HTML


def test_the_judge_without_a_name_is_named():
    assert f"without it the name is `{SOMEBODY}`" in " ".join(TEXT.split())
    [option] = [parameter for parameter in command.params if parameter.name == "judge"]
    assert option.help.endswith(f"by default {SOMEBODY}.")


@pytest.mark.parametrize("word", ["rating", "label", "rater", "annotat", "assessor", "taken back"])
@pytest.mark.parametrize("text", [TEXT, SCRIPTS, HTML], ids=["docs", "scripts", "html"])
def test_a_grade_has_no_other_word(word, text):
    # HTML has an element and attributes of that name.
    assert word not in re.sub(r"</?label\b|(aria|tag)-label(ledby)?", "", text.lower())
