"""Baselines: what is kept of a run, the file that it stands in, and what a later run is told of the difference."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builders.gating import TODAY, threshold
from builders.suites import make_suite
from harness.errors import BaselineError, UnansweredBaseline, UnwritableBaseline
from harness.gate.decide import decide
from harness.gate.finding import describe_changed_question
from harness.masking import LARGEST_KEPT, names_login
from harness.metrics.run_scores import score_run
from harness.model.kept import BaselineFile, Question, TextDiff
from harness.model.run import Engine, Failure, FailureKind, Hit, IndexFacts, IndexState, Ranking, Run, Status
from harness.model.scores import Outcome
from harness.model.suite import Gain, GainKind, Profile, Query, RequestTemplate, Target, Waiver
from harness.options import RunOptions
from harness.store.baseline import find_reference, make_baseline, make_reference, merge_entry
from harness.store.baseline_files import build_baseline_path, dumps, loads, read_baselines, write_baselines
from harness.store.kept import refuse_unanswered, restore_run
from harness.store.what_changed import diff_texts, shorten_large
from harness.suites import load_suites

FACTS = IndexFacts("m1", "s1", 10)
PARAMS = ("size", "brands", "p", "ids", "more", "q0", "q1")
BODY = {"query": {"match": {"title": "{{text}}"}}, "ext": [f"{{{{{name}}}}}" for name in PARAMS]}
QUERIES = (
    Query("shoes", "red shoes", judgments={"a": 3, "b": 1}),
    Query("boots", "rubber boots", judgments={"d": 2}),
)


def make_saved_suite(*queries, measures=("nDCG@10", "RR@10"), **fields):
    known = {"path": "suites/shop.relevance.yaml", "target": Target(), **fields}
    return make_suite(*(queries or QUERIES), measures=measures, body=BODY, **known)


def ranking(*hits):
    return Ranking(tuple(Hit(name, score, title=f"title of {name}") for name, score in hits), total=3, took=2.0)


def run_of(**responses):
    found = {"shoes": ranking(("b", 5.0), ("a", 5.0), ("c", 1.25)), "boots": ranking(("d", 2.5)), **responses}
    return Run(found, Engine("elasticsearch", "9.4.3"), "current", "products", facts=FACTS)


def make(suite=None, run=None):
    suite, run = suite or make_saved_suite(), run or run_of()
    return make_baseline(suite, run, score_run(suite, run), created="2026-05-01", harness="1.2")


def changes_since(entry, suite, run):
    return make_reference(entry, suite, run).changes


def file_of(entry, **requests):
    return BaselineFile("shop", {"current": entry, **requests})


# ------------------------------------------------------------------------------------------------ what is kept


def test_an_entry_holds_rankings_scores_and_the_band_of_each_measure_that_ties_move():
    entry = make()
    shoes, boots = entry.queries["shoes"], entry.queries["boots"]
    assert (shoes.ranking, shoes.engine_scores) == (("b", "a", "c"), (5.0, 5.0, 1.25))
    assert shoes.scores["RR@10"] == 1.0
    assert shoes.scores["nDCG@10"] == pytest.approx(0.7098, abs=1e-4)
    assert shoes.bands["nDCG@10"] == (shoes.scores["nDCG@10"], 1.0)
    assert list(shoes.bands) == ["nDCG@10"], "both tied documents are relevant, so RR is the same in either order"
    assert (boots.bands, boots.outcome, boots.scores) == ({}, Outcome.SCORED, {"nDCG@10": 1.0, "RR@10": 1.0})
    assert (entry.engine, entry.gain, entry.profile, entry.depth) == (
        "elasticsearch 9.4.3",
        "exponential",
        "standard",
        10,
    )
    assert (entry.created, entry.harness, entry.index) == ("2026-05-01", "1.2", FACTS)


WEIGHED = (replace(QUERIES[0], weight=900.0), QUERIES[1])


def test_what_queries_weigh_is_kept_and_written_where_it_is_not_1():
    text = dumps(file_of(make(make_saved_suite(*WEIGHED))))
    assert text.count('"weight"') == 1
    assert '"weight": 900.0' in text
    queries = loads(text, "b.json").requests["current"].queries
    assert (queries["shoes"].weight, queries["boots"].weight) == (900.0, 1.0)


def test_weights_that_changed_are_named_with_their_queries():
    entry = make(make_saved_suite(*WEIGHED))
    assert changes_since(entry, make_saved_suite(*WEIGHED), run_of()) == ()
    [sentence] = changes_since(entry, make_saved_suite(), run_of())
    assert "shoes" in sentence


def test_a_query_that_the_baseline_does_not_have_has_no_weight_that_changed():
    entry = make(make_saved_suite(QUERIES[0]), replace(run_of(), responses={"shoes": run_of().responses["shoes"]}))
    assert changes_since(entry, make_saved_suite(QUERIES[0], replace(QUERIES[1], weight=2.0)), run_of()) == ()


def test_sort_values_are_kept_and_where_they_differ_there_are_no_bands():
    for last, moved in (("id", False), ("brand", True)):
        hits = tuple(
            Hit(one.id, one.score, sort=(one.score, one.id if last == "id" else "acme"))
            for one in run_of().responses["shoes"].hits
        )
        run = replace(run_of(), responses={**run_of().responses, "shoes": Ranking(hits)})
        entry = loads(dumps(file_of(make(make_saved_suite(), run))), "b.json").requests["current"]
        assert bool(entry.queries["shoes"].bands) is moved
        assert restore_run(entry, "current", depth=10).responses["shoes"].hits == hits
        assert entry.queries["boots"].sort == ()


def test_zero_hits_and_undefined_queries_are_kept_as_what_they_are():
    suite = make_saved_suite(QUERIES[0], Query("none", "none", judgments={"x": 0}))
    entry = make(suite, run_of(shoes=Ranking(), none=ranking(("x", 1.0))))
    assert entry.queries["shoes"].outcome is Outcome.ZERO_HITS
    assert (entry.queries["none"].outcome, entry.queries["none"].scores["RR@10"]) == (Outcome.UNDEFINED, None)


def test_a_value_from_the_environment_is_not_told():
    failing = run_of(boots=Failure(FailureKind.ERROR, "no tenant secret-one"))
    with pytest.raises(UnansweredBaseline, match=r"no tenant \$\{RELEVANCE_TENANT\}"):
        make(replace(make_saved_suite(), variables={"RELEVANCE_TENANT": "secret-one"}), failing)


SECRETIVE = """
suite: shop
target: {cluster: staging, index: "${RELEVANCE_INDEX:-products}"}
requests:
  current:
    index: "${RELEVANCE_INDEX:-products}"
    body:
      query: {match: {title: "{{text}}", "${RELEVANCE_KEY}": "{{tenant}} {{account}}"}}
      rescore: ["${RELEVANCE_KEY}"]
      post_filter:
        account: ${RELEVANCE_ACCOUNT}
