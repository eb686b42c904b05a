"""relevance.toml: what it gives, and each mistake in it with its place and without any secret."""

import ast
import tomllib
from pathlib import Path

import pytest

import harness
from builders.sources import list_nodes
from harness.config import Configs, read_config, reading, resolve_cluster
from harness.errors import ConfigError, EntryPoint, UsageError
from harness.model.request import AddressOrigin, Cluster
from harness.model.suite import Mark, Target
from harness.options import RunOptions

FULL = """\
# clusters of the shop
[clusters.default]
url = "http://localhost:9200"

[clusters.staging]
url = "https://search.example.org:9243/es"
nodes = ["https://search-2.example.org:9243/es"]
engine = "elasticsearch 9.4.3"
username_env = "STAGING_USER"
password_env = "STAGING_PASSWORD"
ca_certs = "certs/ca.pem"
fingerprint = "AA:bb:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd"
timeout = 5

[clusters."the cloud"]
cloud_id = "shop:abc"
api_key_env = "CLOUD_KEY"

[clusters.api]
url = "http://localhost:8080"
service = "http"
headers_env = {Authorization = "API_TOKEN"}
host = "shop.example:8443"
requests = ["POST /indexes/*/search", "GET /_search"]
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write_config(text):
        path = tmp_path / "relevance.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_config


def refusal(path):
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert caught.value.exit_status == 2
    return str(caught.value).replace(str(path), "relevance.toml")


def test_every_key_of_a_cluster_is_read(write):
    path = write(FULL)
    clusters = read_config(path).clusters
    assert list(clusters) == ["default", "staging", "the cloud", "api"]
    assert clusters["default"] == Cluster(
        "default", url="http://localhost:9200", mark=Mark(str(path), 2, 1), origin=AddressOrigin.CONFIGURATION
    )
    staging = clusters["staging"]
    assert (staging.url, staging.engine, staging.timeout) == (
        "https://search.example.org:9243/es",
        "elasticsearch 9.4.3",
        5.0,
    )
    assert (staging.username_env, staging.password_env) == ("STAGING_USER", "STAGING_PASSWORD")
    assert staging.nodes == ("https://search-2.example.org:9243/es",)
    assert staging.ca_certs == "certs/ca.pem"
    assert staging.fingerprint is not None
    assert (clusters["the cloud"].cloud_id, clusters["the cloud"].api_key_env) == ("shop:abc", "CLOUD_KEY")
    assert clusters["the cloud"].mark.line == 15
    assert (clusters["api"].service, clusters["api"].headers_env) == ("http", {"Authorization": "API_TOKEN"})
    assert clusters["api"].host == "shop.example:8443"
    assert clusters["api"].requests == ("POST /indexes/*/search", "GET /_search")


def test_which_addresses_suites_may_name_is_read(write):
    assert read_config(write(FULL)).addresses == "any"
    assert read_config(write('addresses = "listed"\n' + FULL)).addresses == "listed"


def test_a_link_that_leads_nowhere_is_not_passed_over_for_another_above(write, tmp_path):
    write(FULL)
    inner = tmp_path / "suites"
    inner.mkdir()
    (inner / "relevance.toml").symlink_to("nowhere.toml")
    with pytest.raises(
        ConfigError, match=r"suites/relevance\.toml: this is a link to nowhere.toml, which does not exist"
    ):
        Configs().read_beside(inner)


def test_the_folder_of_the_history_is_read_and_that_of_the_options_counts_first(write):
    path = write('history = "kept/runs"\n' + FULL)
    configs = Configs(path)
    assert configs.find_history(RunOptions()) == path.parent / "kept" / "runs"
    assert configs.find_history(RunOptions(history=Path("here"))) == Path("here")
    assert Configs(write(FULL)).find_history(RunOptions()) is None


@pytest.mark.parametrize(
    ("name", "is_refused"), [("kept", True), ("kept/runs", True), ("inside", False), ("../out", False)]
)
def test_a_history_that_is_a_link_out_of_its_folder_is_refused(tmp_path, name, is_refused):
    (tmp_path / "out").mkdir()
    (tmp_path / "own" / "real").mkdir(parents=True)
    path = tmp_path / "own" / "relevance.toml"
    path.write_text(f'history = "{name}"\n' + FULL)
    (path.parent / "kept").symlink_to(tmp_path / "out")
    (path.parent / "inside").symlink_to("real")
    configs = Configs(path)
    if is_refused:
        with pytest.raises(ConfigError, match="is a link that leads out of"):
            configs.find_history(RunOptions())
        assert configs.find_history(RunOptions(history=Path("kept"))) == Path("kept")
    else:
        assert configs.find_history(RunOptions()) == path.parent / name


def test_whether_means_have_intervals_is_read(write):
    assert read_config(write(FULL)).intervals
    assert not read_config(write("intervals = false\n" + FULL)).intervals


DEFAULT = '[clusters.default]\nurl = "http://localhost:9200"\n'
CASES = {
    "unknown table": (
        '[cluster.default]\nurl = "x"\n',
        "1:1",
        "unknown key 'cluster', expected clusters, variables, addresses, judge, intervals, history; "
        "did you mean 'clusters'?",
        "[cluster.default]",
        1,
    ),
    "unknown key": (
        DEFAULT + "  time_out = 5\n",
        "3:3",
        "unknown key 'time_out', expected url, nodes, cloud_id, engine, service, api_key_env, username_env, "
        "password_env, ca_certs, fingerprint, timeout, headers_env, "
        "bearer_token_env, client_cert, client_key, client_key_password_env, verify_certs, proxy, proxy_username_env, "
        "proxy_password_env, host, requests, concurrency, batch, rate; did you mean 'timeout'?",
        "  time_out ",
        3,
    ),
    "password": (
        DEFAULT + 'password = "s3cret"\n',
        "3:1",
        "'password' is not allowed here; expected password_env, the name of an environment variable",
        "password ",
        1,
    ),
    "secret where its variable belongs": (
        DEFAULT + 'api_key_env = "s3cret=="\n',
        "3:1",
        "expected the name of an environment variable, such as SEARCH_API_KEY, not the secret itself",
        "api_key_env ",
        1,
    ),
    "password in the URL": (
        '[clusters.default]\nurl = "https://kim:s3cret@example.org"\n',
        "2:1",
        "a URL must not contain a login; name its environment variables under [clusters.NAME] in relevance.toml: "
        "username_env and password_env, or api_key_env",
        "url ",
        1,
    ),
    "scheme": (
        '[clusters.default]\nurl = "ftp://example.org"\n',
        "2:1",
        "found a URL that begins with 'ftp', expected http:// or https://",
        "url ",
        1,
    ),
    "no URL": (
        '[clusters.default]\nurl = "http://"\n',
        "2:1",
        "found 'http://', expected a URL such as http://localhost:9200",
        "url ",
        1,
    ),
    "wrong type": (DEFAULT + 'timeout = "5"\n', "3:1", "found text, expected a number", "timeout ", 1),
    "wrong type of text": (
        "[clusters.default]\nurl = 9200\n",
        "2:1",
        "found a whole number, expected text in quotes",
        "url ",
        1,
    ),
    "no table": ("[clusters]\ndefault = 1\n", "2:1", "found a whole number, expected a table", "default ", 1),
    "no tables": (
        "clusters = 1\n",
        "1:1",
        "found a whole number, expected tables such as [clusters.default]",
        "clusters ",
        1,
    ),
    "no address": (
        "[clusters.default]\n",
        "1:1",
        "found neither url and cloud_id, expected one of them",
        "[clusters.default]",
        1,
    ),
    "two addresses": (
        DEFAULT + 'cloud_id = "a:b"\n',
        "1:1",
        "found both url and cloud_id, expected one of them",
        "[clusters.default]",
        1,
    ),
    "half a login": (
        DEFAULT + 'username_env = "U"\n',
        "1:1",
        "expected username_env and password_env together",
        "[clusters.default]",
        1,
    ),
    "two logins": (
        DEFAULT + 'username_env = "U"\npassword_env = "P"\napi_key_env = "K"\n',
        "1:1",
        "found 2 logins, api_key_env, username_env, expected one of them",
        "[clusters.default]",
        1,
    ),
    "a certificate's key alone": (
        DEFAULT + 'client_key = "k.pem"\n',
        "3:1",
        "client_key needs client_cert",
        "client_key ",
        1,
    ),
    "a login in the proxy's URL": (
        DEFAULT + 'proxy = "http://kim:s3cret@proxy:3128"\n',
        "3:1",
        "a URL must not contain a login; name its variables: proxy_username_env and proxy_password_env",
        "proxy ",
        1,
    ),
    "a token itself": (
        DEFAULT + 'bearer_token = "s3cret"\n',
        "3:1",
        "'bearer_token' is not allowed here; expected bearer_token_env, the name of an environment variable",
        "bearer_token ",
        1,
    ),
    "no verification with a CA": (
        DEFAULT.replace("http:", "https:") + 'ca_certs = "ca.pem"\nverify_certs = false\n',
        "4:1",
        "ca_certs verifies the certificate; expected no verify_certs = false",
        "verify_certs ",
        1,
    ),
    "a node that is no URL": (
        DEFAULT + 'nodes = ["http://localhost:9201", "localhost:9202"]\n',
        "3:1",
        "found 'localhost:9202', expected a URL with http:// or https://, such as http://localhost:9202",
        "nodes ",
        1,
    ),
    "nodes of an HTTP service": (
        DEFAULT + 'service = "http"\nnodes = ["http://localhost:9201"]\n',
        "4:1",
        "nodes are URLs of an engine's other nodes, in addition to its url",
        "nodes ",
        1,
    ),
    "concurrency 0": (
        DEFAULT + "concurrency = 0\n",
        "3:1",
        "found 0, expected requests at once, 1 to 64",
        "concurrency ",
        1,
    ),
    "batch 0": (DEFAULT + "batch = 0\n", "3:1", "found 0, expected searches of one request, at least 1", "batch ", 1),
    "half a batch": (DEFAULT + "batch = 0.5\n", "3:1", "found a number, expected a whole number", "batch ", 1),
    "rate 0": (DEFAULT + "rate = 0\n", "3:1", "found 0, expected searches a second, more than 0", "rate ", 1),
    "no rate": (DEFAULT + 'rate = "5"\n', "3:1", "found text, expected a number", "rate ", 1),
    "an endless rate": (
        DEFAULT + "rate = inf\n",
        "3:1",
        "found inf, expected searches a second, more than 0",
        "rate ",
        1,
    ),
    "batches of a service": (
        DEFAULT + 'service = "http"\nbatch = 5\n',
        "4:1",
        "an HTTP service has one search in each request",
        "batch ",
        1,
    ),
    "addresses": (
        'addresses = "list"\n',
        "1:1",
        "found 'list', expected any or listed; did you mean 'listed'?",
        "addresses ",
        1,
    ),
    "addresses of another type": (
        "addresses = true\n",
        "1:1",
        "found true or false, expected any or listed",
        "addresses ",
        1,
    ),
    "intervals of another type": (
        'intervals = "no"\n',
        "1:1",
        "found text, expected true or false",
        "intervals ",
        1,
    ),
    "a history of another type": (
        "history = true\n",
        "1:1",
        "found true or false, expected the path of a folder, such as history",
        "history ",
        1,
    ),
    "requests of an engine": (
        DEFAULT + 'requests = ["POST /search"]\n',
        "3:1",
        'requests are those of an HTTP service, which has service = "http"',
        "requests ",
        1,
    ),
    **{
        f"request {text}": (
            DEFAULT + f'service = "http"\nrequests = ["{text}"]\n',
            "4:1",
            f"found {text!r}, expected a method and a path below the url, such as POST /indexes/*/search",
            "requests ",
            1,
        )
        for text in (
            "/search",
            "POST",
            "post /search",
            "DELETE /x",
            "POST search",
            "POST /a/../b",
            "POST /a?b=c",
            "* /a",
        )
    },
    "host": (
        DEFAULT + 'host = "http://shop.example"\n',
        "3:1",
        "found 'http://shop.example', expected a host such as shop.example, or with its port",
        "host ",
        1,
    ),
    "timeout 0": (DEFAULT + "timeout = 0\n", "3:1", "found 0, expected seconds, more than 0", "timeout ", 1),
    "infinite timeout": (DEFAULT + "timeout = inf\n", "3:1", "found inf, expected seconds, more than 0", "timeout ", 1),
    "fingerprint": (
        DEFAULT.replace("http:", "https:") + 'fingerprint = "abc"\n',
        "3:1",
        "expected the certificate's SHA-256: 64 hexadecimal digits",
        "fingerprint ",
        1,
    ),
    "certificate without https": (
        DEFAULT + 'ca_certs = "ca.pem"\n',
        "3:1",
        "ca_certs needs https, but the url begins with http://",
        "ca_certs ",
        1,
    ),
    "engine": (
        DEFAULT + 'engine = "elastic"\n',
        "3:1",
        "found 'elastic', expected an engine and its version such as 'elasticsearch 9.4.3' or 'opensearch 2.19'; "
        "did you mean 'elasticsearch'?",
        "engine ",
        1,
    ),
    "service": (
        DEFAULT + 'service = "https"\n',
        "3:1",
        "found 'https', expected engine, http, solr, typesense or weaviate; did you mean 'http'?",
        "service ",
        1,
    ),
    "variable of a header": (
        DEFAULT + 'headers_env = {X = "A",\n Authorization = "Bearer s3cret"}\n'.replace("\n ", " "),
        "3:1",
        "expected the name of an environment variable, such as SEARCH_API_KEY, not the secret itself",
        "headers_env ",
        1,
    ),
    "name of a header": (
        DEFAULT + 'headers_env = {"X Tenant" = "TENANT"}\n',
        "3:1",
        "found 'X Tenant', expected the name of a header, such as X-Tenant",
        "headers_env ",
        1,
    ),
}


@pytest.mark.parametrize(("text", "place", "message", "shown", "column"), CASES.values(), ids=CASES.keys())
def test_a_mistake_is_told_with_its_place_and_no_value(write, text, place, message, shown, column):
    line = place.split(":")[0]
    expected = f"relevance.toml:{place}: {message}\n{line:>5} | {shown}\n      | {' ' * (column - 1)}^"
    refused = refusal(write(text))
    assert refused == expected
    assert "s3cret" not in refused


def test_the_variables_that_suites_may_read(write):
    assert read_config(write('variables = ["SHOP_*", "LANG"]\n')).variables == ("SHOP_*", "LANG")
    assert read_config(write("variables = []\n")).variables == ()
    assert read_config(write("")).variables == ()


@pytest.mark.parametrize("value", ['"SHOP"', '["a b"]', "[1]", "{a = 1}", '["${X}"]'])
def test_a_list_of_variables_that_is_none_is_told(write, value):
    refused = refusal(write(f"variables = {value}\n"))
    assert refused.startswith("relevance.toml:1:1: expected a list of names of environment variables")


def test_all_mistakes_are_told_at_once(write):
    refused = refusal(write('[clusters.a]\nurl = 1\n[clusters.b]\nurll = "x"\ntimeout = -1\n'))
    places = [line.split(": ")[0] for line in refused.splitlines() if line.startswith("relevance")]
    assert places == ["relevance.toml:2:1", "relevance.toml:4:1", "relevance.toml:5:1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[clusters.default\n",
            "relevance.toml:1:18: this is not TOML: expected ']' at the end of a table declaration",
        ),
        ('[clusters.a]\nurl = "s3cret\n', "relevance.toml:2:14: this is not TOML: illegal character '\\n'"),
        ("a = [1,\n", "relevance.toml:2:1: this is not TOML: invalid value"),
        ("a = 1\na = 2\n", "relevance.toml:2:6: this is not TOML: cannot overwrite a value"),
        (f"a = {'9' * 5000}\n", "relevance.toml: a number has too many digits"),
        (b"a = '\xff'\n", "relevance.toml:1:6: byte 0xff is not UTF-8; expected a file in UTF-8"),
    ],
)
def test_what_is_no_toml_is_told_without_its_content(write, text, message):
    assert refusal(write(text)) == message


def test_places_are_found_whatever_stands_between(write):
    text = '''\
a = """
[clusters.fake]
url = 1
"""
b = [
  "x", # url = 2
  { clusters = "]" },
]
[ clusters . "the \\"default\\"" ]   # a comment
"url" = 3
clusters.x = 4
'''
    refused = refusal(write(text))
    assert "relevance.toml:10:1: found a whole number, expected text in quotes" in refused
    assert "relevance.toml:11:1: unknown key 'clusters'" in refused
    assert "relevance.toml:1:1: unknown key 'a'" in refused
    assert "relevance.toml:5:1: unknown key 'b'" in refused


def test_a_value_on_many_lines_is_parsed_once(write, monkeypatch):
    parsed = []
    monkeypatch.setattr(reading.tomllib, "loads", lambda text, loads=tomllib.loads: parsed.append(text) or loads(text))
    nodes = '  "http://b:1", # and "more" ]\n' * 100
    read_config(write(f'[clusters.a]\nurl = "http://a:1"\n\n# nodes\nnodes = [\n{nodes}]\ntimeout = 2\n'))
    assert len(parsed) == 5  # the whole, and each of four statements


VALUES = [
    """''' "[' \n ]'''''""",
    '""" \\""" [ \n ""{"""""',
    '["]", {a = "}"},\n\n [[\n]], # [\n]',
    '"\\"["',
    "'\\'",
    '""',
    "''",
]


