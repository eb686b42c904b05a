"""docs/guides/chunks.md: the commands, as a reader with an index of chunks types them on the embedded node."""

from pathlib import Path

import pytest

from builders.typed_page import assert_shown, follow_page, hold_index, type_command

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "chunks.md").read_text(encoding="utf-8")

MAPPINGS = {
    "properties": {"manual": {"type": "keyword"}, "part": {"type": "integer"}, "body": {"type": "text"}},
}
MANUALS = {
    "boiler": [
        "The boiler has a relief valve on its upper side.",
        "The relief valve opens at 3",
        "bar, and it closes again below 2 bar.",
        "Have a valve that leaks replaced.",
    ],
    "pump": ["The pump has a filter.", "Rinse the filter with cold water. Never use a brush.", "Dry the filter."],
}


def make_chunks(size: int) -> dict[str, dict[str, object]]:
    """The manuals in chunks of so many parts."""
    chunks = {}
    for manual, parts in MANUALS.items():
        for start in range(0, len(parts), size):
            body = " ".join(parts[start : start + size])
            chunks[f"{manual}-{size}-{start}"] = {"manual": manual, "part": start, "body": body}
    return chunks


@pytest.mark.embedded
@pytest.mark.one_engine
def test_the_page_goes_from_an_index_of_chunks_to_a_gate(tmp_path, opensearch_url, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("CI", raising=False)
    with (
        hold_index(opensearch_url, "manual-chunks", make_chunks(2), MAPPINGS),
        hold_index(opensearch_url, "manual-chunks-short", make_chunks(1), MAPPINGS),
    ):
        statuses = []
        for line, shown in follow_page(PAGE.replace("http://localhost:9200", opensearch_url)):
            status, printed = type_command(line, capfd)
            statuses.append(status)
            assert_shown(shown, printed, line)
    assert statuses == [0, 0, 1]
