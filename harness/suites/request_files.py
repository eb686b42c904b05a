"""
Requests in files of their own, which an application and its suites share: ``request: {file: search.json}``.

The content of a file is put in place of its name before anything is checked. So it is validated, filled and
fingerprinted as a request that stands in the suite, and its problems have places in the file. Variables are not
replaced in it: the application, which reads the same file, knows none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import InputError
from harness.files.border import is_quotable
from harness.files.opening import YAML_SUFFIXES, TextSource, YamlSource, read_source
from harness.model.suite import Mark, find_placeholders
from harness.suites.files import NamedFile, SuiteFiles
from harness.suites.json import compose_json
from harness.suites.scalars import BESIDE_A_BODY
from harness.suites.yaml import ListNode, MappingNode, Node, ScalarNode, compose, find_child
from harness.words import one_of

_MOST_BYTES = 16 * 2**20
"""The largest file of a request."""

SELECTING_KEYS = frozenset({"esql", "query", "knn", "retriever", "sub_searches", "template"})
"""Keys of a body that select documents."""

JSON = ".json"
"""The suffix of files of requests that are no YAML."""


@dataclass(slots=True)
class RequestFiles:
    """Puts the content of the *files* that requests name in the place of their names."""

    files: SuiteFiles
    paths: list[Path] = field(default_factory=list)
    """The files that were found, also those with mistakes."""
    broken: set[str] = field(default_factory=set)
    """The keys of the suite below which a request is not known: its file is wrong, or has no name yet."""
    _contents: dict[str, MappingNode | None] = field(default_factory=dict)
    """What was read, by the name of the file; None for a file with mistakes."""

    def insert(self, suite: MappingNode) -> MappingNode:
        """A copy of *suite* with the files in it; a request whose file is wrong is left out, and its problem noted."""
        copy = MappingNode(suite.mark)
        copy.repeats = suite.repeats
        for key, node in suite.items():
            inserted: Node | None = node
            if key == "request":
                inserted = self._insert_into(node, str(key))
            elif key == "requests" and isinstance(node, MappingNode):
                inserted = self._insert_into_all(node, str(key))
            if inserted is not None:
                copy[key] = inserted
        return copy

    def _insert_into_all(self, requests: MappingNode, key: str) -> MappingNode | None:
        """*requests* by name with their files; None where all are left out."""
        copy = MappingNode(requests.mark)
        for name, request in requests.items():
            inserted = self._insert_into(request, key)
            if inserted is not None:
                copy[name] = inserted
        return None if requests and not copy else copy

    def _insert_into(self, request: Node, key: str) -> Node | None:
        """*request*, below *key* of the suite, with the content of the file that it names; None where that is wrong."""
        written = find_child(request, "file")
        # What is no path is an error of the shape.
        if not isinstance(request, MappingNode) or not isinstance(written, ScalarNode) or not written.strip():
            return request
        if written.unset:
            self.broken.add(key)
            return MappingNode(written.mark)
        content = self._read(written)
        inserted = None if content is None else self._add_keys(request, content, written)
        if inserted is None:
            self.broken.add(key)
        return inserted

    def _add_keys(self, request: MappingNode, content: MappingNode, written: ScalarNode) -> MappingNode | None:
        """*content* with the keys that stand beside the name of its file; None where these contradict each other."""
        others = [(name, node) for name, node in request.items() if name != "file"]
        if not others:
            return content
        added = MappingNode(request.mark, others)
        if content.keys() & set(BESIDE_A_BODY):
            contents = list(content.items())
        else:
            contents = [(ScalarNode("body", written.mark, plain=True), content)]
        for name, node in contents:
            if name in added:
                message = f"found {str(name)!r} beside 'file', which has it too; expected one of them"
                self.files.problems.note(added.find_key(name).mark, message)
                return None
            added[name] = node
        return added

    def _read(self, written: ScalarNode) -> MappingNode | None:
        """The content of the file that *written* names; None where it is wrong."""
        file = self.files.find(written)
        if file is None:
            return None
        if file.name not in self._contents:
            self.paths.append(file.path)
            self._contents[file.name] = self._read_file(file)
        return self._contents[file.name]

    def _read_file(self, file: NamedFile) -> MappingNode | None:
        problems = self.files.problems
        is_json = file.path.suffix.lower() == JSON
        if not is_json and file.path.suffix.lower() not in YAML_SUFFIXES:
            message = f"expected the file of a request with the suffix {one_of([JSON, *YAML_SUFFIXES])}"
            problems.note(file.written.mark, f"found {file.written.raw!r}, {message}")
            return None
        kind = TextSource if is_json else YamlSource
        try:
            source = read_source(file.path, file.name, limit=_MOST_BYTES, kind=kind)
            content, mistakes = compose_json(source) if is_json else compose(source)
        except InputError as error:
            if is_json:
                # Only the last, which ended the reading, quotes nothing of the file.
                problems.note_unquoted(error.problems[-1])
            else:
                problems.extend(error.problems)
            return None
        explanation = _explain_no_request(content, is_json=is_json)
        if explanation:
            mark = Mark() if content is None else content.mark
            message = f"{explanation}, expected a request: a mapping such as the body of _search"
            problems.note_unquoted(source.make_problem(mark.line, mark.column, message))
            return None
        if is_json and is_quotable(file.path, [JSON]):
            problems.concealed.discard(file.name)
        problems.sources[file.name] = source
        problems.extend(mistakes)
        if mistakes or not isinstance(content, MappingNode):
            return None
        if "file" in content:
            message = "found 'file' in the file of a request, which names no other one; write the request here"
            problems.note(content.find_key("file").mark, message)
            return None
        return content


def _explain_no_request(content: Node | None, *, is_json: bool) -> str:
    """Why *content* is not the request of a suite, without its text, which may be a token; empty where it is one."""
    if content is None or (isinstance(content, ScalarNode) and content.empty):
        return "found an empty file"
    if isinstance(content, ListNode):
        return "found a list"
    if isinstance(content, ScalarNode):
        return "found a single value"
    # Scripts of CI write logins to files of JSON, and errors may quote what is taken for a request.
    is_request = bool(content.keys() & {*SELECTING_KEYS, "body", "http"}) or bool(find_placeholders(content))
    if is_json and not is_request:
        return "found no key such as 'query', and no placeholder such as {{text}}"
    return ""
