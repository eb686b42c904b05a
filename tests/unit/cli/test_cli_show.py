"""``relevance show``: one query, run as a run of the suite would run it, and nothing decided."""

import json
import subprocess
from pathlib import Path

import pytest

from builders.ports import closed_port
from harness.cli import main
from harness.report.json import inspection_schema, loads_report

SUITE = """\
suite: shop
target: {index: products}
requests:
  plain: {query: {match: {title: "{{text}}"}}}
  other: {query: {match: {title: "{{text}}"}}, min_score: 0.5, stats: ["it's ${RELEVANCE_TOKEN:-none}"]}
gain: linear
measures: ["P@2", "nDCG@3"]
thresholds: ["mean nDCG@3 >= 0.99", "drop AP@3 <= 0.02"]
queries:
  - id: red-shoes
    text: red shoes
    need: Shoes of a red that ${RELEVANCE_SHADE:-nobody} would call red.
    judgments: {a: 1, c: 3, x: 2}
    skip: {reason: later}
    thresholds: ["RR@3 >= 0.5"]
  - {id: boots, text: rubber boots, judgments: {d: 3}}
  - {id: coats, text: rain coat, judgments: {t3: 1}}
"""


@pytest.fixture
def engine(engine):
    engine.rankings["red shoes"] = ["a", "b", "c", "d", "x"]
    engine.rankings["rain coat"] = [("t1", 5.0), ("t2", 5.0), ("t3", 5.0), ("t4", 1.5)]
    return engine


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("shop.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def show(engine, folder, capsys):
    """Gives the exit status and what was printed."""

    def run(*words, url=engine.url):
        capsys.readouterr()
        status = main(["show", "shop.relevance.yaml", *words, "--url", url])
        return status, capsys.readouterr()

    return run


@pytest.fixture
def shown(show):
    """Gives the JSON of a query that was shown."""

    def run(*words):
        status, printed = show(*words, "--json")
        assert (status, printed.err) == (0, "")
        return json.loads(printed.out)

    return run


@pytest.fixture
def received(engine, monkeypatch):
    """The header and the body of each search that reached the engine."""
    kept = []
    search_all = engine.search_all

    def keep(lines, index):
        # The index of all searches is in the path.
        headers = [{"index": index, **json.loads(line)} for line in lines[::2]]
        kept.extend(zip(headers, map(json.loads, lines[1::2]), strict=True))
        return search_all(lines, index)

    monkeypatch.setattr(engine, "search_all", keep)
    return kept


def test_each_rank_says_what_it_adds_and_what_it_loses(show):
    status, printed = show("red-shoes")
    assert status == 0
    assert "nDCG@3, gain linear: the ranks add 2.5000 of the 4.7619 of the ideal ranking" in printed.out
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["1", "a", "1", "1", "1.0000", "1.0000", "2.0000", "9"] in rows
    assert ["2", "b", "unjudged", "0", "1.5850", "0.0000", "1.2619", "8"] in rows
    assert ["3", "c", "3", "3", "2.0000", "1.5000", "-1.0000", "7"] in rows
    assert ["sum", "2.5000", "2.2619"] in rows


def test_the_need_is_shown_without_values_of_the_environment(show, shown, monkeypatch):
    monkeypatch.setenv("RELEVANCE_SHADE", "s3cret-crimson")
    need = "Shoes of a red that ${RELEVANCE_SHADE} would call red."
    _, printed = show("red-shoes")
    assert f"need     {need}" in printed.out
    assert shown("red-shoes")["query"]["need"] == need


def test_the_scores_are_those_of_a_run(shown, engine, capsys):
    assert main(["run", "shop.relevance.yaml", "--url", engine.url, "--json"]) != 0
    [suite] = loads_report(capsys.readouterr().out).suites
    for query in ("boots", "coats"):
        [ran] = [one for one in suite.queries if one.id == query]
        alone = shown(query)["query"]
        assert alone["scores"] == dict(ran.scores)
        assert [hit["id"] for hit in alone["ranking"]] == [hit.id for hit in ran.ranking]


def test_it_decides_nothing_and_runs_a_query_that_is_skipped(shown, engine):
    inspection = shown("red-shoes")
    assert inspection["query"]["outcome"] == "scored"
    assert set(inspection["query"]["scores"]) == {"P@2", "nDCG@3", "AP@3", "RR@3"}
    assert not any("gated" in note or "threshold" in note for note in inspection["notes"])
    assert engine.asked.keys() == {"red shoes"}


def test_missing_documents_are_looked_for(shown, engine):
    engine.rankings["red shoes"] = [*"abcdefghijkl", "x"]
    missing = {one["id"]: one["rank"] for one in shown("red-shoes")["query"]["missing"]}
    assert missing == {"x": 13}


def test_tied_documents_are_named(shown, show):
    [tied] = shown("coats")["ties"]
    assert tied == {"rank": 1, "score": 5.0, "documents": ["t1", "t2", "t3"], "below": [], "closed": True, "sort": None}
    assert "tied with the score 5: t1, t2, t3 (ranks 1 to 3)" in show("coats")[1].out


def test_sort_values_with_a_secret_are_not_shown(engine, show, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "s3cret-of-acme")
    path = Path("shop.relevance.yaml")
    text = path.read_text(encoding="utf-8").replace("suite: shop", 'suite: "shop of ${RELEVANCE_TOKEN}"')
    plain = 'plain: {query: {match: {title: "{{text}}"}}'
    path.write_text(text.replace(plain, f"{plain}, sort: [brand]"), encoding="utf-8")

    def sort(answer):
        for item in answer["responses"]:
            for hit in item["hits"]["hits"]:
                hit["sort"] = ["s3cret-of-acme"]
        return answer

    engine.change_all = sort
    for words in (("coats",), ("coats", "--json")):
        status, printed = show(*words)
        assert status == 0
        assert "s3cret" not in printed.out
    engine.change_all = lambda answer: json.loads(json.dumps(sort(answer)).replace("s3cret-of-acme", "acme"))
    assert 'tied with the sort values "acme": ' in show("coats")[1].out


def explained_by(engine, monkeypatch, found):
    """An engine that answers `_search` with *found*, and searches as before."""
    reply = engine.reply

    def answer(method, path, body):
        if "/_search?" in path:
            return 200, {"hits": {"hits": found}}
        return reply(method, path, body)

    monkeypatch.setattr(engine, "reply", answer)


def weight(value, term):
    details = [{"value": value, "description": "score(freq=1.0), computed as boost * idf * tf from:", "details": []}]
    return {
        "value": value,
        "description": f"weight(title:{term} in 3) [PerFieldSimilarity], result of:",
        "details": details,
    }


def hit(name, *weights):
    tree = {"value": sum(one["value"] for one in weights), "description": "sum of:", "details": list(weights)}
    return {"_id": name, "_index": "products", "_explanation": tree}


@pytest.mark.parametrize("words", [("--explain", "d", "e"), ("--explain", "d", "--explain", "e")])
def test_two_documents_are_explained_and_compared(show, engine, monkeypatch, words):
    hits = [hit("d", weight(2.0, "rubber"), weight(1.0, "boots")), hit("e", weight(1.5, "boots"))]
    explained_by(engine, monkeypatch, hits)
    status, printed = show("boots", *words)
    assert status == 0
    rows = [line.split() for line in printed.out.splitlines()]
    assert ["explanation", "of", "d", "score", "3,", "rank", "2"] in rows
    assert ["2.0000", "title:rubber"] in rows
    assert ["3.0000", "sum"] in rows
    assert ["+2.0000", "title:rubber", "2.0000", "0.0000", "only", "in", "the", "first"] in rows
    assert ["-0.5000", "title:boots", "1.0000", "1.5000"] in rows
    assert ["+1.5000", "sum", "3.0000", "1.5000"] in rows


def test_a_secret_in_an_explanation_is_masked(show, engine, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "tok1234567890")
    explained_by(engine, monkeypatch, [hit("d", weight(2.0, "tok1234567890"))])
    for words in ((), ("--json",)):
        printed = show("boots", "--request", "other", "--explain", "d", *words)[1].out
        assert "tok1234567890" not in printed
        assert "title:${RELEVANCE_TOKEN}" in printed


def test_a_service_explains_nothing(show, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "tok-1234567890")
    Path("shop.relevance.yaml").write_text(SERVICE)
    status, printed = show("q", "--explain", "a")
    assert (status, printed.out) == (2, "")
    assert "an HTTP service does not explain scores" in printed.err


@pytest.mark.parametrize("request_", ["plain", "other"])
def test_the_request_is_shown_as_it_is_sent(shown, received, request_):
    sent = shown("boots", "--request", request_, "--index", "next")["sent"]
    [(header, body), *_] = [one for one in received if one[1]["size"] == 11]  # not the checks of the target
    assert body == sent["body"]
    assert body["size"] == 11
    assert header["index"] == "next"
    path, _, parameters = sent["url"].partition("?")
    assert path.endswith("/next/_search")
    assert parameters == f"allow_partial_search_results=false&preference={header['preference']}"


def test_the_ranking_comes_before_the_request_which_is_short(show):
    status, printed = show("boots")
    assert (status, printed.err) == (0, "")
    before, _, request = printed.out.partition("request as sent\n")
    assert "ranking\n" in before
    assert "\ncurl " not in printed.out
    assert request.splitlines()[-1] == "  --request-body prints all of it, and a curl line that sends it"


def test_a_secret_is_named_by_its_variable(show, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "tok-1234567890")
    monkeypatch.setenv("SHOP_PASSWORD", "pass-1234567890")
    monkeypatch.setenv("SHOP_USER", "reader")
    for words in (("boots", "--request", "other"), ("boots", "--request", "other", "--json")):
        printed = show(*words)[1].out
        assert "1234567890" not in printed
        assert "${RELEVANCE_TOKEN}" in printed
    script = "curl() { for word; do printf '%s\\n' \"$word\"; done; }; "
    [line] = [
        line
        for line in show("boots", "--request", "other", "--request-body")[1].out.splitlines()
        if line.startswith("curl ")
    ]
    sent = subprocess.run(["sh", "-c", script + line], capture_output=True, text=True, check=True).stdout
    assert json.loads(sent.splitlines()[-1])["stats"] == ["it's tok-1234567890"]


def test_a_login_is_in_the_curl_line_by_its_variables(show, engine, monkeypatch):
    Path("relevance.toml").write_text(
        f'[clusters.default]\nurl = "{engine.url}"\nusername_env = "SHOP_USER"\npassword_env = "SHOP_PASSWORD"\n'
    )
    monkeypatch.setenv("SHOP_USER", "reader")
    monkeypatch.setenv("SHOP_PASSWORD", "pass-1234567890")
    printed = show("boots", "--request-body")[1].out
    assert 'curl -X POST -u "$SHOP_USER:$SHOP_PASSWORD" -H ' in printed
    assert "pass-1234567890" not in printed


@pytest.mark.parametrize("place", ["text", "request"])
def test_no_login_is_filled_in_where_the_suite_has_its_variable_as_text(show, engine, monkeypatch, place):
    Path("relevance.toml").write_text(f'[clusters.default]\nurl = "{engine.url}"\napi_key_env = "KEY"\n')
    monkeypatch.setenv("KEY", "k3y-of-the-login")
    engine.rankings["what is ${KEY}"] = ["d"]
    changed = {"text": ("rubber boots", '"what is $${KEY}"'), "request": ("plain: {", 'plain: {stats: ["$${KEY}"], ')}
    Path("shop.relevance.yaml").write_text(SUITE.replace(*changed[place]))
    [line] = [line for line in show("boots", "--request-body")[1].out.splitlines() if line.startswith("curl ")]
    script = "curl() { for word; do printf '%s\n' \"$word\"; done; }; "
    words = subprocess.run(["sh", "-c", script + line], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "${KEY}" in words[-1]
    assert "k3y-of-the-login" not in words[-1]
    assert "authorization: ApiKey k3y-of-the-login" in words


LOGINS = {
    'api_key_env = "KEY"': "authorization: ApiKey ",
    'bearer_token_env = "KEY"': "authorization: Bearer id:k3y-of-the-login",
    'username_env = "NAME"\npassword_env = "KEY"': "reader:id:k3y-of-the-login",
    'headers_env = {Authorization = "KEY"}': "authorization: id:k3y-of-the-login",
    'headers_env = {AUTHORIZATION = "NAME"}\nbearer_token_env = "KEY"': "authorization: Bearer id:k3y-of-the-login",
}


@pytest.mark.parametrize("login", LOGINS)
@pytest.mark.parametrize("name", ["Authorization", "authorization"])
def test_a_header_of_a_suite_does_not_stand_beside_the_login(show, engine, monkeypatch, login, name):
    monkeypatch.setenv("KEY", "id:k3y-of-the-login")
    monkeypatch.setenv("NAME", "reader")
    header = f"{name}: '$(touch harm) a-suites-own ${{RELEVANCE_TOKEN}}'"
    Path("shop.relevance.yaml").write_text(SERVICE.replace('x-token: "${RELEVANCE_TOKEN}"', header))
    Path("relevance.toml").write_text(f'[clusters.default]\nurl = "{engine.url}"\nservice = "http"\n{login}\n')
    monkeypatch.setenv("RELEVANCE_TOKEN", "id:k3y-of-the-login")
    engine.root, engine.headers = {"hits": ["b", "x"]}, {}

    [line] = [line for line in show("q", "--request-body")[1].out.splitlines() if line.startswith("curl ")]
    assert "a-suites-own" not in line
    script = "curl() { for word; do printf '%s\\n' \"$word\"; done; }; "
    words = subprocess.run(["sh", "-c", script + line], capture_output=True, text=True, check=True).stdout.splitlines()
    logins = [word for word in words if word.lower().startswith("authorization:") or word.startswith("reader:")]
    assert len(logins) == 1
    assert logins[0].startswith(LOGINS[login])
    assert not Path("harm").exists()


def test_json_holds_what_its_schema_says(shown, engine):
    fields = inspection_schema()["properties"]
    assert set(shown("coats")) == set(fields)


def test_the_old_ranking_stands_beside_the_new(shown, show, engine, capsys):
    assert main(["baseline", "save", "shop.relevance.yaml", "--url", engine.url]) == 0
    engine.rankings["rubber boots"] = ["d", "e"]
    inspection = shown("boots")
    assert inspection["query"]["baseline"]["scores"]["nDCG@3"] == pytest.approx(0.6309, abs=1e-4)
    printed = show("boots")[1].out
    assert f"since the baseline of {inspection['baseline']['created']}: " in printed
    assert "nDCG@3 0.6309 → 1.0000" in printed
    rows = [line.split()[:4] for line in printed.splitlines()]
    assert ["1", "2", "d", "3"] in rows
    assert ["2", "1", "e", "unjudged"] in rows


def test_a_cause_beside_the_ranking_is_a_headline(shown, show, engine):
    engine.rankings["rubber boots"] = []
    status, printed = show("boots")
    assert status == 0
    assert "the only query has 0 hits" in printed.out
    assert shown("boots")["checks"]["target"] == "products"


def test_an_unknown_query_names_the_nearest(show):
    status, printed = show("red-shoe")
    assert (status, printed.out) == (2, "")
    assert printed.err == "relevance: shop.relevance.yaml: no query has the id 'red-shoe'; did you mean 'red-shoes'?\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("boots", "--request", "othr"), "found no request 'othr', known are plain, other; did you mean 'other'?"),
        (("boots", "--embedded"), "--url and --embedded name two engines"),
        (("boots", "d"), "found 'd' behind the query, expected options; --explain takes documents"),
        (("boots", "--explain", "a", "b", "c"), "--explain takes one document or two, found 3"),
        (("boots", "--explain", "a", "--explain", "b", "c"), "--explain takes one document or two, found 3"),
    ],
)
def test_what_cannot_be_asked_for_is_wrong_use(show, words, said):
    status, printed = show(*words)
    assert (status, printed.out) == (2, "")
    assert said in printed.err


