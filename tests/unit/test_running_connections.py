"""Suites share connections and one embedded node, mistakes are found before anything runs, and logins stay hidden."""

import base64
from contextlib import contextmanager
from dataclasses import replace

import pytest

import harness.embedded
import harness.search.dialects
from harness.config import Configs
from harness.errors import ConfigError, EngineStartError, EngineUnreachable, UsageError
from harness.hooks import Hooks
from harness.model.request import Cluster
from harness.model.run import Engine
from harness.model.suite import Fixture, RequestTemplate, Suite, Target
from harness.options import RunOptions
from harness.run.connections import Connections, FixtureBuilds, keep_own_cluster, make_masker
from harness.search.testing import FakeSearch


class Openings:
    """Stands in for `open_search`: keeps what was opened, and fails where it is told to."""

    def __init__(self):
        self.opened = []
        self.assumed = []
        self.engines = {}
        self.searches = []
        self.errors = {}

    def __call__(self, cluster, environ, *, engine=None, assumed_engine=None, client=None, **_):
        self.opened.append((cluster.url, engine, client))
        self.assumed.append(assumed_engine)
        if cluster.url in self.errors:
            raise self.errors[cluster.url]
        self.searches.append(FakeSearch({}, engine=self.engines.get(cluster.url)))
        return self.searches[-1]


@pytest.fixture
def openings(monkeypatch):
    stand_in = Openings()
    monkeypatch.setattr(harness.search.dialects, "open_search", stand_in)
    return stand_in


def suite_at(folder, cluster="default", engine=None, name="s", variables=None):
    return Suite(
        name,
        str(folder / f"{name}.relevance.yaml"),
        Target(cluster, engine=engine),
        {},
        (),
        (),
        variables=variables or {},
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "relevance.toml").write_text(
        '[clusters.default]\nurl = "http://one:9200"\n[clusters.other]\nurl = "http://two:9200"\n'
    )
    return tmp_path


def test_suites_on_one_cluster_share_a_connection(openings, folder):
    with Connections({}, RunOptions()) as connections:
        one, other, again = connections.open_all(
            [suite_at(folder), suite_at(folder, "other"), suite_at(folder)], Configs()
        )
        assert one.search is again.search is not other.search
        assert [url for url, _, _ in openings.opened] == ["http://one:9200", "http://two:9200"]
        assert (one.name, other.name) == ("default (http://one:9200)", "other (http://two:9200)")
        assert connections.open_all([suite_at(folder)], Configs()) == [one]
        assert not any(search.closed for search in openings.searches)
    assert all(search.closed for search in openings.searches)


def test_the_relevance_toml_of_a_linked_suite_is_the_one_above_the_link(openings, folder):
    suite = suite_at(folder / "inner")
    for name, url in (("elsewhere", "http://three:9200"), ("inner", "http://four:9200")):
        (folder / name).mkdir()
        (folder / name / "relevance.toml").write_text(f'[clusters.default]\nurl = "{url}"\n')
    (folder / "elsewhere" / "s.relevance.yaml").touch()
    (folder / "inner" / "s.relevance.yaml").symlink_to(folder / "elsewhere" / "s.relevance.yaml")

    with Connections({}, RunOptions()) as connections:
        connections.open_all([suite], Configs())

    assert [url for url, _, _ in openings.opened] == ["http://four:9200"]


def test_what_a_suite_states_of_its_engine_is_a_connection_of_its_own(openings, folder):
    with Connections({}, RunOptions()) as connections:
        connections.open_all([suite_at(folder), suite_at(folder, engine="opensearch 2.19")], Configs())
    assert openings.opened == [("http://one:9200", None, None), ("http://one:9200", "opensearch 2.19", None)]


def test_a_url_takes_the_place_of_every_cluster_and_is_asked_for_its_engine(openings, folder):
    with Connections({}, RunOptions(url="http://three:9200")) as connections:
        first, second = connections.open_all(
            [suite_at(folder), suite_at(folder, "other", engine="opensearch 2.19")], Configs()
        )
        assert first is second
    assert openings.opened == [("http://three:9200", None, None)]


