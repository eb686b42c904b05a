"""Thresholds whose variables are not set yet: what can be known of them already."""

import pytest

from harness.model import Unresolved
from harness.suites import load_suite

SUITE = """\
suite: s
target: {index: products}
request: {query: {match: {title: "{{text}}"}}}
measures: ["R@10"]
thresholds: ["mean R@10 >= 0", "%s"]
queries:
  - {id: a, text: x, tags: [head, "long tail"], judgments: {d1: 1}}
"""


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("mean R@10 >= ${LEAST:-0.9} for head", "head"),
        ("mean R@10 >= ${LEAST} for head", "head"),
        ("${SHARE}% R@10 >= 0.5 for long tail", "long tail"),
        ("mean R@10 >= ${LEAST}", None),
        ("mean R@10 >= 0.5 for ${TAG}", None),
    ],
)
def test_the_tag_of_a_threshold_is_known_before_its_variables_are(tmp_path, text, tag):
    path = tmp_path / "s.relevance.yaml"
    path.write_text(SUITE % text)
    threshold = load_suite(path, None).thresholds[1]
    assert isinstance(threshold.condition, Unresolved)
    assert threshold.tag == tag
