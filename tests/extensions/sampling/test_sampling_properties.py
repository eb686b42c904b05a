"""What holds of every draw from a log, whatever its queries; and what holds on average over seeds."""

from collections import Counter
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.extensions.sampling.draw import (
    LoggedQuery,
    SamplePlan,
    Stratum,
    Way,
    allocate_evenly,
    assign_strata,
    draw_by_traffic,
    draw_sample,
    split_certain,
)
from harness.extensions.sampling.logs import LogOptions, read_logs
from harness.extensions.sampling.tally import QueryTally, clean_spelling
from harness.files.query_ids import make_query_id
from harness.words import fold_spelling

traffics = st.lists(st.integers(1, 60) | st.integers(1, 10**7), min_size=1, max_size=60)
sizes = st.integers(1, 70)
seeds = st.integers(0, 10**6)
every_way = pytest.mark.parametrize("way", Way)


def make_log(numbers):
    return [LoggedQuery(f"q{place}", f"Q{place}", traffic) for place, traffic in enumerate(numbers)]


def list_keys(sample):
    return [drawn.query.key for drawn in sample.queries]


@every_way
@given(numbers=traffics, size=sizes, seed=seeds, data=st.data())
def test_size_and_order_of_the_log(way, numbers, size, seed, data):
    """A sample has its size, and does not depend on the order of the log."""
    log, plan = make_log(numbers), SamplePlan(way, size, seed)
    sample = draw_sample(log, plan)
    keys = list_keys(sample)
    assert len(keys) == len(set(keys)) == min(size, len(log))
    assert draw_sample(data.draw(st.permutations(log)), plan) == sample


@every_way
@given(numbers=traffics, size=sizes, seed=seeds)
def test_strata_have_each_query_once(way, numbers, size, seed):
    """The strata have each query once, and count what was drawn."""
    sample = draw_sample(make_log(numbers), SamplePlan(way, size, seed))
    assert sum(share.queries for share in sample.strata) == len(numbers)
    assert sum(share.traffic for share in sample.strata) == sum(numbers)
    drawn = Counter(query.stratum for query in sample.queries)
    assert {share.stratum: share.drawn for share in sample.strata} == {name: drawn[name] for name in Stratum}


@given(numbers=traffics)
def test_strata_follow_traffic(numbers):
    """Strata follow traffic, and do not part queries of equal traffic."""
    ordered = [query.traffic for members in assign_strata(make_log(numbers)).values() for query in members]
    assert ordered == sorted(numbers, reverse=True)
    by_stratum = assign_strata(make_log(numbers))
    values = [{query.traffic for query in members} for members in by_stratum.values()]
    assert sum(map(len, values)) == len(set(numbers))
    assert by_stratum[Stratum.TAIL]
    assert by_stratum[Stratum.HEAD] or len(set(numbers)) == 1


@given(available=st.lists(st.integers(0, 50), min_size=3, max_size=3), size=st.integers(1, 100))
def test_strata_give_equally_many(available, size):
    """Strata give equally many queries, unless they have no more."""
    by_stratum = dict(zip(Stratum, available, strict=True))
    given_sizes = allocate_evenly(size, by_stratum)
    assert sum(given_sizes.values()) == min(size, sum(available))
    most = max(given_sizes.values())
    for stratum, number in given_sizes.items():
        assert number == by_stratum[stratum] or number >= most - 1


@given(numbers=traffics, size=sizes)
def test_inclusion_follows_traffic(numbers, size):
    """Inclusion is proportional to traffic, and adds up to the size."""
    ordered = sorted(numbers, reverse=True)
    certain, rest = split_certain(ordered, size)
    left = min(size, len(ordered)) - certain
    assert rest == sum(ordered[certain:])
    # No query that is not drawn in any case has a probability of 1 or more: to_draw * traffic / rest.
    assert all(left * traffic < rest for traffic in ordered[certain:])
    # Each that is drawn in any case would have 1 or more if it were not.
    for place in range(certain):
        assert (min(size, len(ordered)) - place) * ordered[place] >= sum(ordered[place:])


@pytest.mark.parametrize("way", [Way.TRAFFIC, Way.STRATA])
@given(numbers=traffics, size=sizes, seed=seeds)
def test_weights_add_up_to_all_searches(way, numbers, size, seed):
    sample = draw_sample(make_log(numbers), SamplePlan(way, size, seed))
    # With fewer than three queries a stratum has none, and nothing stands for its searches.
    strata = [share for share in sample.strata if share.drawn or way is Way.TRAFFIC]
    assert sum(query.weight for query in sample.queries) == pytest.approx(sum(share.traffic for share in strata))
    assert all(query.weight >= query.query.traffic * (1 - 1e-12) for query in sample.queries)


@given(numbers=traffics, size=sizes, seed=seeds)
def test_most_frequent_have_most_traffic(numbers, size, seed):
    """The most frequent queries are those with most traffic."""
    sample = draw_sample(make_log(numbers), SamplePlan(Way.FREQUENCY, size, seed))
    assert [query.query.traffic for query in sample.queries] == sorted(numbers, reverse=True)[:size]
    assert all(query.weight == query.query.traffic for query in sample.queries)


@pytest.mark.parametrize("way", [Way.RANDOM, Way.FREQUENCY])
@given(numbers=traffics, size=sizes, seed=seeds)
def test_larger_sample_has_the_smaller_one(way, numbers, size, seed):
    """A larger sample has the queries of a smaller one."""
    log = make_log(numbers)
    smaller = draw_sample(log, SamplePlan(way, size, seed))
    larger = draw_sample(log, SamplePlan(way, size + 5, seed))
    assert set(list_keys(smaller)) <= set(list_keys(larger))