queries:
  - id: shoes
    text: shoes of ${RELEVANCE_KEY}
    params:
      tenant: ${RELEVANCE_TENANT:-acme}
      account: ${RELEVANCE_ACCOUNT}
    judgments: {a: 3}
  - {id: boots, text: products for kids, params: {tenant: x, account: 1}, judgments: {d: 2}}
"""
SERVICE = """
suite: shop
target: {cluster: staging}
request:
  http:
    path: /find?key=${RELEVANCE_KEY}
    ids: $.ids
    headers: {Authorization: "Bearer ${RELEVANCE_KEY}", Retry: .inf}
    json: {q: "{{text}}"}
queries: [{id: shoes, text: shoes, judgments: {a: 3}}]
"""
ENVIRON = {"RELEVANCE_KEY": "first-sentinel", "RELEVANCE_ACCOUNT": "1234567890", "RELEVANCE_INDEX": "products"}


@pytest.fixture
def secretive(tmp_path):
    """Loads the suite with other values in its environment."""
    path = tmp_path / "shop.relevance.yaml"
    path.write_text(SECRETIVE, encoding="utf-8")
    return lambda **values: load_suites([path], {**ENVIRON, **values})[0]


def test_no_secret_is_kept(secretive):
    facts = IndexFacts("m", "s", 3, (), [{"properties": "first-sentinel"}], [{"analysis": ["first-sentinel"]}])
    entry = make(secretive(), replace(run_of(), facts=facts))
    text = dumps(file_of(entry))
    assert "sentinel" not in text
    assert "1234567890" not in text
    assert entry.queries["shoes"].text == "shoes of ${RELEVANCE_KEY}"
    assert entry.queries["shoes"].params == {"tenant": "acme", "account": "${RELEVANCE_ACCOUNT}"}
    body = entry.request["body"]
    assert (body["rescore"], body["post_filter"]) == (["${RELEVANCE_KEY}"], {"account": "${RELEVANCE_ACCOUNT}"})
    assert entry.index.mapping_json == [{"properties": "${RELEVANCE_KEY}"}]
    assert entry.index.settings_json == [{"analysis": ["${RELEVANCE_KEY}"]}]


def test_no_secret_of_a_service_is_kept(tmp_path):
    path = tmp_path / "service.relevance.yaml"
    path.write_text(SERVICE, encoding="utf-8")
    [suite] = load_suites([path], ENVIRON)
    run = replace(run_of(), request="request", responses={"shoes": ranking(("a", 1.0))})
    entry = make(suite, run)
    assert "sentinel" not in dumps(file_of(entry))
    assert entry.request["http"] == {
        "path": "/find?key=${RELEVANCE_KEY}",
        "ids": "$.ids",
        "headers": {"Authorization": "Bearer ${RELEVANCE_KEY}", "Retry": ".inf"},
        "json": {"q": "{{text}}"},
    }


def test_another_secret_asks_the_same(secretive):
    entry = make(secretive())
    other = secretive(KEY="other-sentinel")
    assert changes_since(entry, other, run_of()) == ()
    assert make_reference(entry, other, run_of()).changed_questions == {}


def test_another_value_of_a_variable_that_is_no_login_asks_something_else(secretive):
    entry = make(secretive())
    [(query, change)] = make_reference(
        entry, secretive(RELEVANCE_ACCOUNT="9876543210"), run_of()
    ).changed_questions.items()
    assert describe_changed_question(query, *change) == "shoes (a variable in it has another value)"
    assert "9876543210" not in repr(change)


@pytest.mark.parametrize(
    "name", ["RELEVANCE_KEY", "API_KEY", "MY_ACCESSTOKEN", "tokens", "DB_PASSWORD", "SESSION_ID", "jwt"]
)
def test_a_variable_of_such_a_name_holds_a_login(name):
    assert names_login(name)


@pytest.mark.parametrize("name", ["KEYWORD", "QUERY", "AUTHOR", "PASSAGE", "BRAND", "USER_ID"])
def test_a_variable_of_such_a_name_is_part_of_what_is_asked(name):
    assert not names_login(name)


def test_what_reads_like_a_value_from_the_environment_and_is_none_asks_the_same(secretive):
    entry = make(secretive())
    elsewhere = secretive(RELEVANCE_INDEX="products-of-a-pull-request")
    assert make_reference(entry, elsewhere, run_of()).changed_questions == {}
    assert make_reference(make(elsewhere), secretive(), run_of()).changed_questions == {}


def test_a_default_is_another_value_than_that_of_the_environment_unless_they_are_the_same(secretive):
    entry = make(secretive())
    assert make_reference(entry, secretive(RELEVANCE_TENANT="acme"), run_of()).changed_questions == {}
    [(query, (before, now))] = make_reference(
        entry, secretive(RELEVANCE_TENANT="globex"), run_of()
    ).changed_questions.items()
    assert (query, before.params["tenant"], now.params["tenant"]) == ("shoes", "acme", "${RELEVANCE_TENANT}")


@pytest.mark.parametrize("response", [Failure(FailureKind.TIMEOUT, "late"), Failure(FailureKind.NOT_RUN, "no"), None])
def test_a_run_with_a_query_that_has_no_answer_is_no_baseline(response):
    run = run_of(boots=response)
    if response is None:
        run = replace(run, responses={"shoes": run.responses["shoes"]})
    with pytest.raises(UnansweredBaseline, match=r"1 query had no answer \(boots\)") as caught:
        make(run=run)
    assert caught.value.exit_status == 3


def test_a_skipped_query_is_left_out():
    suite = make_saved_suite(QUERIES[0], replace(QUERIES[1], skip=Waiver("winter")))
    run = run_of()
    entry = make(suite, replace(run, responses={"shoes": run.responses["shoes"]}))
    assert list(entry.queries) == ["shoes"]


def test_where_no_query_ran_nothing_is_kept():
    suite = make_saved_suite(replace(QUERIES[0], skip=Waiver("winter")))
    with pytest.raises(UnwritableBaseline, match="a run without queries"):
        make(suite, replace(run_of(), responses={}))


# ------------------------------------------------------------------------------------------------ beside older entries


def test_another_request_stays_as_it_is():
    old = replace(make(), created="2025-01-01")
    file = merge_entry(file_of(make(), candidate=old), make_saved_suite(), "current", make(), partial=False)
    assert file.requests == {"current": make(), "candidate": old}


def test_a_partial_run_leaves_the_other_queries_in_place():
    part = make(make_saved_suite(QUERIES[0]), run_of(shoes=ranking(("a", 9.0))))
    queries = (
        merge_entry(file_of(make()), make_saved_suite(), "current", part, partial=True).requests["current"].queries
    )
    assert queries["boots"] == make().queries["boots"]
    assert queries["shoes"].engine_scores == (9.0,)


def test_a_whole_run_drops_what_the_suite_no_longer_has_and_keeps_what_it_skipped():
    old = make(make_saved_suite(*QUERIES, Query("gone", "gone")), run_of(gone=ranking(("x", 1.0))))
    suite = make_saved_suite(QUERIES[0], replace(QUERIES[1], skip=Waiver("winter")))
    run = replace(run_of(), responses={"shoes": run_of().responses["shoes"]})
    file = merge_entry(file_of(old), suite, "current", make(suite, run), partial=False)
    assert set(file.requests["current"].queries) == {"shoes", "boots"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"template": "other"}, "request"),
        ({"depth": 20}, "depth"),
        ({"gain": "linear"}, "gain"),
        ({"profile": Profile.TREC}, "profile"),
        ({"engine": "opensearch 3.8"}, "engine"),
        ({"index": replace(FACTS, mapping="m2")}, "mapping of the index"),
    ],
)
def test_a_partial_run_of_something_else_is_not_mixed_in(change, name):
    part = make(make_saved_suite(QUERIES[0]), run_of())
    sentence = rf"1 query \(boots\) that were kept under another {name}; save the whole"
    with pytest.raises(UnwritableBaseline, match=sentence):
        merge_entry(file_of(make()), make_saved_suite(), "current", replace(part, **change), partial=True)
    whole = replace(make(), **change)
    assert merge_entry(file_of(make()), make_saved_suite(), "current", whole, partial=True).requests["current"] == whole


# ------------------------------------------------------------------------------------------------ the file


def test_the_file_comes_back_as_it_was(tmp_path):
    path = tmp_path / "shop.baseline.json"
    file = file_of(make(), other=make(make_saved_suite(QUERIES[0]), run_of()))
    write_baselines(path, file)
    assert read_baselines(path) == file
    assert [entry.name for entry in tmp_path.iterdir()] == ["shop.baseline.json"]


def test_the_file_is_sorted_and_has_one_fact_of_a_query_a_line():
    lines = dumps(file_of(make())).splitlines()
    assert '     "ranking": [["b", 5.0], ["a", 5.0], ["c", 1.25]],' in lines
    assert '     "text": "rubber boots"' in lines
    names = [line.strip() for line in lines[lines.index('   "queries": {') :] if line.startswith('    "')]
    assert names[:2] == ['"boots": {', '"shoes": {']


def test_the_request_and_what_is_known_of_the_index_are_kept_to_be_read():
    mapping = [{"properties": {"title": {"type": "text"}, "tags": {"type": "keyword"}}}]
    run = replace(run_of(), facts=replace(FACTS, mapping_json=mapping, settings_json=[{"number_of_shards": "1"}]))
    entry = loads(dumps(file_of(make(run=run))), "x").requests["current"]
    assert entry.request == {"body": BODY}
    assert (entry.index.mapping_json, entry.index.settings_json) == (mapping, [{"number_of_shards": "1"}])
    lines = [line.strip() for line in dumps(file_of(entry)).splitlines()]
    assert '"tags": {"type": "keyword"},' in lines, "a field of the mapping has a line of its own"


def test_params_are_kept_and_written_where_there_are_some():
    suite = make_saved_suite(replace(QUERIES[0], params={"brands": ["x", {"y": 1}]}), QUERIES[1])
    text = dumps(file_of(make(suite)))
    assert text.count('"params"') == 1
    queries = loads(text, "x").requests["current"].queries
    assert (queries["shoes"].params, queries["boots"].params) == ({"brands": ["x", {"y": 1}]}, {})


def test_what_is_too_large_to_be_read_is_kept_as_its_fingerprint_alone():
    large = {"ids": list(map(str, range(LARGEST_KEPT // 4)))}
    suite = make_saved_suite(replace(QUERIES[0], params=large), QUERIES[1])
    suite = replace(
        suite, requests={"current": RequestTemplate("current", {"query": "{{text}}", "filter": "{{ids}}", **large})}
    )
    entry = make(suite)
    assert (entry.request, entry.queries["shoes"].params) == (None, None)
    assert loads(dumps(file_of(entry)), "x").requests["current"] == entry


def test_numbers_are_exact():
    score = 0.1 + 0.2
    entry = make(run=run_of(boots=ranking(("d", score))))
    assert loads(dumps(file_of(entry)), "x").requests["current"].queries["boots"].engine_scores == (score,)


def test_a_half_of_a_surrogate_pair_in_an_id_is_written_and_read(tmp_path):
    path = tmp_path / "x.json"
    entry = make(run=run_of(boots=ranking(("\ud800ü", 1.0))))
    write_baselines(path, file_of(entry))
    assert read_baselines(path) == file_of(entry)


def test_params_that_are_nested_deeply_are_read():
    nested = []
    for _ in range(250):
        nested = [nested]
    suite = make_saved_suite(replace(QUERIES[0], params={"p": nested}), QUERIES[1])
    assert loads(dumps(file_of(make(suite))), "x").requests["current"].queries["shoes"].params == {"p": nested}


def test_an_older_file_survives_a_writing_that_fails(tmp_path):
    path = tmp_path / "shop.baseline.json"
    write_baselines(path, file_of(make()))
    broken = make(run=run_of(boots=ranking(("d", float("nan")))))
    with pytest.raises(ValueError, match="Out of range"):
        write_baselines(path, file_of(broken))
    assert read_baselines(path) == file_of(make())
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BaselineError, match="cannot be written: No such file or directory"):
        write_baselines(tmp_path / "none" / "x.json", file_of(make()))


def test_where_a_baseline_stands():
    assert build_baseline_path("a/shop.relevance.yaml").as_posix() == "a/shop.baseline.json"
    assert build_baseline_path("a/products.failing.yaml").as_posix() == "a/products.failing.baseline.json"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", r"x\.json:1:2 cannot be read: this is not JSON"),
        ("[]", r"x\.json:1:1 cannot be read: found no schema version, expected 2"),
        ('{"schema": 3}', "found schema version 3, expected 2: this version of the harness cannot read"),
        ('{"schema": 1}', "found schema version 1, expected 2: this version of the harness cannot read"),
        ('{"schema": true}', "found schema version True"),
        ('{"schema": 2, "suite": "s"}', r"x\.json:1:1 cannot be read: not a baseline: requests: Field required"),
        (
            '{"schema": 2, "suite": "s", "requests": {"a": {}}}',
            r"x\.json:1:47 cannot be read: not a baseline: requests\.a\.created: ",
        ),
        (
            '{"schema": 2, "requests": {"a": {"ranking": [], "depth": 1, "ranking": [1]}}}',
            r"x\.json:1:61 cannot be read: the object has the key 'ranking' twice",
        ),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "a number has too many digits"),
    ],
)
def test_what_is_no_baseline_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(BaselineError, match=sentence):
        loads(text, "x.json")


@pytest.mark.parametrize(
    ("written", "other", "place"),
    [
        ('"RR@10": 1.0', '"RR@10": true', r"scores\.RR@10"),
        ('["a", 5.0]', '["a", true]', r"ranking\.1"),
        ('"RR@10": 1.0', r'"RR@10": true, "\ud800": 1.0', r"scores\.RR@10"),
    ],
)
def test_true_is_no_score(written, other, place):
    text = dumps(file_of(make()))
    assert written in text
    with pytest.raises(BaselineError, match=rf"requests\.current\..*{place}: Input should be a "):
        loads(text.replace(written, other), "x.json")


def test_what_cannot_be_read_is_told(tmp_path):
    with pytest.raises(BaselineError, match="does not exist"):
        read_baselines(tmp_path / "none.json")
    with pytest.raises(BaselineError, match="Is a directory"):
        read_baselines(tmp_path)
    (tmp_path / "latin.json").write_bytes(b"\xff")
    with pytest.raises(BaselineError, match="not UTF-8"):
        read_baselines(tmp_path / "latin.json")


def test_a_file_without_an_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr("harness.files.versioned.MOST_READ", 2**21)
    with pytest.raises(BaselineError, match="/dev/zero cannot be read: it is larger than 2 MiB, the limit"):
        read_baselines(Path("/dev/zero"))


# ------------------------------------------------------------------------------------------------ a run again


def test_a_baseline_is_a_run_again_and_its_scores_are_those_that_were_kept():
    suite, entry = make_saved_suite(), make()
    run = restore_run(entry, "current", depth=10)
    kept = {(query, name): value for query, one in entry.queries.items() for name, value in one.scores.items()}
    assert {(score.query, score.measure): score.value for score in score_run(suite, run)} == kept


def test_no_more_hits_are_scored_than_the_suite_asks_for_today():
    assert len(restore_run(make(), "current", depth=2).responses["shoes"].hits) == 2


def test_todays_judgments_score_the_baseline_anew():
    suite = make_saved_suite(replace(QUERIES[0], judgments={"c": 1}), QUERIES[1])
    reference = make_reference(make(), suite, run_of())
    by_name = {(score.query, score.measure): score.value for score in reference.scores}
    assert by_name["shoes", "RR@10"] == pytest.approx(1 / 3)
    assert reference.changes == ("since the baseline of 2026-05-01 the judgments changed: 1 query (shoes)",)
    assert reference.same_request


ASKED = {
    "another text": ({"text": "blue shoes"}, "shoes (its text was 'red shoes' and is 'blue shoes')"),
    "other params": ({"params": {"size": 2}}, 'shoes (its params were {"size": 1} and are {"size": 2})'),
    "a number that was another": (
        {"params": {"size": True}},
        'shoes (its params were {"size": 1} and are {"size": true})',
    ),
    "both": (
        {"text": "", "params": {"size": "s"}},
        'shoes (its text was \'red shoes\' and is \'\', its params were {"size": 1} and are {"size": "s"})',
    ),
}


@pytest.mark.parametrize(("changed", "sentence"), ASKED.values(), ids=ASKED)
def test_a_query_that_asks_something_else_is_one_that_the_baseline_does_not_have(changed, sentence):
    before = replace(QUERIES[0], params={"size": 1})
    suite = make_saved_suite(replace(before, **changed), QUERIES[1], thresholds=(threshold("drop RR@10 <= 1"),))
    reference = make_reference(make(make_saved_suite(before, QUERIES[1])), suite, run_of())
    assert set(reference.run.responses) == {"boots"}
    assert describe_changed_question("shoes", *reference.changed_questions["shoes"]) == sentence
    [verdict] = decide(suite, run_of(), score_run(suite, run_of()), today=TODAY, reference=reference)
    assert verdict.status is Status.FAILED
    assert f"asked something else for 1 query: {sentence}" in verdict.reason


def test_the_request_that_all_queries_share_may_change():
    suite = make_saved_suite()
    suite = replace(suite, requests={"current": RequestTemplate("current", {"query": {"match": {"body": "{{text}}"}}})})
    reference = make_reference(make(), suite, run_of())
    assert (reference.changed_questions, reference.same_request) == ({}, False)


def test_of_long_texts_the_place_is_shown_where_they_differ():
    long = "word " * 100
    told = describe_changed_question("q", Question("1", f"{long}red{long}"), Question("2", f"{long}blue{long}"))
    assert "word red" in told
    assert "word blue" in told
    assert len(told) < 400
    shortened = describe_changed_question("q", Question("1", long), Question("2", long[:200]))
    assert shortened.count("…") == 3


def test_texts_that_look_alike_are_written_as_their_characters():
    composed, decomposed = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"
    told = describe_changed_question("q", Question("1", composed), Question("2", decomposed))
    assert told == r"q (its text was 'caf\xe9' and is 'cafe\u0301')"


def test_what_cannot_be_shown_is_said_to_differ():
    large = {"ids": list(map(str, range(LARGEST_KEPT)))}
    entry = make(make_saved_suite(replace(QUERIES[0], params=large), QUERIES[1]))
    other = make_saved_suite(replace(QUERIES[0], params={"ids": [*large["ids"], "more"]}), QUERIES[1])
    [change] = make_reference(entry, other, run_of()).changed_questions.values()
    assert describe_changed_question("shoes", *change) == "shoes (its params, which are too large to be stored)"


def test_where_nothing_changed_nothing_is_named():
    assert changes_since(make(), make_saved_suite(), run_of()) == ()


def test_everything_that_changed_is_named():
    changed = replace(QUERIES[0], text="blue shoes", judgments={"c": 1}, weight=2.0)
    suite = make_saved_suite(changed, QUERIES[1], gain=Gain(GainKind.LINEAR), profile=Profile.TREC)
    suite = replace(suite, requests={"current": RequestTemplate("current", {"query": {"match": {"a": "{{text}}"}}})})
    run = replace(run_of(), engine=Engine("opensearch", "3.8"), facts=IndexFacts("m2", "s2", 11))
    sentences = [
        sentence.removeprefix("since the baseline of 2026-05-01 ") for sentence in changes_since(make(), suite, run)
    ]
    assert sentences == [
        "the request changed",
        "the text or params changed: 1 query (shoes)",
        "the judgments changed: 1 query (shoes)",
        "the weights changed: 1 query (shoes)",
        "the gain changed: it was exponential and is linear",
        "the profile changed: it was standard and is trec",
        "the mapping of the index changed",
        "the settings of the index changed",
        "the index changed: it had 10 documents and has 11",
        "the engine was elasticsearch 9.4.3 and is opensearch 3.8",
    ]


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        ({"size": 5}, {"size": 6}, ("@@ -1,3 +1,3 @@", " {", '-  "size": 5', '+  "size": 6', " }")),
        ({"size": 5}, {"size": 5}, None),
        (None, {"size": 5}, None),
        ({"size": 5}, None, None),
    ],
    ids=["changed", "equal", "not known before", "not known now"],
)
def test_a_difference_is_that_of_two_known_texts(before, now, lines):
    diff = diff_texts("request", before, now)
    assert diff == (TextDiff("request", lines) if lines else None)


def test_what_is_shown_whole_in_a_difference_ends_at_a_number_of_members_and_of_characters():
    assert shorten_large(["a"] * 100) == ["a"] * 100
    *shown, rest = shorten_large(["a"] * 101)
    assert shown == ["a"] * 3
    assert rest.startswith("… 101 in all (fingerprint ")
    assert shorten_large("a" * 200) == "a" * 200
    assert shorten_large("a" * 201).startswith("a" * 200 + "… 201 characters in all (fingerprint ")


def test_the_cluster_of_the_target_is_kept_and_named_where_it_is_another():
    old, new = (make_saved_suite(target=Target(cluster=name)) for name in ("old", "new"))
    text = dumps(file_of(make(old)))
    assert '"cluster": "old"' in text
    entry = loads(text, "b.json").requests["current"]
    assert changes_since(entry, old, run_of()) == ()
    sentence = "since the baseline of 2026-05-01 the cluster of the target changed: it was old and is new"
    assert changes_since(entry, new, run_of()) == (sentence,)
    template = RequestTemplate("current", BODY, target=Target(cluster="new"))
    assert changes_since(entry, replace(old, requests={"current": template}), run_of()) == (sentence,)


def test_the_url_of_a_cluster_is_not_kept_nor_compared():
    """It is another one in CI; and entries of earlier versions say nothing of a cluster."""
    by_url = make_saved_suite(target=Target(cluster="http://localhost:9200"))
    entry = make(by_url)
    assert "cluster" not in dumps(file_of(entry))
    assert changes_since(entry, make_saved_suite(), run_of()) == ()
    assert changes_since(make(), by_url, run_of()) == ()


def test_queries_of_two_clusters_are_not_put_into_one_entry():
    old, new = (make_saved_suite(target=Target(cluster=name)) for name in ("old", "new"))
    part = replace(run_of(), responses={"shoes": run_of().responses["shoes"]})
    entry = make(replace(new, queries=QUERIES[:1]), part)
    with pytest.raises(UnwritableBaseline, match="kept under another cluster"):
        merge_entry(file_of(make(old)), new, "current", entry, partial=True)
    assert merge_entry(file_of(replace(make(old), cluster="")), new, "current", entry, partial=True)


def test_what_the_login_may_not_read_did_not_change():
    assert changes_since(make(), make_saved_suite(), replace(run_of(), facts=IndexFacts(missing=("mapping",)))) == ()
    assert changes_since(make(), make_saved_suite(), replace(run_of(), facts=None)) == ()


# ------------------------------------------------------------------------------------------------ which entry


def test_a_reference_comes_from_the_file_that_is_given(tmp_path):
    path = tmp_path / "mine.json"
    write_baselines(path, file_of(make()))
    reference = find_reference(make_saved_suite(), run_of(), path)
    assert (reference.problem, reference.created, reference.depth) == ("", "2026-05-01", 10)
    assert reference.remedy == f"`relevance baseline save suites/shop.relevance.yaml --baseline {path}` saves one"


def test_a_query_that_the_suite_lost_is_told_and_one_that_was_not_selected_is_not(tmp_path):
    path = tmp_path / "mine.json"
    write_baselines(path, file_of(make()))
    suite = make_saved_suite()
    first, *others = suite.queries
    less = replace(suite, queries=(first,))
    [lost] = find_reference(less, run_of(), path).changes
    named = ", ".join(query.id for query in others)
    number = "1 query" if len(others) == 1 else f"{len(others)} queries"
    assert lost == f"since the baseline of 2026-05-01 the suite lost {number} ({named})"
    assert find_reference(less, run_of(), path, others=others).changes == ()


def test_the_command_that_saves_a_baseline_searches_as_the_run_did():
    searched = RunOptions(embedded=True, request="the candidate").searched()
    reference = find_reference(make_saved_suite(), run_of(), None, searched)
    remedy = "`relevance baseline save suites/shop.relevance.yaml --embedded --request 'the candidate'` saves one"
    assert reference.remedy == remedy
    assert reference.problem.endswith(f"; {remedy}")


def test_a_missing_file_an_unknown_request_and_another_suites_file_say_what_to_do(tmp_path):
    path = tmp_path / "mine.json"
    suite, run = make_saved_suite(), run_of()
    remedy = f"; `relevance baseline save suites/shop.relevance.yaml --baseline {path}` saves one"
    missing = find_reference(suite, run, path)
    assert (missing.run, missing.problem) == (None, f"there is no baseline: {path} does not exist{remedy}")
    write_baselines(path, file_of(make()))
    other = find_reference(suite, replace(run, request="candidate"), path).problem
    assert other == f"there is no baseline of the request 'candidate': {path} has current{remedy}"
    renamed = find_reference(replace(suite, name="store"), run, path).problem
    assert renamed == f"{path} holds the baseline of the suite 'shop', not of 'store'{remedy}"


def test_the_json_is_plain():
    raw = json.loads(dumps(file_of(make())))
    assert (raw["schema"], raw["suite"]) == (2, "shop")
    assert raw["requests"]["current"]["profile"] == "standard"


def test_a_run_on_an_index_that_changed_becomes_no_baseline():
    states = IndexState({"a": "1"}, 10), IndexState({"a": "1"}, 9)
    with pytest.raises(UnansweredBaseline, match="products changed during the run: it had 10 documents and has 9"):
        refuse_unanswered(
            replace(make_saved_suite(), queries=()), replace(run_of(), index="products", states=states), ""
        )
