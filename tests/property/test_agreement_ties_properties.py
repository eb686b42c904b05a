"""The least and the greatest agreement over all orders of ties is that of one of them, and of none beyond."""

from itertools import chain, permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.metrics.agreement import agreement_value, find_agreement_range
from harness.metrics.grammar import read_agreement

AGREEMENTS = [read_agreement(text) for text in ("RBO", "RBO(p=0.5)@3", "overlap@1", "overlap@3", "overlap@5")]


@st.composite
def groups_of_documents(draw):
    """Up to five documents of six in groups of three at most, so that all orders can be tried."""
    documents = draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=5))
    groups = []
    while documents:
        size = draw(st.integers(1, 3))
        groups.append(documents[:size])
        documents = documents[size:]
    return groups


def list_orders(groups):
    return [list(chain.from_iterable(order)) for order in product(*(permutations(group) for group in groups))]


@settings(max_examples=120, deadline=None)
@given(groups_of_documents(), groups_of_documents(), st.integers(1, 5), st.integers(1, 5))
def test_the_range_is_that_of_all_orders(first, second, most_first, most_second):
    lengths = min(most_first, sum(map(len, first))), min(most_second, sum(map(len, second)))
    for agreement in AGREEMENTS:
        values = []
        for one, other in product(list_orders(first), list_orders(second)):
            values.append(agreement_value(agreement, one[: lengths[0]], other[: lengths[1]], depth=5))
        least, greatest = find_agreement_range(agreement, first, second, lengths, depth=5)
        assert abs(least - min(values)) < 1e-12
        assert abs(greatest - max(values)) < 1e-12
