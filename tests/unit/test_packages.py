"""What several places say of the packages is the same; that they work is shown by scripts/package, in .ci/run."""

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = set(PROJECT["project"]["optional-dependencies"])


def test_every_extra_is_tried_and_part_of_the_matrix():
    assert set(PROJECT["tool"]["tox"]["env_run_base"]["extras"]) == EXTRAS
    tree = ast.parse((ROOT / "scripts" / "package").read_text(encoding="utf-8"))
    [tried] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "TRIED"]
    assert set(ast.literal_eval(tried)) == EXTRAS


def test_the_matrix_begins_with_the_oldest_versions_that_are_promised():
    [matrix] = PROJECT["tool"]["tox"]["env_list"]
    pythons, pytests, clients = matrix["product"]
    assert PROJECT["project"]["requires-python"] == f">=3.{pythons['start']}"
    oldest = {one.split(">=")[0]: one.split(">=")[1].split(".")[0] for one in PROJECT["project"]["dependencies"]}
    assert (pytests[0], clients[0]) == (f"pytest{oldest['pytest']}", f"elasticsearch{oldest['elasticsearch']}")