@pytest.mark.parametrize("value", VALUES)
def test_a_statement_ends_where_its_value_does(write, value):
    text = f"a = {value} # ]}}\nb.c = 1\n"
    tomllib.loads(text)
    lines = text.count("\n")
    assert f"relevance.toml:{lines}:1: unknown key 'b'" in refusal(write(text))


# ------------------------------------------------------------------------------------- whose configuration counts

LOCAL = '[clusters.default]\nurl = "http://localhost:9200"\n'
SECURE = '[clusters.secure]\nurl = "https://example.org:9200/"\napi_key_env = "KEY"\n'


def resolve(target, folder, *, url=None, configs=None):
    return resolve_cluster(target, configs or Configs(), folder, url=url)


def test_a_cluster_is_found_by_its_name(write, tmp_path):
    write(LOCAL + SECURE)
    assert resolve(Target(), tmp_path).url == "http://localhost:9200"
    assert resolve(Target("secure"), tmp_path).api_key_env == "KEY"


def test_a_url_takes_the_place_of_the_suites_cluster(write, tmp_path):
    write(LOCAL)
    url = "http://other.example.org:9200"
    assert resolve(Target(), tmp_path, url=url) == Cluster(url, url=url, origin=AddressOrigin.COMMAND_LINE)
    assert resolve(Target(url), tmp_path) == Cluster(url, url=url, origin=AddressOrigin.SUITE)


