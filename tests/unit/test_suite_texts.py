"""Values of parameters in the text of a suite, and a request added to it: nothing else changes."""

import json
import os
from pathlib import Path

import pytest
import yaml

from harness.drafts.suite_texts import SuiteTexts
from harness.errors import SuiteError, UsageError
from harness.suites import load_suite
from harness.suites.schema_file import SCHEMA_COMMENT

SUITE = """\
# The shop.
suite: shop
target: {index: products}

tune:
  parameters:
    # Titles say most.
    title_boost: {from: 0.5, to: 8, log: true, today: 2}   # since May
    must_match:
      choices: ["1", '75%', "100%", all]
      today: '75%'
    phrase: {switch: true, today: false}
    fields:
      choices:
        - [title]
        - [title, body]
      today:
        - title   # alone
    tie: {from: 0, to: 1, pointer: /query/bool/must/0/multi_match/tie_breaker}

requests:
  # What is sent.
  current:
    query:
      bool:
        must:
          - multi_match:
              query: "{{text}}"
              fields: "{{param:fields}}"
              minimum_should_match: "{{param:must_match}}"
              tie_breaker: 0.3   # a guess
        should: {match: {title: {query: "{{text}}", boost: "{{param:title_boost}}"}}}
  other: {query: {match: {title: "{{text}} {{param:phrase}}"}}}

# The queries.
queries:
  - {id: tents, text: tent, judgments: {sku-2: 1}}
"""
TODAY = {"title_boost": 2, "must_match": "75%", "phrase": False, "fields": ["title"], "tie": 0.3}


@pytest.fixture
def write(tmp_path):
    """Writes a suite, and files beside it."""

    def write_suite(text=SUITE, **files):
        for name, content in files.items():
            (tmp_path / name.replace("__", ".")).write_text(content, encoding="utf-8")
        path = tmp_path / "shop.relevance.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return SuiteTexts.read(load_suite(path, {}))

    return write_suite


def list_changed_lines(change):
    """The lines that a change takes away and adds."""
    return [line for line in change.list_diff()[2:] if line.startswith(("-", "+"))]


def test_values_in_place_and_comments_stay(write):
    """Values are put in their places, and comments stay."""
    texts = write()
    values = {"title_boost": 3.25, "must_match": "all", "phrase": True, "fields": ["title", "body"], "tie": 0.0}
    [change] = texts.put_values("current", values)
    assert list_changed_lines(change) == [
        "-    title_boost: {from: 0.5, to: 8, log: true, today: 2}   # since May",
        "+    title_boost: {from: 0.5, to: 8, log: true, today: 3.25}   # since May",
        "-      today: '75%'",
        "-    phrase: {switch: true, today: false}",
        "+      today: 'all'",
        "+    phrase: {switch: true, today: true}",
        "-        - title   # alone",
        "+        [title, body]   # alone",
        "-              tie_breaker: 0.3   # a guess",
        "+              tie_breaker: 0.0   # a guess",
    ]
    texts.write([change])
    assert load_suite(change.path, {}).tuning.today == values


def test_values_of_today_change_nothing(write):
    assert write().put_values("current", TODAY) == []


@pytest.mark.parametrize("text", [SUITE.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + SUITE.encode()])
def test_line_ends_and_the_byte_order_mark_stay(write, text):
    [change] = write(text).put_values("current", TODAY | {"title_boost": 4})
    assert change.after == text.replace(b"today: 2}", b"today: 4}")


def test_a_value_that_others_share_is_not_changed(write):
    text = SUITE.replace("tie_breaker: 0.3", "tie_breaker: &guess 0.3")
    shared = text.replace('boost: "{{param:title_boost}}"', 'boost: "{{param:title_boost}}", slop: *guess')
    [change] = write(text).put_values("current", TODAY | {"tie": 0.5})
    assert "tie_breaker: &guess 0.5   # a guess" in change.after.decode()
    with pytest.raises(UsageError, match=r"without changing more.*alias; write it by hand"):
        write(shared).put_values("current", TODAY | {"tie": 0.5})


def test_pointer_changes_one_request(write):
    """A pointer that leads into several requests changes one."""
    other = 'other: {query: {bool: {must: [{multi_match: {query: "{{text}}", tie_breaker: 0.7}}]}}}\n'
    text = SUITE.replace('other: {query: {match: {title: "{{text}} {{param:phrase}}"}}}\n', other)
    text = text.replace("    phrase: {switch: true, today: false}\n", "")
    texts = write(text)
    assert texts.put_values("other", TODAY | {"tie": 0.7}) == []
    [change] = texts.put_values("other", TODAY | {"tie": 0.5})
    assert change.after.decode() == text.replace("0.7", "0.5")