@pytest.mark.parametrize(
    ("options", "target", "engine", "assumed"),
    [
        (RunOptions(url="http://three:9200"), Target("other", engine="opensearch 2.17"), None, "opensearch 2.17"),
        (RunOptions(cluster="other"), Target(engine="opensearch 2.17"), None, "opensearch 2.17"),
        # The cluster that is replaced says it in relevance.toml.
        (RunOptions(url="http://three:9200"), Target("typed"), None, "elasticsearch 8.15"),
        (RunOptions(cluster="other"), Target("http://four:9200/"), None, "elasticsearch 8.15"),
        # It is the suite's own server.
        (RunOptions(url="http://two:9200/"), Target("other", engine="opensearch 2.17"), "opensearch 2.17", None),
        (RunOptions(url="http://x:9200"), Target("http://x:9200/", engine="opensearch 2"), "opensearch 2", None),
        (RunOptions(cluster="other"), Target("http://two:9200", engine="opensearch 2.17"), "opensearch 2.17", None),
        (RunOptions(), Target(engine="opensearch 2.17"), "opensearch 2.17", None),
        (RunOptions(url="http://three:9200"), Target(), None, None),
    ],
)
def test_what_is_stated_of_an_engine_is_assumed_of_the_server_in_its_place(
    openings, folder, options, target, engine, assumed
):
    with (folder / "relevance.toml").open("a") as config:
        config.write('[clusters.typed]\nurl = "http://four:9200"\nengine = "elasticsearch 8.15"\n')
    suite = replace(suite_at(folder), target=target)

    with Connections({}, options) as connections:
        connections.open_all([suite], Configs(folder / "relevance.toml"))

    assert [opened[1] for opened in openings.opened] == [engine]
    assert openings.assumed == [assumed]


def test_a_server_that_does_not_say_its_engine_is_opened_for_each_that_is_stated(openings, folder):
    openings.engines["http://three:9200"] = Engine("elasticsearch")
    suites = [suite_at(folder), suite_at(folder, engine="opensearch 2.17"), suite_at(folder)]
    with Connections({}, RunOptions(url="http://three:9200")) as connections:
        silent, stated, again = connections.open_all(suites, Configs())
        assert silent is again is not stated
    assert openings.assumed == [None, "opensearch 2.17"]


def test_a_named_cluster_takes_the_place_of_the_suites_own_and_of_what_is_stated(openings, folder):
    with Connections({}, RunOptions(cluster="other")) as connections:
        [door] = connections.open_all([suite_at(folder, engine="elasticsearch 9.4.3")], Configs())
    assert openings.opened == [("http://two:9200", None, None)]
    assert door.name == "other (http://two:9200)"


def test_a_door_is_called_what_was_asked_for(openings, folder, monkeypatch):
    monkeypatch.chdir(folder)
    with Connections({}, RunOptions()) as connections:
        configured, by_url, again = connections.open_all(
            [suite_at(folder), suite_at(folder, "http://one:9200"), suite_at(folder)], Configs()
        )
    named = "default (http://one:9200)"
    assert (configured.name, by_url.name, again.name) == (named, "http://one:9200", named)
    assert configured.search is by_url.search is again.search
    with Connections({}, RunOptions(url="http://one:9200")) as connections:
        [door] = connections.open_all([suite_at(folder, "other")], Configs())
    assert (door.name, door.cluster.name) == ("http://one:9200", "default")


def test_a_client_object_needs_no_cluster(openings, tmp_path):
    client = object()
    with Connections({}, RunOptions(client=client)) as connections:
        first, second = connections.open_all([suite_at(tmp_path, "nowhere"), suite_at(tmp_path)], Configs())
        assert first is second
        assert first.name == "client"
    assert openings.opened == [(None, None, client)]


def test_a_server_that_is_away_is_asked_once_and_closes_no_other_door(openings, folder):
    openings.errors["http://one:9200"] = EngineUnreachable("no connection")
    with Connections({}, RunOptions()) as connections:
        first, second, other = connections.open_all(
            [suite_at(folder), suite_at(folder), suite_at(folder, "other")], Configs()
        )
    assert first is second
    assert (first.search, str(first.error)) == (None, "no connection")
    assert other.search is not None
    assert len(openings.opened) == 2


def test_all_mistakes_are_told_at_once_and_nothing_is_left_open(openings, folder):
    suites = [suite_at(folder, "nowhere"), suite_at(folder), suite_at(folder, "elsewhere"), suite_at(folder, "nowhere")]
    with pytest.raises(UsageError) as caught, Connections({}, RunOptions()) as connections:
        connections.open_all(suites, Configs())
    first, second = str(caught.value).splitlines()
    assert "'nowhere'" in first
    assert "'elsewhere'" in second
    assert all(search.closed for search in openings.searches)


def test_a_wrong_relevance_toml_is_told_beside_the_other_mistakes(openings, folder, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "relevance.toml").write_text("[clusters.default]\nurl = 3\n")
    with pytest.raises(ConfigError) as caught, Connections({}, RunOptions()) as connections:
        connections.open_all([suite_at(folder, "nowhere", name="a"), suite_at(broken), suite_at(broken)], Configs())
    problems = {problem.path: problem.message for problem in caught.value.problems}
    assert set(problems) == {str(broken / "relevance.toml"), str(folder / "a.relevance.yaml")}