def test_a_url_is_for_the_service_that_the_suites_requests_are_for(write, tmp_path):
    url = "http://localhost:8080"
    assert resolve(Target(url, service="http"), tmp_path) == Cluster(url, url=url, service="http")
    assert resolve(Target(service="http"), tmp_path, url=url).service == "http"


def test_a_url_that_relevance_toml_has_brings_its_login_and_no_other_does(write, tmp_path):
    write(LOCAL + SECURE)
    assert resolve(Target(), tmp_path, url="https://example.org:9200").api_key_env == "KEY"
    assert resolve(Target("https://example.org:9200/"), tmp_path).origin is AddressOrigin.CONFIGURATION
    assert resolve(Target("secure"), tmp_path, url="https://example.com:9200").api_key_env is None


@pytest.mark.parametrize(
    "url", ["https://kim:s3cret@example.org", "kim:s3cret@example.org", "ftp://example.org", "localhost"]
)
def test_a_url_that_cannot_be_used_is_refused_without_its_login(tmp_path, url):
    with pytest.raises(UsageError) as caught:
        resolve(Target(), tmp_path, url=url)
    assert "s3cret" not in str(caught.value)


def test_a_cluster_that_is_not_defined_is_told_with_every_remedy(write, tmp_path):
    with pytest.raises(UsageError) as caught:
        resolve(Target(), tmp_path)
    assert str(caught.value) == (
        "the cluster 'default' is not defined, as there is no relevance.toml in the working directory, beside the "
        "suite, or above; give url or embedded, or define it in relevance.toml: "
        '[clusters.default] with url = "http://localhost:9200"'
    )
    path = write(LOCAL + SECURE)
    with pytest.raises(UsageError) as caught:
        resolve(Target("secur"), tmp_path)
    assert f"is not defined in {path}, which has default, secure; did you mean 'secure'? " in str(caught.value)


