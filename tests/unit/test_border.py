"""What a stranger's suite leads to: no link, no name and no wrong line prints a file that is not the suite's."""

import os
import re
from itertools import product
from pathlib import Path

import pytest

from builders.extension_cases import list_cases, needs_extension
from builders.stranger import KEY, SECRET, SUITE, make_tree, printed, write
from harness.cli import main
from harness.errors import HarnessError
from harness.files.border import Border, is_quotable
from harness.files.judge_files import JudgeFile, read_judge_files
from harness.suites import load_suite
from harness.suites.discovery import find_suites

PASSWD = f"root:x:0:0:{SECRET}:/root:/bin/bash\nme:x:1:1:{SECRET}:/home/me:/bin/sh\n"
NETRC = f"machine example.org\n  login me password {SECRET}\n"
YAML = f"token: {SECRET}\nsuite: [{SECRET}\n"
SECRETS = [KEY, PASSWD, NETRC, YAML, f"TOKEN={SECRET}\0HOME=/root\0", f'{{"token": "{SECRET}"}}', f"\xff{SECRET}"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(make_tree(tmp_path))
    return Path.cwd()


COMMANDS = [
    ["validate"],
    ["run", "--url", "http://127.0.0.1:9"],
    *list_cases("UNQUOTED"),
]


# ------------------------------------------------------------------------------------------------ suites that are found


@pytest.mark.parametrize("content", SECRETS)
@pytest.mark.parametrize("target", ["../../secret", "../../.netrc", "../../other.relevance.yaml", ".git/config"])
def test_a_found_link_out_of_the_folder_is_refused_and_not_opened(tree, capsys, monkeypatch, target, content):
    victim = write(tree / target, content).resolve()
    (tree / "x.relevance.yaml").symlink_to(target)
    opened = []
    whole = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *given, **more: opened.append(self) or whole(self, *given, **more))
    for command in [*COMMANDS, ["baseline", "show"]]:
        assert main([*command, "."]) == 2, command
        text = printed(capsys)
        assert "x.relevance.yaml: this link is not followed: what it leads to is " in text
        assert SECRET not in text
    assert victim not in {Path(os.path.realpath(path)) for path in opened}


@pytest.mark.parametrize("target", ["/proc/self/environ", "/etc/passwd", "/dev/zero", "/proc/self/root/etc/passwd"])
def test_a_found_link_to_a_file_of_the_system_is_refused(tree, capsys, monkeypatch, target):
    monkeypatch.setenv("API_KEY", SECRET)
    (tree / "x.relevance.yaml").symlink_to(target)
    assert main(["validate", "."]) == 2
    text = printed(capsys)
    assert "x.relevance.yaml: this link is not followed: " in text
    assert "is outside of the suite's root, the folder .; pass the path of the link itself, or --root DIR" in text
    assert SECRET not in text
    assert "root:" not in text


def test_a_chain_of_links_and_a_link_of_a_folder_are_judged_by_their_end(tree, capsys):
    write(tree / "../../secret", PASSWD)
    (tree / "store").symlink_to("../..")
    (tree / "b.link").symlink_to("store/secret")
    (tree / "x.relevance.yaml").symlink_to("b.link")
    assert main(["validate", "."]) == 2
    assert "x.relevance.yaml: this link is not followed" in printed(capsys)


def test_a_link_within_the_folder_is_a_suite(tree):
    (tree / "deep").mkdir()
    (tree / "deep" / "x.relevance.yaml").symlink_to("../a.relevance.yaml")
    assert [path.name for path in find_suites([Path()]).suites] == ["a.relevance.yaml", "x.relevance.yaml"]


def test_a_link_that_is_named_is_read(tree, tmp_path, capsys):
    real = write(tmp_path / "elsewhere" / "s.relevance.yaml", SUITE)
    (tree / "x.relevance.yaml").symlink_to(real)
    assert main(["validate", "x.relevance.yaml"]) == 0
    assert main(["validate", ".", "x.relevance.yaml"]) == 0


