import click
import pytest

from harness.cli.shared_options import OutputType
from harness.report.outputs import Output


def test_kind_and_file_are_read(tmp_path):
    assert OutputType().convert(f"json={tmp_path}/a=b.json", None, None) == Output("json", tmp_path / "a=b.json")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("report.html", "expected KIND=FILE"),
        ("html=", "expected KIND=FILE"),
        ("htlm=x", "did you mean 'html'"),
        ("html=.", "is a folder"),
        ("html=-", "found -, expected a file; /dev/stdout is standard output"),
        ("html=no/such/folder/x.html", "the folder no/such/folder does not exist"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(value, sentence):
    with pytest.raises(click.BadParameter, match=sentence):
        OutputType().convert(value, None, None)
