"""``relevance verify`` on engines: what their own `_rank_eval` says of the same suite."""

import json
from pathlib import Path
from uuid import uuid4

import pytest

from harness.cli import main

pytestmark = pytest.mark.embedded

DOCUMENTS = {f"d{number}": {"title": "tent", "number": number, "kind": number % 2} for number in range(1, 9)}
BODY = (
    "{query: {match: {title: '{{text}}'}}, sort: [{number: asc}], track_scores: true,"
    " aggs: {k: {terms: {field: kind}}}}"
)


@pytest.fixture
def on_node(opensearch_url, request):
    """Sends to the embedded node, and removes the indexes that a test made."""
    from harness.model.request import Cluster
    from harness.search.dialects import open_search

    with open_search(Cluster("test", url=opensearch_url, timeout=30.0), {}) as search:
        made = []

        def make(prefix, documents):
            name = f"{prefix}-{uuid4().hex}"  # tests that run at once have no index in common
            made.append(name)
            for key, document in documents.items():
                body = json.dumps(document).encode()
                assert search.connection.perform("PUT", f"/{name}/_doc/{key}?refresh=true", body=body).status < 300
            return name

        make.send = lambda method, path, body: search.connection.perform(method, path, body=json.dumps(body).encode())
        yield make
        for name in made:
            search.connection.perform("DELETE", f"/{name}")


@pytest.fixture
def verified(opensearch_url, tmp_path, capsys):
    """The exit status, and what was verified of a suite."""

    def verify(index, *, measures, judgments, profile="standard", request=BODY, rest="", options=()):
        path = Path(tmp_path / "tents.relevance.yaml")
        path.write_text(
            f"suite: tents\ntarget: {{index: '{index}'}}\nprofile: {profile}\nrequest: {request}\n"
            f"measures: {json.dumps(measures)}\n{rest}\n"
            f"queries:\n  - {{id: q1, text: tent, judgments: {json.dumps(judgments)}}}\n"
        )
        status = main(["verify", str(path), "--url", opensearch_url, "--json", "-q", *options])
        told = capsys.readouterr()
        return status, json.loads(told.out)["verifications"][0] if told.out else told.err

    return verify


def causes_of(verification):
    return {
        measure["measure"]: [cause["kind"] for one in measure["differences"] for cause in one["causes"]]
        for measure in verification["measures"]
    }


def test_under_the_profile_of_rank_eval_all_is_equal_and_what_it_lacks_is_named(on_node, verified):
    index = on_node("verify-equal", DOCUMENTS)
    measures = ["nDCG@5", "DCG@5", "P@3", "P(judged_only=true)@3", "R@4", "RR@5", "ERR(max=3)@5", "AP@5", "Judged@5"]
    status, found = verified(index, measures=measures, judgments={"d1": 1, "d3": 3, "d7": 2}, profile="rank_eval")
    assert status == 0
    assert found["not_compared"] == ["AP@5", "Judged@5"]
    assert {len(measure["differences"]) for measure in found["measures"]} == {0}
    assert [measure["ours"] for measure in found["measures"]] == pytest.approx(
        [measure["theirs"] for measure in found["measures"]], abs=1e-9
    )


def test_each_difference_of_the_standard_profile_has_its_reason_and_the_steps_add_up(on_node, verified):
    index = on_node("verify-reasons", {name: DOCUMENTS[name] for name in ("d1", "d2", "d3")})
    judgments = {"d1": 1, "d2": 3, "d3": 1.5, "d8": 2}
    measures = ["nDCG(gain=linear)@5", "nDCG@5", "P@5", "RR(rel=4)@5", "ERR@5"]
    status, found = verified(index, measures=measures, judgments=judgments)
    assert status == 0
    assert causes_of(found) == {
        "nDCG(gain=linear)@5": ["grades", "gain"],
        "nDCG@5": ["grades"],
        "P@5": ["grades", "rules"],
        "RR(rel=4)@5": ["undefined"],
        "ERR@5": ["grades"],
    }
    for measure in found["measures"]:
        for one in measure["differences"]:
            if one["ours"] is not None:
                steps = sum(cause["change"] for cause in one["causes"])
                assert one["ours"] + steps == pytest.approx(one["theirs"], abs=1e-9)