def test_a_cluster_that_both_files_define_is_named_once(write, tmp_path):
    (tmp_path / "mine").mkdir()
    trusted = write(LOCAL).rename(tmp_path / "mine" / "relevance.toml")
    write(LOCAL)
    with pytest.raises(UsageError, match="which has default; "):
        resolve_cluster(Target("x"), Configs(trusted), tmp_path, url=None)


def test_a_certificate_is_found_beside_relevance_toml(write, tmp_path):
    path = write('[clusters.default]\nurl = "https://localhost:9200"\nca_certs = "ca.pem"\n')
    message = rf"^{path}:1:1: ca_certs of the cluster 'default': there is no file .*ca\.pem"
    with pytest.raises(UsageError, match=message):
        resolve(Target(), tmp_path)
    (tmp_path / "ca.pem").write_text("")
    assert resolve(Target(), tmp_path).ca_certs == str(tmp_path / "ca.pem")


@pytest.fixture
def suites(write, tmp_path):
    """The folder of a suite, below a working directory without a relevance.toml."""
    folder = tmp_path / "suites" / "inner"
    folder.mkdir(parents=True)
    return folder


def test_the_file_that_is_named_is_trusted_then_that_of_the_variable_then_the_one_above(write, suites, monkeypatch):
    paths = {}
    for name in ("option", "variable", "above"):
        paths[name] = write(f'[clusters.default]\nurl = "http://{name}"\n').rename(suites.parent / f"{name}.toml")
    root = write('[clusters.default]\nurl = "http://above"\n')
    monkeypatch.chdir(suites)

    assert Configs().path == root
    assert Configs(environ={"RELEVANCE_CONFIG": "../variable.toml"}).path == suites / "../variable.toml"
    environ = {"RELEVANCE_CONFIG": str(paths["variable"])}
    assert resolve(Target(), suites, configs=Configs(environ=environ)).url == "http://variable"
    configs = Configs(paths["option"], environ=environ)
    assert resolve(Target(), suites, configs=configs).url == "http://option"
    with pytest.raises(UsageError, match=r"^config: there is no file nowhere\.toml$"):
        Configs(Path("nowhere.toml"))
    with pytest.raises(UsageError, match=r"^RELEVANCE_CONFIG: there is no file nowhere\.toml$"):
        Configs(environ={"RELEVANCE_CONFIG": "nowhere.toml"})


