"""The files that a run reads: the suites, the files that they name, their baselines, and the configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Configs
from harness.config.trust import FILES_OF_A_CLUSTER
from harness.errors import HarnessError, InputError
from harness.files.paths import config_path
from harness.options import RunOptions
from harness.store.baseline_files import build_baseline_path

if TYPE_CHECKING:
    from harness.suites.yaml import MappingNode, Node

FILE_KEYS = ("queries", "vectors", "judgments", "fixture")
"""The keys of a suite that name files."""

_BETWEEN_TEXTS = re.compile(r"""[\n,\[\]{}"'#]|:\s|-\s""")
"""What stands before and behind a text in YAML."""


@dataclass(frozen=True, slots=True)
class RunInputs:
    """
    What a run reads: *suites*, under *options*, and *named* files.

    *environ* is where variables are looked up, as for `harness.run.run_suites`.
    """

    suites: Sequence[Path]
    options: RunOptions
    environ: Mapping[str, str]
    named: Sequence[Path] = ()

    def list_baselines(self) -> list[Path]:
        """The baselines of the suites, whether they exist or not."""
        if self.options.baseline is not None:
            return [self.options.baseline]
        return [build_baseline_path(suite) for suite in self.suites]

    def list_files(self) -> list[Path]:
        """
        The files that exist, also those of suites with mistakes.

        Judgments, queries, vectors and documents are found, but not read.
        """
        files = [*self.named, *self.suites]
        if self.options.baseline is not None:
            files.append(self.options.baseline)
        configs = Configs()
        try:
            configs = Configs.from_options(self.options, self.environ)
            files += _list_files_of_configuration(configs)
        except HarnessError:
            # The run raises it too.
            pass
        for suite in self.suites:
            files.append(build_baseline_path(suite))
            config = config_path(suite.parent)
            if config is not None:
                files.append(config)
            files += _list_named_files(suite, self.environ, configs)
        return [path for path in files if path.exists()]


def _list_files_of_configuration(configs: Configs) -> list[Path]:
    """The trusted relevance.toml, and the certificates and keys that it names."""
    if configs.path is None:
        return []
    files = [configs.path]
    config = configs.read_trusted()
    if config is None:
        return files
    for cluster in config.clusters.values():
        names = [getattr(cluster, key) for key in FILES_OF_A_CLUSTER]
        files += [configs.path.parent / name for name in names if name]
    return files


def _list_named_files(suite: Path, environ: Mapping[str, str], configs: Configs) -> list[Path]:
    """The files that exist and that *suite* names, relative to its folder."""
    from harness.suites.reading import LARGEST_SUITE, read_suite_file

    if not suite.is_file():
        return []
    request_files: Sequence[Path] = []
    try:
        reading = read_suite_file(suite, environ, configs)
        texts = _list_texts_of_suite(reading.root)
        request_files = reading.request_files
    except InputError:
        # This is no YAML. Whatever in it is the path of a file may be one that it names.
        if suite.stat().st_size > LARGEST_SUITE:
            return []
        content = suite.read_text(encoding="utf-8", errors="replace")
        texts = [text.strip() for text in _BETWEEN_TEXTS.split(content)]
    paths = [*request_files, *(suite.parent / text for text in dict.fromkeys(texts) if text)]
    return [path for path in paths if os.path.isfile(path)]  # noqa: PTH113  # Path.is_file raises for a long text


def _list_texts_of_suite(root: MappingNode) -> list[str]:
    """The texts below the keys that name files, and below unknown keys, which may be misspelled."""
    from harness.suites.shape import SuiteShape
    from harness.suites.yaml import ListNode, MappingNode

    keys_without_files = SuiteShape.known_keys.keys() - FILE_KEYS
    texts: list[str] = []
    pairs = [*root.items()]
    pairs += [(repeat.key, repeat.value) for repeat in root.repeats]
    for key, node in pairs:
        if key in keys_without_files:
            continue
        if key != "queries":
            texts += _iterate_texts(node)
        # An inline query names no file, even if its text or its id is the name of one.
        elif isinstance(node, MappingNode):
            texts += [value for value in node.values() if isinstance(value, str)]
        elif isinstance(node, ListNode):
            texts += [item for item in node if isinstance(item, str)]
        else:
            texts.append(node)
    return texts


def _iterate_texts(node: Node) -> Iterator[str]:
    if isinstance(node, str):
        yield node
        return
    children = node.values() if isinstance(node, dict) else node
    for child in children:
        yield from _iterate_texts(child)
