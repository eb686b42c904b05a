"""Run files compared by judgments with the ids of queries as documents."""

from harness.cli import main

OWN_QRELS = "a 0 b 1\nb 0 a 1\nb 0 b 1\nc 0 d 1\n"


OWN_RUN = "a Q0 a 1 9 t\na Q0 b 2 8 t\nb Q0 x 1 9 t\nb Q0 b 2 8 t\nb Q0 a 3 7 t\nc Q0 d 1 9 t\n"


def test_runs_are_compared_without_the_documents_with_ids_of_queries(tmp_path, capsys):
    (tmp_path / "j.qrels").write_text(OWN_QRELS)
    (tmp_path / "a.run").write_text(OWN_RUN)
    (tmp_path / "b.run").write_text(OWN_RUN.replace("a Q0 a 1 9 t\n", ""))
    words = ["compare", str(tmp_path / "a.run"), str(tmp_path / "b.run"), "--qrels", str(tmp_path / "j.qrels")]
    means = []
    for more in ([], ["--remove-query"]):
        assert main([*words, "--measure", "RR", "--json", *more]) == 0
        means.append(capsys.readouterr().out)
    assert '"difference": 0.0' not in means[0]
    assert '"difference": 0.0' in means[1]
