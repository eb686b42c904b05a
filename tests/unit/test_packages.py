"""What several places say of the packages is the same; that they work is shown by scripts/package, in .ci/run."""

import ast
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = set(PROJECT["project"]["optional-dependencies"])
[BROWSERS] = re.findall(
    r"^BROWSERS = (.*)$", (ROOT / "tests/builders/browser_fixtures.py").read_text("utf-8"), re.MULTILINE
)
FETCH_BROWSER = re.search(
    r"^fetch_browser\(\) \{.*?^\}", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE | re.DOTALL
)


def test_every_extra_is_tried_and_part_of_the_matrix():
    assert set(PROJECT["tool"]["tox"]["env_run_base"]["extras"]) == EXTRAS
    tree = ast.parse((ROOT / "scripts" / "package").read_text(encoding="utf-8"))
    [tried] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "TRIED"]
    assert {ast.literal_eval(extra) for extra in tried.keys} == EXTRAS


def test_the_matrix_begins_with_the_oldest_versions_that_are_promised():
    [matrix] = PROJECT["tool"]["tox"]["env_list"]
    pythons, pytests, clients = matrix["product"]
    assert PROJECT["project"]["requires-python"] == f">=3.{pythons['start']}"
    oldest = {one.split(">=")[0]: one.split(">=")[1].split(".")[0] for one in PROJECT["project"]["dependencies"]}
    assert (pytests[0], clients[0]) == (f"pytest{oldest['pytest']}", f"elasticsearch{oldest['elasticsearch']}")


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        *((name, []) for name in ast.literal_eval(BROWSERS)),
        ("firefox", ["update -qq", "install -y -qq --no-install-recommends chromium-headless-shell"]),
    ],
)
def test_a_browser_is_fetched_only_where_there_is_none_that_the_tests_use(tmp_path, there, asked):
    log = tmp_path / "asked"
    for name, script in ((there, "exit 1"), ("apt-get", f'echo "$*" >>{log}')):
        (tmp_path / name).write_text(f"#!{shutil.which('bash')}\n{script}\n")
        (tmp_path / name).chmod(0o755)
    log.touch()
    script = f"set -euo pipefail\n{FETCH_BROWSER[0]}\nfetch_browser"
    subprocess.run([shutil.which("bash"), "-c", script], env={"PATH": str(tmp_path)}, check=True)
    assert log.read_text().splitlines() == asked
