"""Files whose lines of equal score are in another order: how far that moves figures, and what it decides."""

import pytest

pytest.importorskip("numpy")

import itertools
import json

from harness.cli import main
from harness.extensions.compare.model import SideKind
from harness.extensions.compare.scores import use_stored_scores
from harness.extensions.compare.sides import ComparedSide
from harness.files import runs as run_files
from harness.files.runs import evaluate_files, read_measures
from harness.metrics import parse_measure, score_query
from harness.model.run import Engine, Hit, Ranking, Run
from harness.model.scores import Outcome, Score
from harness.model.suite import Gain, Profile, Query

QUERIES = [f"q{number}" for number in range(7)]
QRELS = "".join(f"{query} 0 a 2\n{query} 0 c 1\n{query} 0 d 0\n" for query in QUERIES)
ONE = [("a", 7.1), ("b", 7.1), ("c", 1.0)]
SWAPPED = [("b", 7.1), ("a", 7.1), ("c", 1.0)]
SCALED = [("b", 15.62), ("a", 15.62), ("c", 2.2)]
FELL = [("b", 7.1), ("a", 7.0), ("c", 1.0)]


def write_run(path, hits):
    rows = [(query, document, score) for query in QUERIES for document, score in hits]
    if path.suffix == ".csv":
        text = "query,document,score\n" + "".join(f"{query},{document},{score}\n" for query, document, score in rows)
    elif path.suffix == ".jsonl":
        keys = ("query", "document", "score")
        text = "".join(json.dumps(dict(zip(keys, row, strict=True))) + "\n" for row in rows)
    else:
        text = "".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows)
    path.write_text(text)
    return str(path)


@pytest.fixture
def words(tmp_path):
    (tmp_path / "j.qrels").write_text(QRELS)

    def make(command, *sides, suffix="run", measures=("RR", "nDCG@10")):
        files = [write_run(tmp_path / f"{number}.{suffix}", side) for number, side in enumerate(sides)]
        given = [word for measure in measures for word in ("--measure", measure)]
        return [command, *files, "--qrels", str(tmp_path / "j.qrels"), *given]

    return make


