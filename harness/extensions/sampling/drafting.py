"""Drafts a suite with the queries of a sample of a log. Pure."""

from __future__ import annotations

from harness.drafts.draft import Draft, DraftQuery
from harness.extensions.sampling.draw import Sample
from harness.extensions.sampling.query_files import round_weight
from harness.files.query_ids import make_query_id
from harness.model.suite import Profile


def draft_sample(sample: Sample, name: str) -> Draft:
    """The suite *name* with the queries of *sample*, their weights, and their strata as tags; nothing is judged."""
    draft = Draft(Profile.STANDARD, name=name, is_measured=False)
    for drawn in sample.queries:
        query = DraftQuery(make_query_id(drawn.query.key), drawn.query.text)
        query.tags = [drawn.stratum.value]
        query.weight = round_weight(drawn.weight)
        draft.queries.append(query)
    return draft
