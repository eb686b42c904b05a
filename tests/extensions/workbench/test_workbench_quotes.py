"""What is tried is scored by judged ids: of a try no texts are kept in which quotes could be found."""

from harness.cli import main

SUITE = """\
suite: manuals
target: {index: manuals}
display: {text: body}
request: {query: {match: {body: "{{text}}"}}}
thresholds: ["mean St_nDCG@3 >= 0.5"]
depth: 3
queries:
  - {id: valve, text: valve, quotes: [{text: the valve opens}]}
"""


def test_a_suite_of_quotes_alone_is_refused(tmp_path, capsys):
    path = tmp_path / "manuals.relevance.yaml"
    path.write_text(SUITE, encoding="utf-8")
    assert main(["try", str(path)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "St_nDCG@3 reads quotes, which a try does not score; name a measure of ids" in told
