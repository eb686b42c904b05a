"""What a suite shows to those who judge and read reports: fields of documents, and guidelines."""

from __future__ import annotations

import re

from harness.errors import InputError
from harness.files.opening import read_source
from harness.model import Display
from harness.suites.files import SuiteFiles
from harness.suites.reading import Reading
from harness.suites.shape import DisplayShape
from harness.suites.yaml import Problems, describe

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
"""A host as it is written into the page's content security policy, where any other character could add a rule."""

MOST_GUIDELINES = 2**20
"""Bytes of a file of guidelines."""


def read_display(shape: DisplayShape | None, problems: Problems) -> Display:
    """The value of `display`; notes hosts that are none, and hosts without a field that they are for."""
    if shape is None:
        return Display()
    for host in shape.image_hosts:
        if not host.unset and not _HOST.fullmatch(host):
            problems.note(host.mark, f"found {describe(host)}, expected a host such as images.shop.com")
    if shape.image_hosts and shape.image is None:
        problems.note(shape.image_hosts[0].mark, "'image_hosts' is for pictures; name the field 'image' too")
    return Display(
        title=None if shape.title is None else str(shape.title),
        fields=tuple(map(str, shape.fields)),
        image=None if shape.image is None else str(shape.image),
        image_hosts=tuple(map(str, shape.image_hosts)),
        link=None if shape.link is None else str(shape.link),
    )


def read_guidelines(reading: Reading, files: SuiteFiles) -> str:
    """The text of the suite's guidelines; empty where it names none, or where the file cannot be read."""
    written = reading.shape.guidelines
    file = None if written is None else files.find(written)
    if file is None:
        return ""
    try:
        return read_source(file.path, file.name, limit=MOST_GUIDELINES).text
    except InputError as error:
        reading.problems.extend(error.problems)
        return ""
