"""What is wrong in a suite: one test a mistake, each with its whole message: place, found, expected, nearest, caret."""

import time
from pathlib import Path

import pytest
import yaml

from builders.extension_cases import needs_extension
from harness.errors import SuiteError
from harness.suites import load_suite, load_suites
from harness.suites.loading import describe_no_judgments

SHOP = """\
suite: shop
target: {index: products}
grades: {good: 2, bad: 0}
request:
  query: {match: {title: "{{text}}"}}
measures: ["nDCG@10"]
thresholds:
  - "mean nDCG@10 >= 0.8"
queries:
  - id: shoes
    text: red shoes
    tags: [head]
    judgments: {sku-1: good, sku-2: bad}
"""
TOP_KEYS = (
    "suite, target, grades, judges, guidelines, gain, profile, request, requests, measures, thresholds, expect, "
    "queries, vectors, judgments, variants, undefined, baseline, depth, display, checks, warm_up, fixture, "
    "tune, markers"
)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Writes the suite under the name that errors call it, and what else is given."""
    monkeypatch.chdir(tmp_path)

    def write(content, **files):
        path = tmp_path / "shop.relevance.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
        return path.relative_to(tmp_path)

    return write


def refusal(path, environ=None):
    with pytest.raises(SuiteError) as caught:
        load_suite(path, environ)
    assert caught.value.exit_status == 2
    return str(caught.value)


def excerpt(place, message, line, text, column):
    return f"shop.relevance.yaml:{place}: {message}\n{line:>5} | {text}\n      | {' ' * (column - 1)}^"


def changed(old, new):
    assert old in SHOP
    return SHOP.replace(old, new, 1)


CASES = {
    "unknown key": (
        changed("thresholds:", "tresholds:"),
        "7:1",
        f"unknown key 'tresholds', expected {TOP_KEYS}; did you mean 'thresholds'?",
        "tresholds:",
    ),
    "unknown key of a query": (
        changed("tags:", "tag:"),
        "12:5",
        "unknown key 'tag', expected id, text, need, nothing, params, tags, weight, judgments, quotes, "
        "thresholds, expect, variants, same_as, markers, xfail, skip; did you mean 'tags'?",
        "    tag: [head]",
    ),
    "text where a list belongs": (
        changed('["nDCG@10"]', "nDCG@10"),
        "6:11",
        "found 'nDCG@10', expected a list",
        "measures: nDCG@10",
    ),
    "text where a mapping belongs": (
        changed("{index: products}", "products"),
        "2:9",
        "found 'products', expected a mapping with cluster, index, engine, ids, point_in_time, id_field, service",
        "target: products",
    ),
    "another word for what ids are": (
        changed("{index: products}", "{index: products, ids: uniqe}"),
        "2:32",
        "found 'uniqe', expected per_index or unique; did you mean 'unique'?",
        "target: {index: products, ids: uniqe}",
    ),
    "a list where text belongs": (
        changed("suite: shop", "suite: [shop]"),
        "1:8",
        "found a list, expected text",
        "suite: [shop]",
    ),
    "nothing where text belongs": (
        changed("text: red shoes", "text:"),
        "11:10",
        "found nothing, expected text",
        "    text:",
    ),
    "text where a number belongs": (
        changed("good: 2", "good: two"),
        "3:16",
        "found 'two', expected a number",
        "grades: {good: two, bad: 0}",
    ),
    "a quoted number": (
        changed("good: 2", 'good: "2"'),
        "3:16",
        "found '2', expected a number; remove the quotes",
        'grades: {good: "2", bad: 0}',
    ),
    "a number with a leading zero": (
        changed("good: 2", "good: 02"),
        "3:16",
        "found '02', expected a number; a number has no leading zero",
        "grades: {good: 02, bad: 0}",
    ),
    "unknown grade name": (
        changed("sku-1: good", "sku-1: goood"),
        "13:24",
        "found 'goood' as a grade, expected a number or one of good, bad; did you mean 'good'?",
        "    judgments: {sku-1: goood, sku-2: bad}",
    ),
    "infinite grade": (
        changed("sku-1: good", "sku-1: .inf"),
        "13:24",
        "found '.inf', expected a finite grade",
        "    judgments: {sku-1: .inf, sku-2: bad}",
    ),
    "grade that is not a number": (
        changed("sku-1: good", "sku-1: NaN"),
        "13:24",
        "found 'NaN', expected a finite grade",
        "    judgments: {sku-1: NaN, sku-2: bad}",
    ),
    "grade beyond the floats": (
        changed("good: 2", "good: 1e999"),
        "3:16",
        "found '1e999', expected a finite number",
        "grades: {good: 1e999, bad: 0}",
    ),
    "grade name that looks like a number": (
        changed("good: 2", "2: 2").replace("sku-1: good", "sku-1: 2"),
        "3:10",
        "found '2' as the name of a grade, expected a word such as good",
        "grades: {2: 2, bad: 0}",
    ),
    "grade too great for an exponential gain": (
        changed("sku-1: good", "sku-1: 1024"),
        "1:1",
        "an exponential gain cannot be computed for grade 1024, given to 'sku-1' for query 'shoes'; "
        "grades go up to 1000",
        "suite: shop",
    ),
    "gain map without a grade in use": (
        changed("grades:", "gain: {2: 1}\ngrades:"),
        "3:1",
        "the gain map has no gain for grade 0, given to 'sku-2' for query 'shoes'",
        "gain: {2: 1}",
    ),
    "measure's gain map without a grade in use": (
        changed('"nDCG@10"', '"nDCG(gain={2: 1})@10"'),
        "6:1",
        "nDCG(gain={2: 1})@10: the gain map has no gain for grade 0, given to 'sku-2' for query 'shoes'",
        'measures: ["nDCG(gain={2: 1})@10"]',
    ),
    "grade above a measure's scale": (
        changed('"nDCG@10"', '"ERR(max=1)@10"'),
        "6:1",
        "ERR(max=1)@10 cannot score query 'shoes': grade 2 is above the top grade 1 of ERR; "
        "name the scale's, as ERR(max=2)",
        'measures: ["ERR(max=1)@10"]',
    ),
    "measure that needs quotes": (
        changed("mean nDCG@10", "mean alpha_nDCG@10"),
        "8:5",
        "alpha_nDCG@10 needs 'quotes', and no query that it scores has any",
        '  - "mean alpha_nDCG@10 >= 0.8"',
    ),
    "depth 0": (
        SHOP + "depth: 0\n",
        "14:8",
        "found '0', expected a whole number of at least 1",
        "depth: 0",
    ),
    "size beside another depth": (
        changed("request:", "request:\n  size: 50") + "depth: 20\n",
        "5:3",
        "the request 'request' has size 50, but depth is 20; remove one of them",
        "  size: 50",
    ),
    "size 0": (
        changed("request:", "request:\n  size: 0"),
        "5:9",
        "expected the number of hits as size: a whole number of at least 1",
        "  size: 0",
    ),
    "request without a body": (
        changed('request:\n  query: {match: {title: "{{text}}"}}', "request: {index: other}"),
        "4:10",
        "found neither 'body', 'file' nor 'http', expected one of them: "
        "{index: NAME, body: …}, {index: NAME, file: …} or {http: …}",
        "request: {index: other}",
    ),
    "index of an HTTP service": (
        changed('request:\n  query: {match: {title: "{{text}}"}}', "request: {index: x, http: {path: /a, ids: $.a}}"),
        "4:18",
        "an HTTP service has no index; use the path or the params",
        "request: {index: x, http: {path: /a, ids: $.a}}",
    ),
    "requests of two kinds": (
        changed(
            'request:\n  query: {match: {title: "{{text}}"}}', "requests: {a: {}, b: {http: {path: /a, ids: $.a}}}"
        ),
        "4:22",
        "the request 'b' goes over HTTP and 'a' to an engine, both to the cluster 'default'; "
        "expected 'target: {cluster: NAME}' in one of them",
        "requests: {a: {}, b: {http: {path: /a, ids: $.a}}}",
    ),
    "list as a request": (
        changed('request:\n  query: {match: {title: "{{text}}"}}', "request: [a]"),
        "4:10",
        "found a list, expected a mapping",
        "request: [a]",
    ),
    "no requests by name": (
        changed('request:\n  query: {match: {title: "{{text}}"}}', "requests: {}"),
        "4:1",
        "found no requests, expected at least one",
        "requests: {}",
    ),
    "two gains for a grade": (
        changed("grades:", "gain: {2: 1, good: 2, 0: 0}\ngrades:"),
        "3:14",
        "grade 2 has two gains, the first in line 3, column 8",
        "gain: {2: 1, good: 2, 0: 0}",
    ),
    "unknown grade in the gain map": (
        changed("grades:", "gain: {2: 1, god: 2, 0: 0}\ngrades:"),
        "3:14",
        "found 'god' as a grade, expected a number or one of good, bad; did you mean 'good'?",
        "gain: {2: 1, god: 2, 0: 0}",
    ),
    "list as gain": (
        SHOP + "gain: [1]\n",
        "14:7",
        "found a list, expected exponential, linear, or a mapping of grade to gain",
        "gain: [1]",
    ),
    "list as a threshold": (
        changed('"mean nDCG@10 >= 0.8"', "[a]"),
        "8:5",
        "found a list, expected a threshold such as 'mean nDCG@10 >= 0.8', or a mapping with threshold, xfail, skip, "
        "markers, severity, requests, estimate",
        "  - [a]",
    ),
    "placeholder that is no name": (
        changed("{{text}}", "{{#toJson}}"),
        "5:26",
        "found {{#toJson}}, expected a placeholder such as {{text}}, {{depth}}",
        '  query: {match: {title: "{{#toJson}}"}}',
    ),
    "param with a name that is taken": (
        changed("text: red shoes", "text: red shoes\n    params: {text: x}"),
        "10:9",
        "query 'shoes' has a param 'text', which is a reserved name",
        "  - id: shoes",
    ),
    "query without the text that is asked for": (
        changed("    text: red shoes\n", ""),
        "10:9",
        "query 'shoes' has no text, but the request uses {{text}}",
        "  - id: shoes",
    ),
    "blank text": (changed("red shoes", '" "'), "11:11", "found blank text, expected a text", '    text: " "'),
    "indexes without a name": (
        changed("index: products", 'index: ","'),
        "2:17",
        "found ',', expected the name of an index before and after each comma, as an empty one may stand for all "
        "indexes",
        'target: {index: ","}',
    ),
    "indexes of variables that are empty": (
        changed("index: products", 'index: "${RELEVANCE_A:-},${RELEVANCE_B:-}"'),
        "2:17",
        "found '${RELEVANCE_A:-},${RELEVANCE_B:-}', expected the name of an index before and after each comma, as an "
        "empty one may stand for all indexes",
        'target: {index: "${RELEVANCE_A:-},${RELEVANCE_B:-}"}',
    ),
    "a request with an index without a name": (
        changed("request:\n  query", 'request:\n  index: "a,"\n  body:\n    query'),
        "5:10",
        "found 'a,', expected the name of an index before and after each comma, as an empty one may stand for all "
        "indexes",
        '  index: "a,"',
    ),
    **{
        f"the index {index}": (
            changed("index: products", f'index: "{index}"'),
            "2:17",
            f"found {index!r}, expected the name of an index, {expected}",
            f'target: {{index: "{index}"}}',
        )
        for indexes, expected in (
            (("_scripts", "shop,_tasks", " _x", "%5fscripts"), "which does not begin with _"),
            (("..", "shop,..", "../_all", "a/../b", "..%2fb", "%252e%252e", "."), "not . or .. in a path"),
            (
                ("shop/_doc", "a,shop%252F_doc", "b%5C_doc", "<a-{now/d}>/_doc"),
                "which has no / but in a date such as <logs-{now/d}>",
            ),
        )
        for index in indexes
    },
    "id with an invisible character": (
        changed("id: shoes", 'id: "a\\u200bb"'),
        "10:9",
        "found 'a\\u200bb', expected a name of printable characters",
        '  - id: "a\\u200bb"',
    ),
    "tag given twice": (
        changed("[head]", "[head, head]"),
        "12:18",
        "the tag 'head' is given twice",
        "    tags: [head, head]",
    ),
    "colon in a value": (
        changed("red shoes", "red: shoes"),
        "11:14",
        "found ': ' inside a value; put a text that contains it in quotes",
        "    text: red: shoes",
    ),
    "indentation": (
        changed("    tags", "   tags"),
        "12:4",
        "this line does not fit the ones above it; check the indentation and the quotes",
        "   tags: [head]",
    ),
    "quote that is not closed": (
        changed("red shoes", '"red shoes'),
        "11:11",
        "this quote is not closed",
        '    text: "red shoes',
    ),
    "unknown escape": (
        changed("red shoes", '"tent \\\\\\d+"'),
        "11:19",
        "\\d means nothing in double quotes; put the text in single quotes, or write two backslashes for one that "
        "belongs to the text",
        '    text: "tent \\\\\\d+"',
    ),
    "escape without its digits": (
        changed("red shoes", '"\\xz"'),
        "11:12",
        "\\x is no character; expected 2 hexadecimal digits after \\x, or write two backslashes for one that belongs "
        "to the text",
        '    text: "\\xz"',
    ),
    "half a character": (
        changed("red shoes", '"ab \\ud83d"'),
        "11:15",
        "\\ud83d is no character; write the character itself, or its number as in \\U0001F600, or write two "
        "backslashes for one that belongs to the text",
        '    text: "ab \\ud83d"',
    ),
    "half a character beside a whole one": (
        changed("red shoes", '"\\ud83d\\ude00 \\ud83d"'),
        "11:11",
        "this text has half of a character; write the character itself, or its number as in \\U0001F600",
        '    text: "\\ud83d\\ude00 \\ud83d"',
    ),
    "unknown gain": (
        changed("grades:", "gain: exponental\ngrades:"),
        "3:7",
        "found 'exponental', expected exponential or linear; did you mean 'exponential'?",
        "gain: exponental",
    ),
    "a score that is no number": (
        changed('measures: ["nDCG@10"]', 'gain: {good: 1e308, bad: 0}\nmeasures: ["CG@10"]'),
        "7:1",
        "CG@10 cannot score query 'shoes': the score of CG@10 is 1e+308, expected a number from -1e+100 to 1e+100; "
        "use smaller gains",
        'measures: ["CG@10"]',
    ),
    "a scale beyond all": (
        changed("nDCG@10", "ERR(max=2000)"),
        "6:21",
        "ERR's max: expected a number from 0 to 1024, exclusive, found 2000",
        'measures: ["ERR(max=2000)"]',
    ),
    "unknown profile": (
        changed("grades:", "profile: rank-eval\ngrades:"),
        "3:10",
        "found 'rank-eval', expected standard, trec, rank_eval, opensearch-srw, opensearch-srw-3.5, quepid or rre; "
        "did you mean 'rank_eval'?",
        "profile: rank-eval",
    ),
    "unknown placeholder": (
        changed("{{text}}", "{{txt}}"),
        "5:26",
        "unknown placeholder {{txt}}, expected {{text}}, {{depth}}, or the name of a param of the queries; "
        "did you mean 'text'?",
        '  query: {match: {title: "{{txt}}"}}',
    ),
    "placeholder without quotes": (
        changed('"{{text}}"', "{{text}}"),
        "5:27",
        'found a mapping as a key, expected a word; YAML reads {{text}} without quotes as a mapping; write "{{text}}"',
        "  query: {match: {title: {{text}}}}",
    ),
    "param that no request asks for": (
        changed("text: red shoes", "text: red shoes\n    params: {brand: x}"),
        "10:9",
        "query 'shoes' has a param 'brand', which no request uses",
        "  - id: shoes",
    ),
    "threshold out of grammar": (
        changed("mean nDCG@10 >= 0.8", "mean nDCG@10 => 0.8"),
        "8:19",
        "found '=>', expected a comparison: >=, >, <=, < or =",
        '  - "mean nDCG@10 => 0.8"',
    ),
    "threshold out of the measure's reach": (
        changed("0.8", "7"),
        "8:5",
        "7 is out of range: nDCG@10 is 0 to 1",
        '  - "mean nDCG@10 >= 7"',
    ),
    "share over 100 %": (
        changed("mean", "120%"),
        "8:5",
        "found '120%', expected a share of the queries above 0% and up to 100%",
        '  - "120% nDCG@10 >= 0.8"',
    ),
    "tag that no query has": (
        changed('0.8"', '0.8 for haed"'),
        "8:5",
        "no query has the tag 'haed'; did you mean 'head'?",
        '  - "mean nDCG@10 >= 0.8 for haed"',
    ),
    "drop out of the measure's reach": (
        changed("mean nDCG@10 >= 0.8", "drop nDCG@10 <= 2"),
        "8:5",
        "2 is out of range: nDCG@10 is 0 to 1",
        '  - "drop nDCG@10 <= 2"',
    ),
    "baseline neither required nor optional": (
        changed("measures:", "baseline: none\nmeasures:"),
        "6:11",
        "found 'none', expected required or optional",
        "baseline: none",
    ),
    "expectation below the first rank": (
        SHOP + '    expect: ["sku-1 in top 0"]\n',
        "14:28",
        "found '0', expected a rank such as 10, at least 1",
        '    expect: ["sku-1 in top 0"]',
    ),
    "statistic in a query's own threshold": (
        SHOP + '    thresholds: ["mean nDCG@10 >= 0.5"]\n',
        "14:18",
        "found 'mean', but a query's own threshold has no statistic; remove it",
        '    thresholds: ["mean nDCG@10 >= 0.5"]',
    ),
    "unknown measure": (
        changed("nDCG@10", "nDGC@10"),
        "6:12",
        "unknown measure nDGC; did you mean nDCG?",
        'measures: ["nDGC@10"]',
    ),
    "cutoff 0": (
        changed("nDCG@10", "nDCG@0"),
        "6:18",
        "the cutoff must be at least 1, found 0",
        'measures: ["nDCG@0"]',
    ),
    "measure named twice": (
        changed('["nDCG@10"]', '["nDCG@10", "nDCG@10"]'),
        "6:23",
        "the measure nDCG@10 is named twice",
        'measures: ["nDCG@10", "nDCG@10"]',
    ),
    "decimal comma": (
        changed("0.8", "0,8"),
        "8:22",
        "found '0,8', expected a decimal point: 0.8",
        '  - "mean nDCG@10 >= 0,8"',
    ),
    "least of all": (
        changed("mean", "min"),
        "8:5",
        "found 'min', expected a statistic first: mean, median, every, or a share such as 95%; did you mean 'every'?",
        '  - "min nDCG@10 >= 0.8"',
    ),
    "average": (
        changed("mean", "avg"),
        "8:5",
        "found 'avg', expected a statistic first: mean, median, every, or a share such as 95%; did you mean 'mean'?",
        '  - "avg nDCG@10 >= 0.8"',
    ),
    "all": (
        changed("mean", "all"),
        "8:5",
        "found 'all', expected a statistic first: mean, median, every, or a share such as 95%; did you mean 'every'?",
        '  - "all nDCG@10 >= 0.8"',
    ),
    "threshold with a colon": (
        changed('"mean nDCG@10 >= 0.8"', "mean: nDCG@10 >= 0.8"),
        "8:5",
        "found 'mean: nDCG@10 >= 0.8', a mapping, expected a line without the colon, such as 'mean nDCG@10 >= 0.8', "
        "or in quotes",
        "  - mean: nDCG@10 >= 0.8",
    ),
    "expectation with a colon": (
        SHOP + "    expect: [sku: 1 in top 3]\n",
        "14:14",
        "found 'sku: 1 in top 3', a mapping, expected a line without the colon, such as 'sku 1 in top 3', or in quotes",
        "    expect: [sku: 1 in top 3]",
    ),
    "two documents": (
        SHOP + "---\nsuite: other\n",
        "14:1",
        "a second YAML document begins here; expected one document per file",
        "---",
    ),
    "tag of YAML": (
        changed("suite: shop", "suite: !!python/name:os.system shop"),
        "1:8",
        "found the YAML tag !!python/name:os.system; expected a value without a tag",
        "suite: !!python/name:os.system shop",
    ),
    "NUL byte": (
        changed("shop", "sh\0op"),
        "1:10",
        "found a NUL byte; which a text file must not contain",
        "suite: sh op",
    ),
    "unclosed bracket": (
        changed('["nDCG@10"]', '["nDCG@10"'),
        "7:1",
        "expected ',' or ']' here, because the '[' of line 6, column 11 is not closed",
        "thresholds:",
    ),
    "unclosed quote": (
        changed('title: "{{text}}"}}', 'title: "{{text}}}}'),
        "6:13",
        "expected ',' or '}' here, because the '{' of line 5, column 18 is not closed",
        'measures: ["nDCG@10"]',
    ),
    "tab": (
        changed("  - id", "\t- id"),
        "10:1",
        "found a tab; YAML is indented with spaces",
        " - id: shoes",
    ),
    "duplicate key": (
        SHOP + "suite: again\n",
        "14:1",
        "the key 'suite' occurs twice, first in line 1, column 1",
        "suite: again",
    ),
    "duplicate document": (
        changed("sku-2", "sku-1"),
        "13:30",
        "the key 'sku-1' occurs twice, first in line 13, column 17",
        "    judgments: {sku-1: good, sku-1: bad}",
    ),
    "duplicate query id": (
        SHOP + "  - {id: shoes, text: other}\n",
        "14:10",
        "the query id 'shoes' is used twice, first at shop.relevance.yaml:10:9",
        "  - {id: shoes, text: other}",
    ),
    "empty suite": (
        SHOP[: SHOP.index("queries:")] + "queries: []\n",
        "9:1",
        "the suite is empty; expected at least one query",
        "queries: []",
    ),
    "no queries": (
        SHOP[: SHOP.index("queries:")],
        "1:1",
        "the suite has no 'queries'; expected a list of queries, or the path of a query file",
        "suite: shop",
    ),
    "missing file": (
        SHOP + "judgments: no.qrels\n",
        "14:12",
        "the file 'no.qrels' does not exist:  no.qrels",
        "judgments: no.qrels",
    ),
    "folder where a file belongs": (
        SHOP + "judgments: ./.\n",
        "14:12",
        "the file './.' is not a file",
        "judgments: ./.",
    ),
    "absolute path": (
        SHOP + "judgments: /etc/hosts\n",
        "14:12",
        "found '/etc/hosts', expected a path relative to the suite",
        "judgments: /etc/hosts",
    ),
    "no index": (
        changed("{index: products}", "{cluster: default}"),
        "2:1",
        "the request 'request' has no index; expected 'target: {index: NAME}'",
        "target: {cluster: default}",
    ),
    "unknown engine": (
        changed("{index: products}", "{index: products, engine: elastic 9}"),
        "2:35",
        "found 'elastic 9', expected an engine and its version such as 'elasticsearch 9.4.3' or 'opensearch 2.19'; "
        "did you mean 'elasticsearch'?",
        "target: {index: products, engine: elastic 9}",
    ),
    "no request": (
        changed('request:\n  query: {match: {title: "{{text}}"}}\n', ""),
        "1:1",
        "the suite has no 'request'; expected the body of _search, or 'requests' by name",
        "suite: shop",
    ),
    "request and requests": (
        changed("measures:", "requests: {a: {query: {term: {x: '{{text}}'}}}}\nmeasures:"),
        "6:1",
        "found both 'request' and 'requests', expected one of them",
        "requests: {a: {query: {term: {x: '{{text}}'}}}}",
    ),
    "depth below a cutoff": (
        SHOP + "depth: 5\n",
        "14:1",
        "depth 5 is too shallow for 'nDCG@10', which needs 10 hits",
        "depth: 5",
    ),
    "size below a cutoff": (
        changed("request:", "request:\n  size: 5"),
        "5:3",
        "the request 'request' has size 5, but 'nDCG@10' needs 10 hits",
        "  size: 5",
    ),
    "number that JSON cannot hold": (
        changed("request:", "request:\n  min_score: .inf"),
        "5:14",
        "found '.inf', which JSON cannot hold; expected a finite number",
        "  min_score: .inf",
    ),
    "waiver without a reason": (
        SHOP + "    xfail: {until: 2027-01-01}\n",
        "14:12",
        "the key 'reason' is missing",
        "    xfail: {until: 2027-01-01}",
    ),
    "waiver until no day": (
        SHOP + "    skip: {reason: slow, until: tomorrow}\n",
        "14:33",
        "found 'tomorrow', expected a date such as 2027-01-31",
        "    skip: {reason: slow, until: tomorrow}",
    ),
    "marker that pytest cannot select": (
        SHOP + "    markers: [not slow]\n",
        "14:15",
        "found 'not slow', expected the name of a pytest marker: letters, digits and _",
        "    markers: [not slow]",
    ),
    "marker that waives in pytest alone": (
        SHOP + "    markers: [slow, xfail]\n",
        "14:21",
        "found 'xfail', expected a custom marker; write `xfail: {reason: …, until: …}` instead",
        "    markers: [slow, xfail]",
    ),
    "marker that does something in pytest": (
        SHOP + "    markers: [usefixtures]\n",
        "14:15",
        "found 'usefixtures', expected a custom marker",
        "    markers: [usefixtures]",
    ),
    "list as the suite": (
        "- a\n",
        "1:1",
        "found a list, expected a suite: a mapping with suite, request, queries",
        "- a",
    ),
    "merge key": (
        changed("{index: products}", "{index: products, <<: {engine: x}}"),
        "2:27",
        "the merge key << is not supported; repeat the keys, or use an alias for a value",
        "target: {index: products, <<: {engine: x}}",
    ),
    "alias of nothing": (
        changed("text: red shoes", "text: *shoes"),
        "11:11",
        "the alias *shoes has no anchor before it; put a text that begins with * in quotes",
        "    text: *shoes",
    ),
    "variable in a bracket without quotes": (
        changed("{index: products}", "{index: ${RELEVANCE_INDEX}}"),
        "2:18",
        "expected ',' or '}' here, because the '{' of line 2, column 9 is not closed; "
        'inside [ ] and { } put a variable in quotes: "${NAME}"',
        "target: {index: ${RELEVANCE_INDEX}}",
    ),
    "malformed variable": (
        changed("red shoes", "red ${a b} shoes"),
        "11:15",
        "found '${a b}', expected ${NAME} or ${NAME:-default}; write a literal ${ as $${",
        "    text: red ${a b} shoes",
    ),
    "variable in an id": (
        changed("id: shoes", "id: shoes-${RELEVANCE_N:-1}"),
        "10:9",
        "found 'shoes-${RELEVANCE_N:-1}', expected a name without variables",
        "  - id: shoes-${RELEVANCE_N:-1}",
    ),
    "@ without quotes": (
        changed('["nDCG@10"]', "[@10]"),
        "6:12",
        "found a character that cannot begin a value; put a text that begins with @ in quotes",
        "measures: [@10]",
    ),
    "% without quotes": (
        changed('"mean nDCG@10 >= 0.8"', "%95 nDCG@10"),
        "8:5",
        "found a character that cannot begin a value; put a text that begins with % in quotes",
        "  - %95 nDCG@10",
    ),
    ">= without quotes": (
        changed('"mean nDCG@10 >= 0.8"', ">= 0.8"),
        "8:6",
        "invalid text after a > or | that begins a block of text; put a text that begins with > in quotes",
        "  - >= 0.8",
    ),
}


@pytest.mark.parametrize(("text", "place", "message", "line"), CASES.values(), ids=CASES.keys())
def test_a_mistake_is_told_with_its_place_and_a_caret(shop, text, place, message, line):
    number, column = map(int, place.split(":"))
    assert refusal(shop(text)) == excerpt(place, message, number, line, column)


@needs_extension("judging")
def test_a_suite_without_judgments_names_the_command_that_grades_hits(shop):
    assert refusal(shop(SHOP[: SHOP.index("    judgments:")])).startswith(
        "shop.relevance.yaml:9:1: the suite has no judgments; expected 'judgments' in its queries, or files under "
        "'judgments'; grade hits with `relevance judge shop.relevance.yaml`\n"
    )


@needs_extension("judging")
def test_the_suite_to_grade_is_quoted_for_a_shell():
    message = describe_no_judgments(Path("my shop.relevance.yaml"))
    assert message.endswith("; grade hits with `relevance judge 'my shop.relevance.yaml'`")


def test_a_hexadecimal_grade_beyond_all_numbers_is_refused_like_any_other(shop):
    beyond = "0x" + "f" * 260  # its 313 digits fit into the text of a number, and not into a number
    message = f"shop.relevance.yaml:13:24: found '{beyond[:59]}…', expected a finite grade\n"
    assert refusal(shop(changed("sku-1: good", f"sku-1: {beyond}"))).startswith(message)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing but a comment\n", "---\n"])
def test_an_empty_file_is_refused(shop, text):
    refused = refusal(shop(text))
    assert refused.startswith(("shop.relevance.yaml: the file is empty", "shop.relevance.yaml:2:1: found nothing"))


def test_a_measure_with_a_comma_wants_quotes_in_a_list(shop):
    refused = refusal(shop(changed('["nDCG@10"]', "[nDCG(gain=linear, log=e)@10]")))
    assert refused.count("inside [ ] put a measure with a comma in quotes") == 2
    assert refused.startswith("shop.relevance.yaml:6:16: ")


def test_bytes_that_are_not_utf_8_are_told_with_their_place(shop):
    refused = refusal(shop(SHOP.encode().replace(b"red shoes", b"red sh\xf6es")))
    message = "byte 0xf6 is not UTF-8; expected a file in UTF-8"
    assert refused == excerpt("11:17", message, 11, "    text: red sh", 17)


def test_utf_16_is_told_as_such(shop):
    assert refusal(shop(SHOP.encode("utf-16"))) == "shop.relevance.yaml:1:1: the file is UTF-16; expected UTF-8"


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_a_nesting_bomb_is_refused_before_anything_is_built(shop, opening):
    refused = refusal(shop(SHOP + "display:\n  title:\n    " + opening * 30_000))
    assert "the nesting is deeper than 64 levels" in refused
    assert len(refused) < 400


@pytest.mark.parametrize("level", ["flow", "block"])
def test_a_nesting_bomb_that_stops_the_parser_is_told_alike(shop, monkeypatch, level):
    """PyYAML 6.0.4 has a limit of its own, which it meets ahead of its events; older ones have none."""

    def parse(*words, **options):
        mark = yaml.Mark("shop", 0, 14, 1000, None, None)
        raise yaml.scanner.ScannerError(f"while increasing {level} level", mark, "exceeded maximum nesting depth", mark)

    path = shop(SHOP + "title_field:\n  " + "[" * 30_000)
    monkeypatch.setattr(yaml, "parse", parse)
    assert refusal(path).startswith("shop.relevance.yaml:15:1001: the nesting is deeper than 64 levels\n")


def test_an_alias_bomb_is_refused_before_anything_is_built(shop):
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    refused = refusal(shop("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(levels)))
    assert "the file holds more than 1,000,000 values, with aliases expanded" in refused


def test_an_alias_chain_cannot_nest_deeper_than_the_limit(shop):
    levels = [f"l{n}: &l{n} [*l{n - 1}]" for n in range(1, 100)]
    refused = refusal(shop("l0: &l0 [x]\n" + "\n".join(levels)))
    assert "with the alias *l62 the nesting is deeper than 64 levels" in refused


def test_an_alias_of_what_it_stands_in_is_refused(shop):
    assert "the alias *a is inside the value that it refers to" in refusal(shop(SHOP + "display: &a [*a]\n"))


def test_a_file_beyond_the_size_limit_is_refused(shop, monkeypatch):
    monkeypatch.setattr("harness.suites.reading.LARGEST_SUITE", 2**20)
    refused = refusal(shop(SHOP + "#" * 2**20))
    assert refused == "shop.relevance.yaml: the file is larger than 1 MiB, the limit"


def test_a_suite_that_is_not_there_is_told(tmp_path):
    path = tmp_path / "none.relevance.yaml"
    assert refusal(path) == f"{path}: there is no such file"
    assert refusal(tmp_path) == f"{tmp_path}: this is not a file"


@pytest.mark.parametrize(
    "way", ["../outside.qrels", "folder/../../outside.qrels", "link.qrels", "linked/outside.qrels"]
)
def test_no_path_leads_outside_of_the_root(tmp_path, way):
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (tmp_path / "outside.qrels").write_text("shoes 0 sku-3 1\n")
    (root / "link.qrels").symlink_to(tmp_path / "outside.qrels")
    (root / "linked").symlink_to(tmp_path)
    path = root / "shop.relevance.yaml"
    path.write_text(SHOP + f"judgments: {way}\n")
    assert f"the file '{way}' is outside of the suite's root, the folder {root}" in refusal(path)


def test_an_unset_variable_is_told_when_the_suite_runs_and_not_before(shop):
    path = shop(changed("{index: products}", '{index: "a-${RELEVANCE_INDEX}"}'))
    remedy = "set it, or give a default with ${RELEVANCE_INDEX:-default}"
    message = f"the environment variable RELEVANCE_INDEX is not set; {remedy}"
    assert refusal(path, {}) == excerpt("2:20", message, 2, 'target: {index: "a-${RELEVANCE_INDEX}"}', 20)
    assert load_suite(path, None).target.index == "a-${RELEVANCE_INDEX}"


def test_a_message_never_holds_the_value_of_a_variable(shop):
    path = shop(changed('"mean nDCG@10 >= 0.8"', '"${RELEVANCE_STATISTIC} nDCG@10 >= 0.8"'))
    assert "s3cret" not in refusal(path, {"RELEVANCE_STATISTIC": "s3cret"})


@pytest.mark.parametrize("cluster", ["https://user:s3cret@search.example.org", "user:s3cret@search.example.org"])
def test_a_url_with_a_login_is_refused_and_not_repeated(shop, cluster):
    refused = refusal(shop(changed("{index: products}", f'{{index: products, cluster: "{cluster}"}}')))
    assert refused.startswith("shop.relevance.yaml:2:36: ")
    assert "username_env and password_env, or api_key_env" in refused
    assert "s3cret" not in refused


def test_a_host_with_a_port_is_told_to_be_a_url(shop):
    refused = refusal(shop(changed("{index: products}", '{index: products, cluster: "localhost:9200"}')))
    assert refused == (
        "shop.relevance.yaml:2:36: found 'localhost:9200', expected a URL with http:// or https://, such as "
        "http://localhost:9200"
    )


def test_a_misspelled_key_of_a_threshold_is_still_told_as_one(shop):
    refused = refusal(shop(changed('"mean nDCG@10 >= 0.8"', "treshold: mean nDCG@10 >= 0.8")))
    assert "unknown key 'treshold'" in refused
    assert "did you mean 'threshold'?" in refused


def test_a_url_of_another_scheme_is_refused(shop):
    refused = refusal(shop(changed("{index: products}", '{index: products, cluster: "ftp://example.org"}')))
    assert refused == "shop.relevance.yaml:2:36: found a URL that begins with 'ftp', expected http:// or https://"


def test_all_mistakes_of_a_file_are_told_at_once_in_their_order(shop):
    text = (
        changed("0.8", "8")
        .replace("tags: [head]", "tags: head")
        .replace("measures:", "mesures:")
        .replace("sku-2: bad", "sku-2: worse")
        .replace("{index: products}", "{index: products, engine: solr}")
    )
    refused = refusal(shop(text + "  - id: boots\n    text: boots\n    judgments: {sku-1: gold}\n"))
    places = [line.split(": ")[0] for line in refused.splitlines() if line.startswith("shop")]
    assert places == [f"shop.relevance.yaml:{place}" for place in ("2:35", "6:1", "8:5", "12:11", "16:24")]


def test_the_mistakes_of_several_suites_are_told_together(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.relevance.yaml").write_text(SHOP.replace("0.8", "8"))
    with pytest.raises(SuiteError) as caught:
        load_suites([tmp_path / "b.relevance.yaml", tmp_path / "a.relevance.yaml"], None)
    assert [problem.path for problem in caught.value.problems] == [
        str(tmp_path / "a.relevance.yaml"),
        str(tmp_path / "b.relevance.yaml"),
    ]


def test_a_wrong_line_of_a_judgment_file_is_told_in_that_file(shop):
    path = shop(SHOP + "judgments: [shop.csv]\n", shop_csv="query,document,grade\nshoes,sku-3,good\nshoes,sku-4,god\n")
    assert refusal(path) == (
        "shop.csv:3:1: found 'god' as the grade of document 'sku-4' for query 'shoes', "
        "expected a number or the name of a grade; did you mean 'good'?\n    3 | shoes,sku-4,god\n      | ^"
    )


def test_a_document_judged_in_the_suite_and_in_a_file_is_told_with_both_places(shop):
    path = shop(SHOP + "judgments: shop.csv\n", shop_csv="query,document,grade\nshoes,sku-1,good\n")
    assert refusal(path) == (
        "shop.csv:2:1: document 'sku-1' is judged twice for query 'shoes', first at shop.relevance.yaml:13:17\n"
        "    2 | shoes,sku-1,good\n      | ^"
    )


def test_a_document_judged_in_two_files_is_told_with_both_places(shop):
    files = {"a_qrels": "shoes 0 sku-3 1\nshoes 0 sku-5 1\n", "b_qrels": "\nshoes 0 sku-5 1\n"}
    path = shop(SHOP + "judgments: [a.qrels, b.qrels]\n", **files)
    assert refusal(path).startswith(
        "b.qrels:2:1: document 'sku-5' is judged twice for query 'shoes', first at a.qrels:2:1"
    )


def test_judgments_for_a_query_that_the_suite_does_not_have_are_told(shop):
    path = shop(SHOP + "judgments: a.qrels\n", a_qrels="shoes 0 sku-3 1\nshoos 0 sku-3 1\nhats 0 sku-4 1\n")
    assert refusal(path) == (
        "a.qrels:2:1: the suite has no query 'shoos', 'hats'; did you mean 'shoes'?; "
        "'judgments: {files: …, other_queries: ignore}' leaves them out\n    2 | shoos 0 sku-3 1\n      | ^"
    )


def test_a_query_that_cannot_fill_the_request_is_told(shop):
    text = (
        changed("{{text}}", "{{brand}} {{text}}")
        + "    params: {brand: [a, b]}\n  - {id: hats, text: hats, judgments: {a: 1}}\n"
    )
    refused = refusal(shop(text))
    assert "shop.relevance.yaml:10:9: query 'shoes' cannot fill the request: {{brand}} is a list" in refused
    assert "shop.relevance.yaml:15:10: query 'hats' has no param 'brand', which the request uses" in refused


@pytest.mark.parametrize("repeated", ["${A:-", "${A", "$${", "{{", "{{a", "{{a}}", "{{#a}}", "${RELEVANCE_A:-}", "${}"])
@pytest.mark.parametrize("key", ["request", "text", "threshold"])
def test_a_text_of_many_openings_is_read_in_the_time_of_its_length(shop, repeated, key):
    text = repeated * 50_000
    places = {"request": "{{text}}", "text": "red shoes", "threshold": "mean nDCG@10 >= 0.8"}
    written = text if key == "threshold" else places[key] + text
    path = shop(changed(places[key], f'"{written}"' if key == "text" else written))
    begun = time.process_time()
    message = ""
    try:
        load_suite(path, {})
    except SuiteError as error:
        message = str(error)
    assert time.process_time() - begun < 10
    assert message.count("\n") < 100


@pytest.mark.parametrize("column", ["c{}", "params.c", "text", "params.c{}"])
def test_a_csv_header_of_many_columns_is_read_in_the_time_of_its_length(shop, column):
    header = ",".join(["id", "text", *(column.format(number) for number in range(50_000))])
    begin = SHOP.index("queries:")
    path = shop(SHOP[:begin] + "queries: {file: queries.csv}\n", queries_csv=header + "\nshoes,red shoes\n")
    begun = time.process_time()
    message = refusal(path)
    assert time.process_time() - begun < 10
    assert message.count("\n") < 100


def test_the_problems_of_a_text_are_counted_after_the_first_ones(shop):
    message = refusal(shop(changed("red shoes", '"' + "${x-y}" * 25 + '"')), {})
    assert message.count("found '${x-y}'") == 20
    assert "5 more problems of the text in line 11 are not shown" in message