@pytest.mark.parametrize("suffix", ["run", "csv", "jsonl"])
@pytest.mark.parametrize("swapped", [SWAPPED, SCALED], ids=["equal scores", "scores of another scale"])
@pytest.mark.parametrize(
    "threshold",
    ["drop RR <= 0", "drop every nDCG@10 <= 0", "worse RR by 0.1 <= 0 queries", "drop RR is not significant at 5%"],
)
def test_compare_decides_as_drop_does_and_says_the_same(words, capsys, suffix, swapped, threshold):
    assert main([*words("compare", ONE, swapped, suffix=suffix), "--threshold", threshold]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "only the order of ties changed in 7 queries" in text
    assert "only ties 7; 1 threshold: 1 passed" in text


def test_documents_that_do_not_tie_are_not_excused(words, capsys):
    assert main([*words("compare", ONE, FELL), "--threshold", "drop RR <= 0"]) == 1


def row_of(text):
    """The only measure of a comparison as JSON."""
    return json.loads(text)["measures"]["measures"][0]


@pytest.mark.parametrize("swapped", [SWAPPED, SCALED], ids=["equal scores", "scores of another scale"])
def test_the_figures_have_ties_in_the_order_of_the_reference_and_say_so(words, capsys, swapped):
    assert main([*words("compare", ONE, swapped, measures=["RR"]), "--json"]) == 0
    row = row_of(capsys.readouterr().out)
    assert (row["candidate"], row["difference"], row["p_value"]) == (1, 0, 1)
    assert row["reordered"] == {"queries": QUERIES, "difference": -0.5}
    assert main(words("compare", ONE, swapped, measures=["RR"])) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "as returned the difference is -0.5000, moved by the order of ties in 7 queries (q0, q1, q2" in text


def test_other_changes_beside_ties_count(words, capsys):
    """c fell below d in each query, and a and b were swapped."""
    before = [("a", 7.1), ("b", 7.1), ("c", 3.0), ("d", 2.0)]
    after = [("b", 7.1), ("a", 7.1), ("d", 3.0), ("c", 2.0)]
    assert main([*words("compare", before, after, measures=["nDCG@10"]), "--json"]) == 0
    row = row_of(capsys.readouterr().out)
    grades = {"a": 2, "c": 1, "d": 0}
    measure = parse_measure("nDCG@10")
    settled = score_query(measure, ["a", "b", "d", "c"], grades)
    returned = score_query(measure, ["b", "a", "d", "c"], grades)
    assert row["candidate"] == pytest.approx(settled)
    assert row["reordered"]["difference"] == pytest.approx(returned - row["reference"])
    assert row["reordered"]["queries"] == QUERIES


def test_sides_of_other_lengths_have_no_ties_in_common(words, capsys):
    """A group that goes on in one file only is another group there."""
    longer = [("b", 7.1), ("a", 7.1), ("x", 7.1)]
    for sides in ((ONE[:2], longer), (longer, ONE[:2])):
        assert main([*words("compare", *sides, measures=["RR"]), "--json"]) == 0
        assert row_of(capsys.readouterr().out)["reordered"] is None


def test_a_query_without_hits_has_no_ties(words, capsys, tmp_path):
    given = words("compare", ONE, SWAPPED, measures=["RR"])
    lines = (tmp_path / "1.run").read_text().splitlines(keepends=True)
    (tmp_path / "1.run").write_text("".join(lines[3:]))
    assert main([*given, "--complete", "--json"]) == 0
    row = row_of(capsys.readouterr().out)
    assert (row["queries"], row["candidate"]) == (7, pytest.approx(6 / 7))


def test_the_trec_profile_orders_ties_itself(words, capsys):
    assert main([*words("compare", ONE, SWAPPED, measures=["RR"]), "--profile", "trec", "--json"]) == 0
    row = row_of(capsys.readouterr().out)
    assert (row["reference"], row["candidate"], row["reordered"]) == (0.5, 0.5, None)


# ------------------------------------------------------------------------------------------------ evaluate


def evaluated(words, capsys, hits, *more, measures=("RR", "nDCG@10")):
    command, run, *others = words("evaluate", hits, measures=measures)
    assert main([command, "--run", run, *others, *more]) == 0
    return capsys.readouterr().out


def test_evaluate_says_how_far_ties_move_a_mean(words, capsys):
    text = evaluated(words, capsys, SWAPPED)
    assert "RR: 0.5000 to 1.0000 over the orders of ties, which move 7 queries" in text
    found = json.loads(evaluated(words, capsys, SWAPPED, "--json"))["measures"]["RR"]
    assert found["over_ties"] == {"least": 0.5, "greatest": 1.0}


def test_evaluate_says_nothing_where_ties_move_nothing(words, capsys):
    assert "ties" not in evaluated(words, capsys, FELL)
    assert "ties" not in evaluated(words, capsys, [("a", 2.0), ("x", 1.0), ("y", 1.0)])
    assert "ties" not in evaluated(words, capsys, SWAPPED, "--profile", "trec")


MEASURES = ("RR", "nDCG@2", "nDCG", "P@1", "AP", "Bpref", "Judged@1", "ERR@3", "nDCG(judged_only=true)@2")


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize(
    "hits",
    [
        [("b", 5.0), ("a", 5.0), ("c", 5.0), ("d", 1.0)],
        [("x", 5.0), ("d", 4.0), ("a", 4.0), ("y", 4.0), ("c", 3.0), ("z", 3.0)],
        [("c", 5.0), ("a", 4.0), ("d", 4.0)],
    ],
)
def test_the_range_is_that_over_all_orders_however_a_file_is_read(tmp_path, monkeypatch, hits, bulk):
    monkeypatch.setattr(run_files, "LARGE", 0 if bulk else 1 << 60)
    (tmp_path / "j.qrels").write_text(QRELS)
    write_run(tmp_path / "r.run", hits)
    options = run_files.FileOptions(read_measures(MEASURES))
    found = evaluate_files(tmp_path / "j.qrels", tmp_path / "r.run", options)
    groups = [[name for name, _ in members] for _, members in itertools.groupby(hits, key=lambda hit: hit[1])]
    for text in MEASURES:
        orders = itertools.product(*(itertools.permutations(members) for members in groups))
        values = [
            score_query(parse_measure(text), list(itertools.chain(*order)), {"a": 2, "c": 1, "d": 0})
            for order in orders
        ]
        spans = found.tie_ranges.get(text, {})
        if max(values) - min(values) < 1e-12:
            assert spans == {}
        else:
            assert spans["q3"] == (pytest.approx(min(values)), pytest.approx(max(values)))
            assert found.means_over_ties(text) == (pytest.approx(min(values)), pytest.approx(max(values)))


# ------------------------------------------------------------------------------------------------ stored scores


def stored_side(name, hits, value, template=None):
    ranking = Ranking(tuple(Hit(document, score) for document, score in hits))
    run = Run({"q": ranking, "other": Ranking((Hit("z", 1.0),))}, Engine("opensearch"), "current")
    queries = (Query("q", "q", judgments={"a": 1.0}), Query("other", "other", judgments={"z": 1.0}))
    scores = (Score("q", "RR", value, Outcome.SCORED), Score("other", "RR", 1.0, Outcome.SCORED))
    return ComparedSide(
        name,
        SideKind.REPORT,
        run=run,
        depth=10,
        queries=queries,
        scores=scores,
        gain=Gain(),
        profile=Profile.STANDARD,
        template=template,
    )


@pytest.mark.parametrize(
    ("candidate", "templates", "settled"),
    [
        (SWAPPED, (None, None), 1.0),
        (SWAPPED, ("same", "same"), 1.0),
        (SWAPPED, ("one", "other"), None),  # the request may have changed to give ties another order
        (FELL, (None, None), None),
        ([("b", 7.1), ("a", 7.1), ("x", 1.0)], (None, None), None),  # more than ties: it cannot be computed again
    ],
)
def test_a_stored_score_that_only_ties_changed_is_that_of_the_reference(candidate, templates, settled):
    pair = (stored_side("a", ONE, 1.0, templates[0]), stored_side("b", candidate, 0.5, templates[1]))
    found = use_stored_scores(pair, [parse_measure("RR")], [])
    assert [score.value for score in found.settled if score.query == "q"] == ([] if settled is None else [settled])
