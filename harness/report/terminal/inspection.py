"""One query looked at by itself, as text."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from rich import table as rich_table
from rich.console import RenderableType
from rich.text import Text

from harness.masking import shorten_vectors
from harness.model.inspection import (
    Contributions,
    Explained,
    Explanation,
    PartDifference,
    PartKind,
    QueryInspection,
    RankContribution,
    ScoreDetail,
    ScorePart,
    TiedDocuments,
)
from harness.model.report import QueryReport
from harness.model.request import Route, SentRequest
from harness.model.suite import Json
from harness.report.document import (
    Cell,
    Column,
    ColumnKind,
    Fact,
    Facts,
    Table,
    Tone,
    make_name,
    make_words,
)
from harness.report.run_document import (
    build_differences,
    build_missing_table,
    build_since_baseline,
    build_variants_table,
    make_grade_cell,
    make_ranking_columns,
    make_text_cells,
    make_text_columns,
)
from harness.report.run_sentences import describe_causes, describe_query, find_old_ranks
from harness.report.sentences import (
    TEXT_SHOWN,
    format_difference,
    format_hit_score,
    format_score,
    format_value,
    join_lines,
    printable,
    printable_lines,
)
from harness.report.terminal import (
    align_right,
    indent,
    make_table,
    make_text,
    make_texts,
    print_block,
    print_blocks,
    print_facts,
    print_table,
    render_plain,
)
from harness.words import shorten

LONGEST_LINE = 2000
"""Characters of a line of the body of a request; the curl line has all of it."""

LARGEST_ARGUMENT = 100_000
"""Bytes of a body on a command line: Linux refuses arguments of 128 KiB and more."""

LONGEST_REQUEST = 400
"""Characters of the body of a request that are shown, unless all of it is asked for."""


def print_inspection(inspection: QueryInspection, *, whole_request: bool = False) -> Iterator[RenderableType]:
    """
    The query, its ranking rank by rank, what is missing, why documents have their scores, and the request.

    The request is shortened, unless *whole_request* is true: its body may be longer than all else.
    """
    yield from _print_heading(inspection)
    yield Text()
    yield from _print_ranking(inspection)
    yield from _print_explanations(inspection)
    if whole_request:
        yield from _print_request(inspection.sent)
    else:
        yield from _print_short_request(inspection.sent)
    if inspection.notes:
        yield Text()
    yield from make_texts(inspection.notes, "dim")


def _print_heading(inspection: QueryInspection) -> Iterator[RenderableType]:
    query = inspection.query
    yield Text.assemble((printable(inspection.suite), "bold"), "  ", (printable(inspection.path), "dim"))
    engine = f"{inspection.engine} at {inspection.cluster}"
    if inspection.index is not None:
        engine += f", index {inspection.index}"
    facts = {
        "engine": engine,
        "request": inspection.request,
        "query": shorten(query.id if query.text in ("", query.id) else f"{query.id}  {query.text}", TEXT_SHOWN),
        "need": join_lines(query.need),
        "scores": describe_query(query),
    }
    if not query.need:
        del facts["need"]
    yield print_facts(Facts(tuple(Fact(heading, make_words(text)) for heading, text in facts.items())))
    if query.reason:
        yield indent(make_text(query.reason, "yellow"))
    yield from map(indent, make_texts(describe_causes([query], inspection.checks), "bold yellow"))


def _print_short_request(sent: SentRequest) -> Iterator[RenderableType]:
    yield Text("request as sent", style="bold")
    yield printable(f"  {sent.method} {sent.url}")
    if sent.body is not None:
        body = json.dumps(shorten_vectors(sent.body), ensure_ascii=False)
        if len(body) > LONGEST_REQUEST:
            body = body[:LONGEST_REQUEST] + "…"
        yield indent(make_text(body))
    yield indent(Text("--request-body prints all of it, and a curl line that sends it", style="dim"))


def _print_request(sent: SentRequest) -> Iterator[RenderableType]:
    """All of the request, and the curl line that sends it."""
    yield Text("request as sent", style="bold")
    yield printable(f"  {sent.method} {sent.url}")
    if sent.body is not None:
        body = json.dumps(shorten_vectors(sent.body), indent=2, ensure_ascii=False)
        yield indent(Text("\n".join(map(_shorten_line, body.splitlines()))))
    yield Text()
    yield printable_lines(format_curl(sent))
    if sent.fingerprint:
        yield Text("curl does not check the `fingerprint` of the certificate: add --cacert FILE", style="dim")


def _shorten_line(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return printable(line)
    return f"{printable(line[:LONGEST_LINE])}… {len(line):,} characters in all, which the curl line has"


def _print_ranking(inspection: QueryInspection) -> Iterator[RenderableType]:
    query, contributions = inspection.query, inspection.contributions
    if query.ranking or contributions:
        yield Text("ranking", style="bold")
        if contributions:
            yield indent(Text(describe_contributions(contributions)))
        yield from print_blocks([build_contributions_table(query, contributions)])
    yield from _print_since_baseline(inspection)
    for tied in inspection.ties:
        yield indent(make_text(describe_ties(tied), "yellow"))
    if inspection.ties:
        yield Text()
    if query.missing:
        yield from print_blocks([build_missing_table(query)])
    if query.variants:
        yield from print_blocks([build_variants_table([query])])


def _print_since_baseline(inspection: QueryInspection) -> Iterator[RenderableType]:
    """What changed since the baseline: the scores, the ranking, and the texts of the request and the index."""
    query, summary = inspection.query, inspection.baseline
    if summary is None or query.baseline is None:
        return
    scores = []
    for measure, before in query.baseline.scores.items():
        now = query.scores.get(measure)
        if now is not None:
            scores.append(f"{measure} {format_score(before)} → {format_score(now)}")
    yield indent(make_text(f"since the baseline of {summary.created}: {', '.join(scores) or 'no score'}"))
    for block in build_since_baseline(query):
        yield from print_block(block)
    yield Text()
    yield from print_blocks(build_differences(summary.diffs))


def describe_contributions(contributions: Contributions) -> str:
    """The sum of what the ranks add, in words."""
    dcg = format_score(contributions.dcg)
    gained = f"{contributions.measure}, gain {contributions.gain}: the ranks add {dcg}"
    if not contributions.ideal:
        return f"{gained}; no judged document has a positive gain"
    return f"{gained} of the {format_score(contributions.ideal)} of the ideal ranking"


def describe_ties(tied: TiedDocuments) -> str:
    """Which documents tie, in words."""
    last = tied.rank + len(tied.documents) - 1
    ranks = f"rank {tied.rank}" if last == tied.rank else f"ranks {tied.rank} to {last}"
    below = f", with {', '.join(tied.below)} below the ranking" if tied.below else ""
    others = "" if tied.closed else ", and possibly others below"
    if tied.sort is None:
        alike = f"the score {format_hit_score(tied.score)}"
    else:
        values = [json.dumps(value, ensure_ascii=False) for value in tied.sort]
        alike = f"the sort values {', '.join(values)}"
    return f"tied with {alike}: {', '.join(tied.documents)} ({ranks}){below}{others}"


NO_CONTRIBUTION: tuple[Cell, ...] = (make_words("–"),) * 4
"""The figures of a rank that the measure does not count."""


def build_contributions_table(query: QueryReport, contributions: Contributions | None) -> Table:
    """The ranking with what each rank adds to the DCG and loses against the ideal ranking."""
    ranks = contributions.ranks if contributions is not None else ()
    by_document = {rank.document: rank for rank in ranks if rank.document is not None}
    old_rank = find_old_ranks(query)
    has_ties = any(document.tied for document in query.ranking)
    table_columns = make_ranking_columns(
        ["grade", "gain", "discount", "adds", "loses", "score"],
        has_old_ranks=bool(old_rank),
        has_ties=has_ties,
    )
    text_columns = make_text_columns(query.ranking)
    table_columns += text_columns
    rows = []
    for document in query.ranking:
        row = [make_words(str(document.rank))]
        if old_rank:
            row.append(make_words(old_rank.get(document.id, ""), Tone.STRONG))
        row += [make_name(document.id), make_grade_cell(document)]
        rank = by_document.get(document.id)
        row += NO_CONTRIBUTION if rank is None else _list_figures(rank)
        row.append(make_words(format_hit_score(document.score)))
        if has_ties:
            row.append(make_words("tied" if document.tied else ""))
        row += make_text_cells(document, text_columns)
        rows.append(row)

    # The ideal ranking may be longer than the one returned.
    was: list[Cell] = [()] if old_rank else []
    no_hit: list[Cell] = [*was, make_words("no hit", Tone.QUIET), ()]
    rows += [[make_words(str(rank.rank)), *no_hit, *_list_figures(rank)] for rank in ranks if rank.document is None]
    if contributions is not None:
        lost = format_score(contributions.ideal - contributions.dcg)
        sums = [make_words(format_score(contributions.dcg)), make_words(lost)]
        rows.append([(), *was, make_words("sum", Tone.QUIET), (), (), (), *sums])
    return Table(table_columns, tuple(_fill_row(row, len(table_columns)) for row in rows))


def build_short_contributions_table(query: QueryReport, contributions: Contributions) -> Table:
    """The ranks that count, with what each adds to the DCG and loses against the ideal ranking."""
    documents = {document.id: document for document in query.ranking}
    figures = [Column(heading, ColumnKind.FIGURE) for heading in ("grade", "adds", "loses")]
    rows: list[tuple[Cell, ...]] = []
    for rank in contributions.ranks:
        cells = (make_words(format_score(rank.adds)), make_words(format_score(rank.loses)))
        if rank.document is None:
            rows.append((make_words(str(rank.rank)), make_words("no hit", Tone.QUIET), (), *cells))
        elif rank.document in documents:
            document = documents[rank.document]
            rows.append((make_words(str(document.rank)), make_name(document.id), make_grade_cell(document), *cells))
    lost = format_score(contributions.ideal - contributions.dcg)
    rows.append(((), make_words("sum", Tone.QUIET), (), make_words(format_score(contributions.dcg)), make_words(lost)))
    return Table((Column("rank", ColumnKind.FIGURE), Column("document"), *figures), tuple(rows))


def format_contributions(query: QueryReport, contributions: Contributions) -> str:
    """The short table of what each rank adds and loses, as text without colors."""
    table = build_short_contributions_table(query, contributions)
    return render_plain([Text(describe_contributions(contributions)), *print_table(table)])


def _list_figures(rank: RankContribution) -> list[Cell]:
    texts = (format_value(rank.gain), format_score(rank.discount), format_score(rank.adds), format_score(rank.loses))
    return [make_words(text) for text in texts]


def _fill_row(row: Sequence[Cell], size: int) -> tuple[Cell, ...]:
    """*row* with empty cells up to *size*."""
    return (*row, *[()] * (size - len(row)))


# Why documents have their scores.


def _print_explanations(inspection: QueryInspection) -> Iterator[RenderableType]:
    titles = {document.id: document.title for document in inspection.query.ranking}
    titles |= {document.id: document.title for document in inspection.query.missing}
    for explanation in inspection.explanations:
        score = str(explanation.outcome)
        if explanation.score is not None:
            score = f"score {explanation.score:.5g}"
            if explanation.rank is not None:
                score += f", rank {explanation.rank}"
        heading = Text.assemble(("explanation of ", "bold"), (printable(explanation.document), "bold"))
        heading.append(f"  {printable(score)}")
        heading.append(f"  {printable(titles.get(explanation.document) or '')}".rstrip(), style="dim")
        yield heading
        yield from map(indent, _print_explanation(explanation))
        yield Text()
    if inspection.differences:
        first, second = inspection.explanations
        yield Text("what differs", style="bold")
        yield indent(_lay_out_differences(inspection.differences, first, second))
        yield Text()


def _print_explanation(explanation: Explanation) -> Iterator[RenderableType]:
    yield from make_texts(describe_explanation(explanation))
    if explanation.parts:
        yield _lay_out_parts(explanation)
    yield from _lay_out_details(explanation.parts)
    yield from make_texts(describe_coarse_parts(explanation.parts), "yellow")
    if explanation.clauses:
        yield _lay_out_clauses(explanation)


def _lay_out_parts(explanation: Explanation) -> rich_table.Table:
    """The parts of a score, with a column for each figure that any part has."""
    parts = explanation.parts
    figures: dict[str, list[str]] = {
        "boost": [_format_figure(part.boost) for part in parts],
        "idf": [_format_figure(part.idf) for part in parts],
        "tf": [_format_figure(part.tf) for part in parts],
        "freq": [_format_figure(part.frequency) for part in parts],
        "length (mean)": [_format_length(part) for part in parts],
        "times": [_format_factors(part) for part in parts],
    }
    shown = {heading: texts for heading, texts in figures.items() if any(texts)}
    table = make_table(align_right("adds"), "clause")
    for heading in shown:
        table.add_column(heading, justify="left" if heading == "times" else "right", overflow="fold")
    for part, *texts in zip(parts, *shown.values(), strict=True):
        row = (format_score(part.score), part.clause, *texts)
        table.add_row(*map(make_text, row), style="" if part.score else "dim")
    table.add_row(format_score(math.fsum(part.score for part in parts)), Text("sum", style="dim"))
    return table


def _lay_out_details(parts: Sequence[ScorePart]) -> Iterator[rich_table.Table]:
    """A table for each part and each factor that has details. A factor of several parts has one."""
    details_by_name: dict[tuple[str, tuple[ScoreDetail, ...]], None] = {}
    for part in parts:
        details_by_name[part.clause, part.details] = None
        for factor in part.factors:
            details_by_name[factor.name, factor.details] = None
    for name, details in details_by_name:
        if details:
            heading = "in the engine's words"
            if details[0].description != name:
                heading = f"{name}, {heading}"
            table = make_table(align_right("value"), make_text(heading))
            for detail in details:
                table.add_row(f"{detail.value:.5g}", make_text("  " * detail.level + detail.description))
            yield table


def _format_length(part: ScorePart) -> str:
    if part.length is None:
        return ""
    return f"{format_value(part.length)} ({format_score(part.average_length, 1)})"


def _format_factors(part: ScorePart) -> str:
    """The factors of *part*, in words."""
    texts = [f"{factor.name} {factor.value:.4g}" if factor.value else factor.name for factor in part.factors]
    return ", ".join(texts)


def _format_figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _lay_out_clauses(explanation: Explanation) -> rich_table.Table:
    table = make_table("outcome", "clause", "place")
    for clause in explanation.clauses:
        matches = "matches" if clause.matches else "no match"
        style = "bold red" if clause.decides else ""
        table.add_row(Text(matches, style=style), make_text(clause.clause, style), printable(clause.place))
    return table


def _lay_out_differences(
    differences: Sequence[PartDifference], first: Explanation, second: Explanation
) -> rich_table.Table:
    # Of parts with one clause the first one counts.
    first_parts = {part.clause: part for part in reversed(first.parts)}
    second_parts = {part.clause: part for part in reversed(second.parts)}
    table = make_table(align_right("difference"), "clause")
    for explanation in (first, second):
        table.add_column(printable(explanation.document), justify="right", overflow="fold")
    table.add_column("why", overflow="fold")
    for row in differences:
        if row.first or row.second:
            why = explain_difference(first_parts.get(row.clause), second_parts.get(row.clause))
            texts = (
                format_difference(row.difference),
                row.clause,
                format_score(row.first),
                format_score(row.second),
                why,
            )
            table.add_row(*map(make_text, texts))
    total = math.fsum(row.difference for row in differences)
    table.add_row(
        format_difference(total), Text("sum", style="dim"), format_score(first.score), format_score(second.score)
    )
    return table


def describe_explanation(explanation: Explanation) -> Iterator[str]:
    """The facts about the document, in words."""
    if explanation.outcome is Explained.INVISIBLE:
        guess = f"; did you mean {explanation.nearest!r}?" if explanation.nearest is not None else ""
        yield f"no document with this id is visible through the target{guess}"
    if explanation.outcome is Explained.UNMATCHED:
        deciding = [clause for clause in explanation.clauses if clause.decides]
        colon = ":" if deciding else ""
        yield f"it is in the index {explanation.index}, and the request does not find it{colon}"
        for clause in deciding:
            yield f"{clause.place} {'matches, and must not' if clause.matches else 'does not match'}"
    if explanation.reason:
        yield explanation.reason


def describe_coarse_parts(parts: Sequence[ScorePart]) -> Iterator[str]:
    """A line for each kind of part that the engine does not explain further."""
    coarse_parts = [part for part in parts if part.kind in COARSE]
    coarse_kinds = [part.kind for part in coarse_parts if not any(detail.level for detail in part.details)]
    for kind in dict.fromkeys(coarse_kinds):
        yield f"{kind}: the engine gives its value and no finer parts"


COARSE = (PartKind.VECTOR, PartKind.FUSION, PartKind.OTHER)
"""The kinds that may have no finer parts. The engine names each function and each script."""


def explain_difference(first: ScorePart | None, second: ScorePart | None) -> str:
    """Which figures of one clause differ between two documents."""
    if second is None:
        return "only in the first"
    if first is None:
        return "only in the second"
    figures = (
        ("freq", first.frequency, second.frequency),
        ("length", first.length, second.length),
        ("idf", first.idf, second.idf),
        ("boost", first.boost, second.boost),
    )
    reasons = []
    for figure, first_value, second_value in figures:
        if first_value != second_value:
            reasons.append(f"{figure} {_format_figure(first_value)} and {_format_figure(second_value)}")
    first_factors, second_factors = _format_factors(first) or "1", _format_factors(second) or "1"
    if first_factors != second_factors:
        reasons.append(f"times {first_factors} and {second_factors}")
    reasons += _list_different_details(first, second)
    return "; ".join(reasons)


def _list_different_details(first: ScorePart, second: ScorePart) -> Iterator[str]:
    """What two documents have different values of, such as one function of several, by the engine's words for it."""
    second_values = _collect_details(second)
    for description, value in _collect_details(first).items():
        other_value = second_values.get(description, value)
        if other_value != value:
            yield f"{description} {_format_figure(value)} and {_format_figure(other_value)}"


