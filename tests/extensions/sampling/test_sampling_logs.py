"""Logs of searches: formats, names of columns, what counts as a search, and what is refused with its place."""

import gzip
import json

import pytest

from harness.errors import FormatError
from harness.extensions.sampling.logs import LogOptions, read_logs
from harness.extensions.sampling.tally import QueryTally


@pytest.fixture
def read(tmp_path):
    def read(name, text, **options):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        tally = QueryTally()
        logs = read_logs([path], LogOptions(**options), tally)
        queries = {query.text: query.traffic for query in tally.count().queries}
        return queries, logs[0]

    return read


@pytest.fixture
def refuse(read, tmp_path):
    """The message for a log that is refused, without the folder."""

    def refuse(name, text, **options):
        with pytest.raises(FormatError) as caught:
            read(name, text, **options)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return refuse


UBI = [
    {"query_id": "1", "user_query": "tent", "application": "shop", "query_response_hit_ids": ["a"]},
    {"query_id": "1", "user_query": "tent", "action_name": "click", "event_attributes": {}},
    {"query_id": "1", "action_name": "impression"},
    {"query_id": "2", "user_query": "tent"},
    {"query_id": "3", "user_query": "rope", "action_name": "click"},
    {"query_id": "3", "user_query": "rope", "action_name": "click"},
]


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("log.csv", "query,count\ntent,2\nrope,1\n", "CSV: queries in 'query', searches in 'count'"),
        ("log.csv", "q\ntent\ntent\nrope\n", "CSV: queries in 'q', each line a search"),
        ("log.csv", "\ufefftime;Search Term;Event count\n1;tent;2\n\n1;rope;1\n", "'Search Term', searches in 'Event"),
        ("log.csv", "sep=;\nquery;hits\ntent;2\nrope;1\n", "searches in 'hits'"),
        ("log.csv", "# an export\n# of today\nTop queries,Impressions\ntent,2\nrope,1\n", "in 'Impressions'"),
        ("log.tsv", "user_query\tfrequency\ntent\t2\nrope\t1\n", "in 'user_query', searches in 'frequency'"),
        ("log.csv.gz", "query,count\ntent,2\nrope,1\n", "searches in 'count'"),
        ("log.jsonl", '{"q": "tent", "n": 1}\n{"q": "tent"}\n{"q": "rope"}\n', "JSON lines: queries in 'q', each line"),
        ("log.ndjson", '{"search_term": "tent", "hits": 2}\n{"search_term": "rope", "hits": 1}', "searches in 'hits'"),
        ("log.txt", "tent\nrope\n\ntent\n", "plain lines, each a search"),
        ("log.log.gz", "tent\nrope\n\ntent\n", "plain lines, each a search"),
        ("ubi.jsonl", "".join(f"{json.dumps(one)}\n" for one in UBI), "UBI: queries in 'user_query', each query_id"),
        (
            "ubi.jsonl",
            "".join(f'{{"index": {{}}}}\n{json.dumps({"_source": one})}\n' for one in UBI),
            "UBI: queries in",
        ),
    ],
)
def test_suffix_and_usual_names(read, name, text, form):
    """A log is read by its suffix and the usual names."""
    queries, log = read(name, text)
    assert queries == {"tent": 2, "rope": 1}
    assert log.searches == 3
    assert form in log.form


def test_columns_can_be_named(read):
    text = "query,words,n\nx,tent,4\n"
    assert read("log.csv", text, query_column="words", count_column="n")[0] == {"tent": 4}
    nested = '{"request": {"params": {"q": "tent"}}, "n": 3}\n'
    assert read("log.jsonl", nested, query_column="request.params.q", count_column="n")[0] == {"tent": 3}
    assert read("log.jsonl", '{"q": "tent", "_source": "web"}\n')[0] == {"tent": 1}
    assert read("log.csv", "query,hits\ntent,0\ntent,7\n", count_lines=True)[0] == {"tent": 2}


def test_a_query_that_was_never_sent_does_not_count(read):
    assert read("log.csv", "query,count\ntent,2\nrope,0\n")[0] == {"tent": 2}
    assert read("log.csv", "query,hits\ntent,2\nrope,0\n", count_column="hits")[0] == {"tent": 2}


