"""Whose grades are the judgments of a suite: people's, and those of machines in the order of `judges`."""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.extension_cases import needs_extension
from harness.errors import FormatError, SuiteError, UsageError
from harness.files.beside import BesideFile
from harness.files.judge_files import JudgeFile, build_judge_path, fingerprint_questions
from harness.files.query_samples import build_sample_path, draw_sample, read_sample, write_sample
from harness.model.judging import JudgeAnswer, MachineAnswer
from harness.model.suite import Suite
from harness.run.notes import describe_means_beside_estimates
from harness.suites import load_suite
from harness.suites.loading import load_unchecked

SUITE = """\
suite: shop
target: {index: products}
grades: {exact: 2, related: 1, wrong: 0}
judges: [people, gpt]
request: {query: {match: {name: "{{text}}"}}}
measures: ["nDCG@10"]
queries:
  - {id: tents, text: tent 2, judgments: {sku-1: exact, sku-2: wrong}}
  - {id: boots, text: "${RELEVANCE_WORD:-boots}"}
"""
HOW = MachineAnswer("judge-1", "", "p", "s", "It is one.", 200, 10)


def write_suite(folder: Path, text: str = SUITE) -> Path:
    path = folder / "shop.relevance.yaml"
    path.write_text(text)
    return path


def answer(path: Path, *answers: tuple[str, str, float], machine: str = "gpt", by: MachineAnswer | None = HOW) -> None:
    file = JudgeFile(build_judge_path(path, machine), fingerprint_questions(load_unchecked(path, None).suite))
    for query, document, grade in answers:
        file.record(JudgeAnswer(query, document, grade, machine=by))


def load(path: Path, environ: dict[str, str] | None = None, **options: Any) -> Suite:
    return load_suite(path, {} if environ is None else environ, **options)


def list_judgments(suite: Suite) -> dict[str, dict[str, float]]:
    return {query.id: dict(query.judgments) for query in suite.queries}


@pytest.mark.parametrize(
    ("judges", "tents", "by_machine"),
    [
        ("[people, gpt]", {"sku-1": 2.0, "sku-2": 0.0, "sku-3": 1.0}, {"sku-3"}),
        ("[gpt, people]", {"sku-1": 1.0, "sku-3": 1.0, "sku-2": 0.0}, {"sku-1", "sku-3"}),
        ("[gpt]", {"sku-1": 1.0, "sku-3": 1.0}, {"sku-1", "sku-3"}),
        ("[people]", {"sku-1": 2.0, "sku-2": 0.0}, set()),
    ],
)
def test_the_first_judge_who_graded_a_document_counts(
    tmp_path: Path, judges: str, tents: dict[str, float], by_machine: set[str]
) -> None:
    path = write_suite(tmp_path, SUITE.replace("[people, gpt]", judges))
    answer(path, ("tents", "sku-1", 1.0), ("tents", "sku-3", 1.0))
    [query, _] = load(path).queries
    assert (query.judgments, query.machine_graded) == (tents, by_machine)
    if by_machine:
        assert query.people_grades == {"sku-1": 2.0, "sku-2": 0.0}
        assert query.machine_grades == {"gpt": {"sku-1": 1.0, "sku-3": 1.0}}


def test_by_default_people_alone_judge(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace("judges: [people, gpt]\n", ""))
    answer(path, ("tents", "sku-3", 1.0))
    suite = load(path)
    assert suite.judges == ("people",)
    assert list_judgments(suite) == {"tents": {"sku-1": 2.0, "sku-2": 0.0}, "boots": {}}
    assert suite.queries[0].people_grades is None


def test_those_who_judge_see_what_people_have_not_graded(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("tents", "sku-3", 1.0))
    assert list_judgments(load(path, machines=False))["tents"] == {"sku-1": 2.0, "sku-2": 0.0}


def test_a_suite_that_machines_alone_judged_has_judgments(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace(", judgments: {sku-1: exact, sku-2: wrong}", ""))
    answer(path, ("boots", "sku-9", 2.0))
    assert list_judgments(load(path)) == {"tents": {}, "boots": {"sku-9": 2.0}}


def test_a_grade_for_another_text_is_left_out_and_told(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("tents", "sku-3", 1.0), ("boots", "sku-9", 2.0))
    path.write_text(SUITE.replace("text: tent 2", "text: tent 3"))
    suite = load(path)
    assert list_judgments(suite)["tents"] == {"sku-1": 2.0, "sku-2": 0.0}
    assert suite.judge_notes == (
        "left out 1 grade of gpt, given before the text or params changed: 1 query (tents); grade again",
    )


