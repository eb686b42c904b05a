"""What tuning adds to the tests that hold for each command."""

URL = ["--url", "http://127.0.0.1:9"]

BESIDE = {
    "shop.holdout.json": ["tune", "shop.relevance.yaml", "--force", *URL],
    "shop.tune.journal": ["tune", "shop.relevance.yaml", "--force", *URL],
    "shop.tune.journal.lock": ["tune", "shop.relevance.yaml", "--force", *URL],
}
LOST = {"tune": (("tune", "tuned.relevance.yaml", "--trials", "2", "--effect", "0.9", "-q"), ("html", "json"))}
REFUSED = {
    "a suite without parameters": ("tune", "shop.relevance.yaml", "--output", "json=report.json"),
    "too few queries": ("tune", "few.relevance.yaml", "--output", "html=report.html", "--output", "json=report.json"),
    "a storage that another tuning writes": ("tune", "tuned.relevance.yaml", "--output", "json=report.json"),
    "a storage in no folder": ("tune", "tuned.relevance.yaml", "--storage", "none/new.journal"),
    "a hold-out of other queries": ("tune", "drawn.relevance.yaml", "--output", "json=report.json"),
    "both changes": ("tune", "tuned.relevance.yaml", "--apply", "--candidate", "better"),
}
OPENED_BESIDE = ["extensions/tuning/hold_outs.py", "extensions/tuning/study.py"]
