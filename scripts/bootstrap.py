"""
Makes the environment that the scripts beside it run in: .venv, with the project and what it needs, in pinned versions.

Needs Python 3.11 or later and nothing else; an environment that is up to date is used as it is.
"""

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
CONSTRAINTS = ROOT / "scripts" / "constraints.txt"

DEMO = ("-e", ".[embedded]")
DEVELOPMENT = ("-e", ".[embedded,arrays,statistics,files,datasets,judge]", "--group", "dev")


def install(*what: str) -> None:
    """Have *what* (arguments of pip) in .venv."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older one gets a sentence, not a traceback
        sys.exit(f"found Python {sys.version.split()[0]}, expected 3.11 or later: run this script with a newer python3")
    stamp = VENV / f"installed-{_digest(' '.join(what).encode())}"
    wanted = _digest((ROOT / "pyproject.toml").read_bytes() + CONSTRAINTS.read_bytes())
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not any(VENV.glob("installed-*")):
        say(f"making {VENV}")
        venv.create(VENV, with_pip=True, clear=True)
    say("installing the project and what it needs, in the versions of scripts/constraints.txt")
    # pip learnt --group in 25.1, and a fresh environment has the older one that came with Python.
    _pip("--upgrade", "pip")
    _pip(*what)
    stamp.write_text(wanted)


def run(*command: str) -> int:
    """Run a command of .venv in the project's folder; its exit status."""
    say(" ".join(command))
    # Images of containers set this variable. Without compiled modules every process that a test starts compiles anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, env=environment, check=False).returncode


def say(sentence: str) -> None:
    print(f"# {sentence}", flush=True)


def check() -> int:
    """The checks that need no test; the number of those that failed."""
    commands = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",))
    return sum(run(*command) != 0 for command in commands) + audit()


SECONDS_TO_AUDIT = 120


def audit() -> int:
    """
    1 if a pinned version of scripts/constraints.txt has a known vulnerability, else 0.

    What cannot be looked up, without a network for example, is said and is no failure.
    """
    command = (BIN / "pip-audit", "-r", CONSTRAINTS, "--no-deps", "--disable-pip", "--progress-spinner=off", "-fjson")
    say("pip-audit -r scripts/constraints.txt")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_TO_AUDIT, cwd=ROOT)
        found = json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        say(f"nothing was audited: pip-audit did not report ({type(error).__name__})")
        return 0
    skipped = [one["name"] for one in found if "skip_reason" in one]
    vulnerable = [one for one in found if one.get("vulns")]
    for one in vulnerable:
        fixes = {known["id"]: ", ".join(known["fix_versions"]) or "no version yet" for known in one["vulns"]}
        for name, fixed in fixes.items():
            print(f"{one['name']} {one['version']}: {name}, fixed in {fixed}", flush=True)
    audited = len(found) - len(skipped)
    left = f"; {len(skipped)} are unknown to the database that could be reached" if skipped else ""
    say(f"{audited} of {len(found)} packages audited, {len(vulnerable)} with known vulnerabilities{left}")
    return int(bool(vulnerable))


def _pip(*what: str) -> None:
    pip = [BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", CONSTRAINTS, *what]
    if subprocess.run(pip, cwd=ROOT, check=False).returncode:
        sys.exit("pip could not install what the project needs; its message is above")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
