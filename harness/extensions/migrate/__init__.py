"""Suites from an index, and from files of other systems and back; scores beside those of `_rank_eval`."""

from harness.extensions import AddedCommand, AddedSchema, Extension, Remedy, Step

EXTENSION = Extension(
    commands=(
        AddedCommand(
            "init",
            "Daily",
            "Write a suite for your own index, or a small one with documents.",
            "harness.extensions.migrate.init_command",
            before="validate",
        ),
        AddedCommand(
            "import",
            "Queries and judgments",
            "Write a suite from Quepid, RRE and others, or grades from clicks.",
            "harness.extensions.migrate.import_command",
        ),
        AddedCommand(
            "export",
            "Queries and judgments",
            "Write suites as TREC files, CSV or JSON lines.",
            "harness.extensions.migrate.export_command",
        ),
        AddedCommand(
            "verify",
            "Engines",
            "Compare the scores of suites with those of the cluster's own _rank_eval.",
            "harness.extensions.migrate.verify_command",
        ),
    ),
    schemas=(AddedSchema("verification", "harness.extensions.migrate.verification_document", "verification_schema"),),
    first_steps=(
        Step("relevance init", "write a small suite with documents, ready to run"),
        Step("relevance init --url http://localhost:9200", "write a suite from an index of this server"),
        Step("relevance import --help", "take suites and judgments over from other systems"),
    ),
    pages=(
        "coming-from/beir.md",
        "coming-from/csv.md",
        "coming-from/index.md",
        "coming-from/quepid.md",
        "coming-from/rank-eval.md",
        "coming-from/rre.md",
        "coming-from/search-relevance-workbench.md",
        "coming-from/trec-eval.md",
        "guides/clicks.md",
        "tutorials/people-and-machine.md",
    ),
    remedies={
        Remedy.IMPORT: "relevance import",
        Remedy.IMPORT_QUEPID: "relevance import quepid",
    },
)
