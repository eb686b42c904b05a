"""What docs/reference/settings.md shows of relevance.toml is read."""

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from harness.config import read_config
from harness.config.schema import settings_schema
from harness.config.shape import TOP_LEVEL, ClusterShape, JudgeShape

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
FILE = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[0]


def test_the_relevance_toml_of_the_page_is_read(tmp_path):
    (tmp_path / "relevance.toml").write_text(FILE, encoding="utf-8")
    assert list(read_config(tmp_path / "relevance.toml").clusters) == ["default", "staging", "cloud", "api"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", None),
        ("[clusters.other]\nurll = 'http://localhost'", "'urll' was unexpected"),
        ("[clusters.other]\ntimeout = 'long'", "'long' is not of type 'number'"),
        ("[judge.gpt]\nmodel = 'gpt'", "'base_url' is a required property"),
    ],
)
def test_an_editor_checks_the_file_by_the_schema(line, message):
    settings = tomllib.loads(f"{FILE}\n{line}")
    errors = [error.message for error in jsonschema.Draft7Validator(settings_schema()).iter_errors(settings)]
    assert len(errors) == (message is not None)
    assert all(message in error for error in errors)


def test_the_schema_has_each_key_with_its_description():
    properties = settings_schema()["properties"]
    assert list(properties) == list(TOP_LEVEL)
    for name, shape in (("clusters", ClusterShape), ("judge", JudgeShape)):
        keys = properties[name]["additionalProperties"]["properties"]
        assert list(keys) == list(shape.model_fields)
        assert all(key["description"] for key in keys.values())


@pytest.mark.parametrize("shape", [ClusterShape, JudgeShape])
def test_each_key_is_described_with_its_default(shape):
    for name, field in shape.model_fields.items():
        assert field.description, name
        if isinstance(field.default, bool | int | float | str):
            default = str(field.default).removesuffix(".0").lower()
            assert re.search(rf"Default: `?{default}`?\.", field.description), name
