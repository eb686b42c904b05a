"""What comparisons add to the tests that hold for each command."""

from extensions.compare.builders.comparisons import comparison_report, unjudged_report
from harness.extensions.compare import page
from harness.options import Commands

SIDES = ("compare", "request:current", "request:other", "--suite", "shop.relevance.yaml")

COMMANDS_WITH = [(Commands.WITH_A_SERVER, ("compare",)), (Commands.OF_SUITES, ("compare",))]
OWN_HELP = ["compare"]
"""It has a --request of its own."""

SMOKE = ["relevance compare"]
REQUESTS = [["compare", "request:a", "request:b", "--suite", "shop.relevance.yaml"]]
LOGINS = {"baseline diff": ["baseline", "diff"]}
UNSENT_LOGINS = [["compare", "request:request", "cluster:default", "--suite", "suites/shop.relevance.yaml"]]
MASKED = {"compare": ["compare", "shop.relevance.yaml", "request:body", "request:templated"]}
FOUND = [["baseline", "diff", "--url", "URL"]]
WITHOUT_VARIANTS = [["compare", "request:request", "index:products", "--suite", "shop.relevance.yaml"]]
PAGES = {
    "comparison": lambda: page.render(comparison_report()),
    "no judgments": lambda: page.render(unjudged_report()),
}
LOST = {
    "compare": (SIDES, ("html", "json")),
    "compare three": ((*SIDES[:3], "request:current", *SIDES[3:]), ("html", "json")),
}
REFUSED = {
    "one side": ("compare", "request:current", "--suite", "shop.relevance.yaml", "--output", "json=report.json"),
    "a side of another name": (
        *("compare", "request:current", "request:curent", "--suite", "shop.relevance.yaml"),
        *("--output", "html=report.html", "--output", "markdown=report.markdown"),
    ),
    "a side that is no file": ("compare", "run:a.trec", "run:b.trec", "--output", "json=report.json"),
    "a threshold": (*SIDES, "--threshold", "drop nDCG", "--output", "json=report.json"),
    "a comparison into its input": (*SIDES, "--output", "json=shop.relevance.yaml"),
}
