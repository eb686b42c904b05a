"""
``${NAME}``, ``${NAME:-default}`` and ``$$`` in the scalars of a suite.

Values are inserted after YAML is parsed, so no value can add keys, lists or placeholders to the suite. Keys of mappings
are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from harness.suites.yaml import ListNode, MappingNode, Node, Problems, Written, resolve, shortened

_DOLLAR = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{")
_LOGIN = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|AUTH|AUTHORIZATION|CREDENTIAL|SESSION|COOKIE|SIGNATURE|JWT)S?(_|$)",
    re.IGNORECASE,
)
_SHORTEST_SECRET = 4
_SHORTEST_NUMBER = 8


@dataclass(slots=True)
class Variables:
    """
    Fills the scalars of one suite.

    *environ* is None while a suite is only checked: then defaults are used, and variables without one stay as written.
    *taken* collects the values from the environment.
    """

    problems: Problems
    environ: Mapping[str, str] | None
    taken: dict[str, str] = field(default_factory=dict)
    _filled: dict[int, Node] = field(default_factory=dict)

    def fill(self, node: Node) -> Node:
        """A copy of *node* with all variables below it replaced; the value of an alias is filled once."""
        known = self._filled.get(id(node))
        if known is not None:
            return known
        filled = self._fill_new(node)
        self._filled[id(node)] = filled
        return filled

    def _fill_new(self, node: Node) -> Node:
        if isinstance(node, MappingNode):
            return self.fill_mapping(node)
        if isinstance(node, ListNode):
            items = ListNode(node.mark)
            items.extend(self.fill(item) for item in node)
            return items
        return self._fill_scalar(node) if "$" in node else node

    def fill_mapping(self, node: MappingNode) -> MappingNode:
        """The same for a mapping; its keys are not changed."""
        mapping = MappingNode(node.mark)
        mapping.update((key, self.fill(value)) for key, value in node.items())
        mapping.repeats = [replace(one, value=self.fill(one.value)) for one in node.repeats]
        return mapping

    def _fill_scalar(self, scalar: Written) -> Written:
        names: list[str] = []
        unset: list[str] = []
        put_in: list[str] = []

        def value_of(match: re.Match[str]) -> str:
            put_in.append("$" if match.group() == "$$" else match.group())
            if match.group() == "$$":
                return "$"
            if match[1] is None:
                self.problems.inside(scalar, match.start(), _malformed(scalar, match.start()))
                return match.group()
            names.append(match[1])
            value = self._value(match[1], match[2])
            if value is None:
                unset.append(match[1])
                return match.group()
            put_in[-1] = _masked(match[1], match[2], value)
            return value

        text = _DOLLAR.sub(value_of, scalar)
        masked = iter(put_in)
        if self.environ is not None:
            for name in dict.fromkeys(unset):
                self.problems.inside(scalar, scalar.find("${" + name), _not_set(name))
        whole = _DOLLAR.fullmatch(scalar) is not None and len(names) == 1
        in_place = _DOLLAR.sub(lambda _: next(masked), scalar)
        return scalar.filled(text, in_place, tuple(names), tuple(unset), whole=whole)

    def _value(self, name: str, default: str | None) -> str | None:
        """As in a shell, the default is used if the variable is unset or empty."""
        value = None if self.environ is None else self.environ.get(name)
        if not value and default is not None:
            return default
        if value:
            self.taken[name] = value
        return value

    def worth_masking(self) -> dict[str, str]:
        """
        The values from the environment that may be secret.

        Short numbers, booleans and short words, such as a language code, are not: masking them would make reports
        unreadable.
        """
        return {name: value for name, value in self.taken.items() if _may_be_secret(value)}


def names_login(variable: str) -> bool:
    """
    Whether *variable* is named like one that holds a login, such as API_KEY or SESSION_TOKEN.

    Another login asks the same of a server. Any other value is a part of what is asked.
    """
    return _LOGIN.search(variable) is not None


def _masked(name: str, default: str | None, value: str) -> str:
    """The masked form of *value*: the name of its variable if it may be a secret; the suite's default is not."""
    return "${" + name + "}" if value != default and _may_be_secret(value) else value


def _may_be_secret(value: str) -> bool:
    if len(value) < _SHORTEST_SECRET:
        return False
    return isinstance(resolve(value), str) or len(value) >= _SHORTEST_NUMBER


def _malformed(scalar: Written, start: int) -> str:
    end = scalar.find("}", start)
    found = scalar[start : end + 1] if end >= 0 else scalar[start:]
    return f"found {shortened(found)!r}, expected ${{NAME}} or ${{NAME:-default}}; write a literal ${{ as $${{"


def _not_set(name: str) -> str:
    return f"the environment variable {name} is not set; set it, or give a default with ${{{name}:-default}}"