def test_a_file_beside_a_suite_defines_plain_addresses(suites):
    (suites.parent / "relevance.toml").write_text(
        '[clusters.default]\nurl = "http://localhost:9200"\nnodes = ["http://localhost:9201"]\ntimeout = 5\n'
    )
    for target in (Target(), Target("http://localhost:9200")):
        cluster = resolve(target, suites)
        assert (cluster.name, cluster.timeout, cluster.origin) == ("default", 5.0, AddressOrigin.SUITE)
    assert resolve(Target(service="http"), suites).service == "http"


PRIVATE = {
    "bearer_token_env": 'bearer_token_env = "DATABASE_URL"',
    "api_key_env": 'api_key_env = "GH_PAT"',
    "username_env, password_env": 'username_env = "A"\npassword_env = "B"',
    "headers_env": 'headers_env = {X = "SENTRY_DSN"}',
    "proxy": 'proxy = "http://proxy:3128"',
    "ca_certs": 'ca_certs = "ca.pem"',
    "client_cert": 'client_cert = "c.pem"',
    "fingerprint": f'fingerprint = "{64 * "a"}"',
    "verify_certs": "verify_certs = false",
    "service": 'service = "http"',
}


@pytest.mark.parametrize(("names", "line"), PRIVATE.items(), ids=PRIVATE)
def test_a_file_beside_a_suite_with_more_than_addresses_is_refused_where_it_would_be_used(write, suites, names, line):
    beside = suites / "relevance.toml"
    beside.write_text(f'[clusters.default]\nurl = "https://evil"\n[clusters.other]\nurl = "https://other"\n{line}\n')
    for target in (Target(), Target("other"), Target("https://other")):
        with pytest.raises(UsageError) as caught:
            resolve(target, suites)
        assert caught.value.text(EntryPoint.COMMAND) == (
            f"{beside}:5:1: found {names}, expected plain addresses only, as the file comes with a suite and is not "
            f"the configuration that you run with; if it is yours, give --config {beside}"
        )
    url = "https://other"
    assert resolve(Target(), suites, url=url) == Cluster(url, url=url, origin=AddressOrigin.COMMAND_LINE)
    assert resolve(Target("https://elsewhere"), suites).origin is AddressOrigin.SUITE
    for file in ("ca.pem", "c.pem"):
        (suites / file).touch()
    assert resolve(Target("other"), suites, configs=Configs(beside)).origin is AddressOrigin.CONFIGURATION
    write('[clusters.default]\nurl = "http://trusted"\n')
    assert resolve(Target(), suites).url == "http://trusted"


