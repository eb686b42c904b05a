"""One query looked at by itself, as text."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from harness.masking import without_vectors
from harness.model import (
    Contributions,
    Explained,
    Explanation,
    Json,
    PartDifference,
    PartKind,
    QueryInspection,
    QueryReport,
    RankContribution,
    RankedDocument,
    Route,
    ScorePart,
    SentRequest,
    TiedDocuments,
)
from harness.report.run_sentences import cause_lines, known_text, old_ranks
from harness.report.sentences import difference_text, hit_score_text, plain_text, printable, score_text
from harness.report.terminal import columns, fact_table, grade_cell, indented, plain, right, safe, safe_lines
from harness.report.terminal.query import (
    missing_renderables,
    query_since_baseline,
    ranking_columns,
    title_cell,
)
from harness.report.terminal.run import text_diffs


def inspection_renderables(inspection: QueryInspection) -> Iterator[RenderableType]:
    """The query, its request, its ranking rank by rank, what is missing, and why documents have their scores."""
    yield from _heading(inspection)
    yield Text()
    yield from _request(inspection)
    yield Text()
    yield from _ranking(inspection)
    yield from _explanations(inspection)
    yield from safe_lines(inspection.notes, "dim")


def _heading(inspection: QueryInspection) -> Iterator[RenderableType]:
    query = inspection.query
    yield Text.assemble((printable(inspection.suite), "bold"), "  ", (printable(inspection.path), "dim"))
    where = f"{inspection.engine} at {inspection.cluster}"
    yield fact_table(
        {
            "engine": where if inspection.index is None else f"{where}, index {inspection.index}",
            "request": inspection.request,
            "query": f"{query.id}  {query.text}" if query.text not in ("", query.id) else query.id,
            "scores": known_text(query),
        }
    )
    if query.reason:
        yield indented(safe(query.reason, "yellow"))
    yield from map(indented, safe_lines(cause_lines([query], inspection.checks), "bold yellow"))


def _request(inspection: QueryInspection) -> Iterator[RenderableType]:
    sent = inspection.sent
    yield Text("request as sent", style="bold")
    yield printable(f"  {sent.method} {sent.url}")
    if sent.body is not None:
        body = json.dumps(without_vectors(sent.body), indent=2, ensure_ascii=False)
        yield indented(Text("\n".join(map(printable, body.splitlines()))))
    yield Text()
    yield printable(curl_line(sent))
    if sent.fingerprint:
        yield Text("curl does not check the `fingerprint` of the certificate: add --cacert FILE", style="dim")


def _ranking(inspection: QueryInspection) -> Iterator[RenderableType]:
    query, found = inspection.query, inspection.contributions
    if query.ranking or found:
        yield Text("ranking", style="bold")
    if found:
        yield indented(Text(contributions_text(found)))
    if query.ranking or found:
        yield indented(contribution_table(query, found))
        yield Text()
    yield from _since_baseline(inspection)
    for tied in inspection.ties:
        yield indented(safe(tied_text(tied), "yellow"))
    if inspection.ties:
        yield Text()
    if query.missing:
        yield from missing_renderables(query, shown=None)
        yield Text()


def _since_baseline(inspection: QueryInspection) -> Iterator[RenderableType]:
    """What changed since the baseline: the scores, the ranking, and the texts of the request and the index."""
    query, summary = inspection.query, inspection.baseline
    if summary is None or query.baseline is None:
        return
    scores = [
        f"{measure} {score_text(before)} → {score_text(now)}"
        for measure, before in query.baseline.scores.items()
        if (now := query.scores.get(measure)) is not None
    ]
    yield indented(safe(f"since the baseline of {summary.created}: {', '.join(scores) or 'no score'}"))
    yield from map(indented, query_since_baseline(query))
    yield Text()
    yield from map(indented, text_diffs(summary))


def contributions_text(found: Contributions) -> str:
    """The sum of what the ranks add, in words."""
    gained = f"{found.measure}, gain {found.gain}: the ranks add {score_text(found.dcg)}"
    if not found.ideal:
        return f"{gained}; no judged document has a positive gain"
    return f"{gained} of the {score_text(found.ideal)} of the ideal ranking"


def tied_text(tied: TiedDocuments) -> str:
    """Which documents tie, in words."""
    last = tied.rank + len(tied.documents) - 1
    ranks = f"rank {tied.rank}" if last == tied.rank else f"ranks {tied.rank} to {last}"
    below = f", with {', '.join(tied.below)} below the ranking" if tied.below else ""
    others = "" if tied.closed else ", and possibly others below"
    if tied.sort is None:
        alike = f"the score {hit_score_text(tied.score)}"
    else:
        alike = f"the sort values {', '.join(json.dumps(value, ensure_ascii=False) for value in tied.sort)}"
    return f"tied with {alike}: {', '.join(tied.documents)} ({ranks}){below}{others}"


def contribution_table(query: QueryReport, found: Contributions | None, *, short: bool = False) -> Table:
    """
    The ranking with what each rank adds to the DCG and loses against the ideal ranking.

    If *short*, only ranks that count, without gain, discount, score and title.
    """
    by_document = {} if found is None else {one.document: one for one in found.ranks if one.document is not None}
    empty = [] if found is None else [one for one in found.ranks if one.document is None]
    ranking = [one for one in query.ranking if not short or one.id in by_document]
    before = {} if short else old_ranks(query)
    tied = not short and any(one.tied for one in ranking)
    titled = not short and any(one.title for one in ranking)
    figures = ("grade", "adds", "loses") if short else ("grade", "gain", "discount", "adds", "loses", "score")
    table = ranking_columns(figures, before=bool(before), tied=tied, titled=titled)
    for document in ranking:
        rest = [] if short else [Text(hit_score_text(document.score))]
        rest += [Text("tied" if document.tied else "")] if tied else []
        rest += [title_cell(document.title)] if titled else []
        rank, *cells = _cells(document, by_document.get(document.id), short=short)
        table.add_row(rank, *([before.get(document.id, "")] if before else []), *cells, *rest)
    gap = [""] if before else []
    for lost in empty:
        table.add_row(str(lost.rank), *gap, Text("no hit", style="dim"), "", *_figures(lost, short=short))
    if found is not None:
        blank = [""] if short else ["", "", ""]
        table.add_row(
            "", *gap, Text("sum", style="dim"), *blank, score_text(found.dcg), score_text(found.ideal - found.dcg)
        )
    return table


def contribution_block(query: QueryReport, found: Contributions) -> str:
    """The short table of what each rank adds and loses, as text without colors."""
    return plain([Text(contributions_text(found)), contribution_table(query, found, short=True)])


def _cells(document: RankedDocument, rank: RankContribution | None, *, short: bool) -> list[Text | str]:
    figures = ["–"] * (2 if short else 4) if rank is None else _figures(rank, short=short)
    return [str(document.rank), safe(document.id), grade_cell(document), *figures]


def _figures(rank: RankContribution, *, short: bool) -> list[str]:
    worth = [] if short else [plain_text(rank.gain), score_text(rank.discount)]
    return [*worth, score_text(rank.adds), score_text(rank.loses)]


# Why documents have their scores.


def _explanations(inspection: QueryInspection) -> Iterator[RenderableType]:
    query = inspection.query
    titles = {hit.id: hit.title for hit in query.ranking} | {missing.id: missing.title for missing in query.missing}
    for one in inspection.explanations:
        rank = "" if one.rank is None else f", rank {one.rank}"
        score = str(one.outcome) if one.score is None else f"score {one.score:.5g}{rank}"
        head = Text.assemble(("explanation of ", "bold"), (printable(one.document), "bold"), f"  {printable(score)}")
        yield head.append(f"  {printable(titles.get(one.document) or '')}".rstrip(), style="dim")
        yield from map(indented, _explanation(one))
        yield Text()
    if inspection.differences:
        first, second = inspection.explanations
        yield Text("what differs", style="bold")
        yield indented(_difference_table(inspection.differences, first, second))
        yield Text()


def _explanation(one: Explanation) -> Iterator[RenderableType]:
    yield from safe_lines(explanation_lines(one))
    if one.parts:
        yield _part_table(one)
    yield from safe_lines(coarse_lines(one.parts), "yellow")
    if one.clauses:
        yield _clause_table(one)


def _part_table(one: Explanation) -> Table:
    """The parts of a score, with a column for each figure that any part has."""
    figures: dict[str, list[str]] = {
        "boost": [_figure(part.boost) for part in one.parts],
        "idf": [_figure(part.idf) for part in one.parts],
        "tf": [_figure(part.tf) for part in one.parts],
        "freq": [_figure(part.frequency) for part in one.parts],
        "length (mean)": [_length(part) for part in one.parts],
        "times": [_factors(part) for part in one.parts],
    }
    shown = {heading: cells for heading, cells in figures.items() if any(cells)}
    table = columns(
        right("adds"),
        "clause",
        *(Column(one, justify="left" if one == "times" else "right", overflow="fold") for one in shown),
    )
    for part, *cells in zip(one.parts, *shown.values(), strict=True):
        row = (score_text(part.score), part.clause, *cells)
        table.add_row(*map(safe, row), style="" if part.score else "dim")
    table.add_row(score_text(math.fsum(part.score for part in one.parts)), Text("sum", style="dim"))
    return table


def _length(part: ScorePart) -> str:
    return "" if part.length is None else f"{plain_text(part.length)} ({score_text(part.average_length, 1)})"


def _factors(part: ScorePart) -> str:
    """The factors of *part*, in words."""
    return ", ".join(f"{one.name} {one.value:.4g}" if one.value else one.name for one in part.factors)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _clause_table(one: Explanation) -> Table:
    table = columns("", "clause", "place")
    for clause in one.clauses:
        matches = "matches" if clause.matches else "no match"
        style = "bold red" if clause.decides else ""
        table.add_row(Text(matches, style=style), safe(clause.clause, style), printable(clause.place))
    return table


def _difference_table(found: Sequence[PartDifference], first: Explanation, second: Explanation) -> Table:
    ours, theirs = ({part.clause: part for part in reversed(one.parts)} for one in (first, second))
    scores = (Column(printable(one.document), justify="right", overflow="fold") for one in (first, second))
    table = columns(right("difference"), "clause", *scores, "why")
    for row in found:
        if row.first or row.second:
            why = difference_reason(ours.get(row.clause), theirs.get(row.clause))
            cells = [difference_text(row.difference), row.clause, score_text(row.first), score_text(row.second), why]
            table.add_row(*map(safe, cells))
    total = math.fsum(row.difference for row in found)
    table.add_row(difference_text(total), Text("sum", style="dim"), score_text(first.score), score_text(second.score))
    return table


def explanation_lines(one: Explanation) -> Iterator[str]:
    """The facts about the document, in words."""
    if one.outcome is Explained.INVISIBLE:
        guess = f"; did you mean {one.nearest!r}?" if one.nearest is not None else ""
        yield f"no document with this id is visible through the target{guess}"
    if one.outcome is Explained.UNMATCHED:
        deciding = [clause for clause in one.clauses if clause.decides]
        yield f"it is in the index {one.index}, and the request does not find it" + (":" if deciding else "")
        for clause in deciding:
            yield f"{clause.place} {'matches, and must not' if clause.matches else 'does not match'}"
    if one.reason:
        yield one.reason


def coarse_lines(parts: Sequence[ScorePart]) -> Iterator[str]:
    """A line for each kind of part, and each factor, that the engine does not explain further."""
    kinds = [str(part.kind) for part in parts if part.kind in COARSE]
    kinds += [factor.name for part in parts for factor in part.factors if factor.name in COARSE]
    for kind in dict.fromkeys(kinds):
        yield f"{kind}: the engine gives its value and no finer parts"


COARSE = (PartKind.FUNCTION, PartKind.SCRIPT, PartKind.VECTOR, PartKind.FUSION, PartKind.OTHER)
"""The kinds that have no finer parts."""


def difference_reason(first: ScorePart | None, second: ScorePart | None) -> str:
    """Which figures of one clause differ between two documents."""
    if first is None or second is None:
        return "only in the first" if second is None else "only in the second"
    pairs = (
        ("freq", first.frequency, second.frequency),
        ("length", first.length, second.length),
        ("idf", first.idf, second.idf),
        ("boost", first.boost, second.boost),
    )
    known = [f"{name} {_figure(ours)} and {_figure(theirs)}" for name, ours, theirs in pairs if ours != theirs]
    if first.factors != second.factors:
        known.append(f"times {_factors(first) or '1'} and {_factors(second) or '1'}")
    return "; ".join(known)


# A request as a command line for a POSIX shell.


_NEEDS_ESCAPE = re.compile(r'["\\`$!]')


def curl_line(sent: SentRequest) -> str:
    """
    The curl command that sends *sent*; the shell fills the variables in.

    >>> print(curl_line(SentRequest("GET", "http://shop/find?q=a b", {"x-key": "${KEY}"}, variables=("KEY",))))
    curl -X GET -H "x-key: $KEY" 'http://shop/find?q=a b'
    """
    words = ["curl", "-X", sent.method]
    if sent.login:
        words += ["-u", _word(sent.login, sent.variables)]
    for name, value in sent.headers.items():
        words += ["-H", _header(name, value, sent)]
    route = sent.route or Route()
    options = {
        "--cacert": sent.ca_certs,
        "--cert": route.client_cert,
        "--key": route.client_key,
        "--pass": route.client_key_password,
        "--proxy": route.proxy,
        "--proxy-user": route.proxy_login,
    }
    for option, value in options.items():
        words += [option, _word(value, sent.variables)] if value else []
    if not route.verify_certs:
        words.append("--insecure")
    words.append(_word(sent.url, sent.variables))
    if sent.body is not None:
        words += ["--data-raw", _word(_body(sent.body), sent.variables)]
    return " ".join(words)


def _body(body: Json) -> str:
    """*body* as JSON, with escapes for characters that a terminal does not print as they are."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    return text if printable(text) == text else json.dumps(body, separators=(",", ":")).replace("\x7f", "\\u007f")


def _header(name: str, value: str, sent: SentRequest) -> str:
    encoded = [one for one in sent.encoded if value.endswith("${" + one + "}")]
    if name.lower() == "authorization" and encoded:
        scheme = value.partition(" ")[0]
        return f'''"{name}: {scheme} $(printf %s "${encoded[0]}" | base64 | tr -d '\\n')"'''
    return _word(f"{name}: {value}", sent.variables)


def _word(text: str, variables: tuple[str, ...]) -> str:
    """*text* as one word: in double quotes if it has variables and nothing to be escaped, else in single quotes."""
    if not variables:
        return shlex.quote(text)
    reference = re.compile(rf"\$\{{({'|'.join(map(re.escape, variables))})\}}")
    literals = reference.split(text)
    if len(literals) == 1:
        return shlex.quote(text)
    if not any(map(_NEEDS_ESCAPE.search, literals[::2])):
        return '"' + re.sub(r"\$\{(\w+)\}(?!\w)", r"$\1", text) + '"'
    names = [f'"${name}"' for name in literals[1::2]]
    quoted = [shlex.quote(one) if one else "" for one in literals[::2]]
    return "".join(part for pair in zip(quoted, [*names, ""], strict=True) for part in pair)
