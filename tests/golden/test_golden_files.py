"""What the golden files can hide and what they cannot."""

import pytest

from builders.golden import difference, json_lines, masked, page_lines, rewrite


def test_a_folder_holds_exactly_what_its_test_gives(tmp_path):
    folder = tmp_path / "test_shop"
    rewrite(folder, {"terminal": "a\nb\n", "gone": "x\n"})
    assert difference(folder, {"terminal": "a\nb\n", "gone": "x\n"}) == ""
    told = difference(folder, {"terminal": "a\nc\n", "new": "y\n"})
    assert "test_shop/gone: no test makes it any more" in told
    assert "test_shop/new: is not kept yet" in told
    assert "\n-b\n+c" in told
    rewrite(folder, {"new": "y\n"})
    assert [path.name for path in folder.iterdir()] == ["new"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("at http://127.0.0.1:40201/_search", "at http://<host>/_search"),
        ("http<span>:</span>//127.0.0.1<span>:</span>40201", "http<span>:</span>//<host>"),
        ("2026-11-22T06:52:54.123+00:00", "<time>"),
        ("2026-11-22T20:52:54-03:30", "<time>"),
        ("until 2029-12-31", "until 2029-12-31"),
        ("baseline of 2026-11-22, 3 queries of 2026-11-22", "baseline of <today>, 3 queries of 2026-11-22"),
        ("3 queries in 0.04 s, took 3 ms, mean 0.8155", "3 queries in <seconds> s, took 3 ms, mean 0.8155"),
        ("======= 1 failed in 0.12s =======", "=== 1 failed in <seconds> s ==="),
    ],
)
def test_what_differs_between_runs_is_masked_and_no_more(tmp_path, text, kept):
    assert masked(text, tmp_path) == f"{kept}\n"


def test_the_folder_of_a_run_is_masked(tmp_path):
    assert masked(f"{tmp_path}/shop.relevance.yaml  ", tmp_path) == "<folder>/shop.relevance.yaml\n"


def test_json_keeps_its_order_and_its_numbers():
    assert json_lines('{"b": 0.1234567890123456, "a": [1, 2.0]}') == '{"b": 0.1234567890123456, "a": [1, 2.0]}\n'


def test_a_page_is_its_texts_and_its_data():
    table = '<table><tr data-outcome="scored"><td>1</td><td data-v="2">3</td></tr></table>'
    page = f'<p class="x">one <b>two</b></p><script>no</script>{table}'
    assert page_lines(page) == "one two\n[data-outcome=scored] | 1 | [data-v=2] 3\n"
