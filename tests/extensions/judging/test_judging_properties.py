"""Grades written back are read again as they were given, whatever the ids, and nothing that was there is lost."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness.extensions.judging.writing import GradedFiles
from harness.suites import load_suite

IDS = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=12,
).filter(lambda text: text.strip() == text and not text.startswith("'"))
GRADES = st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.5])
JUDGED = st.dictionaries(IDS, GRADES, min_size=1, max_size=6)

HEAD = 'suite: shop\ntarget: {index: products}\nrequest: {query: {match: {title: "{{text}}"}}}\nmeasures: ["nDCG@3"]\n'
FILES = {
    "j.csv": "query,document,grade,title\nq,first,1,\n",
    "j.jsonl": '{"query": "q", "document": "first", "grade": 1}\n',
    "j.yaml": "# judged\nq:\n  first: 1\n",
    "k.yaml": "q: {first: 1}",
    "j.qrels": "q 0 first 1\n",
}
SUITES = {name: f"judgments: {name}\nqueries:\n  - {{id: q, text: x}}\n  - {{id: p, text: y}}\n" for name in FILES} | {
    "flow": "queries:\n  - {id: q, text: x, judgments: {first: 1}}\n  - {id: p, text: y}   # none\n",
    "block": "queries:\n- id: q\n  judgments:\n    first: 1   # it is\n  text: x\n- id: p\n  text: y",
    "quoted": "queries:\n- id: q\n  judgments:\n    'first': 1\n  text: x\n- id: p\n  text: y\n  tags:\n  - z\n",
    "query": "queries:\n- {\n    id: q, judgments: {first: 1},\n    text: x\n  }\n- {\n    id: p,\n    text: y\n  }\n",
    "lines": "queries:\n- id: q\n  judgments: {\n    first: 1,  # it is\n  }\n  text: x\n- {id: p, text: y}\n",
}


GAPS = st.sampled_from(["", " ", "  # , } it is\n      ", "\n      ", "\n\n    "])


@st.composite
def flow_mappings(draw):
    """A mapping of *first* and *last* in flow, with blanks, comments and line ends wherever they may be."""
    gap = [draw(GAPS) for _ in range(7)]
    last = draw(st.sampled_from(["", ","]))
    return f"{{{gap[0]}first: 1{gap[1]},{gap[2]}last:{gap[3] or ' '}2{gap[4]}{last}{gap[5]}}}"


@settings(phases=[Phase.generate], max_examples=80)
@given(flow_mappings(), JUDGED, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_a_flow_mapping_of_any_layout_is_written(flow, of_q, in_flow, ends):
    query = f"{{id: q, text: x, judgments: {flow}}}" if in_flow else f"id: q\n    judgments: {flow}\n    text: x"
    text = f"{HEAD}queries:\n  - {query}\n".replace("\n", ends)
    of_q = {one: grade for one, grade in of_q.items() if one not in ("first", "last")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.relevance.yaml"
        path.write_bytes(text.encode())
        GradedFiles.read(path).write({("q", one): grade for one, grade in of_q.items()}, {})
        [judged] = load_suite(path, {}).queries
        assert judged.judgments == {"first": 1.0, "last": 2.0, **of_q}
        after = path.read_bytes().decode()
        assert after.count("\n") == after.count(ends)
        assert len(re.findall("# , } it is", after)) == text.count("# , } it is")


@pytest.mark.parametrize("kind", SUITES)
@settings(max_examples=10, phases=[Phase.generate])
@given(of_q=JUDGED, of_p=JUDGED, ends=st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_again(kind, of_q, of_p, ends):
    if kind.endswith(".qrels"):
        of_q, of_p = ({one.replace(" ", "_"): grade for one, grade in of.items()} for of in (of_q, of_p))
    of_q.pop("first", None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.relevance.yaml"
        path.write_bytes((HEAD + SUITES[kind]).replace("\n", ends).encode())
        if kind in FILES:
            (path.parent / kind).write_bytes(FILES[kind].replace("\n", ends).encode())
        grades = {("q", one): grade for one, grade in of_q.items()} | {("p", one): grade for one, grade in of_p.items()}
        written = GradedFiles.read(path).write(grades, {})
        assert (written.added, written.changed) == (len(grades), 0)
        judged = {query.id: dict(query.judgments) for query in load_suite(path, {}).queries}
        assert judged == {"q": {"first": 1.0, **of_q}, "p": of_p}
        [changed] = written.files
        before = (FILES[kind] if kind in FILES else HEAD + SUITES[kind]).replace("\n", ends)
        after = changed.read_bytes().decode()
        assert all(line.split(ends)[0].rstrip(" }\r")[:8] in after for line in before.split(ends))
        assert ends == "\n" or ends not in before or after.count("\n") == after.count("\r\n")
        again = {pair: 3.0 - grade for pair, grade in grades.items()}
        assert GradedFiles.read(path).write(again, {pair: {grade} for pair, grade in grades.items()}).added == 0
        assert dict(load_suite(path, {}).queries[0].judgments) == {
            "first": 1.0,
            **{d: 3.0 - g for d, g in of_q.items()},
        }