def _collect_details(part: ScorePart) -> dict[str, float]:
    """
    The value of each detail of *part* and of its factors, by its description.

    What is there twice is left out, and the clause itself: its values are in columns of their own.
    """
    details = [detail for detail in part.details if detail.description != part.clause]
    for factor in part.factors:
        details += factor.details
    counts = Counter(detail.description for detail in details)
    return {detail.description: detail.value for detail in details if counts[detail.description] == 1}


# A request as a command line for a POSIX shell.


_NEEDS_ESCAPE = re.compile(r'["\\`$!]')

_SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_GLOBBED = frozenset("[]{}")
"""Characters of a URL from which curl makes several requests."""


def format_curl(sent: SentRequest) -> str:
    """
    The curl command that sends *sent*; the shell fills the variables in, but for those of parts that are verbatim.

    >>> print(format_curl(SentRequest("GET", "http://shop/find?q=a b", {"x-key": "${KEY}"}, variables=("KEY",))))
    curl -X GET -H "x-key: $KEY" 'http://shop/find?q=a b'
    """
    arguments = ["curl", "-X", shlex.quote(sent.method)]
    if set(sent.url) & _GLOBBED:
        arguments.append("--globoff")
    if sent.login:
        arguments += ["-u", _quote(sent.login, sent.variables)]
    for header, value in sent.headers.items():
        arguments += ["-H", _quote_header(header, value, sent)]
    route = sent.route or Route()
    options = {
        "--cacert": sent.ca_certs,
        "--cert": route.client_cert,
        "--key": route.client_key,
        "--pass": route.client_key_password,
        "--proxy": route.proxy,
        "--proxy-user": route.proxy_login,
    }
    for option, option_value in options.items():
        if option_value:
            arguments += [option, _quote(option_value, sent.variables)]
    if not route.verify_certs:
        arguments.append("--insecure")
    arguments.append(_quote(sent.url, _list_filled("url", sent)))
    if sent.body is None:
        return " ".join(arguments)
    body, filled = _dump_body(sent.body), _list_filled("body", sent)
    if len(body.encode(errors="surrogatepass")) > LARGEST_ARGUMENT:
        return " ".join([*arguments, "--data-binary", "@-", _write_here_document(body, filled)])
    return " ".join([*arguments, "--data-raw", _quote(body, filled)])