def test_quotes_and_line_breaks(read):
    """A cell may have quotes, line breaks and the mark of a spreadsheet."""
    queries, _ = read("log.csv", 'query,count\n"red,\n shoes",2\n\'007,1\n')
    assert queries == {"red, shoes": 2, "007": 1}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "log.csv",
            "time,words\n1,tent\n",
            "log.csv:1:1: found the columns time, words, expected one with the queries",
        ),
        (
            "log.csv",
            "query,count\ntent,2\nrope,some\n",
            "log.csv:3:6: found 'some' as 'count', expected a whole number",
        ),
        ("log.csv", "query,count\n\ntent,-1\n", "log.csv:3:6: found '-1' as 'count', expected a whole number from 0"),
        ("log.csv", "query,count\ntent,1.5\n", "log.csv:2:6: found '1.5' as 'count'"),
        ("log.csv", "query,count\ntent,nan\n", "log.csv:2:6: found 'nan' as 'count'"),
        ("log.csv", "query,hits\ntent,0\n", "if it is the number of results, give --count-lines, else --count-column"),
        ("log.csv", "query,count\rtent,1\r", "log.csv:1:1: this is not CSV: new-line character"),
        ("log.csv", "query,query\ntent,1\n", "log.csv:1:1: the header names query twice"),
        ("log.csv", "query,count\ntent\n", "log.csv:2:1: found 1 columns, expected 2 as in the header"),
        ("log.csv", 'query,count\ntent,1\n"rope,1\n', "log.csv:3:1: a quote in this row is not closed"),
        ("log.csv", b"query\ntent\nr\xffpe\n", "log.csv:3:2: byte 0xff is not UTF-8"),
        ("log.csv", "query,count\n", "log.csv: the log has no search"),
        ("log.csv", "", "log.csv: the log has no search"),
        ("log.jsonl", '{"q": "tent"}\n{"q": }\n', "log.jsonl:2:7: this is not JSON"),
        ("log.jsonl", '{"q": "tent"}\n{"p": 1}\n', "log.jsonl:2:1: the object lacks 'q'; expected the text of a query"),
        ("log.jsonl", '{"q": "tent"}\n{"n": 1, "q": ["a"]}\n', "log.jsonl:2:10: found [\"a\"] as 'q', expected a text"),
        (
            "log.jsonl",
            '{"a": "tent"}\n',
            "log.jsonl:1:1: found the keys a, expected one with the queries, such as query",
        ),
        ("log.jsonl", '{"q": "tent"}\n{}\n', "log.jsonl:2:1: the object lacks 'q'"),
        ("log.jsonl", "[1]\n", "log.jsonl:1:1: found no object; expected an object with query"),
        ("log.jsonl", '{"q": "a", "count": true}\n', "log.jsonl:1:12: found True as 'count', expected a whole number"),
        ("log.json", "{}", "log.json: found the suffix '.json', expected .csv, .tsv, .jsonl, .ndjson, .txt or .log"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(refuse, name, text, message):
    assert message in refuse(name, text)


def test_a_column_that_is_named_must_be_there(refuse):
    assert "expected one named 'words', as --query-column says" in refuse("a.csv", "q\ntent\n", query_column="words")
    assert "expected one named 'n', as --count-column says" in refuse("a.csv", "q\ntent\n", count_column="n")
    assert "the object lacks 'words'" in refuse("a.jsonl", '{"q": "tent"}\n', query_column="words")
    assert "plain lines have no columns" in refuse("a.txt", "tent\n", query_column="words")
    assert "cannot be both" in refuse("a.csv", "q\ntent\n", count_column="q")


def test_wrong_lines_can_be_left_out_and_are_counted(read, refuse):
    text = b"query,count\ntent,2\nr\xffpe,1\nrope\nrope,1\n"
    queries, log = read("log.csv", text, skip_wrong=True)
    assert queries == {"tent": 2, "rope": 1}
    assert log.wrong_lines == 2
    assert [problem.line for problem in log.problems] == [3, 4]
    assert "expected one with the queries" in refuse("other.csv", "a,b\n1,2\n", skip_wrong=True)


@pytest.mark.parametrize(
    "name", ["Searches", "Total searches", "search_volume", "Total events", "Occurrences", "doc_count", "Anzahl"]
)
def test_usual_names_of_counts_are_known(read, name):
    assert read("log.csv", f"Month,Search query,{name}\n2026-05,tent,41\n2026-06,tent,8\n2026-05,rope,3\n")[0] == {
        "tent": 49,
        "rope": 3,
    }


@pytest.mark.parametrize("name", ["Sessions", "Total users", "nb_visits", "Anfragen pro Monat", "n", "clicks"])
def test_whole_numbers_that_are_not_read_are_an_error(read, refuse, name):
    text = f"query,{name}\ntent,\ntent,12\nrope,3\n"
    message = f"log.csv: {name!r} has whole numbers and was not read; name the number of searches with --count-column"
    assert message in refuse("log.csv", text)
    assert read("log.csv", text, count_lines=True)[0] == {"tent": 2, "rope": 1}
    assert read("log.csv", text.replace("tent,\n", ""), count_column=name)[0] == {"tent": 12, "rope": 3}
    lines = f'{{"query": "tent", "{name}": 12}}\n{{"query": "rope", "{name}": "1,203"}}\n'
    assert f"{name!r} has whole numbers" in refuse("log.jsonl", lines)


def test_all_columns_with_whole_numbers_are_named(refuse):
    assert "'Visits' and 'Page loads' have whole numbers and were not read" in refuse(
        "log.csv", 'query,Visits,CTR,Page loads\ntent,7,0.5,"1.204"\nrope,9,2,11\n'
    )


@pytest.mark.parametrize("name", ["user_id", "numResults", "took_ms", "rank", "converted"])
def test_numbers_of_one_search(read, name):
    """Numbers that describe one search are no counts."""
    number = 1 if name == "converted" else 17
    assert read("log.csv", f"query,{name}\ntent,{number}\ntent,{number}\n")[0] == {"tent": 2}


def test_two_columns_of_counts(read, refuse):
    """Two columns that may be counts are an error, and a likelier one is taken."""
    assert "'Total searches' and 'Unique searches' may each be the number of searches" in refuse(
        "log.csv", "query,Total searches,Unique searches\ntent,9,5\n"
    )
    assert "may each be the number" in refuse("log.jsonl", '{"query": "tent", "count": 2, "impressions": 9}\n')
    assert read("log.csv", "query,Impressions,Searches\ntent,9,5\n")[0] == {"tent": 5}


def test_hits_of_one_search_are_its_results(read, refuse):
    assert read("log.csv", "timestamp,query,hits\n2026-01-01T08:00:00,tent,120\n2026-01-01T08:01:00,tent,0\n")[0] == {
        "tent": 2
    }
    assert read("log.jsonl", '{"session_id": "a", "query": "tent", "hits": 31}\n')[0] == {"tent": 1}
    assert "'hits' may be the number of searches or of results" in refuse("log.csv", "date,query,hits\n1,tent,5\n")


def test_plain_lines_with_counts_are_an_error(read, refuse):
    for text in ("     12 tent\n      3 rope\n", "tent\t12\nrope\t3\n"):
        assert "each line has a whole number beside its text" in refuse("log.txt", text)
        assert len(read("log.txt", text, count_lines=True)[0]) == 2
    assert len(read("log.txt", "3 man tent\nrope\n")[0]) == 2


def test_a_row_may_lack_cells_that_are_not_read(read):
    assert read("log.csv", "query,count,users\ntent,2,1\nrope,1\n")[0] == {"tent": 2, "rope": 1}


def test_several_files(tmp_path):
    """Several files count together, and a search of UBI counts once."""
    queries, events = tmp_path / "queries.jsonl", tmp_path / "events.jsonl"
    queries.write_text("".join(f"{json.dumps(one)}\n" for one in UBI if "action_name" not in one))
    events.write_text("".join(f"{json.dumps(one)}\n" for one in UBI if "action_name" in one))
    for paths in ([queries, events], [events, queries]):
        tally = QueryTally()
        read_logs(paths, LogOptions(), tally)
        assert {query.text: query.traffic for query in tally.count().queries} == {"tent": 2, "rope": 1}


@pytest.mark.parametrize("count", ["1.000", " 20.000"])
def test_a_count_that_is_one_or_a_thousand_is_refused(refuse, count):
    assert f"found {count.strip()!r} as 'Anzahl'" in refuse("log.csv", f"query;Anzahl\nzelt;{count}\nseil;30\n")


def test_whole_numbers_with_decimals_are_counts(read):
    assert read("log.csv", "query,count\ntent,12.0\nrope,1.5e2\n")[0] == {"tent": 12, "rope": 150}


@pytest.mark.parametrize("column", ["% of searches", "Anteil"])
def test_percentages_alone(refuse, read, column):
    """A report with percentages alone is no log of single searches."""
    text = f'query,{column}\ntent,"12,5 %"\nrope,3%\n'
    assert f"{column!r} has percentages" in refuse("log.csv", text)
    assert read("log.csv", text, count_lines=True)[0] == {"tent": 1, "rope": 1}
    counted = f"query,{column},searches\ntent,80%,4\nrope,20%,1\n"
    assert read("log.csv", counted)[0] == {"tent": 4, "rope": 1}


@pytest.mark.parametrize("text", ["(no definido)", "(nicht festgelegt)", "(não definido)", "N/A", "#N/A"])
def test_placeholders_in_other_languages(read, text):
    """Placeholders in other languages are no queries."""
    assert read("log.csv", f"query,count\n{text},90\ntent,3\n")[0] == {"tent": 3}


ZERO = [
    {"query_id": "1", "user_query": "tent", "query_response_hit_ids": ["a"]},
    {"query_id": "2", "user_query": "xq 1", "query_response_hit_ids": []},
    {"query_id": "2", "user_query": "xq 1", "action_name": "click"},
    {"query_id": "3", "user_query": "xq 1", "query_response_hit_ids": []},
]


@pytest.mark.parametrize(
    ("name", "text", "options", "form"),
    [
        ("log.csv", "query,results\ntent,5\nxq 1,0\nxq 1,0\n", {}, "each line a search, those with no result by 'res"),
        ("log.csv", "query,count,num_results\ntent,9,5\nxq 1,2,0\n", {}, "searches in 'count', those with no result"),
        ("log.csv", "q,timestamp,hits\ntent,1,3\nxq 1,1,0\nxq 1,2,0\n", {}, "by 'hits' alone"),
        ("log.csv", "q,n,found\ntent,3,1\nxq 1,2,0\n", {"count_column": "n"}, "searches in 'n', those"),
        ("log.csv", "q,hits,r\ntent,3,1\nxq 1,2,0\n", {"results_column": "r"}, "searches in 'hits', those"),
        ("log.jsonl", '{"q": "tent", "n": {"found": 2}}\n' + '{"q": "xq 1", "n": {"found": 0}}\n' * 2,
         {"results_column": "n.found"}, "by 'n.found' alone"),
        ("ubi.ndjson", "\n".join(map(json.dumps, ZERO)), {}, "by 'query_response_hit_ids' alone"),
    ],
)  # fmt: skip
def test_only_what_found_nothing_is_counted(read, name, text, options, form):
    queries, log = read(name, text, zero_hits=True, **options)
    assert queries == {"xq 1": 2}
    assert form in log.form


@pytest.mark.parametrize(
    ("name", "text", "options", "sentence"),
    [
        ("log.txt", "tent\n", {}, "plain lines do not say how many results a search had"),
        ("log.csv", "query,count\ntent,2\n", {}, "expected one with the number of results, such as results, result_c"),
        ("log.csv", "query,r\ntent,2\n", {"results_column": "n"}, "expected one named 'n', as --results-column says"),
        ("log.csv", "query,results\ntent,\n", {}, "found '' as 'results', expected a whole number from 0"),
        ("log.csv", "query,results\ntent,2\n", {}, "no search of the log found nothing (CSV: queries in 'query', each"),
        ("log.csv", "query,n\ntent,2\n", {"results_column": "n", "count_column": "n"}, "cannot be the number of res"),
        ("log.jsonl", '{"q": "tent", "results": 1}\n{"q": "xq"}\n', {}, "the object lacks 'results'; expected the num"),
    ],
)  # fmt: skip
def test_a_log_that_does_not_say_what_found_nothing(refuse, name, text, options, sentence):
    assert sentence in refuse(name, text, zero_hits=True, **options)
