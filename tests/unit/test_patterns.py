"""Regular expressions that every supported Python matches alike."""

import re
from pathlib import Path

import harness

POSSESSIVE_GROUP = re.compile(r"\)[*+?}]\+(?!\+)")
"""Python before 3.11.5 keeps what the last, failed turn of such a group has consumed (python/cpython#106052)."""


def test_no_group_has_a_possessive_quantifier():
    found = []
    for path in sorted(Path(harness.__file__).parent.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if POSSESSIVE_GROUP.search(line):
                found.append(f"{path.name}:{number}")
    assert found == []


def test_such_a_quantifier_would_be_found():
    assert POSSESSIVE_GROUP.search(r'"(?:(?!<a).)*+"')
    assert not POSSESSIVE_GROUP.search(r'"[^<>]*+(?:<[^<>]*+)*"')