@pytest.mark.parametrize(
    "measure", ["DCG@3", "nDCG@10", "nDCG(unjudged=1)@10", "ERR(max=3)@5", "ERR(max=3,unjudged=1)@5"]
)
def test_a_grade_below_0_is_a_reason(on_node, verified, measure):
    index = on_node("verify-negative", DOCUMENTS)
    status, found = verified(index, measures=[measure], judgments={"d1": -1, "d2": 2, "d4": -2}, profile="rank_eval")
    assert (status, causes_of(found)) == (0, {measure: ["negative grades"]})


def test_a_grade_below_0_makes_no_difference_where_nothing_is_gained(on_node, verified):
    index = on_node("verify-below", DOCUMENTS)
    measures = ["P@3", "P(judged_only=true)@3", "R@2", "RR@5", "P(rel=0)@3"]
    status, found = verified(index, measures=measures, judgments={"d1": -1, "d2": 2, "d3": 0}, profile="rank_eval")
    assert (status, causes_of(found)) == (0, {measure: [] for measure in measures})


def test_a_grade_whose_power_of_2_overflows_is_a_reason(on_node, verified):
    index = on_node("verify-overflow", DOCUMENTS)
    judgments = {"d1": 2000, "d3": 1}
    status, found = verified(index, measures=["nDCG@10", "DCG@10"], judgments=judgments, rest="gain: linear")
    assert status == 0
    assert {name: kinds[-1] for name, kinds in causes_of(found).items()} == {
        "nDCG@10": "overflow",
        "DCG@10": "overflow",
    }
    assert [one["theirs"] for measure in found["measures"] for one in measure["differences"]] == ["NaN", "Infinity"]
    assert [measure["theirs"] for measure in found["measures"]] == [None, None]


def test_an_ideal_that_is_longer_than_what_was_found_is_a_reason(on_node, verified):
    index = on_node("verify-ideal", {"d1": DOCUMENTS["d1"]})
    status, found = verified(index, measures=["nDCG@5"], judgments={"d1": 1, "gone": 3})
    assert (status, causes_of(found)) == (0, {"nDCG@5": ["rules"]})


def test_ratings_are_of_the_indexes_behind_an_alias(on_node, verified):
    for number, names in ((1, ("d1", "d2")), (2, ("d3", "d4"))):
        index = on_node(f"verify-behind-{number}", {name: DOCUMENTS[name] for name in names})
        on_node.send("POST", "/_aliases", {"actions": [{"add": {"index": index, "alias": "verify-alias"}}]})
    for target in ("verify-alias", "verify-behind-*"):
        judgments = {"d1": 1, "d4": 3, "gone": 2}
        status, found = verified(target, measures=["nDCG@5", "R@5"], judgments=judgments, profile="rank_eval")
        assert (status, causes_of(found)) == (0, {"nDCG@5": [], "R@5": []})


def test_a_document_in_two_indexes_is_a_reason(on_node, verified):
    for number in (1, 2):
        on_node(f"verify-twice-{number}", {"d1": DOCUMENTS["d1"], f"e{number}": DOCUMENTS["d2"]})
    status, found = verified("verify-twice-*", measures=["P@4"], judgments={"d1": 1}, rest="# both")
    assert status == 3
    assert "ambiguous" in found["unanswered"]["q1"]


def test_a_template_is_sent_as_one(on_node, verified):
    index = on_node("verify-template", DOCUMENTS)
    request = (
        "{template: {source: {query: {match: {title: '{{words}}'}}, size: '{{size}}', sort: [number]},"
        " params: {words: '{{text}}'}}}"
    )
    status, found = verified(index, measures=["nDCG@5"], judgments={"d2": 2}, profile="rank_eval", request=request)
    assert (status, causes_of(found)) == (0, {"nDCG@5": []})


def test_an_elasticsearch_without_the_module_is_told(elasticsearch_urls, tmp_path, capsys):
    path = tmp_path / "x.relevance.yaml"
    (tmp_path / "d.jsonl").write_text('{"id": "a", "title": "tent"}\n')
    path.write_text(
        "suite: verify\nfixture: {documents: d.jsonl}\nrequest: {query: {match: {title: '{{text}}'}}}\n"
        "queries: [{id: q1, text: tent, judgments: {a: 1}}]\n"
    )
    status = main(["verify", str(path), "--url", elasticsearch_urls[0], "--allow-write", "-q"])
    told = capsys.readouterr()
    assert (status, told.out) in ((3, ""), (0, told.out))
    assert status == 0 or "lacks the module rank-eval" in told.err
