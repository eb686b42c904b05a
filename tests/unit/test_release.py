"""What a release needs: one version in all places, issue forms that ask for what helps, a site with all pages."""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import re
import runpy
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests
import yaml

from builders.extension_cases import needs_extension
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


@pytest.mark.parametrize(("version", "tag"), [("1.2.0", "v1"), ("12.0", "v12"), ("1.0.0rc1", ""), ("2.0.0.dev3", "")])
def test_the_tag_of_a_major_version_follows_final_releases_only(version, tag):
    assert runpy.run_path(str(RELEASE))["name_major_tag"](version) == tag


def test_the_tag_that_follows_releases_is_moved_last():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    assert next(iter(jobs)) == "version"
    assert jobs["major"]["needs"] == ["version", "publish", "image"]
    for name in ("publish", "image"):
        assert jobs[name]["needs"] == ["checks", "packages"]
    for name in ("checks", "packages"):
        assert jobs[name]["needs"] == "version"


def test_the_site_is_published_for_the_tag_of_a_version_only():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "docs.yml").read_text(encoding="utf-8"))["jobs"]
    commands = jobs["publish"]["steps"][-1]["run"].splitlines()
    assert commands[0] == 'python3 scripts/release "$GITHUB_REF_NAME"'


@pytest.fixture
def package_script(monkeypatch):
    """The functions of scripts/package."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return runpy.run_path(str(ROOT / "scripts" / "package"))


def test_packages_reach_dist_from_another_file_system(package_script, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(os, "rename", refuse)
    wheel = tmp_path / "some.whl"
    wheel.write_bytes(b"content")
    package_script["keep_packages"]([wheel], tmp_path / "dist")
    assert (tmp_path / "dist" / "some.whl").read_bytes() == b"content"


def test_a_release_is_built_in_a_checkout_only(package_script, tmp_path):
    with pytest.raises(SystemExit, match=re.escape(f"{tmp_path} is no checkout with git")):
        package_script["list_repository_files"](tmp_path)


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == __version__


@needs_extension("start")
def test_the_form_of_a_bug_asks_for_what_harness_info_prints():
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text(encoding="utf-8"))
    fields = {field["id"]: field for field in form["body"]}
    assert "`relevance info`" in fields["info"]["attributes"]["label"]
    assert fields["info"]["validations"]["required"]


def test_the_navigation_of_the_site_has_each_page_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = re.findall(r"[\w/-]+\.md", text[text.index("\nnav:") :])
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    # Pages for those who work on the harness.
    pages = {page for page in pages if not page.startswith("evidence/")}
    pages -= {"architecture.md", "explanation/speed.md", "examples/SKILL.md"}
    assert sorted(navigation) == sorted(pages | {"CHANGELOG.md", "CONTRIBUTING.md"})


REPOSITORY = "https://github.com/Someone/relevance-harness"


@pytest.fixture
def description_script():
    pytest.importorskip("hatchling")
    return runpy.run_path(str(ROOT / "scripts" / "package_description.py"))


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("", "# Name\n\nSee the guide, Install and [others](https://search.example/).\n\nText.\n"),
        (
            REPOSITORY,
            f"# Name\n\n![picture]({REPOSITORY}/raw/v2/docs/a.svg)\n\n"
            f"[All\npages]({REPOSITORY}/blob/v2/docs/index.md) · [CI]({REPOSITORY}/blob/v2/docs/guides/ci.md)\n\n"
            f"See [the guide]({REPOSITORY}/blob/v2/docs/guides/ci.md), Install and [others](https://search.example/).\n\n"
            f"![A report]({REPOSITORY}/raw/v2/docs/c.png)\n\nText.\n",
        ),
    ],
)
def test_the_description_of_the_package_has_absolute_links(repository, expected, description_script):
    readme = (
        "# Name\n\n![picture](docs/a.svg)\n\n[All\npages](docs/index.md) · [CI](docs/guides/ci.md)\n\n"
        "See [the guide](docs/guides/ci.md), [Install](#install) and "
        '[others](https://search.example/).\n\n<picture>\n  <source srcset="docs/b.png">\n'
        '  <img alt="A report" src="docs/c.png">\n</picture>\n\nText.\n\n'
        "Until the first release: `pip install .` in a checkout.\n\n## In a checkout\n\nRun [all](scripts/test).\n"
    )
    assert description_script["describe_package"](readme, repository, "v2") == expected


@pytest.mark.parametrize("repository", ["", REPOSITORY])
def test_the_description_leads_nowhere_without_the_repository(repository, description_script):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    description = description_script["describe_package"](readme, repository, "v2")
    assert not re.findall(r"\]\((?!https://)|<(?:img|source)\b", description)
    assert ("docs/pictures/report-light.png" in description) == bool(repository)
    assert ("All\npages" in description) == bool(repository)
    assert "checkout" not in description


@pytest.mark.parametrize(
    ("repository", "labels", "documentation"),
    [
        (f"{REPOSITORY}/", ["Source", "Issues", "Changelog", "Documentation"], "https://someone.github.io/relevance-harness/latest"),
        ("https://code.test/a/b", ["Source", "Issues", "Changelog"], None),
        ("", [], None),
        (None, [], None),
    ],
)  # fmt: skip
def test_a_build_takes_the_address_of_the_repository_from_the_environment(
    repository, labels, documentation, description_script, monkeypatch
):
    if repository is None:
        monkeypatch.delenv("RELEVANCE_REPOSITORY_URL", raising=False)
    else:
        monkeypatch.setenv("RELEVANCE_REPOSITORY_URL", repository)
    metadata = {}
    description_script["DescriptionHook"](str(ROOT), {}).update(metadata)
    assert list(metadata["urls"]) == labels
    assert metadata["urls"].get("Documentation") == documentation
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(metadata) <= set(project["dynamic"])


def test_a_release_is_built_with_the_address_of_the_repository():
    address = "${{ github.server_url }}/${{ github.repository }}"
    workflows = ROOT / ".github" / "workflows"
    jobs = yaml.safe_load((workflows / "release.yml").read_text(encoding="utf-8"))["jobs"]
    [build] = [step for step in jobs["packages"]["steps"] if step.get("run") == "python3 scripts/package"]
    assert build["env"] == {"RELEVANCE_REPOSITORY_URL": address}
    [image] = [step["with"] for step in jobs["image"]["steps"] if "build-args" in step.get("with", {})]
    assert image["build-args"] == f"RELEVANCE_REPOSITORY_URL={address}"
    assert "\nARG RELEVANCE_REPOSITORY_URL=\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    site = yaml.safe_load((workflows / "docs.yml").read_text(encoding="utf-8"))
    assert site["env"] == {"RELEVANCE_REPOSITORY_URL": address}


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("", "uses: OWNER/relevance-harness@v1, https://github.com/OWNER/relevance-harness"),
        ("https://code.test/me/mine", "uses: me/mine@v1, https://code.test/me/mine"),
    ],
)
def test_the_site_names_the_repository(repository, expected):
    pytest.importorskip("mkdocs")
    hooks = runpy.run_path(str(ROOT / "scripts" / "site" / "hooks.py"))
    markdown = "uses: OWNER/relevance-harness@v1, https://github.com/OWNER/relevance-harness"
    assert hooks["name_repository"](markdown, repository) == expected


def test_the_sdist_names_all_that_is_in_the_repository():
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    tops = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = set(project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"])
    assert tops == named | {".gitignore", "LICENSE", "pyproject.toml"}  # which hatchling adds


def test_a_local_index_serves_packages_with_their_digests(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    package_index = importlib.import_module("package_index")
    wheel = tmp_path / "some_project-1.0.0rc1-py3-none-any.whl"
    wheel.write_bytes(b"content")
    package_index.lay_out("some-project", [wheel], tmp_path / "index")
    with package_index.serve(tmp_path / "index") as url:
        [project] = read_links(url)
        [package] = read_links(project)
        assert project == f"{url}some-project/"
        address, _, digest = package.partition("#sha256=")
        assert requests.get(address, timeout=5).content == b"content"
    assert digest == hashlib.sha256(b"content").hexdigest()


def read_links(url):
    """The addresses that the page at *url* links to."""
    page = requests.get(url, timeout=5)
    assert page.headers["Content-Type"] == "text/html"
    return [urljoin(url, link) for link in re.findall(r'<a href="([^"]+)">', page.text)]