def _write_here_document(line: str, variables: tuple[str, ...]) -> str:
    """*line* as the input of a command, from the lines below it; the shell fills the variables in."""
    parts = _split_at_variables(line, variables)
    if len(parts) == 1:
        return f"<<'JSON'\n{line}\nJSON"
    text = ""
    for place, part in enumerate(parts):
        # The names of variables stand between the texts.
        text += f"${{{part}}}" if place % 2 else re.sub(r"([\\$`])", r"\\\1", part)
    return f"<<JSON\n{text}\nJSON"


def _split_at_variables(text: str, variables: tuple[str, ...]) -> list[str]:
    """The text between variables, and the names of these, by turns."""
    # Any other name is text: a shell would run what stands in its braces.
    names = [name for name in variables if _SHELL_NAME.fullmatch(name)]
    if not names:
        return [text]
    return re.split(rf"\$\{{({'|'.join(names)})\}}", text)


def _list_filled(part: str, sent: SentRequest) -> tuple[str, ...]:
    """The variables that the shell fills in a *part* of *sent*."""
    return () if part in sent.verbatim else sent.variables


def _dump_body(body: Json) -> str:
    """*body* as JSON, with escapes for characters that a terminal does not print as they are."""
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    if printable(text) == text:
        return text
    # JSON leaves the delete character as it is, also where it escapes all others beyond ASCII.
    return json.dumps(body, separators=(",", ":")).replace("\x7f", "\\u007f")


