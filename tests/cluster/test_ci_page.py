"""docs/guides/ci.md: the line of the job for Jenkins, on the embedded node."""

import re
import shlex
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from builders.typed_page import find_blocks
from harness.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")


@pytest.mark.embedded
@pytest.mark.usefixtures("embedded_node")
def test_the_job_for_jenkins_writes_the_files_that_it_publishes(tmp_path, monkeypatch, capsys):
    [job] = find_blocks(PAGE, "groovy")
    [line] = re.findall(r"\.venv/bin/relevance (.*)", job)
    shutil.copytree(ROOT / "suites", tmp_path / "suites", ignore=shutil.ignore_patterns("failing"))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)) == 0, capsys.readouterr().out
    results = re.search(r"junit '(.*)'", job)[1]
    page = re.search(r"archiveArtifacts '(.*)'", job)[1]
    assert len(ET.parse(results).findall(".//testcase")) > 40
    assert "</html>" in Path(page).read_text(encoding="utf-8")
