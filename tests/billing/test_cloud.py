"""What executions cost on the cloud: the formulas of docs/cost.md, their limits, and what is there at rest."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.billing.cloud.figures import LIMITS, Figures
from ferryman.billing.cloud.measured import load_measurement
from ferryman.billing.cloud.model import CHECK_S, QUIET_S, STORED_BYTES_MAX, TITLES, CostLine, compute_lines, compute_times
from ferryman.billing.cloud.prices import load_price_list
from ferryman.billing.cloud.rest import compute_idle_costs
from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.problem import InvalidInputError
from ferryman.serving.api import event_stream

INSTANT = Figures(executions=1, model_seconds=Decimal(0), call_seconds=Decimal(0), round_trip_ms=Decimal(0))
"""Nothing takes any time but what Cloud Run bills at least."""

GROWING = ("calls", "turns", "model_seconds", "call_seconds", "answer_kb", "request_kb", "round_trip_ms", "startup_seconds")
MOST = {"calls": 60, "turns": 60, "model_seconds": 60, "round_trip_ms": 200}


def compute_by_name(figures: Figures) -> dict[str, CostLine]:
    return {line.name: line for line in compute_lines(figures)}


def amounts(figures: Figures) -> dict[str, Decimal]:
    return {name: line.amount for name, line in compute_by_name(figures).items()}


def some(name: str) -> st.SearchStrategy[Decimal | int]:
    least, most = LIMITS[name]
    whole = st.integers(max(least, 2) if name == "turns" else least, min(most, MOST.get(name, most)))
    return whole if isinstance(getattr(INSTANT, name), int) else whole.map(Decimal)


FIGURES = st.builds(
    Figures,
    executions=st.integers(1, 10**6),
    at_once=st.integers(1, 200),
    watched=st.booleans(),
    by_document=st.booleans(),
    recovery=st.booleans(),
    **{n: some(n) for n in GROWING},
)


@given(FIGURES, st.integers(2, 9))
def test_so_many_times_the_executions_use_so_many_times_as_much(figures: Figures, times_as_many: int) -> None:
    more = amounts(replace(figures, executions=figures.executions * times_as_many))
    assert {name: round(amount * times_as_many, 12) for name, amount in amounts(figures).items()} == {
        name: round(amount, 12) for name, amount in more.items()
    }


@given(FIGURES, st.sampled_from(GROWING))
def test_more_of_anything_costs_no_less(figures: Figures, name: str) -> None:
    more = replace(figures, **{name: getattr(figures, name) + 1})
    if getattr(more, name) <= LIMITS[name][1]:
        before = amounts(figures)
        assert {name: amount for name, amount in amounts(more).items() if round(amount, 12) < round(before[name], 12)} == {}


@given(FIGURES, st.integers(2, 200))
def test_executions_that_share_instances_need_less_processor_memory_polls_keys_and_as_much_of_all_else(
    figures: Figures, more: int
) -> None:
    alone, shared = amounts(replace(figures, at_once=1)), amounts(replace(figures, at_once=more))
    time = {"vcpu_seconds", "gib_seconds", "reads", "accesses"}
    assert {name for name in alone if alone[name] != shared[name]} <= time
    assert all(shared[name] <= alone[name] for name in time)


def test_an_instance_takes_no_more_requests_than_its_function_allows() -> None:
    busy = replace(INSTANT, model_seconds=Decimal(100), calls=0)
    most = load_measurement().functions["orchestrator"].concurrency
    at_most, beyond = (amounts(replace(busy, at_once=count))["vcpu_seconds"] for count in (most, 1_000))
    orchestrator = compute_times(busy).busy["orchestrator"]
    assert orchestrator / most <= beyond < at_most < orchestrator / most + 2


def test_every_request_is_billed_for_a_tenth_of_a_second_at_least() -> None:
    instant = amounts(INSTANT)
    assert instant["vcpu_seconds"] == instant["requests"] / 10


def test_a_second_of_the_model_is_a_second_of_the_orchestrator_and_a_document_to_see_whether_to_stop() -> None:
    slow = amounts(replace(INSTANT, model_seconds=Decimal(3)))
    quick = amounts(INSTANT)
    assert slow["vcpu_seconds"] - quick["vcpu_seconds"] == 11 * 3 - Decimal("0.1")  # the tenth that was billed anyway
    assert slow["reads"] - quick["reads"] == 11 * 3 * load_measurement()["look"].reads


def test_executions_that_share_an_instance_share_its_polls() -> None:
    waiting = replace(INSTANT, model_seconds=Decimal(4), calls=0)
    seconds = compute_times(waiting).busy["orchestrator"]
    alone, shared = (amounts(replace(waiting, at_once=count))["reads"] for count in (1, 40))
    assert alone - shared == (waiting.turns * 4 - seconds / 40) * load_measurement()["look"].reads


def test_a_second_of_a_service_is_one_of_the_tool_and_one_of_the_orchestrator_that_waits_for_it() -> None:
    slow, quick = (compute_times(replace(INSTANT, call_seconds=Decimal(seconds))).busy for seconds in (2, 1))
    assert {name: slow[name] - quick[name] for name in slow} == {
        "api": 0,
        "on_execution": 0,
        "orchestrator": 10,
        "api_call": 10,
    }


def test_what_takes_longer_than_a_slice_is_delivered_again_and_reads_its_journal() -> None:
    longer = replace(INSTANT, calls=0, turns=5, model_seconds=Decimal(400))
    assert (compute_times(replace(longer, turns=4)).slices, compute_times(longer).slices) == (1, 2)
    fewer, more_turns = amounts(replace(longer, turns=4)), amounts(longer)
    assert more_turns["queue_operations"] - fewer["queue_operations"] == 4  # enqueued, and delivered; and its roll-up likewise


def test_without_recovery_nothing_is_kept_twice() -> None:
    twice, once = amounts(Figures()), amounts(Figures(recovery=False))
    assert (twice["recovery_gib"], once["recovery_gib"]) == (twice["stored_gib"], 0)


def test_executions_that_share_an_instance_share_its_keys() -> None:
    alone, shared = (amounts(Figures(at_once=count))["accesses"] for count in (1, 40))
    assert alone == 40 * shared


def test_who_watches_keeps_the_api_busy_as_long_as_the_execution_takes() -> None:
    alone, watched = (compute_times(replace(Figures(), watched=watched)).busy for watched in (False, True))
    assert watched["api"] == alone["api"] + alone["orchestrator"]
    assert amounts(Figures(watched=True))["reads"] > amounts(Figures())["reads"]


def test_twice_a_second_it_is_read_whether_who_watches_still_may() -> None:
    slow, quick = (replace(INSTANT, model_seconds=Decimal(seconds), calls=0, watched=True) for seconds in (13, 10))
    longer = compute_times(slow).busy["orchestrator"] - compute_times(quick).busy["orchestrator"]
    reads = [amounts(figures)["reads"] - amounts(replace(figures, watched=False))["reads"] for figures in (slow, quick)]
    polled = reads[0] - reads[1] - 2 * longer * load_measurement()["check"].reads
    assert Decimal(event_stream.CHECK_EVERY.total_seconds()) == CHECK_S
    assert abs(polled - longer / QUIET_S * load_measurement()["poll"].reads) < 10


def test_no_more_of_an_answer_is_kept_than_the_model_is_shown() -> None:
    assert STORED_BYTES_MAX == RESULT_CHARACTERS_MAX
    large, larger = (amounts(replace(INSTANT, answer_kb=Decimal(kib)))["stored_gib"] for kib in (48, 2_000))
    assert round((larger - large) * 2**30) == 10 * (RESULT_CHARACTERS_MAX - 48 * 1024)


def test_what_is_free_is_taken_off_once_and_nothing_is_given_back() -> None:
    price = load_price_list()["requests"]
    assert price.free == 2_000_000
    assert (price.compute_beyond_free(Decimal(1_999_999)), price.compute_beyond_free(Decimal(3_000_000))) == (
        0,
        Decimal("0.40"),
    )
    assert load_price_list()["reads"].free == 30 * 50_000


def test_a_thousand_executions_of_ten_calls_cost_what_a_hand_reckons() -> None:
    reckoned = compute_by_name(Figures(round_trip_ms=Decimal(0)))
    # at the orchestrator 44 s of the model and 5 s of services; ten calls of 0.5 s, twelve scans of 0.1 s; then a tenth each
    assert reckoned["vcpu_seconds"].amount == 1_000 * (49 + 5 + Decimal("1.2") + Decimal("0.1") * 3)
    assert reckoned["vcpu_seconds"].cost == Decimal("1.332")
    # four requests at the ends, a call and a scan each
    assert reckoned["requests"].amount == 1_000 * (4 + 10 + 12)


@pytest.mark.parametrize("name", LIMITS)
def test_a_figure_beyond_its_limit_is_refused_with_its_name_and_the_limit(name: str) -> None:
    least, most = LIMITS[name]
    for beyond in (least - 1, most + 1):
        with pytest.raises(InvalidInputError) as refused:
            compute_lines(replace(Figures(), **{name: beyond}))
        (problem,) = [problem for problem in refused.value.problems if problem.field == name]
        assert f"{least:,} to {most:,}" in problem.message


@pytest.mark.parametrize(
    ("figures", "field"),
    [
        (replace(Figures(), turns=1), "turns"),
        (replace(Figures(), model_seconds=Decimal("NaN")), "model_seconds"),
        (replace(Figures(), turns=100, model_seconds=Decimal(300)), "turns"),
    ],
)
def test_figures_that_no_execution_can_have_are_refused(figures: Figures, field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        compute_lines(figures)
    assert [problem.field for problem in refused.value.problems] == [field]


def test_every_price_that_is_used_is_listed_with_its_source_and_where_it_was_read() -> None:
    import json
    from importlib.resources import files

    table = json.loads(files("ferryman.billing.cloud").joinpath("prices.json").read_text())
    rows = table["prices"]
    assert set(rows) == {*TITLES, "versions", "source_gib", "image_gib", "conditions", "class_a", "class_b"}
    assert (table["region"], table["currency"], len(table["as_of"])) == ("us-central1", "USD", len("2026-11-21"))
    for row in rows.values():
        assert row["source"].startswith("https://")
        assert len(row["read"]) > 10
        assert row["free_per"] in ("day", "month")


def test_at_rest_no_function_runs_and_what_remains_does_not_depend_on_how_long_anything_took() -> None:
    resting = compute_idle_costs(Figures())
    assert (resting[0].title, resting[0].amount, resting[0].cost) == ("functions running", "0 instances", 0)
    assert compute_idle_costs(Figures(model_seconds=Decimal(60), call_seconds=Decimal(30))) == resting
    assert sum(cost.cost for cost in compute_idle_costs(Figures(executions=10))) < sum(cost.cost for cost in resting)