def _quote_header(header: str, value: str, sent: SentRequest) -> str:
    if header in sent.verbatim:
        return shlex.quote(f"{header}: {value}")
    for variable in sent.encoded:
        reference = "${" + variable + "}"
        # The variable has a login, which is sent in base64: the shell encodes it. All else is quoted, as a suite may
        # have written it.
        if header.lower() == "authorization" and value.endswith(reference) and _SHELL_NAME.fullmatch(variable):
            beginning = _quote(f"{header}: {value.removesuffix(reference)}", sent.variables)
            return beginning + f'''"$(printf %s "${variable}" | base64 | tr -d '\\n')"'''
    return _quote(f"{header}: {value}", sent.variables)


def _quote(text: str, variables: tuple[str, ...]) -> str:
    """*text* as one word: in double quotes if it has variables and nothing to be escaped, else in single quotes."""
    parts = _split_at_variables(text, variables)
    literals, names = parts[::2], parts[1::2]
    if not names:
        return shlex.quote(text)
    if not any(map(_NEEDS_ESCAPE.search, literals)):
        # A name that a word follows needs its braces.
        return '"' + re.sub(r"\$\{(\w+)\}(?!\w)", r"$\1", text) + '"'
    quoted = [shlex.quote(literals[0]) if literals[0] else ""]
    for variable, literal in zip(names, literals[1:], strict=True):
        quoted.append(f'"${variable}"')
        quoted.append(shlex.quote(literal) if literal else "")
    return "".join(quoted)