ZIPF = [max(1, 3000 // (place + 1)) for place in range(200)]


@pytest.mark.parametrize("way", [Way.TRAFFIC, Way.STRATA])
def test_larger_sample_has_nearly_all(way):
    """A larger sample has nearly all queries of a smaller one."""
    log = make_log(ZIPF)
    kept = []
    for seed in range(40):
        smaller = set(list_keys(draw_sample(log, SamplePlan(way, 20, seed))))
        larger = set(list_keys(draw_sample(log, SamplePlan(way, 40, seed))))
        kept.append(len(smaller & larger) / len(smaller))
    assert fmean(kept) > 0.97


def test_share_over_seeds():
    """Over seeds each query is drawn in proportion to its traffic."""
    numbers = [40, 30, 20, 16, 12, 10, 8, 8, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    log, size, draws = make_log(numbers), 6, 4000
    certain, rest = split_certain(numbers, size)
    assert certain == 2
    drawn = Counter(key for seed in range(draws) for key in draw_by_traffic(log, size, seed))
    for query in log[certain:]:
        probability = (size - certain) * query.traffic / rest
        # Three standard errors, and what Pareto sampling differs by.
        error = 3 * (probability * (1 - probability) / draws) ** 0.5 + 0.02 * probability
        assert drawn[query.key] / draws == pytest.approx(probability, abs=error)
    assert drawn["q0"] == drawn["q1"] == draws


def test_over_seeds_random_draws_each_query_alike():
    log, draws = make_log([500, 40, 30, 5, 1, 1, 1, 1]), 4000
    drawn = Counter(
        key for seed in range(draws) for key in list_keys(draw_sample(log, SamplePlan(Way.RANDOM, 2, seed)))
    )
    for query in log:
        assert drawn[query.key] / draws == pytest.approx(0.25, abs=0.025)


@pytest.mark.parametrize(("way", "error"), [(Way.TRAFFIC, 0.005), (Way.STRATA, 0.005)])
def test_weighted_mean_over_seeds(way, error):
    """Over seeds the weighted mean is that of all searches."""
    # Frequent queries have better scores, as they do: the plain mean of a sample by traffic would tell another story.
    log = make_log(ZIPF)
    scores = {query.key: 1 / (1 + place / 20) for place, query in enumerate(log)}
    expected = sum(query.traffic * scores[query.key] for query in log) / sum(ZIPF)
    means = []
    for seed in range(600):
        queries = draw_sample(log, SamplePlan(way, 30, seed)).queries
        total = sum(query.weight for query in queries)
        means.append(sum(query.weight * scores[query.query.key] for query in queries) / total)
    assert fmean(means) == pytest.approx(expected, abs=error)


texts = st.text(st.sampled_from("aAéÉ e\u0301\u00a0\tßẞ１1x\u200b"), max_size=8)
searches = st.lists(st.tuples(texts, st.integers(0, 9)), max_size=30)


@given(lines=searches, data=st.data())
def test_tally_counts_each_search_once(lines, data):
    """A tally counts each search once, whatever the order."""
    tallies = []
    for order in (lines, data.draw(st.permutations(lines))):
        tally = QueryTally()
        for text, traffic in order:
            tally.add(text, traffic)
        tallies.append(tally.count())
    first, second = tallies
    assert sorted(first.queries, key=repr) == sorted(second.queries, key=repr)
    assert first.left_out == second.left_out
    assert first.traffic + sum(part.traffic for part in first.left_out) == sum(traffic for _, traffic in lines)
    assert len({query.key for query in first.queries}) == len(first.queries)


@given(text=st.text(max_size=20))
def test_what_is_shown_of_a_query_folds_to_its_key(text):
    spelling = clean_spelling(text)
    assert clean_spelling(spelling) == spelling
    assert fold_spelling(fold_spelling(spelling)) == fold_spelling(spelling)
    spelling.encode()


@given(first=st.text(max_size=12), second=st.text(max_size=12))
def test_ids_differ(first, second):
    """Ids of different queries differ, and can be ids."""
    keys = [fold_spelling(clean_spelling(text)) for text in (first, second)]
    ids = [make_query_id(key) for key in keys]
    assert all(ids) or not all(keys)
    assert (ids[0] == ids[1]) == (keys[0] == keys[1])


pieces = st.sampled_from(
    [b"query", b"q", b"count", b"hits", b",", b";", b"\t", b"\n", b"\r", b'"', b"'", b"#", b"sep=;", b"\xff", b"\0",
     b"1", b"0", b"-1", b"1e9", b"{", b"}", b":", b'{"q": "tent"}\n', b'{"query_id": "1", "user_query": "\\ud800"}\n',
     b"null", b"[]", b'"_source"', b'{"index": {}}\n', b"query,count\n", b"tent,3\n", "\u200b\u2028\ufeff".encode(),
     b"=1+1"]
)  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".txt"])
@pytest.mark.parametrize("skip_wrong", [False, True])
@given(parts=st.lists(pieces, max_size=14))
def test_any_file_is_read_or_refused_with_a_sentence(suffix, skip_wrong, parts):
    with TemporaryDirectory() as folder:
        path = Path(folder, f"log{suffix}")
        path.write_bytes(b"".join(parts))
        tally = QueryTally()
        try:
            [log] = read_logs([path], LogOptions(skip_wrong=skip_wrong), tally)
        except FormatError as error:
            refusal = str(error)
            log = None
    if log is None:
        assert str(path) in refusal
        return
    counted = tally.count()
    assert counted.traffic + sum(part.traffic for part in counted.left_out) == log.searches