@pytest.mark.parametrize("content", SECRETS)
@pytest.mark.parametrize("target", ["../../id_rsa", "../../token.txt", ".git/config", "../../.config/gh/hosts.yml"])
def test_a_link_that_is_named_quotes_no_other_file(tree, capsys, target, content):
    """A shell that expands suites/* names a stranger's links too."""
    write(tree / target, content)
    (tree / "x.relevance.yaml").symlink_to(target)
    for command in COMMANDS:
        assert main([*command, "x.relevance.yaml"]) == 2
        text = printed(capsys)
        assert "x.relevance.yaml" in text
        assert SECRET not in text
        assert "root:" not in text


def test_a_linked_folder_out_of_the_tree_is_not_searched_and_told(tree, tmp_path, capsys):
    write(tmp_path / "shared" / "s.relevance.yaml", "wrong: [")
    (tree / "shared").symlink_to(tmp_path / "shared")
    (tree / "machine").symlink_to("/")
    (tree / "build").symlink_to("/")
    assert main(["validate", "."]) == 0
    captured = capsys.readouterr()
    assert "1 suite checked: no problems" in captured.out
    assert captured.err == (
        "relevance: not followed: machine, shared lead out of the folder that is searched; "
        "pass its path, or --root DIR to follow links into DIR\n"
    )
    assert main(["validate", "shared"]) == 2


def test_a_folder_with_nothing_but_such_a_link_has_no_suite(tree, capsys):
    (tree / "a.relevance.yaml").unlink()
    (tree / "shared").symlink_to("/")
    assert main(["run", "."]) == 2
    assert "found no suite in this folder" in (text := printed(capsys))
    assert "shared leads out of the folder that is searched" in text


# ------------------------------------------------------------------------------------------------ trees of links


@pytest.fixture
def farm(tmp_path, monkeypatch):
    """A tree of links to the files of a store, as Bazel and Nix make them."""
    store, tree = tmp_path / ".store", tmp_path / "tree"
    write(store / "1-s.relevance.yaml", SUITE.replace("a: 1", "") + "judgments: judged.qrels\n")
    write(store / "2-judged.qrels", "shoes 0 a 1\n")
    write(store / "more" / "m.relevance.yaml", SUITE)
    tree.mkdir()
    (tree / "s.relevance.yaml").symlink_to(store / "1-s.relevance.yaml")
    (tree / "judged.qrels").symlink_to(store / "2-judged.qrels")
    (tree / "more").symlink_to(store / "more")
    monkeypatch.chdir(tree)
    return tree


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_root_that_is_named_lets_links_lead_into_it(farm, capsys, command):
    assert main([*command, "."]) == 2
    assert "s.relevance.yaml: this link is not followed" in printed(capsys)
    assert main([*command, "--root", "../.store", "."]) != 2, printed(capsys)
    assert "not followed" not in printed(capsys)


def test_the_root_lets_links_lead_into_no_other_folder(farm, tmp_path, capsys):
    write(tmp_path / "elsewhere" / "s.relevance.yaml", SUITE)
    write(tmp_path / ".store" / ".git" / "config", KEY)
    (farm / "x.relevance.yaml").symlink_to(tmp_path / "elsewhere" / "s.relevance.yaml")
    (farm / "y.relevance.yaml").symlink_to(tmp_path / ".store" / ".git" / "config")
    assert main(["validate", "--root", "../.store", "."]) == 2
    text = printed(capsys)
    assert "x.relevance.yaml: this link is not followed: what it leads to is outside of" in text
    assert "y.relevance.yaml: this link is not followed: what it leads to is hidden" in text


@needs_extension("compare")
def test_the_baseline_of_a_tree_of_links_is_one_of_them(farm, tmp_path, capsys, engine_that_answers):
    url = ["--root", "../.store", "--url", engine_that_answers]
    assert main(["baseline", "save", "s.relevance.yaml", "--force", *url]) == 0
    (farm / "s.baseline.json").rename(tmp_path / ".store" / "3-s.baseline.json")
    (farm / "s.baseline.json").symlink_to("../.store/3-s.baseline.json")
    assert main(["baseline", "diff", "s.relevance.yaml", *url]) == 0
    assert main(["baseline", "show", "s.relevance.yaml", "--root", "../.store"]) == 0
    assert main(["baseline", "show", "s.relevance.yaml"]) == 1


# ------------------------------------------------------------------------------------------------ files of suites


