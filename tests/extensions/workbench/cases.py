"""What the workbench adds to the tests that hold for each command."""

BESIDE = {".shop.tries.jsonl": ["try", "shop.relevance.yaml", "--list"]}
