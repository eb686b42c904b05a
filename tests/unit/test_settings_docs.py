"""What docs/reference/settings.md shows of harness.toml is read."""

import re
from pathlib import Path

import pytest

from harness.config import read_config
from harness.config.shape import ClusterShape, JudgeShape

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")


def test_the_harness_toml_of_the_page_is_read(tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "harness.toml").write_text(block, encoding="utf-8")
    assert list(read_config(tmp_path / "harness.toml").clusters) == ["default", "staging", "cloud", "api"]


@pytest.mark.parametrize("shape", [ClusterShape, JudgeShape])
def test_each_key_is_described_with_its_default(shape):
    for name, field in shape.model_fields.items():
        assert field.description, name
        if isinstance(field.default, bool | int | float | str):
            default = str(field.default).removesuffix(".0").lower()
            assert re.search(rf"Default: `?{default}`?\.", field.description), name