def test_cloud_ids_and_lists_of_variables_are_more_than_addresses(suites):
    beside = suites / "relevance.toml"
    for text, name in (
        ('variables = ["*"]\n[clusters.default]\nurl = "http://a"\n', "1:1: found variables"),
        ('[clusters.default]\ncloud_id = "shop:abc"\n', "2:1: found cloud_id"),
    ):
        beside.write_text(text)
        with pytest.raises(UsageError, match=name):
            resolve(Target(), suites)


def test_a_list_of_variables_beside_a_suite_is_not_used_and_named(suites):
    beside = suites / "relevance.toml"
    beside.write_text('variables = ["*"]\n')
    refusal = Configs().find_refusal("DATABASE_URL", suites)
    assert refusal == (
        "the suite may not read the variable DATABASE_URL: name it RELEVANCE_…, or list it in a relevance.toml in the "
        f'folder that you run in: variables = ["DATABASE_URL"]; the list in {beside} counts if you run with '
        f"--config {beside}"
    )
    assert Configs(beside).find_refusal("DATABASE_URL", suites) == ""


def test_a_link_beside_a_suite_to_the_trusted_file_is_that_file(write, suites):
    path = write(SECURE)
    (suites / "relevance.toml").symlink_to(path)
    assert Configs().read_beside(suites) is None
    assert resolve(Target("secure"), suites).origin is AddressOrigin.CONFIGURATION


