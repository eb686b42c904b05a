import pytest

pytest.importorskip("numpy")

import json

from harness.cli import main
from harness.model.comparison import CORRECTIONS, SAMPLES, SEED
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
    return ["significance", *(str(files / run) for run in runs), "--qrels", str(files / "j"), "--measure", "P@1"]


def test_a_real_difference_is_found_with_its_interval(files, capsys):
    assert main([*words(files, "good", "bad"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [comparison] = found["comparisons"]
    row = comparison["measures"]["P@1"]
    assert (found["profile"], row["queries"], row["losses"], row["wins"], row["ties"]) == ("standard", 30, 20, 0, 10)
    assert row["difference"] == pytest.approx(-2 / 3)
    assert row["low"] < row["difference"] < row["high"] < 0
    assert row["p_value"] < 0.001
    assert row["moved"][0] == {"query": "q1", "reference": 1.0, "candidate": 0.0}


def test_no_difference_is_told_apart(files, capsys):
    main([*words(files, "good", "good"), "--json"])
    [comparison] = json.loads(capsys.readouterr().out)["comparisons"]
    assert comparison["measures"]["P@1"]["p_value"] == 1


def test_several_candidates_are_corrected_together(files, capsys):
    main([*words(files, "good", "bad", "bad", "good"), "--json"])
    first, second, third = (c["measures"]["P@1"] for c in json.loads(capsys.readouterr().out)["comparisons"])
    assert first["adjusted"] == pytest.approx(3 * first["p_value"])
    assert second["adjusted"] == first["adjusted"]
    assert third["adjusted"] == 1


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
        (["--samples", "0"], "--samples"),
        (["--samples", "1000001"], "found too many samples, expected at most 1,000,000"),
    ],
)
def test_wrong_options_end_with_2(files, capsys, more, said):
    assert main([*words(files, "good", "bad"), *more]) == 2
    assert said in capsys.readouterr().err


def test_the_choices_and_defaults_of_the_help_are_those_in_force(capsys):
    assert tuple(scores.CORRECTED) == CORRECTIONS
    assert main(["significance", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "[sign-flip|t|wilcoxon|sign]" in text
    assert "[holm|benjamini-hochberg|none]" in text
    assert f"[default: {SAMPLES}; x>=1]" in text
    assert f"[default: {SEED}; x>=0]" in text
    assert "the exit status is 0 whatever is found" in text


@pytest.mark.parametrize("complete", [False, True])
def test_what_is_left_out_names_the_option_that_counts_it(files, capsys, complete):
    lines = (files / "good").read_text().splitlines(keepends=True)
    (files / "part").write_text("".join(lines[:20]))
    assert main([*words(files, "good", "part"), *(["--complete"] if complete else [])]) == 0
    text = capsys.readouterr().out
    assert ("10 queries not scored in both runs, left out" in text) is not complete
    assert ("--complete counts a judged query that is not in a run" in text) is not complete


@pytest.mark.parametrize("runs", [("good", "odd"), ("odd", "good"), ("good", "bad", "odd")])
@pytest.mark.parametrize("options", [[], ["--complete"], ["--json"]])
def test_a_run_of_which_no_query_is_judged_is_refused_as_by_evaluate(files, capsys, runs, options):
    assert main([*words(files, *runs), *options]) == 2
    told = capsys.readouterr()
    assert f"{files / 'odd'}: no query of the run is judged in {files / 'j'}: the run has 'q99'" in told.err
    assert "give files in which a query has the same id" in told.err
    assert not told.out


def test_runs_without_a_common_query_are_refused(files, capsys):
    lines = (files / "good").read_text().splitlines(keepends=True)
    (files / "first").write_text("".join(lines[:15]))
    (files / "second").write_text("".join(lines[15:]))
    assert main(words(files, "first", "second")) == 2
    told = capsys.readouterr().err
    first, second = files / "first", files / "second"
    assert f"{first} and {second} have no judged query in common: {first} has 'q0', 'q1', 'q10'" in told
    assert f"{second} has 'q15', 'q16', 'q17'" in told
    assert "--complete, which counts a query that a run lacks as one without hits" in told
    assert main([*words(files, "first", "second"), "--complete"]) == 0


@pytest.mark.parametrize("command", ["significance", "compare"])
def test_a_grade_without_a_gain_is_told_with_the_file_that_it_stands_in(files, capsys, command):
    judged = ["--qrels", str(files / "j"), "--measure", "nDCG@3", "--gain", "{0: 0}"]
    word = "run:" if command == "compare" else ""
    assert main([command, f"{word}{files / 'good'}", f"{word}{files / 'bad'}", *judged]) == 2
    assert f"{files / 'j'}:1:1: grade 1 has no gain" in " ".join(capsys.readouterr().err.split())


def test_what_has_to_be_installed_is_said(files, capsys, monkeypatch):
    monkeypatch.setattr("harness.extensions.compare.scores.find_spec", lambda name: None)
    assert main(words(files, "good", "bad")) == 2
    assert "pip install 'relevance-harness[statistics]'" in capsys.readouterr().err


@pytest.mark.parametrize("measure", ["P@1", "nDCG", "AP@5"])
@pytest.mark.parametrize("more", [(), ("--complete",), ("--profile", "trec"), ("--gain", "linear", "--test", "t")])
def test_compare_says_the_same_of_two_run_files(files, capsys, measure, more):
    (files / "good").write_text((files / "good").read_text() + "unjudged Q0 d 1 2 t\n")
    (files / "bad").write_text("".join((files / "bad").read_text().splitlines(keepends=True)[2:]))
    judged = ["--qrels", str(files / "j"), "--measure", measure, *more, "--json"]
    assert main(["significance", str(files / "good"), str(files / "bad"), *judged]) == 0
    [there] = json.loads(capsys.readouterr().out)["comparisons"]
    assert main(["compare", f"run:{files / 'good'}", f"run:{files / 'bad'}", *judged]) == 0
    here = json.loads(capsys.readouterr().out)["measures"]
    [row] = here["measures"]
    # Only a comparison says how far unjudged hits may move the difference.
    assert row.pop("if_judged") is not None
    assert [figures.pop("if_judged") for figures in there["measures"].values()] == [None]
    moved = [dict(zip(("query", "reference", "candidate"), one, strict=True)) for one in row["moved"]]
    assert {row.pop("measure"): {**row, "moved": moved}} == there["measures"]


def test_compare_takes_judgments_by_subtopic_as_well(files, capsys):
    (files / "j").write_text("".join(f"q{n} {t} d 1\n" for n in range(30) for t in (1, 2)))
    judged = ["--qrels", str(files / "j"), "--measure", "alpha_nDCG@5", "--json"]
    assert main(["significance", str(files / "good"), str(files / "bad"), *judged]) == 0
    [there] = json.loads(capsys.readouterr().out)["comparisons"]
    assert main(["compare", f"run:{files / 'good'}", f"run:{files / 'bad'}", *judged]) == 0
    [row] = json.loads(capsys.readouterr().out)["measures"]["measures"]
    assert (row["difference"], row["p_value"]) == tuple(
        there["measures"]["alpha_nDCG@5"][name] for name in ("difference", "p_value")
    )
