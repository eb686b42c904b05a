"""The command line of a request: what a POSIX shell makes of it is the request."""

import base64
import json
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.model.request import Route, SentRequest
from harness.report.curl import format_curl
from harness.report.inspection_document import _build_request, _build_short_request
from harness.report.safe_text import printable
from harness.report.terminal import print_blocks, render_plain

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=20)


def words(line, **variables):
    """The words that a shell makes of *line* behind the name of the command."""
    script = f"curl() {{ for word; do printf '%s\\0' \"$word\"; done; }}; {line}"
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin", **variables}
    )
    return done.stdout.decode().split("\0")[:-1]


def sent(body=None, **others):
    return SentRequest("POST", "http://shop/p/_search?a=b&c=d", body=body, **others)


@settings(deadline=None, max_examples=40)
@given(st.recursive(TEXT, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2)))
@example("\x7f it's \u202e \U000e0001 $HOME `x` 靴")
def test_any_body_reaches_curl_as_it_is(body):
    line = format_curl(sent({"q": body}))
    assert printable(line) == line
    found = words(line)
    assert found[:4] == ["-X", "POST", "http://shop/p/_search?a=b&c=d", "--data-raw"]
    assert json.loads(found[4]) == {"q": body}


@pytest.mark.parametrize("part", ["url", "body", "x-text"])
def test_nothing_is_filled_in_where_the_suite_has_the_text(part):
    parts = {"url": "http://shop/${KEY}", "body": {"q": "${KEY}"}, "x-text": "${KEY}"}
    headers = {"x-text": parts["x-text"], "authorization": "Bearer ${KEY}"}
    request = SentRequest("GET", parts["url"], headers, parts["body"], variables=("KEY",), verbatim=(part,))
    found = words(format_curl(request), KEY="s3cret")
    shown = {"url": found[-3], "body": found[-1], "x-text": found[found.index("-H") + 1]}
    assert [name for name, text in shown.items() if "${KEY}" in text] == [part]
    assert "authorization: Bearer s3cret" in found


def test_the_shell_fills_variables_in_and_nothing_else():
    request = sent({"q": "it's ${KEY}, `ls` $HOME ${OTHER} \\ !"}, variables=("KEY",))
    assert (
        words(format_curl(request), KEY="s3cret", OTHER="no")[-1] == '{"q":"it\'s s3cret, `ls` $HOME ${OTHER} \\\\ !"}'
    )


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            sent(login="${SHOP_USER}:${SHOP_PASSWORD}", variables=("SHOP_USER", "SHOP_PASSWORD")),
            '-u "$SHOP_USER:$SHOP_PASSWORD"',
        ),
        (sent(headers={"authorization": "ApiKey ${KEY}"}, variables=("KEY",)), '-H "authorization: ApiKey $KEY"'),
        (sent(headers={"x-a": "${KEY}s"}, variables=("KEY",)), '-H "x-a: ${KEY}s"'),
        (sent(ca_certs="my ca.pem"), "--cacert 'my ca.pem'"),
    ],
)
def test_a_login_is_named_by_its_variables(request_, expected):
    assert expected in format_curl(request_)


def test_a_key_that_is_not_encoded_is_encoded_by_the_shell():
    request = sent(headers={"authorization": "ApiKey ${KEY}"}, variables=("KEY",), encoded=("KEY",))
    key = "an-id:" + "k" * 90
    assert words(format_curl(request), KEY=key)[3] == f"authorization: ApiKey {base64.b64encode(key.encode()).decode()}"


def test_without_a_body_nothing_is_sent():
    assert words(format_curl(sent())) == ["-X", "POST", "http://shop/p/_search?a=b&c=d"]


def test_certificates_and_a_proxy_are_options_of_curl():
    line = format_curl(
        sent(
            route=Route(
                client_cert="my cert.pem",
                client_key="key.pem",
                client_key_password="${PW}",
                proxy="http://proxy:3128",
                proxy_login="${PU}:${PP}",
                verify_certs=False,
            ),
            variables=("PP", "PU", "PW"),
        )
    )
    certificate = ["--cert", "my cert.pem", "--key", "key.pem", "--pass", "of the key"]
    proxy = ["--proxy", "http://proxy:3128", "--proxy-user", "kim:a b"]
    found = words(line, PW="of the key", PU="kim", PP="a b")
    assert found[2:] == [*certificate, *proxy, "--insecure", "http://shop/p/_search?a=b&c=d"]


