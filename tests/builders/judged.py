"""A suite with files of judgments."""

SUITE = """\
suite: shop
target: {{index: products}}
grades: {{good: 2, bad: 0}}
request: {{query: {{match: {{title: "{{{{text}}}}"}}}}}}
measures: ["nDCG@5"{measures}]
{more}
judgments: {judgments}
queries:
  - {{id: q, text: one, judgments: {{a: good, b: {b}}}}}
  - {{id: r, text: two}}
"""


def write_judged(folder, judgments="[]", more="", measures="", b="bad", **files):
    """Write the suite and *files*, by their names with _ for the dot, and give its path in *folder*."""
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content)
    path = folder / "s.relevance.yaml"
    path.write_text(SUITE.format(judgments=judgments, more=more, measures=measures, b=b))
    return path.relative_to(folder)