NAMES = {
    "judgments": SUITE + "judgments: FILE\n",
    "judgments in a mapping": SUITE + "judgments: {files: [FILE], other_queries: ignore, ungraded: ignore}\n",
    "queries": SUITE[: SUITE.index("queries:")] + "queries: FILE\n",
    "a file of queries": SUITE[: SUITE.index("queries:")] + "queries: {file: FILE, inline: []}\n",
    "vectors": SUITE + "vectors: {near: FILE}\n",
    "ids of vectors": SUITE + "vectors: {near: {file: near.npy, ids: FILE}}\n",
    "documents": SUITE + "fixture: {documents: FILE}\n",
}


@pytest.mark.parametrize("suite", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    ("way", "target", "sentence"),
    [
        (".env", None, "is hidden: the name of .env begins with a dot"),
        (".git/config", None, "is hidden: the name of .git begins with a dot"),
        ("deep/.ssh/known.csv", None, "is hidden: the name of .ssh begins with a dot"),
        ("link.csv", ".git/config", "is hidden: the name of .git begins with a dot"),
        ("link.csv", ".env.csv", "is hidden: the name of .env.csv begins with a dot"),
        ("link.csv", "/proc/self/environ", "is outside of the suite's root"),
        ("link.jsonl", "../../outside", "is outside of the suite's root"),
    ],
)
def test_what_a_suite_names_is_no_hidden_file_and_none_outside(tree, capsys, suite, way, target, sentence):
    write(tree / "near.npy", "")
    real = tree / (target or way)
    if not real.exists():
        write(real, KEY)
    if target:
        (tree / way).symlink_to(target)
    (tree / "a.relevance.yaml").write_text(suite.replace("FILE", way))
    assert main(["validate", "."]) == 2
    text = printed(capsys)
    assert f"the file '{way}' {sentence}" in text
    assert SECRET not in text


@needs_extension("judging")
@pytest.mark.parametrize("suite", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("links", [[None], ["q.csv", "q.tsv", "q.jsonl", "q.npy", "q.yaml"]], ids=["named", "linked"])
def test_a_file_of_no_known_format_is_not_quoted(tree, capsys, suite, links):
    write(tree / "near.npy", "")
    for link in filter(None, links):
        (tree / link).symlink_to("id_rsa")
    for content, link in product(SECRETS, links):
        write(tree / "id_rsa", content)
        (tree / "a.relevance.yaml").write_text(suite.replace("FILE", link or "id_rsa"))
        assert main(["validate", "."]) == 2
        assert main(["judgments", "lint", "--offline", "."]) in (1, 2)
        text = printed(capsys)
        assert not [word for word in (SECRET, "root:", "OPENSSH") if word in text], text


def test_the_line_of_what_is_not_quoted_is_told(tree, capsys):
    write(tree / "judged", "shoes 0 b 1\nshoes 0 c\n")
    (tree / "a.relevance.yaml").write_text(SUITE + "judgments: judged\n")
    assert main(["validate", "."]) == 2
    assert capsys.readouterr().err == (
        "judged:2:1: this is not as expected; what was found is not shown, as the name of the real file does not end "
        "like that of a known format, such as .yaml, .csv or .qrels\nrelevance: 1 problem\n"
    )


def test_a_suite_in_a_hidden_folder_names_the_files_there(tree):
    path = write(tree / ".github" / "s.relevance.yaml", SUITE.replace("a: 1", "") + "judgments: deep/judged.qrels\n")
    write(tree / ".github" / "deep" / "judged.qrels", "shoes 0 a 1\n")
    (tree / "relevance.toml").touch()
    assert load_suite(path, {}).queries[0].judgments == {"a": 1}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/proc/self/environ", "is a file of the system, in /proc"),
        ("/sys/kernel/notes", "is a file of the system, in /sys"),
        ("/dev/zero", "is a file of the system, in /dev"),
        ("/etc/passwd", None),
    ],
)
def test_where_the_root_is_that_of_the_machine_its_own_files_are_none_of_suites(path, sentence):
    assert Border(Path("/srv"), [Path("/")]).explain_refusal(Path(path)) == sentence


def test_a_checkout_below_a_system_folder_has_files_of_its_own():
    assert (
        Border(Path("/dev/shm/build"), [Path("/dev/shm/build")]).explain_refusal(Path("/dev/shm/build/a.csv")) is None
    )


