"""What a suite shows to those who judge and read reports: fields of documents, and guidelines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.errors import InputError
from harness.files.opening import read_source
from harness.model.suite import Display, HttpRequest, RequestTemplate, Suite
from harness.suites.files import SuiteFiles
from harness.suites.scalars import format_optional
from harness.suites.shape import DisplayShape
from harness.suites.thresholds import explain_no_path
from harness.suites.yaml import Problems, ScalarNode, describe

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
"""A host as it is written into the page's content security policy, where any other character could add a rule."""

_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")

MOST_GUIDELINES = 2**20
"""Bytes of a file of guidelines."""


def read_display(shape: DisplayShape, problems: Problems) -> Display:
    """The value of `display`; notes hosts that are none, and hosts without a field that they are for."""
    for host in shape.image_hosts:
        if not host.unset and not _HOST.fullmatch(host):
            problems.note(host.mark, f"found {describe(host)}, expected a host such as images.shop.com")
    if shape.image_hosts and shape.image is None:
        problems.note(shape.image_hosts[0].mark, "'image_hosts' is for pictures; name the field 'image' too")
    return Display(
        title=format_optional(shape.title),
        fields=tuple(map(str, shape.fields)),
        image=format_optional(shape.image),
        image_hosts=tuple(map(str, shape.image_hosts)),
        link=format_optional(shape.link),
        text=format_optional(shape.text),
    )


def check_display_paths(shape: DisplayShape, templates: Mapping[str, RequestTemplate], problems: Problems) -> None:
    """Note the fields of `display` that a request over HTTP has no path for: its answer is all that is known."""
    for template in templates.values():
        if template.http is None:
            continue
        known = template.http.known_fields
        for field in (shape.title, *shape.fields, shape.image, shape.link, shape.text):
            if isinstance(field, ScalarNode) and not field.unset and field not in known:
                problems.note(field.mark, explain_no_path(template, str(field)))


def add_title_paths(templates: Mapping[str, RequestTemplate], title: str | None) -> dict[str, RequestTemplate]:
    """*templates*, of which those over HTTP read titles from the path of the field *title*, if that is known."""
    titled = {}
    for name, template in templates.items():
        if template.http is not None and title is not None:
            template = replace(template, http=_add_title_path(template.http, title))
        titled[name] = template
    return titled


def _add_title_path(http: HttpRequest, title: str) -> HttpRequest:
    """*http*, and its request by ids, with the path of the field *title* for titles, where they have one."""
    if http.documents is not None:
        documents = replace(http.documents, http=_add_title_path(http.documents.http, title))
        http = replace(http, documents=documents)
    return replace(http, titles=http.fields[title]) if title in http.fields else http


def list_shown_fields(suite: Suite, requests: Iterable[str]) -> tuple[str, ...]:
    """
    The fields of documents whose texts are shown.

    Where the suite names none, all that *requests* over HTTP read from an answer, since they are read for nothing else;
    none of an engine, whose documents may have many.
    """
    display = suite.display
    if display.fields:
        return display.fields
    fields: dict[str, None] = {}
    for name in requests:
        template = suite.requests.get(name)
        if template is not None and template.http is not None:
            fields |= dict.fromkeys(template.http.known_fields)
    return tuple(field for field in fields if field not in (display.title, display.image, display.link))


def is_guideline_text(written: str) -> bool:
    """
    Whether *written* is itself what those who judge read, and no path: it has several lines, or several words without
    the suffix of a file at the end.

    >>> [is_guideline_text(text) for text in ("guide.md", "our guide.md", "docs/guide", "Think of the shopper.")]
    [False, False, False, True]
    """
    written = written.strip()
    return "\n" in written or (len(written.split()) > 1 and _SUFFIX.search(written) is None)


def read_guidelines(written: ScalarNode, files: SuiteFiles) -> str:
    """The guidelines that are *written*, or those of the file that this names; empty where they are not read."""
    if is_guideline_text(written):
        # A value of the environment may be secret, and a model is sent the text.
        masked: str = written.masked
        return masked.strip()
    file = files.find(written)
    if file is None:
        return ""
    try:
        return read_source(file.path, file.name, limit=MOST_GUIDELINES).text
    except InputError as error:
        files.problems.extend(error.problems)
        return ""
