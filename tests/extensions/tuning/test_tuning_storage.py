"""What is said of a storage that cannot be used has no password of its URL, in whatever form that is written."""

import pytest

from builders.extras import skip_without

skip_without("optuna", "cmaes")

from harness.errors import UsageError
from harness.extensions.tuning.study import StudySettings, describe_storage_error, hide_login, open_study
from harness.files.beside import BesideFile
from harness.model.suite import TuningSpace

SECRET = "hunter2"

URLS = [
    "postgresql://me:hunter2@host/studies",
    "postgresql://me:pa/hunter2@host/studies",
    "postgresql://me:pa hunter2 word@host:5432/studies",
    "postgresql://me:p@hunter2@host/studies",
    "postgresql://me:p:hunter2@host/studies",
    "postgresql://me:p?hunter2@host/studies",
    "postgresql://me:p#hunter2@host/studies",
    "postgresql://me:p%40hunter2@host/studies",
    "postgresql://:hunter2@host/studies",
    "postgresql://host/studies?password=hunter2",
    "postgresql://host/studies?user=me&password=hunter2&sslmode=require",
    "postgresql://me:a@host/studies?password=hunter2@b",
    "mysql+pymysql://me:hunter2@[::1]:3306/studies",
    "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BUID%3Dme%3BPWD%3Dhunter2",
    "mssql+pyodbc:///?odbc_connect=DRIVER=x;UID=me;PWD=hunter2",
    "postgresql://me:hunter2",
    "postgresql:// me:hunter2@host",
    "redis://:hunter2@host:6379/0",
    "nosuchdb://me:hunter2@host:port/studies",
    "sqlite:///no/such/folder/x.db?key=hunter2",
]
PROBLEMS = [
    "{url}",
    "Could not parse SQLAlchemy URL from given URL string '{url}'",
    "invalid dsn: password hunter2 of me",
    "FATAL: PWD=hunter2; UID=me",
    "login failed: 'pa hunter2 word', p?hunter2, p#hunter2, p@hunter2, %40hunter2",
]


@pytest.mark.parametrize("url", URLS)
def test_no_form_of_a_password_is_printed(url):
    for problem in PROBLEMS:
        said = describe_storage_error(url, problem.format(url=url))
        assert said.startswith(f"the storage {hide_login(url)} cannot be used: ")
        assert SECRET not in said


@pytest.mark.parametrize("url", URLS)
def test_no_library_prints_it(url):
    settings = StudySettings("shop", TuningSpace((), {}), "random", 1)
    with pytest.raises(UsageError) as refusal, open_study(url, settings):
        raise AssertionError
    assert "cannot be used" in str(refusal.value)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:pa/ss@host:5432/studies", "postgresql://…@host:5432/studies"),
        ("mysql+pymysql://host/studies?charset=utf8", "mysql+pymysql://host/studies?…"),
        ("sqlite:///tuning.db", "sqlite:///tuning.db"),
        ("postgresql://me:secret", "postgresql://…"),
    ],
)
def test_the_rest_of_the_url_is_named(url, shown):
    assert hide_login(url) == shown


@pytest.mark.parametrize(
    "content",
    [b"my notes", b"my notes\n", b'{"a": 1}\n', b'{"op_code":1}\nmy notes', b"[1]\n", b'"op_code"\n', b"\xff\n"],
)
def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    settings = StudySettings("shop", TuningSpace((), {}), "random", 1)
    with pytest.raises(UsageError, match=r"notes\.txt cannot be used"), open_study(BesideFile(path), settings):
        raise AssertionError
    assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


def test_a_line_that_a_killed_process_left_is_cut(tmp_path):
    path = tmp_path / "x.journal"
    settings = StudySettings("shop", TuningSpace((), {}), "random", 1)
    with open_study(BesideFile(path), settings):
        pass
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"op_code":4,"tr')
    with open_study(BesideFile(path), settings) as study:
        assert study.kept == []
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().endswith(b"}\n")
