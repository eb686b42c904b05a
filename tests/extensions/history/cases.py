"""What the history adds to the tests that hold for each command."""

LOST = {"history": (("history", "show", "shop.relevance.yaml", "--history", "seen"), ("html", "html"))}
REFUSED = {
    "a history to pack with a damaged file": ("history", "pack", "--history", "damaged", "--keep", "0"),
    "a history into its suite": (
        *("history", "show", "shop.relevance.yaml", "--history", "kept"),
        *("--output", "html=shop.relevance.yaml"),
    ),
    "a history of another request": (
        *("history", "show", "shop.relevance.yaml", "--history", "kept"),
        *("--output", "html=report.html", "--request", "curent"),
    ),
}
NAMED = [("relevance history SUITE --request current", "")]
OPENED_BESIDE = ["extensions/history/packing.py"]
