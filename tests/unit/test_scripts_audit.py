"""What scripts/check says of known vulnerabilities, and that it passes where nobody can say."""

import json
import runpy
import subprocess
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).parents[2] / "scripts" / "bootstrap.py")
VULNERABLE = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}


UNKNOWN = {"name": "a", "skip_reason": "not found"}


def audit(monkeypatch, reported, **options):
    """The status of an audit for which pip-audit prints *reported*, or is not there."""

    def report(*words, **_):
        if reported is None:
            raise FileNotFoundError
        return subprocess.CompletedProcess([], 1, reported, "")

    check = runpy.run_path(SCRIPT)["audit"]
    monkeypatch.setattr(subprocess, "run", report)
    return check(**options)


@pytest.mark.parametrize(
    ("packages", "status", "needed", "said"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, 0, "1 of 1 packages audited, 0 with known"),
        ([VULNERABLE], 1, 1, "a 1: CVE-1, fixed in 2"),
        ([UNKNOWN], 0, 1, "not audited, as the database that could be reached does not know them: 1 packages (a)"),
        ([VULNERABLE, UNKNOWN], 1, 1, "1 of 2 packages audited, 1 with known"),
        ([UNKNOWN] * 11, 0, 1, "11 packages (a, a, a, a, a, a, a, a, a, a, …)"),
    ],
)
def test_what_is_not_audited_is_said_and_fails_where_it_has_to_be(packages, status, needed, said, monkeypatch, capsys):
    reported = json.dumps({"dependencies": packages})
    assert audit(monkeypatch, reported) == status
    assert said in capsys.readouterr().out
    assert audit(monkeypatch, reported, needs_audit=True) == needed


@pytest.mark.parametrize("reported", [None, "no network", "[]", "{}"])
def test_nothing_that_was_audited_is_no_pass_where_it_has_to_be(reported, monkeypatch, capsys):
    assert audit(monkeypatch, reported) == 0
    assert "not audited: pip-audit did not report" in capsys.readouterr().out
    assert audit(monkeypatch, reported, needs_audit=True) == 1


def test_the_published_workflow_needs_the_audit_and_the_local_one_does_not():
    root = Path(SCRIPT).parents[1]
    assert "scripts/check --audit" in (root / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8")
    assert "--audit" not in (root / ".ci" / "run").read_text(encoding="utf-8")