def test_a_machine_all_of_whose_grades_are_old_is_told_and_no_error(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("tents", "sku-3", 1.0))
    path.write_text(SUITE.replace("text: tent 2", "text: tent 3"))
    assert len(load(path).judge_notes) == 1


def test_a_variable_of_the_environment_makes_no_grade_old(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, ("boots", "sku-9", 2.0))
    suite = load(path, {"RELEVANCE_WORD": "wellies"})
    assert suite.queries[1].text == "wellies"
    assert list_judgments(suite)["boots"] == {"sku-9": 2.0}


@pytest.mark.parametrize(
    ("judges", "answers", "sentence"),
    [
        ("[people, gpt]", [], "relevance.yaml:4:18: 'gpt' has graded nothing in "),
        ("[people, gpt, gpt]", [("tents", "a", 1.0)], "relevance.yaml:4:23: the judge 'gpt' is named twice"),
        ("[people, ../gpt]", [], "relevance.yaml:4:18: found '../gpt' as the name of a judge"),
        ("[people, gpt]", [("tents", "a", 3.0)], "judged-by.gpt.jsonl:1:1: found grade 3 of document 'a' for query"),
    ],
)
def test_what_is_wrong_with_a_machine_is_named(
    tmp_path: Path, judges: str, answers: list[tuple[str, str, float]], sentence: str
) -> None:
    path = write_suite(tmp_path, SUITE.replace("[people, gpt]", judges))
    if answers:
        answer(path, *answers)
    with pytest.raises(SuiteError) as caught:
        load(path)
    assert sentence in str(caught.value)


def test_the_grades_of_a_person_are_no_machines(tmp_path: Path) -> None:
    path = write_suite(tmp_path, SUITE.replace("gpt", "anna"))
    answer(path, ("tents", "a", 1.0), machine="anna", by=None)
    with pytest.raises(SuiteError, match=r"the grades of 'anna' in .* are a person's, who counts under 'people'"):
        load(path)


