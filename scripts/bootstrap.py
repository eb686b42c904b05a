"""
Makes the environment that the scripts beside it run in: .venv, with the project and what it needs, in the versions of a
lock and from files with its hashes.

Needs Python 3.11 or later and nothing else; an environment that is up to date is used as it is.
"""

import hashlib
import json
import os
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
LOCKS = ROOT / "scripts" / "locks"
DEMO = LOCKS / "embedded.txt"
DEVELOPMENT = LOCKS / "development.txt"
JUDGE = LOCKS / "judge.txt"
MODEL = LOCKS / "model.txt"
PACKAGE = LOCKS / "package.txt"

REPOSITORY_VARIABLE = "RELEVANCE_REPOSITORY_URL"
"""Names the variable of the environment with the address of the repository."""


def install(lock: Path) -> None:
    """Have the project and the packages of *lock* in .venv."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older one gets a sentence, not a traceback
        sys.exit(f"found Python {sys.version.split()[0]}, expected 3.11 or later: run this script with a newer python3")
    stamp = VENV / f"installed-{lock.stem}"
    wanted = _digest((ROOT / "pyproject.toml").read_bytes() + lock.read_bytes())
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if not any(VENV.glob("installed-*")):
        say(f"making {VENV}")
        venv.create(VENV, with_pip=True, clear=True)
    say(f"installing the project and what it needs, in the versions of {lock.relative_to(ROOT)}")
    # The lock is whole. The pip of Python 3.11 would look for pins of extras too, such as coverage[toml].
    _pip("--require-hashes", "--no-deps", "--requirement", str(lock))
    # The lock has hatchling too: an isolated build would fetch one whose hash nobody knows.
    _pip("--no-deps", "--no-build-isolation", "--editable", ".")
    stamp.write_text(wanted)


def run(*command: str) -> int:
    """Run a command of .venv in the project's folder; its exit status."""
    say(" ".join(command))
    # Images of containers set this variable. Without compiled modules every process that a test starts compiles anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # mike calls mkdocs by its name.
    environment["PATH"] = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
    return subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, env=environment, check=False).returncode


def say(sentence: str) -> None:
    print(f"# {sentence}", flush=True)


def say_without_repository(consequence: str) -> None:
    """Say what is missing from a build that does not know the address of the repository."""
    if not os.environ.get(REPOSITORY_VARIABLE):
        say(f"{REPOSITORY_VARIABLE} is not set: {consequence}")


def list_pins(lock: Path) -> list[str]:
    """The versions of *lock* without their hashes, as pip takes them for constraints."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    return [line.removesuffix("\\").strip() for line in lines if "==" in line]


def check(*, needs_audit: bool = False) -> int:
    """The checks that need no test; the number of those that failed. See `audit` for *needs_audit*."""
    commands = (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",))
    # The audit waits for answers from the network, and mypy takes longer.
    with ThreadPoolExecutor(max_workers=1) as pool:
        audited = pool.submit(audit, needs_audit=needs_audit)
        failed = sum(run(*command) != 0 for command in commands)
        return failed + audited.result()


SECONDS_TO_AUDIT = 120
NAMED = 10
"""As many packages that were not audited are named."""


def audit(*, needs_audit: bool = False) -> int:
    """
    1 if a version of the development lock has a known vulnerability, else 0.

    What cannot be looked up, without a network for example, is said to be not audited, and fails with *needs_audit*.
    """
    options = ("--no-deps", "--disable-pip", "--progress-spinner=off", "-fjson")
    command = (BIN / "pip-audit", "-r", DEVELOPMENT, *options)
    say(f"pip-audit -r {DEVELOPMENT.relative_to(ROOT)}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS_TO_AUDIT, cwd=ROOT)
        packages = json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        say(f"not audited: pip-audit did not report ({type(error).__name__})")
        return int(needs_audit)
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    vulnerable = [package for package in packages if package.get("vulns")]
    for package in vulnerable:
        fixes = {known["id"]: ", ".join(known["fix_versions"]) or "no version yet" for known in package["vulns"]}
        for name, fixed in fixes.items():
            print(f"{package['name']} {package['version']}: {name}, fixed in {fixed}", flush=True)
    audited = len(packages) - len(skipped)
    say(f"{audited} of {len(packages)} packages audited, {len(vulnerable)} with known vulnerabilities")
    if skipped:
        names = ", ".join(skipped[:NAMED]) + (", …" if len(skipped) > NAMED else "")
        say(f"not audited, as the database that could be reached does not know them: {len(skipped)} packages ({names})")
    return int(bool(vulnerable) or (needs_audit and bool(skipped)))


def _pip(*what: str) -> None:
    pip = [BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    if subprocess.run(pip, cwd=ROOT, check=False).returncode:
        sys.exit("pip could not install what the project needs; its message is above")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
