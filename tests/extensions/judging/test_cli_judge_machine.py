"""``relevance judge machine``: from a suite and a relevance.toml to grades in a file, on a scripted model."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from builders.extras import skip_without

skip_without("openai")

import harness.search.dialects
from extensions.judging.builders.judged_shop import make_hit
from extensions.judging.builders.llm_server import Reply, ScriptedModel, grade, refuse
from harness.cli import main
from harness.model.run import Hit, Ranking
from harness.search.testing import FakeSearch

SUITE = """\
suite: shop
target: {index: products}
display: {title: title}
grades: {bad: 0, fair: 1, good: {grade: 2, description: Just what was asked for.}}
guidelines: guide.md
request: {query: {match: {title: "{{text}}"}}}
measures: ["nDCG@3"]
queries:
  - {id: shoes, text: red shoes, need: Shoes to run in., judgments: {a: 2, b: 0}}
  - {id: boots, text: rubber boots, judgments: {d: 1, gone: 0}}
"""

DOCUMENTS = {
    name: {"title": f"Title of {name}", "text": f"The words of {name}.", "shop": {"city": "Bern"}} for name in "abdxyz"
}
RANKINGS = {"shoes": ["x", "a", "y", "b"], "boots": ["d", "z"]}
UNGRADED = ["boots z", "shoes x", "shoes y"]


class Index(FakeSearch):
    """Ranks queries, and finds documents by id with the fields that are asked for."""

    def _respond(self, request):
        ids = request.body["query"].get("ids", {}).get("values")
        if ids is None:
            return Ranking(tuple(map(Hit, RANKINGS.get(request.query, DOCUMENTS)))[: request.body["size"]])
        return Ranking(tuple(make_hit(one, DOCUMENTS[one], request) for one in ids if one in DOCUMENTS))


@pytest.fixture
def model():
    with ScriptedModel(answer=lambda document: grade(2 if " x" in document else 0, document)) as scripted:
        yield scripted


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: Index({}))
    (tmp_path / "guide.md").write_text("Look at the brand first.")
    (tmp_path / "shop.relevance.yaml").write_text(SUITE)
    configure(tmp_path, model)
    return tmp_path


def configure(folder, model, **keys):
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    (folder / "relevance.toml").write_text(
        '[clusters.default]\nurl = "http://one:9200"\n'
        f'[judge.gpt]\nbase_url = "{model.url}"\nmodel = "scripted"\n' + "\n".join(lines) + "\n"
    )


def run(*words):
    return main(["judge", "machine", "shop.relevance.yaml", "-q", "--judge", "gpt", *words])


def kept(name="gpt"):
    path = Path(f"shop.judged-by.{name}.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [line for line in lines if "query" in line]


def grades():
    return {f"{line['query']} {line['document']}": line["grade"] for line in kept()}


def test_what_people_have_not_graded_is_graded_and_kept(folder, model, capsys):
    assert run() == 0
    assert grades() == {"shoes x": 2, "shoes y": 0, "boots z": 0}
    out, err = capsys.readouterr()
    assert out.splitlines()[:3] == [
        f"gpt: scripted at {model.url}",
        "  documents  3 documents, 0 answered before, 3 to ask for",
        "  grades     0, 1, 2",
    ]
    assert "graded 3 of 3 documents in " in out
    assert "  3 calls: 300 tokens sent, 30 of answers" in out
    assert "  grade 0 (bad): 2\n  grade 1 (fair): 0\n  grade 2 (good): 1\n" in out
    assert err == ""
    [line] = [line for line in kept() if line["document"] == "x"]
    assert line["suite"] == "shop"
    assert line["machine"]["model"] == "scripted-2026"
    assert line["machine"]["reason"] == "title: Title of x\ntext: The words of x."
    call = next(call for call in model.calls if "Title of x" in call["messages"][1]["content"])
    system, user = (message["content"] for message in call["messages"])
    assert "- 2 (good): Just what was asked for." in system
    assert "Look at the brand first." in system
    assert "Shoes to run in." in user


def test_a_run_ends_with_the_number_of_its_answers(folder, model):
    run()
    path = Path("shop.judged-by.gpt.jsonl")
    lines = path.read_text().splitlines()
    assert (lines[0], lines[-1], len(lines)) == ('{"begin": 0}', '{"end": 3}', 5)
    assert run() == 0
    assert path.read_text().splitlines() == lines, "where nothing is asked, nothing is written"
    path.write_text("\n".join(lines[:3]) + "\n")
    assert run() == 0
    assert (grades(), path.read_text().splitlines()[-1]) == ({"shoes x": 2, "shoes y": 0, "boots z": 0}, '{"end": 3}')


def test_nothing_is_asked_twice(folder, model, capsys):
    run()
    calls = len(model.calls)
    assert run() == 0
    assert len(model.calls) == calls
    assert "3 answered before, 0 to ask for" in capsys.readouterr().out


def test_a_dry_run_prints_calls_tokens_and_cost_and_sends_nothing(folder, model, capsys):
    configure(folder, model, input_price=2.5, output_price=10, budget=0.5, api_key_env="NO_SUCH_KEY")
    assert run("--dry-run") == 0
    out = capsys.readouterr().out
    assert model.calls == []
    assert kept() == []
    assert sorted(path.name for path in folder.iterdir()) == ["guide.md", "relevance.toml", "shop.relevance.yaml"]
    assert "  calls      3, and at most one more for each answer that is no grade\n" in out
    assert "  tokens     about 1," in out
    assert "; the budget is 0.50\nnothing was sent\n" in out


def test_programs_read_the_cost_and_what_was_graded(folder, model, capsys):
    configure(folder, model, input_price=2.5, output_price=10)
    assert run("--dry-run", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["facts"]["to_ask"] == 3
    assert result["facts"]["cost"] > 0
    assert run("--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["facts"]["graded"], [Path(file).name for file in result["files"]]) == (
        3,
        ["shop.judged-by.gpt.jsonl"],
    )


def test_a_dry_run_needs_no_client(folder, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    assert run("--dry-run") == 0


def test_a_client_that_is_not_installed_is_told_before_a_query_is_sent(folder, model, monkeypatch, capsys):
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: pytest.fail("a query was sent"))
    monkeypatch.setitem(sys.modules, "openai", None)
    assert run() == 2
    assert "needs the package openai: pip install 'relevance-harness[llm]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        ([], UNGRADED),
        (["--documents", "graded"], ["boots d", "shoes a", "shoes b"]),
        (["--documents", "all"], ["boots d", "boots z", "shoes a", "shoes b", "shoes x", "shoes y"]),
        (["--tag", "none"], []),
    ],
)
def test_what_is_graded_can_be_chosen(folder, model, words, selected, capsys):
    run(*words)
    assert sorted(grades()) == selected
    err = capsys.readouterr().err
    assert ("left out, as nothing of it can be shown: document gone of query boots" in err) == ("--documents" in words)


def test_a_sample_is_the_same_for_the_same_seed(folder, model):
    run("--documents", "all", "--sample", "3", "--seed", "5")
    drawn = grades()
    assert len(drawn) == 3
    run("--documents", "all", "--sample", "3", "--seed", "5")
    assert len(model.calls) == 3
    # A larger one has the smaller one.
    run("--documents", "all", "--sample", "5", "--seed", "5")
    assert drawn.items() < grades().items()
    samples = set()
    for seed in range(6):
        Path("shop.judged-by.gpt.jsonl").unlink()
        run("--documents", "all", "--sample", "3", "--seed", str(seed))
        samples.add(tuple(sorted(grades())))
    assert len(samples) > 1


def test_what_a_person_graded_meanwhile_is_not_asked_for(folder, model):
    Path("shop.judged-by.anna.jsonl").write_text('{"query": "shoes", "document": "x", "grade": 1}\n')
    run()
    assert sorted(grades()) == ["boots z", "shoes y"]


def test_an_answer_that_is_no_grade_is_listed_and_not_asked_for_again_unless_told_to(folder, model, capsys):
    model.answer = lambda document: Reply("I would say 2.") if " x" in document else grade(1)
    assert run() == 0
    said = "no grade: document x of query shoes: the answer is not one JSON object; the answer: I would say 2.\n"
    assert said in capsys.readouterr().err
    assert grades() == {"shoes x": None, "shoes y": 1, "boots z": 1}
    assert len(model.calls) == 4
    assert run() == 0
    assert said in capsys.readouterr().err
    assert len(model.calls) == 4
    model.answer = lambda _: grade(2)
    assert run("--again") == 0
    assert len(model.calls) == 5
    assert grades()["shoes x"] == 2


def test_no_grade_at_all_is_told_by_the_status(folder, model):
    model.answer = lambda _: Reply("Sure! Here is the grade.")
    assert run() == 3


@pytest.mark.parametrize(("fewest", "warns"), [(3, True), (4, False)])
def test_a_model_that_gives_one_grade_to_all_is_told(folder, model, monkeypatch, capsys, fewest, warns):
    monkeypatch.setattr("harness.extensions.judging.commands.machine.FEWEST_ALIKE", fewest)
    model.answer = lambda _: grade(1)
    assert run() == 0
    said = "  grade 2 (good): 0\n  all 3 grades are 1: they tell no document from another; show the model more of each "
    assert (said in capsys.readouterr().out) is warns


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder, model: configure(folder, model, temperature=1.0), "another model, prompt or setting"),
        (lambda folder, model: (folder / "guide.md").write_text("Other."), "another model, prompt or setting"),
        (lambda folder, model: configure(folder, model, fields=["shop.city"]), "the query or the document changed"),
    ],
    ids=["setting", "guidelines", "fields"],
)
def test_grades_that_were_given_in_another_way_are_counted_not_used_and_asked_for_again(
    folder, model, change, reason, capsys
):
    run()
    change(folder, model)
    capsys.readouterr()
    assert run("--dry-run") == 0
    assert capsys.readouterr().err == f"relevance: 3 grades old, not used: {reason}\n"
    assert len(kept()) == 3
    model.answer = lambda _: refuse(400)
    assert run() == 3
    # Nothing was answered, and the old ones do not count.
    assert set(grades().values()) == {None}
    model.answer = lambda _: grade(1)
    assert run() == 0
    assert set(grades().values()) == {1}
    assert len(grades()) == 3


def test_a_document_that_changed_is_asked_for_again(folder, model, monkeypatch):
    run()
    monkeypatch.setitem(DOCUMENTS, "x", {"title": "Another title", "text": "Other words."})
    run()
    assert len(model.calls) == 4
    assert "Another title" in model.documents[-1]


def test_a_changed_need_is_another_question(folder, model):
    run()
    Path("shop.relevance.yaml").write_text(SUITE.replace("Shoes to run in.", "Shoes to dance in."))
    run()
    assert len(model.calls) == 5


def test_only_the_named_fields_leave_the_house(folder, model):
    configure(folder, model, fields=["shop.city"])
    run()
    assert set(model.documents) == {"shop.city: Bern"}
    Path("shop.judged-by.gpt.jsonl").unlink()
    run("--fields", "text")
    assert "text: The words of x." in model.documents


def test_a_prompt_of_the_users_is_asked(folder, model):
    (folder / "mine.jinja").write_text("For {{query}} ({{need}}):\n{{document}}\n{{form}}")
    configure(folder, model, prompt="mine.jinja", answers="text")
    assert run() == 0
    call = next(call for call in model.calls if "red shoes" in call["messages"][0]["content"])
    assert call["messages"][0]["content"].startswith("For red shoes (Shoes to run in.):\nBEGIN DOCUMENT ")
    assert "response_format" not in call


def test_a_prompt_that_cannot_be_filled_in_is_told_before_anything_is_sent(folder, model, capsys):
    (folder / "mine.jinja").write_text("Grade\n{{passage}}")
    configure(folder, model, prompt="mine.jinja")
    assert run() == 2
    assert "mine.jinja:2:1: the template cannot be filled in: 'passage' is undefined" in capsys.readouterr().err
    assert model.calls == []


def test_the_budget_ends_the_calls_and_the_next_command_goes_on(folder, model, capsys):
    configure(folder, model, input_price=10, output_price=10, budget=0.04, concurrency=1)
    model.answer = lambda _: Reply('{"reason": "", "grade": 1}', usage={"prompt_tokens": 2500, "completion_tokens": 50})
    assert run() == 3
    assert len(kept()) == 1
    assert "relevance: 2 documents of 3 got no answer: the budget is spent\n" in capsys.readouterr().err
    assert run() == 3
    assert run() == 0
    assert len(model.calls) == len(kept()) == 3


def test_a_server_that_refuses_is_told_with_status_3(folder, model, capsys, monkeypatch):
    monkeypatch.setenv("GPT_KEY", "s3cret-key")
    configure(folder, model, api_key_env="GPT_KEY")
    model.answer = lambda _: refuse(401, "Incorrect API key provided: s3cret-key")
    assert run() == 3
    out, err = capsys.readouterr()
    assert "got no answer: status 401: Incorrect API key provided: ${GPT_KEY}" in err
    assert "s3cret" not in out + err
    assert kept() == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--sample", "0"], "Invalid value for '--sample'"),
        (["--sample", "1,2"], "Invalid value for '--sample'"),
        (["--documents", "some"], "Invalid value for '--documents'"),
    ],
)
def test_a_value_that_cannot_be_is_told(folder, words, problem, capsys):
    assert run(*words) == 2
    assert problem in capsys.readouterr().err


def test_a_person_of_that_name_is_no_machine(folder, capsys):
    Path("shop.judged-by.gpt.jsonl").write_text('{"query": "shoes", "document": "x", "grade": 1}\n')
    assert run() == 2
    assert "gpt is a person here, who graded 1 document; give the table [judge.gpt] another" in capsys.readouterr().err


def test_a_disk_that_is_full_is_told_and_what_was_kept_before_counts(folder, model, capsys, monkeypatch):
    def refuse_third(descriptor):
        if len(kept()) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("harness.files.judge_files.os.fsync", refuse_third)
    configure(folder, model, concurrency=1)
    assert run() == 2
    said = capsys.readouterr().err
    assert "shop.judged-by.gpt.jsonl: an answer could not be kept: No space left on device; those before it are" in said
    assert "standard output" not in said


@pytest.mark.parametrize("key", [True, False])
def test_a_key_that_others_could_read_on_its_way_is_told(folder, model, capsys, monkeypatch, key):
    monkeypatch.setenv("MODEL_KEY", "s3cret-key")
    configure(folder, SimpleNamespace(url="http://llm.example/v1"), **({"api_key_env": "MODEL_KEY"} if key else {}))
    assert run("--dry-run") == 0
    told = "the key in MODEL_KEY is sent without encryption to http://llm.example/v1; use https://"
    assert (told in capsys.readouterr().err) is key


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"api_key_env": "NO_SUCH_KEY"}, "the variable NO_SUCH_KEY, the key of the judge 'gpt', is not set")],
)
def test_what_cannot_be_asked_is_told_before_a_query_is_sent(folder, model, setting, message, capsys, monkeypatch):
    monkeypatch.setattr(harness.search.dialects, "open_search", lambda *_, **__: pytest.fail("a query was sent"))
    configure(folder, model, **setting)
    assert run() == 2
    assert message in capsys.readouterr().err


def test_the_grades_of_a_machine_are_not_written_into_the_suite(folder, model, capsys):
    run()
    assert main(["judge", "write", "shop.relevance.yaml"]) == 0
    assert "no grade is new; nothing was written" in capsys.readouterr().out
    assert Path("shop.relevance.yaml").read_text() == SUITE


SLOW = """
import sys
sys.path[:0] = {paths!r}
import harness.search.dialects
from test_cli_judge_machine import Index
harness.search.dialects.open_search = lambda *_, **__: Index({{}})
from harness.cli import main
sys.exit(main({words!r}))
"""


def start(folder):
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    words = ["judge", "machine", "shop.relevance.yaml", "-q", "--judge", "gpt", "--documents", "all"]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen([sys.executable, "-c", SLOW.format(paths=paths, words=words)], cwd=folder, env=environ)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_a_run_that_was_killed_goes_on_and_nothing_kept_is_asked_for_again(folder, model, number):
    configure(folder, model, concurrency=1)
    model.answer = lambda _: (time.sleep(0.3), grade(1))[1]
    process = start(folder)
    while len(kept()) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(timeout=10) == (130 if number == signal.SIGINT else -9)
    before = grades()
    model.calls.clear()
    model.answer = lambda _: grade(1)
    assert run("--documents", "all") == 0
    assert len(model.calls) == 6 - len(before)
    assert len(grades()) == 6
