"""
Puts values of parameters into the text of a suite, or adds a request to it, with the least change.

The text is parsed again: it differs from the old one in what was to change, or nothing is written.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from harness.errors import InputError, UsageError
from harness.files.editing import (
    Edit,
    NoPlace,
    add_members,
    apply_edits,
    compose_nodes,
    find_end,
    find_line_break,
    find_node,
    insert_after_line,
    insert_below,
    replace_node,
)
from harness.files.opening import TextSource, YamlSource
from harness.files.trec import BYTE_ORDER_MARK
from harness.files.writing import write_whole
from harness.model.suite import Json, Suite
from harness.search.pointers import parse_pointer, put_value
from harness.suites.dumping import escape_dollars, format_block, format_flow, format_scalar
from harness.suites.json import compose_json
from harness.suites.parameters import choose_today, fill_value
from harness.suites.request_files import JSON
from harness.suites.scalars import BESIDE_A_BODY, DEFAULT_NAME
from harness.suites.yaml import ListNode, MappingNode, Node, ScalarNode, compose, resolve

Keys: TypeAlias = tuple[str | int, ...]
"""The keys and places from the root of a file to a value."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What one file has before and after."""

    path: Path
    before: bytes
    after: bytes

    def list_diff(self) -> list[str]:
        """The change as a unified diff, without line ends."""
        before, after = self.before.decode().splitlines(), self.after.decode().splitlines()
        name = self.path.as_posix().lstrip("/")
        return list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))


