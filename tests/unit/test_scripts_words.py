"""scripts/count-words: what it counts, and which pages it lists apart."""

import runpy
from pathlib import Path

PATH = Path(__file__).parents[2] / "scripts" / "count-words"


def test_generated_parts_do_not_count(tmp_path):
    names = runpy.run_path(str(PATH))
    (tmp_path / "reference").mkdir()
    page = "# Keys\n\n<!-- begin generated: keys -->\n\none two\n\n<!-- end generated -->\n\nthree `four five`\n"
    (tmp_path / "reference" / "keys.md").write_text(page, encoding="utf-8")
    count_words = names["count_words"]
    count_words.__globals__["DOCS"] = tmp_path
    assert count_words() == {"reference/keys.md": 5}


def test_pages_out_of_the_navigation_are_listed_apart(capsys):
    runpy.run_path(str(PATH), run_name="__main__")
    shown, apart = capsys.readouterr().out.split("  not in the navigation\n")
    assert "  in the navigation\n" in shown
    assert "  reference/suites.md\n" in shown
    assert "  architecture.md\n" in apart
    assert "  evidence/security.md\n" in apart
    assert "architecture.md" not in shown
