"""What a release needs: one version in all places, issue forms that ask for what helps, a site with all pages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import yaml

from harness import __version__

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / "scripts" / "release"


def check_tag(tag, root):
    """What scripts/release finds wrong with *tag* in the project at *root*."""
    find_problems = runpy.run_path(str(RELEASE))["find_problems"]
    return find_problems(tag.removeprefix("v"), root)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 (2026-12-01)\n\n## 1.1.0\n")
    return tmp_path


def test_a_tag_of_the_version_is_released(project):
    assert check_tag("v1.2.0", project) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("harness/__init__.py", '__version__ = "1.1.0"\n', "found 1.1.0, expected 1.2.0"),
        ("CITATION.cff", "version: 1.1.0\n", "found 1.1.0, expected 1.2.0"),
        ("CITATION.cff", "title: x\n", "found no version, expected 1.2.0"),
        ("CHANGELOG.md", "## 1.1.0\n\n## 1.2.0\n", "found 1.1.0, expected 1.2.0"),
        ("CHANGELOG.md", "## 1.2.0 (Unreleased)\n", "1.2.0 is unreleased there"),
    ],
)
def test_a_tag_of_another_version_is_refused(project, name, text, problem):
    (project / name).write_text(text)
    [found] = check_tag("v1.2.0", project)
    assert found.startswith(f"{name}: {problem}")


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == __version__


def test_the_form_of_a_bug_asks_for_what_harness_info_prints():
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8"))
    fields = {field["id"]: field for field in form["body"]}
    assert "`harness info`" in fields["info"]["attributes"]["label"]
    assert fields["info"]["validations"]["required"]


def test_the_navigation_of_the_site_has_each_page_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = re.findall(r"[\w/-]+\.md", text[text.index("\nnav:") :])
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(navigation) == sorted(pages | {"CHANGELOG.md", "CONTRIBUTING.md"})
