"""Which files of a folder are suites, and which folders are not looked into."""

import os
from pathlib import Path

import pytest

from harness.errors import SuiteError, UsageError
from harness.suites.discovery import LEFT_OUT, FoundSuites, find_suites
from harness.suites.names import find_broken_links


def suite(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("suite: shop\n")
    return path


def names(found, folder):
    return [path.relative_to(folder).as_posix() for path in found]


def test_the_folders_that_are_left_out_are_those_of_pytest(pytester, monkeypatch):
    """What a project has set itself for `norecursedirs` is not known here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\n")
    assert {*pytester.parseconfig().getini("norecursedirs"), "__pycache__"} == set(LEFT_OUT)


def test_suites_are_found_below_a_folder_in_their_order(tmp_path):
    for name in ("b/x.relevance.yaml", "a.relevance.yaml", "b/a.relevance.yaml", "c.yaml", "b/d.relevance.yaml.orig"):
        suite(tmp_path / name)
    found = find_suites([tmp_path])
    assert names(found.suites, tmp_path) == ["a.relevance.yaml", "b/a.relevance.yaml", "b/x.relevance.yaml"]
    assert (found.misnamed, found.left_out) == ((), {})


def test_each_suite_is_found_once_at_its_first_place(tmp_path):
    one, two = suite(tmp_path / "one.relevance.yaml"), suite(tmp_path / "deep" / "two.relevance.yaml")
    assert find_suites([tmp_path, one, tmp_path / "deep"]).suites == (two, one)
    assert find_suites([one, tmp_path, one]).suites == (one, two)


@pytest.mark.parametrize("name", [*LEFT_OUT, "x.egg", ".git", ".hidden"])
def test_a_folder_on_the_list_is_left_out_and_named_with_what_it_holds(tmp_path, name):
    seen = suite(tmp_path / "suites" / "a.relevance.yaml")
    for inside in ("b.relevance.yaml", "deep/node_modules/c.relevance.yaml"):
        suite(tmp_path / "suites" / name / inside)
    (tmp_path / name).mkdir()
    assert find_suites([tmp_path]) == FoundSuites((seen,), (), {tmp_path / "suites" / name: 2})


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_named_outright_is_read(tmp_path, name):
    inside = suite(tmp_path / name / "deep" / "a.relevance.yaml")
    other = suite(tmp_path / name / "b.relevance.yaml")
    assert find_suites([tmp_path / name]).suites == (other, inside)
    assert find_suites([tmp_path / name / "deep"]).suites == (inside,)
    assert find_suites([inside]).suites == (inside,)
    seen = suite(tmp_path / "a.relevance.yaml")
    assert find_suites([tmp_path, inside]) == FoundSuites((seen, inside), (), {tmp_path / name: 1})
    assert find_suites([tmp_path, tmp_path / name]) == FoundSuites((seen, other, inside), (), {})


def test_names_that_only_hold_one_of_the_list_are_looked_into(tmp_path):
    for name in ("builds", "my_build", "Build", "distribution", "eggs", "environment"):
        suite(tmp_path / name / "a.relevance.yaml")
    assert len(find_suites([tmp_path]).suites) == 6


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_a_virtual_environment_is_left_out_whatever_it_is_called_and_not_searched(tmp_path, mark):
    """It holds packages, and the harness itself brings a suite."""
    seen = suite(tmp_path / "a.relevance.yaml")
    for name in ("env", ".tox/py311"):
        suite(tmp_path / name / "lib" / "harness" / "products.relevance.yaml")
        suite(tmp_path / name / mark)
    assert find_suites([tmp_path]) == FoundSuites((seen,))
    assert len(find_suites([tmp_path / "env"]).suites) == 1


def test_a_link_to_a_suite_is_a_suite_of_its_own_and_a_folder_reached_by_a_link_is_not(tmp_path):
    first = suite(tmp_path / "a" / "s.relevance.yaml")
    linked = tmp_path / "b" / first.name
    linked.parent.mkdir()
    linked.symlink_to(first)
    (tmp_path / "c").symlink_to(tmp_path / "a")
    assert find_suites([tmp_path / "a", tmp_path / "b", tmp_path / "c"]).suites == (first, linked)
    assert find_suites([tmp_path]).suites == (first, linked)


def test_a_linked_folder_is_looked_into_within_the_root(tmp_path):
    suite(tmp_path / "elsewhere" / "deep" / "s.relevance.yaml")
    seen = suite(tmp_path / "suites" / "s.relevance.yaml")
    (tmp_path / "suites" / "shared").symlink_to(tmp_path / "elsewhere")
    found = find_suites([tmp_path / "suites"], tmp_path).suites
    assert names(found, tmp_path) == ["suites/s.relevance.yaml", "suites/shared/deep/s.relevance.yaml"]
    assert find_suites([tmp_path / "suites"]) == FoundSuites((seen,), not_followed=(tmp_path / "suites" / "shared",))


def test_folders_that_are_linked_in_a_circle_are_looked_into_once(tmp_path):
    seen = suite(tmp_path / "z" / "s.relevance.yaml")
    (tmp_path / "a").symlink_to(tmp_path / "z")  # comes first by its name, and is only a link
    (tmp_path / "z" / "up").symlink_to(tmp_path)
    (tmp_path / "z" / "self").symlink_to("self")
    assert find_suites([tmp_path]).suites == (seen,)


def test_a_link_that_leads_nowhere_and_what_is_no_file_are_found(tmp_path):
    """They are errors where they are read, together with what is wrong with the others."""
    gone, circle, pipe = (tmp_path / f"{name}.relevance.yaml" for name in ("gone", "circle", "pipe"))
    gone.symlink_to("nowhere")
    circle.symlink_to(circle.name)
    os.mkfifo(pipe)
    there = suite(tmp_path / "there.relevance.yaml")
    (tmp_path / "folder.relevance.yaml").mkdir()
    assert find_suites([tmp_path]).suites == (circle, gone, pipe, there)
    assert find_broken_links(tmp_path) == [circle, gone, pipe]


def test_what_emacs_leaves_beside_a_file_is_no_suite(tmp_path):
    seen = suite(tmp_path / "a.relevance.yaml")
    for name in (".#a.relevance.yaml", ".#c.relevance.yml"):
        (tmp_path / name).symlink_to("me@here.4711:1")
    assert find_suites([tmp_path]) == FoundSuites((seen,))
    assert find_broken_links(tmp_path) == []


@pytest.mark.parametrize("name", ["c.relevance.yml", "C.Relevance.YAML", "c.RELEVANCE.YML"])
def test_a_name_that_is_almost_that_of_a_suite_is_told_unless_it_is_named(tmp_path, name):
    seen, misnamed = suite(tmp_path / "a.relevance.yaml"), suite(tmp_path / "deep" / name)
    assert find_suites([tmp_path]) == FoundSuites((seen,), (misnamed,))
    assert find_suites([tmp_path, tmp_path / "deep" / "..", misnamed]) == FoundSuites((seen, misnamed))


@pytest.mark.parametrize("paths", [[], ["empty"], ["full", "empty"]])
def test_nothing_to_run_is_an_error(tmp_path, paths):
    (tmp_path / "empty").mkdir()
    suite(tmp_path / "full" / "a.relevance.yaml")
    with pytest.raises(UsageError, match="found no suite"):
        find_suites([tmp_path / path for path in paths])


def test_the_error_of_a_folder_without_suites_names_what_might_be_meant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite(Path("c.relevance.yml"))
    suite(Path("build/a.relevance.yaml"))
    with pytest.raises(UsageError) as caught:
        find_suites([Path()])
    assert str(caught.value) == (
        ".: found no suite in this folder, expected files named *.relevance.yaml; c.relevance.yml is not read: the "
        "name of a suite ends in .relevance.yaml; rename it, or pass its path; left out: build (1 suite)"
    )


def test_every_folder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    suite(tmp_path / "a.relevance.yaml")
    for name in ("one", "two"):
        suite(tmp_path / name / "b.relevance.yaml")
    scandir = os.scandir

    def refuse(folder):
        if Path(folder).name in ("one", "two"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(SuiteError) as caught:
        find_suites([tmp_path])
    assert [str(problem) for problem in caught.value.problems] == [
        f"{tmp_path / name}: the folder cannot be read: Permission denied" for name in ("one", "two")
    ]