def test_a_file_that_is_none_and_a_link_are_errors(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    file = build_judge_path(path, "gpt")
    file.write_text(json.dumps({"grade": 1}) + "\n")
    with pytest.raises(SuiteError, match=r"judged-by\.gpt\.jsonl:1:1: this is no grade that was kept"):
        load(path)
    file.unlink()
    file.symlink_to("/etc/passwd")
    with pytest.raises(SuiteError, match="this is a link"):
        load(path)


def test_a_machine_need_not_have_graded_where_it_is_to_be_asked(tmp_path: Path) -> None:
    assert list_judgments(load(write_suite(tmp_path), needs_judgments=False))["tents"] == {"sku-1": 2.0, "sku-2": 0.0}


class TestWhatThresholdsNeed:
    """A kappa needs the grades of its machine, an estimate needs a machine and a sample."""

    def test_a_kappa_reads_the_grades_of_a_machine_that_does_not_count(self, tmp_path: Path) -> None:
        text = SUITE.replace("judges: [people, gpt]", "thresholds: [kappa gpt >= 0.5]")
        path = write_suite(tmp_path, text)
        with pytest.raises(SuiteError, match=r"relevance\.yaml:4:14: 'gpt' has graded nothing in"):
            load(path)
        answer(path, ("tents", "sku-1", 2.0), ("tents", "sku-3", 1.0))
        [query, _] = load(path).queries
        assert query.judgments == {"sku-1": 2.0, "sku-2": 0.0}
        assert query.people_grades == query.judgments
        assert query.machine_grades == {"gpt": {"sku-1": 2.0, "sku-3": 1.0}}

    ESTIMATED = SUITE.replace(
        "request:", 'thresholds:\n  - {threshold: "mean nDCG@10 >= 0.5", estimate: prediction-powered}\nrequest:'
    )

    def test_an_estimate_has_the_sample_that_was_drawn(self, tmp_path: Path) -> None:
        path = write_suite(tmp_path, self.ESTIMATED)
        answer(path, ("tents", "sku-3", 1.0))
        sample = draw_sample(["boots", "tents"], 1, seed=3)
        write_sample(build_sample_path(path), sample)
        suite = load(path)
        assert suite.sample == sample
        assert suite.thresholds[0].is_estimated

    def test_a_report_says_which_mean_to_quote_if_one_is_estimated(self, tmp_path: Path) -> None:
        path = write_suite(tmp_path, self.ESTIMATED)
        answer(path, ("tents", "sku-3", 1.0))
        write_sample(build_sample_path(path), draw_sample(["boots", "tents"], 1, seed=3))
        [note] = describe_means_beside_estimates(load(path))
        assert "by people's grades, and by those of gpt where there are none; the estimate of a threshold" in note
        path.write_text(SUITE)
        assert list(describe_means_beside_estimates(load(path))) == []

    def test_queries_that_somebody_chose_are_no_sample(self, tmp_path: Path) -> None:
        path = write_suite(tmp_path, self.ESTIMATED)
        answer(path, ("tents", "sku-3", 1.0))
        drawn = draw_sample(["boots", "tents"], 1, seed=3)
        chosen = {"boots", "tents"} - set(drawn.queries)
        write_sample(build_sample_path(path), replace(drawn, queries=tuple(chosen)))
        with pytest.raises(SuiteError, match="found other queries than seed 3 draws, expected those"):
            load(path)

    def test_no_sample_is_read_where_nothing_is_estimated(self, tmp_path: Path) -> None:
        path = write_suite(tmp_path)
        answer(path, ("tents", "sku-3", 1.0))
        build_sample_path(path).write_text("not a sample")
        assert load(path).sample is None

    @pytest.mark.parametrize(
        ("old", "new", "content", "sentence"),
        [
            ("", "", None, "yaml:6:17: an estimate needs a sample, and "),
            ("", "", "[1, 2]", "shop.sample.json:1:1: not a sample of queries: "),
            (
                "",
                "",
                '{"seed": 1, "queries": ["tents"], "population": "x"}',
                "was drawn from other queries than",
            ),
            (
                "",
                "",
                '{"seed": 1e999, "queries": [], "population": "x"}',
                "shop.sample.json:1:10: found 1e999, expected a number that",
            ),
            ("[people, gpt]", "[people]", None, "yaml:6:17: an estimate needs a machine's grades of all queries"),
            ("mean nDCG", "median nDCG", None, "yaml:6:17: only a mean or a drop of a mean can be estimated"),
            ("prediction-powered", "predicted", None, "found 'predicted', expected prediction-powered"),
        ],
    )
    def test_what_is_missing_is_named(
        self, tmp_path: Path, old: str, new: str, content: str | None, sentence: str
    ) -> None:
        path = write_suite(tmp_path, self.ESTIMATED.replace(old, new, 1) if old else self.ESTIMATED)
        answer(path, ("tents", "sku-3", 1.0))
        if content is not None:
            build_sample_path(path).write_text(content)
        with pytest.raises(SuiteError) as caught:
            load(path)
        assert sentence in str(caught.value)


class TestSamples:
    QUERIES = tuple(f"q{number}" for number in range(200))

    def test_a_larger_sample_adds_to_a_smaller_one_whatever_the_order_of_the_queries(self) -> None:
        small, large = draw_sample(self.QUERIES, 20, seed=1), draw_sample(self.QUERIES[::-1], 50, seed=1)
        assert large.queries[:20] == small.queries
        assert small.population == large.population
        assert draw_sample(self.QUERIES, 20, seed=2).queries != small.queries

    def test_each_query_is_drawn_as_often(self) -> None:
        drawn = Counter(query for seed in range(2000) for query in draw_sample(self.QUERIES, 20, seed=seed).queries)
        # 200 each, with a standard deviation of 13.4.
        assert 140 < min(drawn.values()) <= max(drawn.values()) < 260
        assert len(drawn) == len(self.QUERIES)

    @pytest.mark.parametrize("size", [0, 201])
    def test_no_more_can_be_drawn_than_there_are(self, size: int) -> None:
        with pytest.raises(UsageError, match=rf"found {size} queries to draw, expected 1 to 200"):
            draw_sample(self.QUERIES, size, seed=1)

    def test_a_file_without_sizes_decides_as_a_whole(self, tmp_path: Path) -> None:
        (tmp_path / "s.json").write_text('{"seed": 1, "population": "x", "queries": ["a", "b", "c"]}')
        assert read_sample(tmp_path / "s.json").looks == (3,)

    @pytest.mark.parametrize(
        "sizes", ["[2]", "[1, 1, 3]", "[2, 1, 3]", "[0, 3]", "[true, 3]", "[1.0, 3]", '["1", 3]', "3", "null"]
    )
    def test_sizes_ascend_to_that_of_the_sample(self, tmp_path: Path, sizes: str) -> None:
        content = f'{{"seed": 1, "population": "x", "sizes": {sizes}, "queries": ["a", "b", "c"]}}'
        (tmp_path / "s.json").write_text(content)
        with pytest.raises(FormatError, match=r"not a sample of queries: (found )?sizes"):
            read_sample(tmp_path / "s.json")

    def test_what_was_written_is_read(self, tmp_path: Path) -> None:
        sample = draw_sample(["Zelt „groß“", "b"], 2, seed=-7)
        write_sample(tmp_path / "s.json", sample)
        assert read_sample(tmp_path / "s.json") == sample


def keep_a_run(path: Path, *answers: tuple[str, str, float]) -> Path:
    """The file of a machine that gave *answers* and ended."""
    file = JudgeFile(build_judge_path(path, "gpt"), fingerprint_questions(load_unchecked(path, None).suite))
    file.begin_run()
    for query, document, grade in answers:
        file.record(JudgeAnswer(query, document, grade, machine=HOW))
    file.end_run()
    return file.path


GIVEN = (("tents", "sku-3", 1.0), ("tents", "sku-4", 0.0), ("boots", "sku-5", 2.0))


def test_a_machine_s_file_that_is_whole_counts_also_after_further_runs(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    kept = keep_a_run(path, *GIVEN)
    assert load(path).queries[1].machine_graded == {"sku-5"}
    file = JudgeFile.read(kept)
    file.begin_run()
    file.record(JudgeAnswer("boots", "sku-6", 1.0, machine=HOW))
    file.end_run()
    assert load(path).queries[1].machine_graded == {"sku-5", "sku-6"}
    assert not JudgeFile.read(kept).is_open


@pytest.mark.parametrize(("owner", "name", "answers"), [(BesideFile, "open_to_append", 1), (os, "fsync", 2)])
def test_ctrl_c_before_or_after_an_answer_is_written_leaves_a_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, answers: int
) -> None:
    """With the end of the run the file said that it lacked an answer, and was refused from then on."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    path = write_suite(tmp_path)
    file = JudgeFile(build_judge_path(path, "gpt"), fingerprint_questions(load_unchecked(path, None).suite))
    file.begin_run()
    file.record(JudgeAnswer("tents", "sku-3", 1.0, machine=HOW))
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupt)
        with pytest.raises(KeyboardInterrupt):
            file.record(JudgeAnswer("tents", "sku-4", 0.0, machine=HOW))
    file.end_run()
    kept = JudgeFile.read(file.path)
    assert (len(kept.answers), kept.is_open) == (answers, False)


@pytest.mark.parametrize("lines", [2, 3, 4])
def test_a_machine_s_file_that_lacks_its_end_is_an_error(tmp_path: Path, lines: int) -> None:
    path = write_suite(tmp_path)
    kept = keep_a_run(path, *GIVEN)
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[:lines]))
    with pytest.raises(SuiteError, match="the file has no line that ends the last run, so grades may be missing"):
        load(path)


@needs_extension("judging")
def test_the_command_that_completes_a_machine_s_file_is_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    kept = keep_a_run(path, *GIVEN)
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(SuiteError, match=r"`relevance judge machine SUITE --judge NAME` completes it"):
        load(path)


@pytest.mark.parametrize("has_marks", [True, False])
def test_a_file_that_is_cut_within_a_line_is_an_error(tmp_path: Path, has_marks: bool) -> None:
    path = write_suite(tmp_path)
    kept = keep_a_run(path, *GIVEN)
    lines = [line for line in kept.read_text().splitlines() if has_marks or "query" in line]
    content = "\n".join(lines).encode()
    kept.write_bytes(content[: content.index(b"sku-4") + 2])
    with pytest.raises(SuiteError, match="the last line is cut off"):
        load(path)


@pytest.mark.parametrize("removed", [1, 2, 3])
def test_a_file_that_lacks_lines_before_its_end_is_an_error(tmp_path: Path, removed: int) -> None:
    path = write_suite(tmp_path)
    kept = keep_a_run(path, *GIVEN)
    lines = kept.read_text().splitlines(keepends=True)
    del lines[removed]
    kept.write_text("".join(lines))
    with pytest.raises(SuiteError, match="found 2 answers before this line, expected 3: lines are missing"):
        load(path)


def test_a_file_from_before_runs_had_an_end_is_read(tmp_path: Path) -> None:
    path = write_suite(tmp_path)
    answer(path, *GIVEN)
    assert load(path).queries[1].machine_graded == {"sku-5"}