BODY = {"query": {"multi_match": {"query": "{{text}}", "fields": ["title"], "tie_breaker": 0.3}}}
IN_A_FILE = """\
suite: shop
target: {{index: products}}
tune:
  parameters:
    tie: {{from: 0, to: 1, pointer: /query/multi_match/tie_breaker}}
requests:
  current: {{file: {}, index: next}}
queries:
  - {{id: tents, text: tent, judgments: {{sku-2: 1}}}}
"""


def test_a_file_of_a_request_is_changed_in_place(write):
    texts = write(IN_A_FILE.format("search.json"), search__json=json.dumps(BODY, indent=4))
    [change] = texts.put_values("current", {"tie": 0.1 + 0.2})
    assert change.path.name == "search.json"
    assert change.after.decode() == json.dumps(BODY, indent=4).replace("0.3", repr(0.1 + 0.2))
    texts = write(IN_A_FILE.format("search.yaml"), search__yaml=yaml.safe_dump(BODY) + "# end\n")
    [change] = texts.put_values("current", {"tie": 0.5})
    assert change.after.decode() == yaml.safe_dump(BODY).replace("0.3", "0.5") + "# end\n"


def test_dollar_sign_is_no_variable(write):
    """A value with a dollar sign is written so that it is no variable."""
    text = SUITE.replace("all]", "all, '$${A}']")
    [change] = write(text).put_values("current", TODAY | {"must_match": "${A}"})
    assert "today: '$${A}'" in change.after.decode()


# Writing.


def test_a_file_that_changed_meanwhile_is_not_written(write):
    texts = write()
    [change] = texts.put_values("current", TODAY | {"title_boost": 4})
    change.path.write_text(SUITE + "# later\n", encoding="utf-8")
    with pytest.raises(UsageError, match="was changed since it was read; it was not written"):
        texts.write([change])
    assert change.path.read_text(encoding="utf-8") == SUITE + "# later\n"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write to any file")
def test_a_read_only_file_is_not_written(write):
    texts = write()
    [change] = texts.put_values("current", TODAY | {"title_boost": 4})
    change.path.chmod(0o444)
    with pytest.raises(UsageError, match="the file is read-only"):
        texts.write([change])


# A request.


def test_a_request_is_added_behind_the_others(write):
    texts = write()
    change = texts.add_request("tuned", "current", TODAY | {"title_boost": 4, "tie": 0.5}, "Tuned.")
    assert list_changed_lines(change) == [
        "+  # Tuned.",
        "+  tuned:",
        "+    query:",
        "+      bool:",
        "+        must:",
        '+          - multi_match: {query: "{{text}}", fields: [title], minimum_should_match: "75%", tie_breaker: 0.5}',
        '+        should: {match: {title: {query: "{{text}}", boost: 4}}}',
    ]
    texts.write([change])
    suite = load_suite(change.path, {})
    assert list(suite.requests) == ["current", "other", "tuned"]
    tuned = suite.requests["tuned"].body["query"]["bool"]
    assert tuned["must"][0]["multi_match"]["tie_breaker"] == 0.5


def test_the_only_request_becomes_one_by_name(write):
    text = SUITE[: SUITE.index("requests:")] + SUITE[SUITE.index("# The queries.") :]
    text = text.replace(
        "# The queries.",
        "request:   # as sent\n  # inside\n  query:\n    bool:\n      must:\n        - multi_match:\n"
        '            query: "{{text}} {{param:title_boost}} {{param:must_match}} {{param:phrase}}"\n'
        '            fields: "{{param:fields}}"\n            tie_breaker: 0.3\n\n'
        "  size: 10   # enough\n\n# The queries.",
    )
    change = write(text).add_request("tuned", "request", TODAY | {"tie": 0.5}, "Tuned.")
    after = change.after.decode()
    assert "requests:\n  request:   # as sent\n    # inside\n    query:\n" in after
    assert "\n    size: 10   # enough\n  # Tuned.\n  tuned:\n    query:\n" in after
    change.path.write_bytes(change.after)
    assert list(load_suite(change.path, {}).requests) == ["request", "tuned"]


def test_a_request_in_a_file_is_added_to_the_suite(write):
    body = {"query": {"multi_match": {"query": "{{text}} $${1} ${2}", "fields": ["title"], "tie_breaker": 0.3}}}
    texts = write(IN_A_FILE.format("search.json"), search__json=json.dumps(body))
    change = texts.add_request("tuned", "current", {"tie": 0.5}, "Tuned.")
    texts.write([change])
    tuned = load_suite(change.path, {}).requests["tuned"]
    assert tuned.index == "next"
    body["query"]["multi_match"]["tie_breaker"] = 0.5
    assert tuned.body == body


