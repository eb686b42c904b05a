"""Links of judges: where the page is served, whose token it is, and what is kept of it."""

import json
import os
import re
import stat

import pytest

from harness.errors import FormatError, UsageError
from harness.extensions.judging.server.access import AccessFile, build_access_path
from harness.files.beside import BesideFile
from harness.local_server.access import OneUser
from harness.local_server.addresses import Address, parse_address


@pytest.fixture
def path(tmp_path):
    return build_access_path(tmp_path / "shop.relevance.yaml")


def test_each_judge_has_a_token_of_which_only_the_digest_is_kept(path):
    access = AccessFile.start_anew(BesideFile(path))
    tokens = access.grant(["anna", "ben"])
    assert {judge: access.find_user(token) for judge, token in tokens.items()} == {"anna": "anna", "ben": "ben"}
    assert min(map(len, tokens.values())) >= 32
    assert [access.find_user(token) for token in ("", "x", tokens["anna"][:-1], "é")] == [None] * 4
    text = path.read_text()
    assert not any(token in text for token in tokens.values())
    assert json.loads(text).keys() == {"anna", "ben"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_digest_is_no_token(path):
    access = AccessFile.start_anew(BesideFile(path))
    access.grant(["anna"])
    assert access.find_user(access.digests["anna"]) is None


def test_kept_links_hold_and_only_who_has_none_gets_one(path):
    first = AccessFile.start_anew(BesideFile(path)).grant(["anna"])
    again = AccessFile.read(BesideFile(path))
    assert again.grant(["anna", "ben"]).keys() == {"ben"}
    assert again.find_user(first["anna"]) == "anna"


def test_a_new_start_ends_all_links(path):
    token = AccessFile.start_anew(BesideFile(path)).grant(["anna"])["anna"]
    access = AccessFile.start_anew(BesideFile(path))
    assert access.find_user(token) is None
    assert access.grant(["anna"])["anna"] != token
    assert access.find_user(token) is None


def test_a_link_that_another_command_revokes_ends_at_once(path):
    serving = AccessFile.start_anew(BesideFile(path))
    tokens = serving.grant(["anna", "ben"])
    AccessFile.read(BesideFile(path)).revoke("anna")
    assert [serving.find_user(token) for token in tokens.values()] == [None, "ben"]
    with pytest.raises(UsageError, match=r"\.shop\.judges\.json: anna has no link"):
        AccessFile.read(BesideFile(path)).revoke("anna")
    with pytest.raises(UsageError, match="bem has no link; did you mean 'ben'"):
        AccessFile.read(BesideFile(path)).revoke("bem")
    path.unlink()
    assert serving.find_user(tokens["ben"]) is None


def test_a_file_that_is_damaged_while_it_is_served_lets_nobody_in(path):
    serving = AccessFile.start_anew(BesideFile(path))
    token = serving.grant(["anna"])["anna"]
    path.write_text("{")
    assert serving.find_user(token) is None
    with pytest.raises(FormatError, match="these are no links of judges"):
        AccessFile.read(BesideFile(path))


@pytest.mark.parametrize("content", ["", "[]", "[" * 100_000, '{"anna": 1}', '{"anna": "é"}', "\udcff"])
def test_a_file_of_something_else_is_refused(path, content):
    path.write_bytes(content.encode(errors="surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(
        FormatError, match=r"\.shop\.judges\.json:1:1: these are no links of judges, expected an object"
    ):
        AccessFile.read(BesideFile(path))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such rights")
def test_links_that_somebody_else_may_have_written_are_refused_and_do_not_outlive_a_start(path, tmp_path):
    """Git writes files with the rights 600 only under a umask such as 077: a repository brings no links by itself."""
    token = AccessFile.start_anew(BesideFile(path)).grant(["anna"])["anna"]
    path.chmod(0o644)
    with pytest.raises(FormatError, match=r"with the rights 644, expected one of your own with the rights 600; remove"):
        AccessFile.read(BesideFile(path))
    other = path.rename(tmp_path / "other")
    path.symlink_to(other)
    with pytest.raises(FormatError, match="this is a link, expected the file itself"):
        AccessFile.read(BesideFile(path))
    before = other.read_bytes()
    access = AccessFile.start_anew(BesideFile(path))
    access.grant(["anna"])
    assert access.find_user(token) is None
    assert other.read_bytes() == before
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600


def test_the_token_of_one_judge_is_new_each_time():
    first, second = OneUser("anna"), OneUser("anna")
    assert (first.find_user(first.token), first.find_user(second.token)) == ("anna", None)


@pytest.mark.parametrize(
    ("text", "public_url", "link"),
    [
        ("127.0.0.1:8000", None, "http://127.0.0.1:8000/#token=t"),
        ("localhost:8000", None, "http://localhost:8000/#token=t"),
        ("[::1]:8000", None, "http://[::1]:8000/#token=t"),
        ("0.0.0.0:80", "https://shop.example", "https://shop.example/#token=t"),
        ("127.0.0.1:80", "https://Shop.example:443/judging/", "https://shop.example/judging/#token=t"),
        ("127.0.0.1:80", "https://[fe80::1]:8443", "https://[fe80::1]:8443/#token=t"),
    ],
)
def test_a_link_has_the_address_that_a_browser_asks(text, public_url, link):
    assert parse_address(text, public_url).build_link("t") == link


@pytest.mark.parametrize(
    "text", ["", "8000", "127.0.0.1", ":8000", "127.0.0.1:", "a:b", "a:65536", "a:²", "a:" + "9" * 5000]
)
def test_an_address_that_is_none_is_refused_with_what_was_expected(text):
    with pytest.raises(UsageError, match=r"for --serve, expected HOST:PORT, such as 127\.0\.0\.1:8000"):
        parse_address(text, None)


@pytest.mark.parametrize("text", ["0.0.0.0:80", "[::]:80", "shop.example:80", "192.168.1.5:80"])
def test_an_address_that_others_reach_is_refused_without_a_proxy(text):
    with pytest.raises(UsageError, match=f"found '{re.escape(text)}' for --serve, where other machines could read"):
        parse_address(text, None)


@pytest.mark.parametrize(
    "url",
    ["http://shop.example", "shop.example", "https://", "https://a:b@shop.example", "https://shop.example/?a", "https://a/#b",
     "https://[a", "https://a:b", "https://a:99999"],
)  # fmt: skip
def test_a_public_address_is_that_of_a_proxy_with_tls(url):
    with pytest.raises(UsageError, match="for --public-url, expected the address of a proxy with TLS"):
        parse_address("127.0.0.1:80", url)


def test_who_is_behind_a_proxy_answers_to_its_names_only():
    public = parse_address("0.0.0.0:80", "https://shop.example:8443/judging")
    assert (public.hosts, public.origins) == (("shop.example:8443",), ("https://shop.example:8443",))
    local = parse_address("127.0.0.1:80", "https://shop.example")
    assert local.hosts == ("shop.example", "127.0.0.1:80", "localhost:80")


def test_an_address_that_is_not_this_machine_s_is_named():
    with pytest.raises(UsageError, match=r"192\.0\.2\.1:80 cannot be used: .*; choose another --serve"):
        Address("192.0.2.1", 80, "https://shop.example").listen()