def test_a_folder_of_several_suites_is_refused(folder, capsys):
    Path("more.relevance.yaml").write_text(SUITE)
    assert main(["show", ".", "boots"]) == 2
    assert "found 2 suites in ., expected one" in capsys.readouterr().err


def test_an_engine_that_does_not_answer_is_status_3_with_the_request(show):
    with closed_port() as port:
        status, printed = show("boots", url=f"http://127.0.0.1:{port}")
    assert status == 3
    assert "connection refused" in printed.out
    assert '"title": "rubber boots"' in printed.out


def test_an_engine_that_refuses_the_request_is_status_3(show, engine):
    engine.broken["rubber boots"] = 400
    status, printed = show("boots")
    assert status == 3
    assert "engine error (400)" in printed.out


SERVICE = """\
suite: api
request:
  http:
    method: GET
    path: /find/{{text}}
    params: {n: 5, all: true}
    headers: {x-token: "${RELEVANCE_TOKEN}"}
    ids: "$.hits[*]"
measures: ["nDCG@3"]
queries:
  - {id: q, text: red shoes, judgments: {a: 1, b: 2}}
"""


def test_the_request_to_a_service_is_shown_as_it_is_sent(show, engine, monkeypatch):
    monkeypatch.setenv("RELEVANCE_TOKEN", "tok-1234567890")
    Path("shop.relevance.yaml").write_text(SERVICE)
    engine.root, engine.headers = {"hits": ["b", "x"]}, {}
    status, printed = show("q", "--request-body")
    assert (status, printed.err) == (0, "")
    line = f"curl -X GET -H \"x-token: $RELEVANCE_TOKEN\" '{engine.url}/find/red%20shoes?n=5&all=true'"
    assert line in printed.out
    assert ("GET", "/find/red%20shoes?n=5&all=true") in engine.sent


@pytest.mark.parametrize(("words", "most"), [([], 6_000), (["--request-body"], 1_010_000)])
def test_a_very_long_text_is_cut_in_the_heading_and_whole_in_the_curl_line(show, engine, folder, words, most):
    long = ("boots and " * 100_000).strip()
    engine.rankings[long] = ["d", "e"]
    suite = folder / "shop.relevance.yaml"
    suite.write_text(suite.read_text().replace("rubber boots", long))
    status, printed = show("boots", *words)
    assert status == 0
    assert len(printed.out) < most
    assert printed.out.count(long) == bool(words)