@dataclass(frozen=True, slots=True)
class SuiteTexts:
    """A suite, and the contents of its file and of the files of its requests as they were read."""

    suite: Suite
    contents: Mapping[Path, bytes]

    @classmethod
    def read(cls, suite: Suite) -> SuiteTexts:
        """
        Read the files of *suite* before it is worked on, so that a change of them meanwhile is found.

        Raises:
            UsageError: A file cannot be read.
        """
        path = Path(suite.path)
        contents = {path: _read_bytes(path)}
        texts = cls(suite, contents)
        for file in texts._find_request_files().values():
            contents.setdefault(file, _read_bytes(file))
        return texts

    def put_values(self, request: str, values: Mapping[str, Json]) -> list[FileChange]:
        """
        The changes with which *request* has *values* of the parameters in every run; none where it has them.

        A value that other requests have as a placeholder too changes for them as well.

        Raises:
            UsageError: A value cannot be put into its file without changing more.
        """
        assert self.suite.tuning is not None
        places: dict[Path, dict[Keys, Json]] = {}
        body = None
        for parameter in choose_today(self.suite.tuning, request).parameters:
            value = values[parameter.name]
            if value == parameter.today:
                continue
            if not parameter.pointer:
                places.setdefault(Path(self.suite.path), {})["tune", "parameters", parameter.name, "today"] = value
                continue
            # A file is parsed for its first pointer: it may have thousands of queries.
            body = body or self._find_body(request)
            keys = body.find_keys(parameter.pointer)
            if keys is not None:
                places.setdefault(body.path, {})[keys] = value
        return [self._change_values(path, values_by_keys) for path, values_by_keys in places.items()]

    def add_request(self, name: str, source: str, values: Mapping[str, Json], comment: str) -> FileChange:
        """
        The change that adds the request *source* with *values* by *name*, below a *comment*.

        Raises:
            UsageError: The suite has a request of that name, or it cannot be added without changing more.
        """
        request = self._fill_request(source, values)
        return self._add_node(name, request, format_block(request, 0, 0), comment)

    def add_text(self, name: str, text: str, comment: str) -> FileChange:
        """
        The change that adds the request that *text* is, YAML as it would stand in a suite; raises as `add_request`.

        It keeps its lines and comments where the requests of the suite stand in lines.
        """
        path = Path(self.suite.path)
        request = _compose_nodes(path, text)
        lines = text.rstrip("\n")
        written = compose_nodes(text)
        is_block = isinstance(written, yaml.MappingNode) and not written.flow_style
        return self._add_node(name, request, f"\n{lines}" if is_block else f" {format_flow(request)}", comment)

    def _add_node(self, name: str, request: Any, written: str, comment: str) -> FileChange:
        """The change that adds *request*, nodes, as it is *written* behind its key, from the first column on."""
        if name in self.suite.requests:
            raise UsageError(f"{self.suite.path}: found the request {name!r} already; choose another name")
        path = Path(self.suite.path)
        text = self._read_text(path)
        try:
            edited = apply_edits(text, _edit_requests(text, name, request, written, comment))
        except (yaml.YAMLError, NoPlace):
            edited = text
        before, after = _read_tree(path, text), _read_tree(path, edited)
        requests = before.pop("requests", None) or {DEFAULT_NAME: before.pop("request")}
        expected = {**before, "requests": {**requests, name: _read_plain(request)}}
        return self._make_change(path, edited, is_sound=after == expected)

    def write(self, changes: Collection[FileChange]) -> None:
        """
        Write *changes*, each file whole.

        Raises:
            UsageError: A file changed since it was read, or cannot be written.
        """
        # All are checked before one is written.
        for change in changes:
            self._require_unchanged(change)
            # Replacing a file needs the right to write into its folder only: a read-only file would be replaced.
            if not os.access(change.path, os.W_OK):
                raise UsageError(f"{change.path}: the values could not be written: the file is read-only")
        for change in changes:
            path = change.path
            try:
                write_whole(path.resolve(), change.after, before=partial(self._require_unchanged, change))
            except OSError as error:
                raise UsageError(f"{path}: the values could not be written: {error.strerror or error}") from None

    def _require_unchanged(self, change: FileChange) -> None:
        if _read_bytes(change.path) != change.before:
            raise UsageError(f"{change.path} was changed since it was read; it was not written")

    # Where a parameter stands.

    def _find_request_files(self) -> dict[str, Path]:
        """The file of each request that has one, by the name of the request."""
        path = Path(self.suite.path)
        known = {Path(file).resolve(): Path(file) for file in self.suite.files}
        tree = _read_tree(path, self._read_text(path))
        files = {}
        for name, keys in _list_request_keys(tree).items():
            written = _find_value(tree, (*keys, "file"))
            if isinstance(written, str):
                file = known.get((path.parent / written).resolve())
                if file is None:
                    raise UsageError(f"{path}: the name of the file of the request {name!r} has a variable; write it")
                files[name] = file
        return files

    def _find_body(self, request: str) -> _WrittenBody:
        """Where the body of *request* is written."""
        path = Path(self.suite.path)
        file = self._find_request_files().get(request, path)
        tree = _read_tree(file, self._read_text(file))
        start = _list_request_keys(tree)[request] if file == path else ()
        return _WrittenBody(file, tree, (*start, *_find_body_keys(_find_value(tree, start))))

    def _fill_request(self, source: str, values: Mapping[str, Json]) -> Any:
        """The nodes of the request *source* with *values*."""
        assert self.suite.tuning is not None
        path = Path(self.suite.path)
        root = _compose_nodes(path, self._read_text(path))
        keys = _list_request_keys(_read_plain(root))[source]
        request = _find_value(root, keys)
        file = self._find_request_files().get(source)
        if file is not None:
            # In a file of its own, a dollar sign means itself.
            content = _escape_quoted(_compose_nodes(file, self._read_text(file)))
            others = {key: node for key, node in request.items() if key != "file"}
            if not others:
                request = content
            elif content.keys() & set(BESIDE_A_BODY):
                request = {**others, **content}
            else:
                request = {**others, "body": content}
        request = _fill_nodes(request, values)
        for parameter in self.suite.tuning.parameters:
            if parameter.pointer:
                body_keys = _find_body_keys(_read_plain(request))
                pointer = "".join(f"/{key}" for key in body_keys) + parameter.pointer
                try:
                    request = put_value(request, pointer, values[parameter.name])
                except LookupError:
                    continue
        return request

    # How a file is changed.

    def _read_text(self, path: Path) -> str:
        return self.contents[path].removeprefix(BYTE_ORDER_MARK).decode()

    def _change_values(self, path: Path, values: Mapping[Keys, Json]) -> FileChange:
        text = self._read_text(path)
        is_suite = path == Path(self.suite.path)
        expected = _read_tree(path, text)
        edits: list[Edit] = []
        try:
            root = compose_nodes(text)
            for keys, value in values.items():
                written = escape_dollars(value) if is_suite else value
                expected = _put(expected, keys, written)
                node = find_node(root, keys)
                new = _format_value(node, written, is_json=path.suffix.lower() == JSON)
                edits.append(replace_node(text, node, new))
            edited = apply_edits(text, edits)
            is_sound = _read_tree(path, edited) == expected
        except (yaml.YAMLError, InputError):
            edited, is_sound = text, False
        return self._make_change(path, edited, is_sound=is_sound)

    def _make_change(self, path: Path, edited: str, *, is_sound: bool) -> FileChange:
        if not is_sound:
            reason = "this cannot be put into the file without changing more, such as what shares it by an alias"
            raise UsageError(f"{path}: {reason}; write it by hand")
        before = self.contents[path]
        mark = BYTE_ORDER_MARK if before.startswith(BYTE_ORDER_MARK) else b""
        return FileChange(path, before, mark + edited.encode())


@dataclass(frozen=True, slots=True)
class _WrittenBody:
    """The file with the body of a request, the content of the file as JSON, and where the body stands in it."""

    path: Path
    tree: Any
    keys: Keys

    def find_keys(self, pointer: str) -> Keys | None:
        """Where the value at *pointer* into the body stands in the file; None where it leads nowhere."""
        keys = (*self.keys, *parse_pointer(pointer))
        return None if _find_value(self.tree, keys) is None else _number_lists(self.tree, keys)


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


# Trees of a file: nodes with their marks, and plain values.


def _compose_nodes(path: Path, text: str) -> Any:
    if path.suffix.lower() == JSON:
        return compose_json(TextSource(str(path), text))[0]
    return compose(YamlSource(str(path), text))[0]


def _read_tree(path: Path, text: str) -> Any:
    return _read_plain(_compose_nodes(path, text))


