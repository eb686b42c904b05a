"""A real language model on a real server: scripts/judge-model, where it is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from builders.extras import skip_without

skip_without("openai")

ROOT = Path(__file__).parents[4]
INSTALLED = ROOT / ".venv-model" / "installed"


@pytest.fixture(scope="session")
def model_url():
    """The base_url of the model."""
    if not INSTALLED.exists():
        pytest.skip("the language model is not installed: python3 scripts/judge-model --install (130 MB)")
    command = [sys.executable, ROOT / "scripts" / "judge-model", "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.terminate()
