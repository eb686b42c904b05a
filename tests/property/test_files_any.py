"""Any file is read, or is an error of the harness with its place: what was made by hand, by chance, or by damage."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from builders.extension_cases import map_cases
from harness.config import read_config
from harness.errors import HarnessError
from harness.files.judge_files import JudgeFile
from harness.files.judgments import read_judgments
from harness.files.runs import read_run
from harness.report.json import loads_report
from harness.search.fixtures import read_documents
from harness.store.baseline_files import read_baselines
from harness.store.journal_lines import parse_journal

MANY_DIGITS = "9" * 5000
DEEP = "[" * 20_000
CRASHERS = [
    b"",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xef\xbb\xbf\x00\x81",
    b"\xef\xbb\xbf\xff",
    b"\x00",
    b"PAR1" + b"\xff" * 40 + b"PAR1",
    MANY_DIGITS.encode(),
    f"a = {MANY_DIGITS}".encode(),
    f'{{"schema": {MANY_DIGITS}}}'.encode(),
    DEEP.encode(),
    f"a = {DEEP}".encode(),
    b'{"a": 1e999}',
    b'{"id": "\\ud800", "query": "\\ud800", "document": "\\ud800", "grade": 1}',
    b'{"journal": 1e999}',
    b"query,document,position,impressions,clicks\n" + b"q,a,1,1e308,1e308\n" * 3,
    b'{"query_id": "1", "query_response_hit_ids": 5}',
    b"null",
    b'{"hits": null}',
    b'{"hits": {"hits": 5}}',
    b'{"journal": 1}\n{"journal": ',
    b"[clusters.default]\nurl = 'http://[::1'\n",
    b"[clusters.default]\nurl = 'http://h:99999'\n",
    b"[clusters]\ndefault = 1979-05-27\n",
]
"""Files that crashed a reader once, and their like."""

BASELINE = {"schema": 2, "requests": {"request": {"queries": {"a": {"ranking": ["x"]}}}}}
CONFIG = '[clusters.default]\nurl = "https://h:9200"\napi_key_env = "K"\ntimeout = 5.0\nnodes = ["http://i"]\n'
UBI = {
    "query_id": "1",
    "user_query": "q",
    "query_response_hit_ids": ["a"],
    "action_name": "click",
    "event_attributes": {"object": {"object_id": "a"}, "position": {"ordinal": 1}},
}
READERS = {
    "judgments.qrels": read_judgments,
    "judgments.csv": read_judgments,
    "judgments.jsonl": read_judgments,
    "judgments.yaml": read_judgments,
    "judgments.parquet": read_judgments,
    "judgments.qrels.gz": read_judgments,
    "judgments.jsonl.zst": read_judgments,
    "a.run": read_run,
    "run.csv": read_run,
    "run.jsonl": read_run,
    "run.parquet": read_run,
    "shop.baseline.json": read_baselines,
    "relevance.toml": read_config,
    "shop.judged-by.anna.jsonl": JudgeFile.read,
    "run.journal": lambda path: parse_journal(path.read_bytes(), str(path)),
    "report.json": lambda path: loads_report(path.read_text(errors="surrogateescape")),
    "documents.jsonl": lambda path: list(read_documents(path, str(path), "id")),
    **map_cases("READERS"),
}
HEADS = [
    "query,document,grade\n",
    "query\tdocument\tscore\n",
    "q1 0 d1 1\n",
    '{"query": "q", "document": "d", "grade": 1}\n',
    "q1 Q0 d1 1 2.5 t\n",
    "query,document,position,impressions,clicks\nq,a,1,",
    "position,propensity\n1,",
    json.dumps(BASELINE),
    json.dumps(UBI),
    CONFIG,
]
KEYS = ["journal", "schema", "query", "document", "grade", "requests", "id", "hits", *UBI, "object", "position"]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=8,
)
contents = (
    st.binary(max_size=80)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.builds(lambda head, rest: (head + rest).encode(errors="replace"), st.sampled_from(HEADS), st.text(max_size=40))
    | values.map(lambda value: json.dumps(value).encode())
)


@st.composite
def damaged(draw):
    """A file that was right, with something of it lost, repeated or replaced."""
    text = draw(st.sampled_from(HEADS)).encode()
    begin, end = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    return text[:begin] + draw(st.binary(max_size=4) | st.just(text[begin:end] * 2)) + text[end:]


def check(name, content):
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        said = "read"
        try:
            READERS[name](path)
        except HarnessError as error:
            said = str(error)
        assert said
        assert "\x00" not in said


@pytest.mark.parametrize("name", READERS)
def test_what_crashed_once_is_an_error(name):
    for content in CRASHERS:
        check(name, content)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=30)
@given(contents | damaged())
@example(b"\x1f\x8b")
@example(b"\x28\xb5\x2f\xfd")
def test_any_file_is_read_or_is_an_error(name, content):
    check(name, content)
