"""An approximate search of vectors beside an exact one on Elasticsearch: its recall is that of numpy by brute force."""

import json

import pytest

np = pytest.importorskip("numpy")

from harness.model.run import Status
from harness.options import RunOptions
from harness.run import Matrix, Runner

pytestmark = pytest.mark.engine

DIMENSIONS, DEPTH, SAME = 64, 10, 1e-6
SUITE = """\
suite: approximate
target: {index: approximate}
fixture:
  documents: documents.jsonl
  settings: {number_of_shards: 1, number_of_replicas: 0}
  mappings:
    dynamic: strict
    properties:
      id: {type: keyword}
      bits: {type: dense_vector, dims: 64, similarity: cosine, index: true, index_options: {type: bbq_hnsw}}
vectors: {near: vectors.jsonl}
requests:
  approximate:
    knn:
      {field: bits, query_vector: "{{near}}", k: 10, num_candidates: 10, rescore_vector: {oversample: 1}}
  exact:
    gate: false
    body:
      query:
        script_score:
          query: {match_all: {}}
          script: {source: "cosineSimilarity(params.near, 'bits') + 1", params: {near: "{{near}}"}}
queries: queries.jsonl
thresholds: [mean overlap@10 with request exact >= 0.99]
"""


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def vectors(tmp_path):
    """Vectors of 400 documents, some of them the same, and of 10 queries, as files of a suite without judgments."""
    random = np.random.default_rng(46)
    documents = np.round(random.normal(size=(400, DIMENSIONS)), 4)
    documents[200:260] = documents[140:200]
    queries = np.round(documents[140:150] + 0.5 * random.normal(size=(10, DIMENSIONS)), 4)
    write_lines(
        tmp_path / "documents.jsonl", [{"id": f"d{n}", "bits": one} for n, one in enumerate(documents.tolist())]
    )
    write_lines(tmp_path / "vectors.jsonl", [{"id": f"q{n}", "vector": one} for n, one in enumerate(queries.tolist())])
    write_lines(tmp_path / "queries.jsonl", [{"id": f"q{n}", "text": f"q{n}"} for n in range(len(queries))])
    (tmp_path / "approximate.relevance.yaml").write_text(SUITE, encoding="utf-8")
    return documents, queries


def test_the_recall_is_that_of_a_brute_force(tmp_path, vectors, elasticsearch_urls):
    options = RunOptions(url=elasticsearch_urls[0], allow_write=True)
    with Runner({}) as runner:
        found, exact = runner.run([tmp_path / "approximate.relevance.yaml"], options, matrix=Matrix(all_requests=True))
    [verdict] = found.report.verdicts
    assert verdict.observed == pytest.approx(compute_recall(*vectors, found.run), abs=1e-6)
    # One bit a dimension loses hits that another size of the sample would find.
    assert verdict.status is Status.FAILED
    assert compute_recall(*vectors, exact.run) == 1
    missed = [len(query.compared[0].missed) for query in found.report.queries]
    assert verdict.observed == pytest.approx(1 - sum(missed) / (DEPTH * len(missed)), abs=1e-6)


def compute_recall(documents, queries, run):
    """The mean share of the ten nearest documents that *run* found; of ties as many as have a place."""
    first, second = normalize(documents), normalize(queries)
    shares = []
    for number, query in enumerate(second):
        cosines = first @ query
        least = np.sort(cosines)[-DEPTH]
        hits = [int(document[1:]) for document in run.responses[f"q{number}"].ids]
        is_nearer = cosines > least + SAME
        is_tied = np.abs(cosines - least) <= SAME
        places = DEPTH - is_nearer.sum()
        shares.append((is_nearer[hits].sum() + min(is_tied[hits].sum(), places)) / DEPTH)
    return float(np.mean(shares))


def normalize(vectors):
    short = vectors.astype(np.float32)
    return short / np.linalg.norm(short, axis=1, keepdims=True)