@pytest.fixture
def node(monkeypatch):
    events = []

    @contextmanager
    def open_node(version):
        events.append(("started", version))
        yield "http://127.0.0.1:1234"
        events.append(("ended", version))

    monkeypatch.setattr(harness.embedded, "open_node", open_node)
    return events


def test_one_node_serves_all_suites_and_ends_after_the_connections(openings, folder, node):
    with Connections({}, RunOptions(embedded=True, engine_version="2.19")) as connections:
        assert node == []
        first, second = connections.open_all([suite_at(folder, "nowhere"), suite_at(folder, engine="x")], Configs())
        assert first is second
        assert node == [("started", "2.19")]
    assert node == [("started", "2.19"), ("ended", "2.19")]
    assert openings.opened == [("http://127.0.0.1:1234", None, None)]


def test_without_a_suite_no_node_is_started(openings, node):
    with Connections({}, RunOptions(embedded=True)) as connections:
        assert connections.open_all([], Configs()) == []
    assert node == []


def test_a_node_that_does_not_start_is_one_error(openings, folder, monkeypatch):
    @contextmanager
    def open_node(version):
        raise EngineStartError("no Java")
        yield

    monkeypatch.setattr(harness.embedded, "open_node", open_node)
    with pytest.raises(EngineStartError, match="no Java"), Connections({}, RunOptions(embedded=True)) as connections:
        connections.open_all([suite_at(folder)], Configs())


# ------------------------------------------------------------------------------------------------ secrets


def test_logins_and_variables_are_hidden(folder):
    cluster = Cluster(
        "c",
        url="http://c",
        api_key_env="KEY",
        password_env="PASSWORD",
        headers_env={"X-Token": "TOKEN", "X-Two": "UNSET"},
    )
    environ = {"KEY": "k3y-1", "PASSWORD": "word", "TOKEN": "t0ken", "OTHER": "visible"}
    masker = make_masker(suite_at(folder, variables={"SIGNED": "s1gned-parameter"}), [cluster], environ, Hooks())
    assert masker.mask("k3y-1 word t0ken visible s1gned-parameter") == "${KEY} ${PASSWORD} ${TOKEN} visible ${SIGNED}"


@pytest.mark.parametrize(
    ("cluster", "sent"),
    [
        (Cluster("c", username_env="KIM", password_env="WORD"), "kim:a?>w0rd"),
        (Cluster("c", username_env="LEE", password_env="WORD"), "lee:a?>w0rd"),
        (Cluster("c", proxy="http://p", proxy_username_env="KIM", proxy_password_env="WORD"), "kim:a?>w0rd"),
        (Cluster("c", api_key_env="WORD"), "an-id:a?>k3y"),
    ],
)
@pytest.mark.parametrize("write", [str, lambda text: text.rstrip("="), lambda text: text.translate({43: 45, 47: 95})])
def test_logins_are_hidden_as_headers_have_them(folder, cluster, sent, write):
    """As the server got them, without padding, and in the alphabet of URLs."""
    environ = {"KIM": "kim", "LEE": "lee", "WORD": "an-id:a?>k3y" if cluster.api_key_env else "a?>w0rd"}
    others = [Cluster("d", username_env="KIM", password_env="WORD"), Cluster("e")]
    masker = make_masker(suite_at(folder), [cluster, *others], environ, Hooks())
    encoded = write(base64.b64encode(sent.encode()).decode())
    assert masker.mask(f"<{encoded}>") == "<${WORD}>"


@pytest.mark.parametrize("url", ["http://kim:w0rd@proxy:3128", "kim:w0rd@proxy:3128"])
def test_the_login_of_a_proxy_of_the_environment_is_hidden(folder, url):
    masker = make_masker(suite_at(folder), [Cluster("c")], {"HTTPS_PROXY": url}, Hooks())
    assert masker.mask("w0rd a2ltOncwcmQ=") == "${HTTPS_PROXY} ${HTTPS_PROXY}"


def test_a_login_of_fewer_than_four_characters_is_not_hidden(folder):
    """It is in most sentences by chance, such as the number of a tenant."""
    cluster = Cluster("c", url="http://c", headers_env={"X-Tenant": "TENANT"})
    masker = make_masker(suite_at(folder), [cluster], {"TENANT": "1"}, Hooks())
    assert masker.mask("mean nDCG@10 is 1") == "mean nDCG@10 is 1"