# What a suite or a relevance.toml may have written to be run by whoever pastes the line.

SHELL_CODE = "$(touch harm) `touch harm` ${IFS} $(touch harm"
AUTHORIZATION = {"Authorization": f"{SHELL_CODE}\"; touch harm; ' ${{KEY}}"}


@pytest.mark.parametrize(
    "request_",
    [
        sent(headers=AUTHORIZATION, variables=("KEY",), encoded=("KEY",)),
        sent(headers={"authorization": "$(touch${IFS}harm) ${KEY}"}, variables=("KEY",), encoded=("KEY",)),
        sent(headers={"$(touch harm)": "${KEY}"}, variables=("KEY",)),
        sent(headers={"x-a": "${KEY}"}, variables=("KEY", "A}$(touch harm)${B")),
        sent(headers={"authorization": "ApiKey ${A$(touch harm)}"}, variables=("A$(touch harm)",)),
        sent(
            headers={"authorization": "ApiKey ${A$(touch harm)}"},
            variables=("A$(touch harm)",),
            encoded=("A$(touch harm)",),
        ),
        sent({"q": f"{SHELL_CODE} ${{KEY}} ' \" ! \n touch harm"}, variables=("KEY",)),
        SentRequest("GET; touch harm", f"http://shop/{SHELL_CODE}'; touch harm #"),
        sent(ca_certs="; touch harm", login="a;touch harm;$(touch harm):b"),
        sent(route=Route(client_cert="$(touch harm)", client_key="`touch harm`", proxy="http://p;touch harm")),
    ],
)
def test_the_shell_runs_nothing_but_curl(request_, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words(format_curl(request_), KEY="s3cret")
    assert list(tmp_path.iterdir()) == []


def test_what_stands_before_an_encoded_key_is_sent_as_it_is():
    request = sent(headers=AUTHORIZATION, variables=("KEY",), encoded=("KEY",))
    beginning = AUTHORIZATION["Authorization"].removesuffix("${KEY}")
    assert words(format_curl(request), KEY="id:key")[3] == f"Authorization: {beginning}aWQ6a2V5"


@pytest.mark.parametrize("url", ["http://shop/p?a[]=1", "http://shop/{a,b}", "http://shop/[1-9]"])
def test_curl_sends_one_request_for_any_url(url):
    assert words(format_curl(SentRequest("GET", url))) == ["-X", "GET", "--globoff", url]


@pytest.mark.parametrize("size", [1, 400, 40_000])
def test_a_long_body_is_shown_only_if_it_is_asked_for(size):
    sent = SentRequest("POST", "http://shop/_search", {}, body={"query": "x" * size})
    short = render_plain(print_blocks(_build_short_request(sent)))
    assert len(short) < 1000
    assert ("…" in short) is (size > 1)
    assert "x" * size in render_plain(print_blocks(_build_request(sent))).replace("\n", "").replace(" ", "")


LONG = "it's `ls` $HOME ${OTHER} ${KEY} \\ \\\\ ! 靴 " * 30_000


@pytest.mark.parametrize(("variables", "verbatim"), [((), ()), (("KEY",), ()), (("KEY",), ("body",))])
def test_a_body_that_is_too_large_for_an_argument_is_the_input_of_curl(variables, verbatim):
    line = format_curl(sent({"q": LONG}, variables=variables, verbatim=verbatim))
    # The kernel refuses a script of this size as an argument too.
    script = f"curl() {{ for word; do printf '%s\\0' \"$word\"; done; cat; }}; {line}\n"
    done = subprocess.run(
        ["sh"], input=script.encode(), capture_output=True, check=True, env={"PATH": "/usr/bin:/bin", "KEY": "s3cret"}
    )
    *found, body = done.stdout.decode().split("\0")
    assert found == ["-X", "POST", "http://shop/p/_search?a=b&c=d", "--data-binary", "@-"]
    assert json.loads(body) == {"q": LONG.replace("${KEY}", "s3cret") if variables and not verbatim else LONG}
    assert max(len(word.encode()) for word in line.split("<<")[0].split()) < 131_072


def test_a_very_long_text_is_printed_once_and_cut_above():
    request = SentRequest("POST", "http://shop/_search", {}, body={"query": {"match": {"title": "x" * 1_000_000}}})
    above, _, below = render_plain(print_blocks(_build_request(request))).partition("curl -X POST")
    assert len(above) < 5_000
    assert "1,000,017 characters in all, which the curl line has" in " ".join(above.split())
    assert "x" * 1_000_000 in below
