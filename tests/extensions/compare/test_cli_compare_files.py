import pytest

pytest.importorskip("numpy")

import json

from harness.cli import main
from harness.model.comparison import CORRECTIONS, SEED
from harness.statistics import compare as scores


@pytest.fixture
def files(tmp_path):
    """Thirty queries; the good run finds each, the bad one every third, the odd one none of what the others hold."""
    (tmp_path / "j").write_text("".join(f"q{n} 0 d 1\n" for n in range(30)))
    (tmp_path / "good").write_text("".join(f"q{n} Q0 d 1 2 t\n" for n in range(30)))
    (tmp_path / "bad").write_text("".join(f"q{n} Q0 {'d' if n % 3 == 0 else 'x'} 1 2 t\n" for n in range(30)))
    (tmp_path / "odd").write_text("q99 Q0 d 1 2 t\n")
    return tmp_path


def words(files, *runs):
    return ["compare", *(f"run:{files / run}" for run in runs), "--qrels", str(files / "j"), "--measure", "P@1"]


def read_row(text):
    """The only measure of a comparison of two sides."""
    [row] = json.loads(text)["measures"]["measures"]
    return row


def test_a_real_difference_is_found_with_its_interval(files, capsys):
    assert main([*words(files, "good", "bad"), "--json"]) == 0
    row = read_row(capsys.readouterr().out)
    assert (row["queries"], row["losses"], row["wins"], row["ties"]) == (30, 20, 0, 10)
    assert row["difference"] == pytest.approx(-2 / 3)
    assert row["low"] < row["difference"] < row["high"] < 0
    assert row["p_value"] < 0.001
    assert row["moved"][0] == ["q1", 1.0, 0.0]


def test_no_difference_is_told_apart(files, capsys):
    main([*words(files, "good", "good"), "--json"])
    assert read_row(capsys.readouterr().out)["p_value"] == 1


def test_people_get_a_table_that_says_how_it_was_tested(files, capsys):
    assert main([*words(files, "good", "bad"), "--test", "sign", "--seed", "7"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "sign test, two-sided, level 0.05, corrected by holm; no intervals, as this test is not of the mean" in text
    assert "0/10/20" in text
    assert "changed most: q1 1.0000 → 0.0000" in text


def test_flips_that_are_drawn_have_a_seed(files, capsys):
    assert main([*words(files, "good", "bad"), "--seed", "7"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "95 % intervals by the same test, from 10,000 samples, seed 7" in text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--test", "tt"], "'tt' is not one of 'sign-flip', 't', 'wilcoxon', 'sign'"),
        (["--correction", "bonferoni"], "'bonferoni' is not one of 'holm', 'benjamini-hochberg', 'none'"),
        (["--level", "2"], "found level 2"),
        (["--level", "1e-300"], "found level 1e-300"),
    ],
)
def test_wrong_options_end_with_2(files, capsys, more, said):
    assert main([*words(files, "good", "bad"), *more]) == 2
    assert said in capsys.readouterr().err


def test_the_choices_and_defaults_of_the_help_are_those_in_force(capsys):
    assert tuple(scores.CORRECTED) == CORRECTIONS
    assert main(["compare", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "[sign-flip|t|wilcoxon|sign]" in text
    assert "[holm|benjamini-hochberg|none]" in text
    assert f"[default: {SEED}; x>=0]" in text


@pytest.mark.parametrize("complete", [False, True])
def test_what_is_left_out_names_the_option_that_counts_it(files, capsys, complete):
    lines = (files / "good").read_text().splitlines(keepends=True)
    (files / "part").write_text("".join(lines[:20]))
    assert main([*words(files, "good", "part"), *(["--complete"] if complete else [])]) == 0
    text = capsys.readouterr().out
    assert ("10 queries not scored in both runs, left out" in text) is not complete
    assert ("`--complete` counts a judged query that is not in a run file" in text) is not complete


@pytest.mark.parametrize("runs", [("good", "odd"), ("odd", "good"), ("good", "bad", "odd")])
@pytest.mark.parametrize("options", [[], ["--complete"], ["--json"]])
def test_a_run_of_which_no_query_is_judged_is_refused_as_by_evaluate(files, capsys, runs, options):
    assert main([*words(files, *runs), *options]) == 2
    told = capsys.readouterr()
    assert f"run:{files / 'odd'}: no query of the run is judged in {files / 'j'}: the run has 'q99'" in told.err
    assert "give files in which a query has the same id" in told.err
    assert "measures" not in told.out


def test_runs_without_a_common_query_are_refused(files, capsys):
    lines = (files / "good").read_text().splitlines(keepends=True)
    (files / "first").write_text("".join(lines[:15]))
    (files / "second").write_text("".join(lines[15:]))
    assert main(words(files, "first", "second")) == 2
    told = capsys.readouterr().err
    first, second = f"run:{files / 'first'}", f"run:{files / 'second'}"
    assert f"{first} and {second} have no judged query in common: {first} has 'q0', 'q1', 'q10'" in told
    assert f"{second} has 'q15', 'q16', 'q17'" in told
    assert "--complete, which counts a query that a run lacks as one without hits" in told
    assert main([*words(files, "first", "second"), "--complete"]) == 0


def test_a_grade_without_a_gain_is_told_with_the_file_that_it_stands_in(files, capsys):
    assert main([*words(files, "good", "bad"), "--measure", "nDCG@3", "--gain", "{0: 0}"]) == 2
    assert f"{files / 'j'}:1:1: grade 1 has no gain" in " ".join(capsys.readouterr().err.split())


def test_what_has_to_be_installed_is_said(files, capsys, monkeypatch):
    monkeypatch.setattr("harness.extensions.compare.scores.find_spec", lambda name: None)
    assert main(words(files, "good", "bad")) == 2
    assert "pip install 'relevance-harness[statistics]'" in capsys.readouterr().err


def test_judgments_by_subtopic_are_taken_as_well(files, capsys):
    (files / "j").write_text("".join(f"q{n} {t} d 1\n" for n in range(30) for t in (1, 2)))
    given = words(files, "good", "bad")[:-1]
    assert main([*given, "alpha_nDCG@5", "--json"]) == 0
    row = read_row(capsys.readouterr().out)
    assert (row["measure"], row["queries"]) == ("alpha_nDCG@5", 30)
    assert row["difference"] == pytest.approx(-2 / 3)


def test_a_report_without_an_end_is_not_read_to_its_end(files, capsys, monkeypatch):
    monkeypatch.setattr("harness.files.versioned.MOST_READ", 2**21)
    assert main(["compare", "report:/dev/zero", f"run:{files / 'good'}", "--measure", "P@1"]) == 2
    assert "2 MiB" in capsys.readouterr().err
