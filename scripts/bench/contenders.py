"""What scripts/bench/metrics measures: rankings and judgments made up from a seed, and how each contender scores."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEASURES = ("nDCG@10", "AP", "RR")
JUDGED = 30
GRADES = (0, 0, 0, 1, 1, 2, 3)


def id_lists(queries: int, depth: int, seed: int) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """Rankings with two thirds of the judged documents somewhere in them; every id a string of its own."""
    draw = random.Random(seed)
    rankings, judgments = {}, {}
    for number in range(queries):
        documents = draw.sample(range(50 * depth), depth + JUDGED)
        judged = documents[depth // 2 : depth // 2 + min(JUDGED, depth)][: 2 * JUDGED // 3] + documents[-JUDGED // 3 :]
        draw.shuffle(ranked := documents[:depth])
        rankings[f"q{number}"] = [f"doc{document}" for document in ranked]
        judgments[f"q{number}"] = {f"doc{document}": draw.choice(GRADES) for document in judged}
    return rankings, judgments


def write_files(folder: Path, queries: int, depth: int, seed: int) -> tuple[Path, Path]:
    """The same as TREC files, best first."""
    rankings, judgments = id_lists(queries, depth, seed)
    qrels, run = folder / "judgments.qrels", folder / "run.trec"
    with qrels.open("w") as out:
        for query, judged in judgments.items():
            out.writelines(f"{query} 0 {document} {grade}\n" for document, grade in judged.items())
    with run.open("w") as out:
        for query, ranking in rankings.items():
            lines = enumerate(ranking, start=1)
            out.writelines(f"{query} Q0 {document} {rank} {depth - rank + 0.5} bench\n" for rank, document in lines)
    return qrels, run


def with_scores(rankings: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """What the peers take: a score for each document, falling."""
    return {query: dict(zip(ids, range(len(ids), 0, -1), strict=True)) for query, ids in rankings.items()}


def harness_lists(rankings: Any, judgments: Any) -> dict[str, float]:
    from harness.metrics import parse_measure
    from harness.metrics.evaluate import evaluate
    from harness.model.suite import Profile

    measures = [parse_measure(text) for text in MEASURES]
    result = evaluate(rankings, judgments, measures, profile=Profile.TREC)
    return {text: result.mean(text) or 0.0 for text in MEASURES}


def harness_files(qrels: Path, run: Path) -> dict[str, float]:
    from harness.files.runs import FileOptions, evaluate_files, read_measures
    from harness.model.suite import Profile

    result = evaluate_files(qrels, run, FileOptions(read_measures(MEASURES), Profile.TREC))
    return {text: result.mean(text) or 0.0 for text in MEASURES}


def pytrec_eval_dicts(run: Any, judgments: Any) -> dict[str, float]:
    import pytrec_eval

    scores = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg_cut_10", "map", "recip_rank"}).evaluate(run)
    names = ("ndcg_cut_10", "map", "recip_rank")
    means = (sum(each[name] for each in scores.values()) / len(scores) for name in names)
    return dict(zip(MEASURES, means, strict=True))


def pytrec_eval_files(qrels: Path, run: Path) -> dict[str, float]:
    import pytrec_eval

    with qrels.open() as judged, run.open() as ranked:
        return pytrec_eval_dicts(pytrec_eval.parse_run(ranked), pytrec_eval.parse_qrel(judged))


def ir_measures_of(run: Any, judgments: Any) -> dict[str, float]:
    import ir_measures

    wanted = [ir_measures.parse_measure(text) for text in MEASURES]
    means = ir_measures.calc_aggregate(wanted, judgments, run)
    return {text: means[measure] for text, measure in zip(MEASURES, wanted, strict=True)}


def ir_measures_files(qrels: Path, run: Path) -> dict[str, float]:
    import ir_measures

    return ir_measures_of(ir_measures.read_trec_run(str(run)), ir_measures.read_trec_qrels(str(qrels)))


def ranx_of(qrels: Any, run: Any) -> dict[str, float]:
    import ranx

    means = ranx.evaluate(qrels, run, ["ndcg@10", "map", "mrr"])
    return dict(zip(MEASURES, map(float, means.values()), strict=True))


def ranx_dicts(run: Any, judgments: Any) -> dict[str, float]:
    import ranx

    return ranx_of(ranx.Qrels(judgments), ranx.Run(run))


def ranx_files(qrels: Path, run: Path) -> dict[str, float]:
    import ranx

    return ranx_of(ranx.Qrels.from_file(str(qrels), kind="trec"), ranx.Run.from_file(str(run), kind="trec"))


def hash_once(rankings: Any, judgments: Any) -> dict[str, float]:
    """The floor: every id looked up once, and nothing done with it."""
    from collections import deque

    for query, ids in rankings.items():
        deque(map(judgments[query].get, ids), maxlen=0)
    return {}


LISTS: dict[str, Callable[[Any, Any], dict[str, float]]] = {
    "harness": harness_lists,
    "pytrec_eval": lambda rankings, judgments: pytrec_eval_dicts(with_scores(rankings), judgments),
    "ir_measures": lambda rankings, judgments: ir_measures_of(with_scores(rankings), judgments),
    "ranx": lambda rankings, judgments: ranx_dicts(
        {
            query: {document: float(score) for document, score in run.items()}
            for query, run in with_scores(rankings).items()
        },
        judgments,
    ),
    "hash once": hash_once,
}
FILES = {
    "harness": harness_files,
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
}