@pytest.mark.parametrize(
    "cluster", ["t0ken-value", "http://kim:t0ken-value@c", "http://169.254.169.254/t0ken-value", "ftp://t0ken-value"]
)
def test_a_refusal_of_a_cluster_does_not_show_the_variables_of_its_suite(folder, cluster):
    suite = suite_at(folder, cluster, variables={"RELEVANCE_TOKEN": "t0ken-value"})
    with pytest.raises(UsageError) as caught, Connections({}, RunOptions()) as connections:
        connections.open_all([suite], Configs())
    assert "t0ken" not in str(caught.value)
    assert "t0ken" not in str(caught.value.parts)


def test_nor_where_it_stands_beside_a_problem_of_a_configuration(folder):
    (folder / "wrong").mkdir()
    (folder / "wrong" / "relevance.toml").write_text("[clusters.other]\nurls = 1\n")
    suites = [
        suite_at(folder, "t0ken-value", variables={"RELEVANCE_TOKEN": "t0ken-value"}),
        suite_at(folder / "wrong", "other"),
    ]
    with pytest.raises(ConfigError) as caught, Connections({}, RunOptions()) as connections:
        connections.open_all(suites, Configs())
    assert "[clusters.${RELEVANCE_TOKEN}]" in str(caught.value)
    assert "t0ken" not in str(caught.value)


def test_what_could_not_be_opened_is_tried_again_for_the_next_run(openings, folder):
    openings.errors = {"http://one:9200": EngineUnreachable("away")}
    with Connections({}, RunOptions()) as connections:
        failed, other = connections.open_all([suite_at(folder), suite_at(folder, "other")], Configs())
        assert (failed.search, other.search) == (None, openings.searches[0])
        openings.errors = {}
        opened, same = connections.open_all([suite_at(folder), suite_at(folder, "other")], Configs())
        assert (opened.search, same.search) == (openings.searches[1], openings.searches[0])
    assert [url for url, _, _ in openings.opened] == ["http://one:9200", "http://two:9200", "http://one:9200"]


@pytest.mark.parametrize("service", ["http", "solr"])
def test_requests_over_http_do_not_go_to_a_cluster_that_is_an_engine(openings, folder, service):
    suite = suite_at(folder)
    suite = replace(suite, target=replace(suite.target, service=service))

    with Connections({}, RunOptions()) as connections, pytest.raises(UsageError) as caught:
        connections.open_all([suite], Configs(folder / "relevance.toml"))
    assert str(caught.value) == (
        f"{folder / 'relevance.toml'}:1:1: the cluster 'default' is an engine, and the requests of {suite.path} go "
        f'over HTTP; expected service = "{service}" in [clusters.default]'
    )
    assert openings.opened == []


# ------------------------------------------------------------------------------------------------ several clusters


def suite_with(folder, **targets):
    requests = {name: RequestTemplate(name, {}, target=target) for name, target in targets.items()}
    return replace(suite_at(folder), requests=requests)


NAMED = RunOptions(url="http://x:9200", allow_write=True)


@pytest.mark.parametrize(
    ("request_name", "requests", "keeps"),
    [
        (None, [None], False),
        ("own", ["own"], False),
        ("own", ["own", "first"], True),
        ("first", ["own", "first"], False),
        ("index", ["own", "first", "index"], False),
        ("own", ["own", "same"], False),
        ("own", ["own", "third"], True),
    ],
)
def test_where_several_clusters_are_searched_a_server_that_is_named_takes_the_place_of_the_suites(
    folder, request_name, requests, keeps
):
    own, third = Target("other"), Target("third")
    suite = suite_with(folder, first=None, own=own, same=own, third=third, index=Target(index="copy"))
    options = keep_own_cluster(NAMED, suite, request_name, requests)
    assert (options.url, options.keeps_cluster) == ((None, True) if keeps else (NAMED.url, False))
    assert options.allow_write
    nothing_named = keep_own_cluster(RunOptions(), suite, request_name, requests)
    assert not nothing_named.keeps_cluster


def test_a_fixture_is_built_once_on_each_server(folder, monkeypatch):
    built = []

    def build(search, fixture, base, name, *, allow_write):
        built.append((search, allow_write))
        return f"index-{len(built)}"

    monkeypatch.setattr("harness.search.fixtures.ensure_index", build)
    one, other = FakeSearch({}), FakeSearch({})
    suite, fixture, builds = suite_at(folder), Fixture("docs.jsonl"), FixtureBuilds()
    indexes = [
        builds.index_of(suite, fixture, search, allow_write=search is one) for search in (one, other, one, other)
    ]
    assert indexes == ["index-1", "index-2", "index-1", "index-2"]
    assert built == [(one, True), (other, False)]
