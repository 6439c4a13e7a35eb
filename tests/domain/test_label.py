"""Labels: a join-semilattice, so that what follows from values is never more trusted, or less confidential, than they."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.labels.label import (
    BOTTOM,
    OWNED,
    READ,
    SOURCES_MAX,
    Confidentiality,
    FlowLabel,
    Integrity,
    Source,
    drop_sources,
    join,
)

SOURCES = [Source(tool="http_get", call=number, url=f"https://a.test/{number}") for number in range(3 * SOURCES_MAX)]
LABELS = st.builds(
    lambda integrity, confidentiality, sources, more: join(
        (FlowLabel(integrity=integrity, confidentiality=confidentiality, sources=tuple(sources), more=more),)
    ),
    st.sampled_from(Integrity),
    st.sampled_from(Confidentiality),
    st.lists(st.sampled_from(SOURCES), max_size=2 * SOURCES_MAX),
    st.booleans(),
)


def is_below(lower: FlowLabel, upper: FlowLabel) -> bool:
    """Tell whether `upper` says at least what `lower` does: joining them changes nothing."""
    return join((lower, upper)) == upper


@given(LABELS, LABELS)
def test_the_order_of_two_values_does_not_matter(a: FlowLabel, b: FlowLabel) -> None:
    assert join((a, b)) == join((b, a))


@given(LABELS, LABELS, LABELS)
def test_it_does_not_matter_which_are_joined_first(a: FlowLabel, b: FlowLabel, c: FlowLabel) -> None:
    assert join((join((a, b)), c)) == join((a, join((b, c)))) == join((a, b, c))


@given(LABELS)
def test_a_value_joined_with_itself_or_with_a_constant_stays_what_it_is(a: FlowLabel) -> None:
    assert join((a, a)) == join((a, BOTTOM)) == join((a,)) == a


@given(LABELS, LABELS, LABELS)
def test_a_join_is_above_both_and_rises_with_each(a: FlowLabel, b: FlowLabel, c: FlowLabel) -> None:
    assert is_below(a, join((a, b)))
    assert is_below(join((a, c)), join((join((a, b)), c)))


@given(LABELS, LABELS)
def test_what_follows_is_as_untrusted_and_as_confidential_as_the_worst(a: FlowLabel, b: FlowLabel) -> None:
    both = join((a, b))
    assert (both.integrity is Integrity.UNTRUSTED) == (Integrity.UNTRUSTED in (a.integrity, b.integrity))
    order = list(Confidentiality)
    assert order.index(both.confidentiality) == max(order.index(a.confidentiality), order.index(b.confidentiality))


def test_nothing_joined_is_a_constant() -> None:
    assert join(()) == BOTTOM


def test_the_levels_are_in_this_order() -> None:
    assert (list(Integrity), list(Confidentiality)) == (["trusted", "untrusted"], ["public", "owner", "credential"])


@pytest.mark.parametrize(("count", "more"), [(SOURCES_MAX, False), (SOURCES_MAX + 1, True)])
def test_a_bounded_number_of_sources_is_named(count: int, more: bool) -> None:
    label = join(replace(READ, sources=(source,)) for source in SOURCES[:count])
    assert (len(label.sources), label.more) == (SOURCES_MAX, more)


def test_without_its_sources_a_label_has_its_levels() -> None:
    assert drop_sources(replace(READ, sources=tuple(SOURCES[:2]), more=True)) == READ
    assert drop_sources(OWNED) == OWNED