def _read_plain(node: Any) -> Any:
    """*node*, in which there may be values without marks, as JSON."""
    if isinstance(node, Mapping):
        return {str(key): _read_plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_read_plain(item) for item in node]
    if isinstance(node, ScalarNode):
        return resolve(node.raw) if node.plain else node.raw
    return node


def _list_request_keys(tree: Mapping[str, Any]) -> dict[str, Keys]:
    """Where the requests of a suite stand, by name."""
    if "request" in tree:
        return {DEFAULT_NAME: ("request",)}
    return {name: ("requests", name) for name in tree["requests"]}


def _find_body_keys(request: Any) -> Keys:
    """Where the body of *request* stands in it, or in the content of its file."""
    if isinstance(request, Mapping) and request.keys() & set(BESIDE_A_BODY):
        return ("body",) if "body" in request else ("http", "json")
    return ()


def _step(tree: Any, key: str | int) -> Any:
    """The value below *key* in *tree*; None where there is none. A place in a list may be a text."""
    if isinstance(tree, Mapping):
        return tree.get(key)
    if isinstance(tree, list) and str(key).isdecimal() and int(key) < len(tree):
        return tree[int(key)]
    return None


def _find_value(tree: Any, keys: Keys) -> Any:
    for key in keys:
        tree = _step(tree, key)
    return tree


def _number_lists(tree: Any, keys: Keys) -> Keys:
    """*keys* with the places in lists as numbers."""
    numbered: list[str | int] = []
    for key in keys:
        numbered.append(int(key) if isinstance(tree, list) else key)
        tree = _step(tree, key)
    return tuple(numbered)


def _put(tree: Any, keys: Keys, value: Json) -> Any:
    if not keys:
        return value
    changed = _put(tree[keys[0]], keys[1:], value)
    if isinstance(tree, list):
        return [changed if place == keys[0] else item for place, item in enumerate(tree)]
    return {**tree, keys[0]: changed}


_PARAMETER = re.compile(r"\{\{\s*param:")


def _fill_nodes(node: Any, values: Mapping[str, Json]) -> Any:
    """*node* with *values* in the place of its parameters; other scalars stay as they are written."""
    if isinstance(node, Mapping):
        return {_fill_nodes(key, values): _fill_nodes(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_fill_nodes(item, values) for item in node]
    if isinstance(node, ScalarNode) and _PARAMETER.search(node):
        return fill_value(str(node), {name: escape_dollars(value) for name, value in values.items()})
    return node


def _escape_quoted(node: Node | None) -> Any:
    """*node*, whose texts in quotes are as a suite writes them."""
    if isinstance(node, MappingNode):
        return {key: _escape_quoted(value) for key, value in node.items()}
    if isinstance(node, ListNode):
        return [_escape_quoted(item) for item in node]
    if isinstance(node, ScalarNode) and not node.plain:
        return escape_dollars(str(node))
    return node


# Values.


def _format_value(node: Any, value: Json, *, is_json: bool) -> str:
    """*value* for the place of *node*, with its quotes if it is a text."""
    if is_json:
        return json.dumps(value, ensure_ascii=False)
    is_scalar = isinstance(node, yaml.ScalarNode) and not isinstance(value, list | Mapping)
    return format_scalar(value, node.style) if is_scalar else format_flow(value)


# A request.


def _edit_requests(text: str, name: str, request: Any, written: str, comment: str) -> list[Edit]:
    """
    *request* by *name* behind the other requests, as it is *written* and below a *comment* if these stand in lines.

    Raises:
        NoPlace: The suite does not stand in lines.
    """
    root = compose_nodes(text)
    if root.flow_style:
        raise NoPlace("the suite is one mapping in braces")
    key = format_scalar(name)
    requests = find_node(root, ["requests"])
    if requests is not None and requests.flow_style:
        return add_members(text, requests, [f"{key}: {format_flow(request)}"])
    if requests is not None:
        lines = [f"# {comment}", *_indent_lines(f"{key}:{written}")]
        # Requests that are set apart by empty lines stay so.
        if re.search(r"\n\r?\n", text[requests.start_mark.index : find_end(text, requests)]):
            lines.insert(0, "")
        return [insert_below(text, requests, lines)]
    # The only request becomes the first one by name, and is indented.
    only, value = next((only, value) for only, value in root.value if only.value == "request")
    begin, end = only.end_mark.index, find_end(text, value)
    lines = [f"  # {comment}", *(f"  {line}" if line else "" for line in _indent_lines(f"{key}:{written}"))]
    return [
        (only.start_mark.index, begin, f"requests:{find_line_break(text)}  {DEFAULT_NAME}"),
        *((line.end(), line.end(), "  ") for line in re.finditer(r"\n(?=[^\r\n])", text) if begin < line.start() < end),
        insert_after_line(text, end, lines),
    ]


def _indent_lines(text: str) -> list[str]:
    """The lines of *text*, a key with what is below it from the first column on, indented below the key."""
    first, *others = text.split("\n")
    return [first, *(f"  {line}" if line else "" for line in others)]