def test_several_lines_and_variables_stay(write):
    """Texts of several lines, and variables, stay as they are written."""
    script = "double x = 1;\n\nreturn _score * x;\n"
    current = """
  current:
    query:
      script_score:
        query: {match: {title: "{{text}} {{param:must_match}} {{param:phrase}} {{param:fields}}"}}
        script:
          source: |
            double x = 1;

            return _score * x;
          params: {boost: "{{param:title_boost}}", "on": no, id: 007}
    size: ${RELEVANCE_SIZE:-10}

"""
    text = SUITE[: SUITE.index("    fields:\n")] + "\nrequests:" + current + SUITE[SUITE.index("# The queries.") :]
    text = text.replace(" {{param:fields}}", "")
    texts = write(text)
    values = {"title_boost": 4, "must_match": "1", "phrase": True}
    change = texts.add_request("tuned", "current", values, "Tuned.")
    texts.write([change])
    assert b"    size: ${RELEVANCE_SIZE:-10}\n" in change.after.partition(b"tuned:")[2]
    body = load_suite(change.path, {}).requests["tuned"].body
    assert body["query"]["script_score"]["script"] == {
        "source": script,
        "params": {"boost": 4, "on": "no", "id": "007"},
    }
    assert body["query"]["script_score"]["query"] == {"match": {"title": "{{text}} 1 true"}}


def test_a_request_beside_others_in_braces(write):
    text = IN_A_FILE.replace("{{", "{").replace("}}", "}")
    before, after = text.split("requests:\n")
    body = '{current: {query: {multi_match: {query: "{{text}}", tie_breaker: 0.3}}}}'
    texts = write(f"{before}requests: {body}\n" + after.split("\n", 1)[1])
    change = texts.add_request("tuned", "current", {"tie": 0.5}, "Tuned.")
    assert b', tuned: {query: {multi_match: {query: "{{text}}", tie_breaker: 0.5}}}}\n' in change.after


def test_a_name_that_is_taken_is_refused(write):
    with pytest.raises(UsageError, match="found the request 'other' already; choose another name"):
        write().add_request("other", "current", TODAY, "Tuned.")


def test_a_suite_in_one_mapping_is_refused(write):
    suite = yaml.safe_load(IN_A_FILE.format("search.json"))
    texts = write(json.dumps(suite), search__json=json.dumps(BODY))
    with pytest.raises(UsageError, match="write it by hand"):
        texts.add_request("tuned", "current", {"tie": 0.5}, "Tuned.")


def test_the_examples_keep_all_but_the_value():
    """The suite beside this project, whose requests share parts by aliases."""
    path = Path(__file__).parents[2] / "suites" / "hybrid.relevance.yaml"
    texts = SuiteTexts.read(load_suite(path, {}))
    weight = texts.suite.tuning.today["weight"]
    [change] = texts.put_values("fused", texts.suite.tuning.today | {"weight": 0.123})
    assert change.after.decode() == change.before.decode().replace(f"today: {weight}}}", "today: 0.123}", 1)
    added = texts.add_request("tuned", "fused", texts.suite.tuning.today, "Tuned.").after.decode()
    assert added.index("  tuned:") > added.index("  vector:")


def test_the_comment_that_names_the_schema_stays(write):
    [change] = write(SCHEMA_COMMENT + SUITE).put_values("current", TODAY | {"title_boost": 3})
    added = write(SCHEMA_COMMENT + SUITE).add_request("tuned", "current", TODAY, "by hand")
    for text in (change.after.decode(), added.after.decode()):
        assert text.startswith(f"{SCHEMA_COMMENT}# The shop.\n")


def test_a_text_keeps_its_lines_and_comments(write):
    text = "# Words.\nquery:\n  match:\n    title: '{{text}}'   # a line\n\nsize: 5\n"
    change = write().add_text("tried", text, "Tried.")
    added = [line[1:] for line in change.list_diff() if line.startswith("+") and not line.startswith("+++")]
    assert added == ["  # Tried.", "  tried:", *(f"    {line}" if line else "" for line in text.splitlines())]


@pytest.mark.parametrize(
    "text", ["{query: {match: {title: '{{text}}'}}}", '{\n  "query": {"match": {"a": "{{text}}"}}\n}']
)
def test_a_text_in_braces_is_put_on_a_line(write, text):
    change = write().add_text("tried", text, "Tried.")
    added = [line[1:] for line in change.list_diff() if line.startswith("+") and not line.startswith("+++")]
    assert len(added) == 2
    assert added[1].startswith("  tried: {")


def test_a_text_that_takes_an_anchor_from_nowhere_is_refused(write):
    with pytest.raises((UsageError, SuiteError)):
        write().add_text("tried", "query: *nowhere\n", "Tried.")
