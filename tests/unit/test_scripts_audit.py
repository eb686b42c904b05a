"""What scripts/check says of known vulnerabilities, and that it passes where nobody can say."""

import json
import runpy
import subprocess
from pathlib import Path

import pytest

SCRIPT = str(Path(__file__).parents[2] / "scripts" / "bootstrap.py")
VULNERABLE = {"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}


@pytest.mark.parametrize(
    ("printed", "status", "said"),
    [
        ({"dependencies": [{"name": "a", "version": "1", "vulns": []}]}, 0, "1 of 1 packages audited, 0 with known"),
        ({"dependencies": [VULNERABLE]}, 1, "a 1: CVE-1, fixed in 2"),
        ({"dependencies": [{"name": "a", "skip_reason": "not found"}]}, 0, "1 are unknown to the database"),
        (None, 0, "nothing was audited: pip-audit did not report (JSONDecodeError)"),
    ],
)
def test_what_is_known_fails_and_what_is_not_known_does_not(printed, status, said, monkeypatch, capsys):
    done = subprocess.CompletedProcess([], 1, "no network" if printed is None else json.dumps(printed), "")
    audit = runpy.run_path(SCRIPT)["audit"]
    monkeypatch.setattr(subprocess, "run", lambda *words, **options: done)
    assert audit() == status
    assert said in capsys.readouterr().out


def test_without_pip_audit_it_says_so(monkeypatch, capsys):
    def missing(*words, **options):
        raise FileNotFoundError

    audit = runpy.run_path(SCRIPT)["audit"]
    monkeypatch.setattr(subprocess, "run", missing)
    assert audit() == 0
    assert "nothing was audited" in capsys.readouterr().out
