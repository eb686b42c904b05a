"""What stands beside a suite is opened in one way: no link out of the root, no pipe or device, nothing without end."""

import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="this system has neither links to fear nor pipes in folders")

from harness.files import folders
from harness.files.beside import LARGEST_FILE, BesideFile
from harness.files.writing import PRIVATE, PUBLIC

WORDS = b"precious"


@pytest.fixture
def root(tmp_path):
    """A root with a folder of suites in it; the folder beside the root is out of reach."""
    (tmp_path / "root" / "suites").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "shop.json").write_bytes(WORDS)
    return tmp_path / "root"


def lock(file):
    with file.hold_lock():
        pass


WAYS = {
    "read": lambda file: file.read(),
    "append": lambda file: file.open_to_append(PRIVATE).close(),
    "update": lambda file: file.open_to_update().close(),
    "lock": lock,
}
WRITING = {**WAYS, "write": lambda file: file.write("new")}


def make_file(root, *, follows_links=False):
    return BesideFile(root / "suites" / "shop.json", (root,), follows_links)


def list_tree(folder):
    """Each file below *folder*, with its content."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {path.relative_to(folder): path.read_bytes() for path in paths}


@pytest.mark.parametrize("holds_folders", [True, False])
@pytest.mark.parametrize("follows_links", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_a_link_that_leads_elsewhere_is_refused(root, monkeypatch, holds_folders, follows_links, way):
    monkeypatch.setattr(folders, "HOLDS_FOLDERS", holds_folders)
    link = root / "suites" / "shop.json"
    before = list_tree(root.parent)
    for target in ("../../out/shop.json", "../../out/new.json", "/dev/zero", "/dev/null", "..", "gone"):
        link.symlink_to(target)
        with pytest.raises(OSError, match=r"link|pipe or a device|Is a directory"):
            WAYS[way](make_file(root, follows_links=follows_links))
        assert list_tree(root.parent) == before, target
        link.unlink()


@pytest.mark.parametrize("holds_folders", [True, False])
@pytest.mark.parametrize("way", WRITING)
def test_a_folder_that_leads_out_of_the_root_is_refused(root, monkeypatch, holds_folders, way):
    monkeypatch.setattr(folders, "HOLDS_FOLDERS", holds_folders)
    (root / "suites").rmdir()
    (root / "suites").symlink_to(root.parent / "out")
    before = list_tree(root.parent)
    with pytest.raises(OSError, match=r"its folder .* is a link that is not followed: .* is outside of"):
        WRITING[way](make_file(root))
    assert list_tree(root.parent) == before


@pytest.mark.parametrize("way", WRITING)
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_pipe_blocks_nobody(root, way, make):
    make(root / "suites" / "shop.json")
    with pytest.raises(OSError, match=r"this is a pipe or a device, expected a file|Is a directory"):
        WRITING[way](make_file(root, follows_links=True))


@pytest.mark.parametrize("follows_links", [True, False])
def test_a_link_to_a_pipe_blocks_nobody(root, follows_links):
    os.mkfifo(root / "pipe.json")
    (root / "suites" / "shop.json").symlink_to(root / "pipe.json")
    for use in WAYS.values():
        with pytest.raises(OSError, match=r"link|pipe"):
            use(make_file(root, follows_links=follows_links))


def test_a_link_in_the_root_is_followed_where_that_is_meant(root):
    (root / "shared.json").write_bytes(b"shared")
    (root / "suites" / "shop.json").symlink_to("../shared.json")
    file = make_file(root, follows_links=True)
    assert file.read() == b"shared"
    with file.open_to_append(PRIVATE) as opened:
        opened.write(b" more")
    assert (root / "shared.json").read_bytes() == b"shared more"
    with pytest.raises(OSError, match="this is a link, expected the file itself"):
        make_file(root).read()


def test_a_hidden_file_in_the_root_is_not_read_through_a_link(root):
    (root / ".env").write_bytes(WORDS)
    (root / "suites" / "shop.json").symlink_to("../.env")
    with pytest.raises(OSError, match="is hidden"):
        make_file(root, follows_links=True).read()


def test_a_folder_in_the_root_may_be_a_link(root):
    (root / "suites").rmdir()
    (root / "real").mkdir()
    (root / "suites").symlink_to("real")
    make_file(root).write("new")
    assert (root / "real" / "shop.json").read_text() == "new"
    assert make_file(root).read() == b"new"


def test_writing_replaces_a_link_and_leaves_what_it_led_to(root):
    path = root / "suites" / "shop.json"
    path.symlink_to(root.parent / "out" / "shop.json")
    make_file(root).write("new")
    assert not path.is_symlink()
    assert path.read_text() == "new"
    assert (root.parent / "out" / "shop.json").read_bytes() == WORDS
    assert [entry.name for entry in path.parent.iterdir()] == ["shop.json"]


@pytest.mark.parametrize("way", ["read", "append"])
@pytest.mark.parametrize("most", [0, 7, None])
def test_a_file_has_a_limit(root, way, most):
    """A sparse file takes no room, and none of the memory."""
    limit = LARGEST_FILE if most is None else most
    path = root / "suites" / "shop.json"
    limits = {} if most is None else {"most": limit}
    ways = {
        "read": lambda: make_file(root).read(**limits),
        "append": lambda: make_file(root).open_to_append(PRIVATE, **limits).close(),
    }
    with path.open("wb") as file:
        file.truncate(limit + 1)
    with pytest.raises(OSError, match=f"it is larger than {limit // 2**20} MiB, the limit"):
        ways[way]()
    if most is not None:
        with path.open("wb") as file:
            file.truncate(limit)
        ways[way]()


@pytest.mark.parametrize("rights", [PRIVATE, 0o640, PUBLIC])
def test_a_new_file_has_the_rights_that_are_given(root, rights):
    make_file(root).write("new", rights)
    BesideFile(root / "suites" / "other").open_to_append(rights).close()
    umask = os.umask(0)
    os.umask(umask)
    for name in ("shop.json", "other"):
        assert stat.S_IMODE((root / "suites" / name).stat().st_mode) == rights & ~umask


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_that_is_put_there_after_the_check_is_not_followed(root, monkeypatch, swapped):
    """What is checked and what is opened may differ: another process may write to the folder."""
    path = root / "suites" / "shop.json"
    path.write_bytes(b"own")
    find_root = BesideFile._find_root

    def swap(*arguments):
        found = find_root(*arguments)
        if swapped == "file":
            path.unlink()
            path.symlink_to(root.parent / "out" / "shop.json")
        else:
            path.parent.rename(root / "gone")
            (root / "suites").symlink_to(root.parent / "out")
        return found

    monkeypatch.setattr(BesideFile, "_find_root", swap)
    with pytest.raises(OSError, match=r"link|Not a directory|Too many levels"):
        BesideFile(path, (root,)).read()
    assert (root.parent / "out" / "shop.json").read_bytes() == WORDS


def test_without_roots_the_folder_of_the_file_is_the_root(root):
    (root.parent / "named").symlink_to(root / "suites")
    file = BesideFile(root.parent / "named" / "shop.json", follows_links=True)
    file.write("new")
    assert file.read() == b"new"
    (root / "suites" / "other.json").symlink_to(root.parent / "out" / "shop.json")
    with pytest.raises(OSError, match="link"):
        BesideFile(root / "suites" / "other.json", follows_links=True).read()


def test_a_lock_is_removed_and_its_link_is_not_emptied(root):
    file = BesideFile(root / "suites" / "shop.lock", (root,))
    with file.hold_lock() as is_held:
        assert is_held
        assert file.exists()
    assert not file.exists()


def test_the_folder_is_held_while_a_file_is_written(root):
    """The folder that was checked is written to, whatever stands at its path by then."""
    file = make_file(root)

    def swap():
        (root / "suites").rename(root / "moved")
        (root / "suites").symlink_to(root.parent / "out")

    file.write("new", before=swap)
    assert (root / "moved" / "shop.json").read_text() == "new"
    assert list_tree(root.parent / "out") == {Path("shop.json"): WORDS}
