import pytest

pytest.importorskip("jsonschema")

import json
import re

import jsonschema
import yaml

from builders.first_suite import write_first_suite
from harness.cli import main


@pytest.fixture
def first_suite(tmp_path):
    write_first_suite(tmp_path)
    return tmp_path


def line_of(text, words):
    return next(number for number, line in enumerate(text.splitlines(), start=1) if words in line)


@pytest.mark.smoke("relevance validate")
def test_what_was_checked_is_said(first_suite, capsys):
    assert main(["validate", str(first_suite)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("products.relevance.yaml: 2 queries, 4 judgments, 3 measures, 3 thresholds, 1 request")
    assert lines[1:] == ["  tags: head 1; no tag 1", "1 suite checked: no problems"]


def weigh(suite, *weights):
    """Give each query of the first suite a weight, be it written over several lines or in one."""
    written = iter(weights)
    pattern = re.compile(r"(\n    |, )text:")
    suite.write_text(pattern.sub(lambda match: f"{match[1]}weight: {next(written)}{match[0]}", suite.read_text()))


def test_tags_are_counted_and_weights_told_from_the_least_to_the_greatest(first_suite, capsys):
    suite = first_suite / "products.relevance.yaml"
    weigh(suite, 1200, 0.5)
    assert main(["validate", str(suite)]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == ["  tags: head 1; no tag 1", "  weights: from 0.5 to 1200"]


def test_a_weight_that_is_not_known_yet_is_not_told(first_suite, capsys):
    suite = first_suite / "products.relevance.yaml"
    weigh(suite, 3, '"${RELEVANCE_W}"')
    assert main(["validate", str(suite)]) == 0
    assert "weights" not in capsys.readouterr().out


def test_measures_that_only_a_threshold_names_are_counted(first_suite, capsys):
    suite = first_suite / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("mean nDCG@10 >= 0.85", "mean AP@10 >= 0.1"))
    assert main(["validate", str(suite)]) == 0
    assert "4 measures" in capsys.readouterr().out


def test_quiet_says_nothing_where_nothing_is_wrong(first_suite, capsys):
    assert main(["validate", "--quiet", str(first_suite)]) == 0
    assert capsys.readouterr() == ("", "")


def test_all_problems_of_all_files_come_at_once(first_suite, capsys):
    suite = first_suite / "products.relevance.yaml"
    good = suite.read_text()
    suite.write_text(good.replace("measures:", "mesures:"))
    (first_suite / "other.relevance.yaml").write_text(good.replace('"mean nDCG@10 >= 0.85"', '"mean nDCG@10 >= 7"'))
    assert main(["validate", str(first_suite)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    places = [line.split(": ")[0] for line in printed.err.splitlines()]
    assert f"{suite}:{line_of(good, 'measures:')}:1" in places
    assert f"{first_suite}/other.relevance.yaml:{line_of(good, 'mean nDCG@10 >= 0.85')}:5" in places
    assert "did you mean 'measures'" in printed.err
    assert printed.err.endswith("relevance: 2 problems\n")


def test_a_folder_without_suites_is_wrong_use(tmp_path, capsys):
    assert main(["validate", str(tmp_path)]) == 2
    assert "*.relevance.yaml" in capsys.readouterr().err


def test_a_path_that_is_not_there_is_named(capsys):
    assert main(["validate", "no/such.relevance.yaml"]) == 2
    assert "no/such.relevance.yaml" in capsys.readouterr().err


def test_a_suite_keeps_to_the_schema_that_schema_prints(first_suite, capsys):
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    suite = yaml.safe_load((first_suite / "products.relevance.yaml").read_text())
    jsonschema.validate(suite, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(suite | {"mesures": []}, schema)


HINT = (
    "registers measures, which only pytest reads; a package with the entry point group "
    "relevance_harness.measures works for this command and pytest"
)


@pytest.mark.parametrize("command", ["validate", "run"])
@pytest.mark.parametrize("text", ["mean BadOnPage@5 <= 1", "mean nDCG_shop@10 >= 0.5"])
def test_a_measure_that_only_pytest_knows_is_told_from_a_slip(tmp_path, capsys, command, text):
    """The conftest.py is one that pytest reads for the suite: beside it, or above."""
    conftest = tmp_path / "conftest.py"
    conftest.write_text("from harness.metrics import register_measure\n")
    suite = tmp_path / "suites" / "products.relevance.yaml"
    suite.parent.mkdir()
    write_first_suite(suite.parent)
    suite.write_text(suite.read_text().replace("mean nDCG@10 >= 0.85", text))
    assert main([command, str(suite)]) == 2
    assert f"relevance: {conftest} {HINT}\n" in capsys.readouterr().err
    conftest.write_text("import pytest\n")
    assert main([command, str(suite)]) == 2
    assert HINT not in capsys.readouterr().err


def test_another_problem_has_nothing_to_do_with_conftest(first_suite, capsys):
    (first_suite / "conftest.py").write_text("from harness.metrics import register_measure\n")
    suite = first_suite / "products.relevance.yaml"
    suite.write_text(suite.read_text().replace("measures:", "mesures:"))
    assert main(["validate", str(suite)]) == 2
    assert HINT not in capsys.readouterr().err


def test_queries_with_nothing_to_find_are_not_unjudged(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    queries = "queries:\n- {id: a, text: a, judgments: {d: 1}}\n- {id: b, text: b, nothing: true}\n"
    request = 'suite: s\ntarget: {index: i}\nrequest: {query: {match: {t: "{{text}}"}}}\n'
    (tmp_path / "s.relevance.yaml").write_text(request + queries, encoding="utf-8")
    assert main(["validate", "s.relevance.yaml"]) == 0
    assert "2 queries, 1 judgment, 1 measure" in capsys.readouterr().out