@pytest.mark.parametrize(
    ("name", "is_quoted"),
    [("a.csv", True), ("A.QRELS", True), ("a.jsonl.gz", True), ("a.gz", False), ("a.txt", False), ("a.json", False)],
)
def test_what_is_quoted_is_decided_by_the_suffix(tmp_path, name, is_quoted):
    assert is_quotable(tmp_path / name) is is_quoted


# ------------------------------------------------------------------------------------------------ baselines


def test_a_baseline_that_is_a_link_out_of_the_root_is_not_read(tree, tmp_path, capsys):
    write(tmp_path / "secret.json", f'{{"schema": "{SECRET}"}}')
    (tree / "a.baseline.json").symlink_to(tmp_path / "secret.json")
    assert main(["baseline", "show", "."]) == 1
    text = printed(capsys)
    assert "the baseline a.baseline.json is a link that is not followed: what it leads to is outside of" in text
    assert SECRET not in text


@pytest.mark.parametrize("target", ["../../.ssh/authorized_keys", ".git/hooks/pre-commit", "../../nothing"])
def test_a_baseline_is_not_saved_through_a_link(tree, capsys, engine_that_answers, target):
    victim = tree / target
    if victim.name != "nothing":
        write(victim, "mine\n")
    (tree / "a.baseline.json").symlink_to(target)
    assert main(["baseline", "save", ".", "--force", "--url", engine_that_answers]) == 2
    assert "the baseline a.baseline.json is a link that is not followed" in printed(capsys)
    assert (victim.read_text() == "mine\n") if victim.name != "nothing" else not victim.exists()
    assert (tree / "a.baseline.json").is_symlink()


def test_a_linked_baseline_within_the_root_is_read(tree, capsys, engine_that_answers):
    assert main(["baseline", "save", ".", "--force", "--url", engine_that_answers]) == 0
    (tree / "kept").mkdir()
    (tree / "a.baseline.json").rename(tree / "kept" / "b.json")
    (tree / "a.baseline.json").symlink_to("kept/b.json")
    assert main(["baseline", "show", "."]) == 0
    assert "shop  a.baseline.json" in printed(capsys)


@pytest.fixture
def engine_that_answers():
    from builders.engine import ScriptedEngine

    with ScriptedEngine() as server:
        yield server.url


# ------------------------------------------------------------------------------------------------ judges


@pytest.mark.parametrize("content", ["", '{"query": "shoes", "document": "a", "grade": 1}\n', KEY])
def test_a_judges_file_that_is_a_link_is_not_followed(tree, tmp_path, content):
    victim = write(tmp_path / "victim", content)
    path = tree / "a.judged-by.anna.jsonl"
    path.symlink_to(victim)
    for use in (
        lambda: read_judge_files(tree / "a.relevance.yaml"),
        lambda: JudgeFile.read(path),
        lambda: JudgeFile(path).check_writable(),
        lambda: JudgeFile(path).grade(("shoes", "a"), 1.0),
    ):
        with pytest.raises((HarnessError, OSError), match="this is a link, expected the file itself"):
            use()
    assert victim.read_text() == content


# ------------------------------------------------------------------------------------------------ imports


# ------------------------------------------------------------------------------------------------ CI


def test_the_way_that_the_documentation_has_for_strangers(tmp_path, monkeypatch, capsys, engine_that_answers):
    """The command of docs/explanation/security.md, with a pull request that tries all it can."""
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "security.md").read_text(encoding="utf-8")
    [command] = re.findall(r"run: relevance (run .*theirs.*)$", page, re.MULTILINE)
    monkeypatch.setenv("SEARCH_API_KEY", SECRET)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    login = f'[clusters.default]\nurl = "{engine_that_answers}"\napi_key_env = "SEARCH_API_KEY"\n'
    write(ours / "relevance.toml", login)
    write(theirs / "relevance.toml", login.replace("api_key_env", "proxy_password_env"))
    write(theirs / "suites" / "s.relevance.yaml", SUITE)
    monkeypatch.chdir(ours)
    assert main(command.split()) == 0, printed(capsys)
    (theirs / "suites" / "x.relevance.yaml").symlink_to("/proc/self/environ")
    assert main(command.split()) == 2
    text = printed(capsys)
    assert "x.relevance.yaml: this link is not followed" in text
    assert SECRET not in text