def test_a_link_beside_a_suite_to_another_file_is_beside_the_suite(suites, tmp_path):
    (tmp_path / "mine.toml").write_text(SECURE)
    (suites / "relevance.toml").symlink_to(tmp_path / "mine.toml")
    with pytest.raises(UsageError, match="found api_key_env, expected plain addresses only"):
        resolve(Target("secure"), suites)


@pytest.mark.parametrize("name", [".cargo/credentials.toml", ".env", "shop.env", "token", "hidden/.secrets.toml"])
def test_a_link_beside_a_suite_to_another_kind_of_file_is_not_opened(suites, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text('SHOP_DATABASE = "postgres"\n')
    (suites / "relevance.toml").symlink_to(path)
    with pytest.raises(ConfigError, match="this link is not followed") as caught:
        resolve(Target("nowhere"), suites)
    assert "SHOP_DATABASE" not in str(caught.value)


def test_a_repository_below_the_working_directory_is_not_trusted(write, suites):
    (suites / ".git").mkdir()
    (suites / "relevance.toml").write_text(SECURE)
    path = write(LOCAL)
    assert Configs().path == path
    with pytest.raises(UsageError, match="found api_key_env"):
        resolve(Target("secure"), suites)


def test_a_broken_file_beside_a_suite_does_not_matter_where_it_is_not_used(write, suites):
    (suites / "relevance.toml").write_text("[clusters\n")
    write(LOCAL)
    assert resolve(Target(), suites).name == "default"
    with pytest.raises(ConfigError, match="this is not TOML"):
        resolve(Target("nowhere"), suites)


def test_every_suite_is_loaded_with_the_configuration_of_its_command():
    """A call that named none would take that of the working directory, whatever `--config` says."""
    root = Path(harness.__file__).parent
    lacking = []
    for path in root.rglob("*.py"):
        for node in list_nodes(path):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            is_loading = is_call and node.func.id in ("load_suite", "load_suites", "read_judged")
            if is_loading and "configs" not in [keyword.arg for keyword in node.keywords]:
                lacking.append(f"{path.relative_to(root)}:{node.lineno}")
    assert lacking == []


@pytest.mark.parametrize("place", ["", "inner"])
def test_a_file_of_the_former_name_is_refused_with_its_rename(tmp_path, place):
    former = tmp_path / "harness.toml"
    former.write_text('addresses = "listed"\n', encoding="utf-8")
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    with pytest.raises(ConfigError) as caught:
        Configs().read_beside(folder)
    new = tmp_path / "relevance.toml"
    assert str(caught.value) == (
        f"{former}: found harness.toml, expected relevance.toml; rename it: `mv {former} {new}`"
    )


def test_a_file_of_the_former_name_that_is_passed_by_is_not_refused(tmp_path):
    (tmp_path / "harness.toml").write_text('addresses = "listed"\n', encoding="utf-8")
    (tmp_path / "relevance.toml").write_text("", encoding="utf-8")
    assert Configs().read_beside(tmp_path) is not None
