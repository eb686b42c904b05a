"""What is wrong with judgments, or looks as if it were: by what was read, and by what an index is known to hold."""

from harness.judgment_findings.aliases import alias_findings, folded_id, other_spellings
from harness.judgment_findings.checking import IndexKnowledge, JudgedSuite, find_in
from harness.judgment_findings.findings import FindingKind, JudgmentFinding, PlacedJudgment
from harness.judgment_findings.scales import Scale, parse_scale, scales_of

__all__ = [
    "FindingKind",
    "IndexKnowledge",
    "JudgedSuite",
    "JudgmentFinding",
    "PlacedJudgment",
    "Scale",
    "alias_findings",
    "find_in",
    "folded_id",
    "other_spellings",
    "parse_scale",
    "scales_of",
]
