"""Records: a verifier says "fits" to the record that was signed and to no other."""

from __future__ import annotations

import copy
import functools
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ferryman import verify_receipts as verifier
from ferryman.domain.calls.call import TicketState
from ferryman.domain.executions.execution import OWNER
from ferryman.ports.errors import UnavailableError
from ferryman.serving import bundle
from tests.loop.conftest import Stage, fetches, says
from tests.receipts.mutations import canonical, is_leaf, others, places, put
from tests.receipts.runs import RUNS, FinishedRun, answer, collect_run, finish_run, fits, with_calls, with_thinking

COMPUTE_DIGEST = verifier.digest
CHANGES_PER_LEAF = 2
"""Of the ways to change a leaf, in turn; of those to change a list or an object, all are tried."""


@pytest.fixture(params=RUNS)
async def run(request: pytest.FixtureRequest) -> FinishedRun:
    return await finish_run(RUNS[request.param])


async def test_the_record_that_was_signed_fits(run: FinishedRun) -> None:
    assert fits(run.record, run.receipts)
    assert fits(json.loads(json.dumps(run.record)), json.loads(json.dumps(run.receipts)))


async def test_the_courses_are_of_every_kind() -> None:
    records = [(await finish_run(run)).record for run in RUNS.values()]
    errors = [str(record["execution"]["error"]) for record in records]
    counts = [
        sum(error.startswith(prefix) for error in errors)
        for prefix in ("None", "cancelled", "stopped by", "the credit", "the task")
    ]
    assert counts == [7, 1, 1, 1, 1]
    calls = [call for record in records for call in record["calls"]]
    assert {call["in_doubt"] for call in calls} == {True, False}
    assert max(call["attempt"] for call in calls) > 1
    assert any(record["execution"]["scheduled_for"] and record["policy"]["declared"] for record in records)


async def test_every_leaf_that_is_changed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, missed = 0, []
    for name, run in RUNS.items():
        known = await finish_run(run)
        assert verifier.verify(known.receipts)[0] == verifier.WHOLE
        monkeypatch.setattr(verifier, "digest", remember_digests(known.record))
        says_it_fits = functools.partial(_fits, known.receipts)
        assert says_it_fits(known.record)
        turn = 0
        for at, value in places(known.record):
            changes = list(others(value))
            if is_leaf(value):
                changes = [changes[(turn + step) % len(changes)] for step in range(min(CHANGES_PER_LEAF, len(changes)))]
                turn += CHANGES_PER_LEAF
            tried += len(changes)
            missed += [(name, at, change) for change in changes if says_it_fits(put(known.record, at, change))]
    print(f"{tried - len(missed)} of {tried} changed records found")
    assert missed == []
    assert tried >= 3_000


def remember_digests(record: Any) -> Callable[..., str]:
    """Return the verifier's digest, computed once for every place of `record`: a change shares what is beside it."""
    known = {id(value): value for _, value in places(record)}
    compute = functools.cache(lambda place, domain: COMPUTE_DIGEST(known[place], domain))

    def digest(value: Any, domain: bytes = b"") -> str:
        return compute(id(value), domain) if id(value) in known else COMPUTE_DIGEST(value, domain)

    return digest


def _fits(receipts: Any, record: Any) -> bool:
    """Tell whether the record is the signed one, of receipts that were verified."""
    try:
        return verifier.compare(receipts, record) == ([], [])
    except (verifier.VerificationError, ValueError, KeyError, TypeError, AttributeError):
        return False


async def test_no_way_to_change_a_value_is_left_out() -> None:
    """Every way to change a leaf, on one leaf of each type in each part of a record."""
    known = await finish_run(with_calls)
    seen = set()
    for at, value in places(known.record):
        kind = (at[:1], type(value), at[-1:])
        if kind in seen or not is_leaf(value):
            continue
        seen.add(kind)
        missed = [change for change in others(value) if _fits(known.receipts, put(known.record, at, change))]
        assert missed == [], at


async def test_the_receipts_and_record_of_two_executions_fit_each_with_its_own_alone() -> None:
    known = {name: await finish_run(run) for name, run in RUNS.items()}
    again = Stage()
    again.clock.turn(0.000001)  # the same task, and all the same but for a microsecond
    known["the same again"] = await finish_run(with_calls, again)
    for (first, its), (other, theirs) in itertools.product(known.items(), repeat=2):
        theirs_signed = {**theirs.receipts, "keys": {**its.receipts["keys"], **theirs.receipts["keys"]}}
        assert fits(its.record, theirs_signed) == (first == other), (first, other)


async def test_parts_of_another_record_of_the_task_do_not_fit() -> None:
    later = Stage()
    later.clock.turn(60)
    first, other = (await finish_run(with_calls)).record, (await finish_run(with_calls, later))
    for name in set(first) - {"format"}:
        swapped = {**other.record, name: first[name]}
        same = canonical(first[name]) == canonical(other.record[name])
        assert fits(swapped, other.receipts) == same, name


async def test_receipts_that_were_changed_fit_no_record() -> None:
    known = await finish_run(with_calls)
    tried = 0
    for at, value in places(known.receipts):
        for change in list(others(value))[:6]:
            changed = put(known.receipts, at, change)
            tried += 1
            assert not fits(known.record, changed), at
    assert tried > 1_000


async def test_covers_that_nobody_signed_are_worth_nothing() -> None:
    """Digests that fit the changed record, and hashes computed again by somebody without a key."""
    known = await finish_run(with_calls)
    record = put(known.record, ("execution", "output"), "It is 43.")
    receipts, before = copy.deepcopy(known.receipts), verifier.GENESIS
    receipts["entries"][-1]["covers"]["execution"] = verifier.digest(record["execution"])
    for entry in receipts["entries"]:
        content = {name: value for name, value in entry.items() if name not in ("hash", "signature")} | {"previous": before}
        entry |= {"previous": before, "hash": verifier.digest(content, verifier.DOMAIN)}
        before = entry["hash"]
    assert verifier.compare(receipts, record) == ([], [])
    with pytest.raises(verifier.VerificationError, match="does not bear a signature"):
        verifier.verify(receipts)


async def test_every_truncation_of_the_receipts_covers_less_than_the_record() -> None:
    known = await finish_run(with_calls)
    for length in range(len(known.receipts["entries"])):
        chain = {**known.receipts, "entries": known.receipts["entries"][:length]}
        wrong, bare = verifier.compare(chain, known.record)
        assert (verifier.verify(chain)[0], wrong) == (verifier.OPEN, [])
        assert "execution" in bare


def run_command(capsys: Any, tmp_path: Path, known: FinishedRun, record: Any) -> tuple[int, list[str]]:
    """Return what the command says of a record, with pinned keys."""
    for name, document in {"receipts": known.receipts, "record": record}.items():
        (tmp_path / name).write_text(json.dumps(document))
    keys = [f"--public-key={version}:{key}" for version, key in known.receipts["keys"].items()]
    code = verifier.main([str(tmp_path / "receipts"), *keys, "--record", str(tmp_path / "record")])
    return code, capsys.readouterr().out.splitlines()


async def test_the_command_says_that_a_record_fits_or_what_does_not(capsys: Any, tmp_path: Path) -> None:
    known = await finish_run(with_calls)
    code, lines = run_command(capsys, tmp_path, known, known.record)
    assert (code, lines[1:]) == (0, ["Verified with the public keys you gave.", "The record fits the receipts."])
    for at, part in {
        ("execution", "output"): "execution",
        ("opening", "prompt"): "opening",
        ("steps", 0, "content", 0, "text"): "steps/1",
        ("calls", 1, "in_doubt"): "calls/1",
        ("events", 2, "body", "name"): "events/3",
        ("ledger", 0, "postings", 0, "credits"): "ledger/e.start",
    }.items():
        code, lines = run_command(capsys, tmp_path, known, put(known.record, at, "other"))
        assert (code, lines[2:]) == (1, [f"DOES NOT FIT: {part}"])


async def test_what_is_no_record_does_not_fit(capsys: Any, tmp_path: Path) -> None:
    known = await finish_run(with_calls)
    record = known.record
    for other in (
        *({}, [], None, 1, "", [record], record["execution"], record["calls"], {"calls": record["calls"]}, {"record": record}),
        *({**record, "format": "ferryman.record/1"}, {**record, "more": 1}, json.loads(bundle.write_bundle(record))),
        {name: value for name, value in record.items() if name != "ledger"},
    ):
        code, lines = run_command(capsys, tmp_path, known, other)
        assert (code, "fits" in " ".join(lines)) == (1, False)


async def test_a_running_execution_is_verified_as_far_as_it_goes(capsys: Any, tmp_path: Path) -> None:
    stage = Stage()
    stage.on_call = lambda ticket: answer(ticket) if ticket.seq < 2 else UnavailableError("gone")
    await stage.run(fetches(), fetches(3))
    known = collect_run(stage)
    code, lines = run_command(capsys, tmp_path, known, known.record)
    # call 1 has settled, and that is signed with the next turn; call 2 is under way, call 3 waits
    parts = ["execution", "calls/1", "calls/2", "calls/3", "events/6", "events/7", "events/8"]
    assert code == verifier.OPEN
    assert lines[2:] == [*(f"NOT COVERED: {part}" for part in parts), "The record fits the receipts as far as it is covered."]
    for at in (
        ("opening", "model"),
        ("steps", 0, "credits"),
        ("calls", 0, "attempt"),
        ("events", 4, "body", "text"),
        ("calls", 3, "arguments", "url"),
    ):
        code, lines = run_command(capsys, tmp_path, known, put(known.record, at, "other"))
        assert (code, len([line for line in lines if line.startswith("DOES NOT FIT")])) == (1, 1)
    for name in ("steps", "events", "ledger"):
        assert run_command(capsys, tmp_path, known, {**known.record, name: known.record[name][:1]})[0] == 1
    code, lines = run_command(capsys, tmp_path, known, put(known.record, ("calls", 2, "state"), "settled"))
    assert (code, "NOT COVERED: calls/2" in lines) == (3, True)


async def test_a_call_that_its_end_did_not_wait_for_is_named_as_not_covered(capsys: Any, tmp_path: Path) -> None:
    stage = Stage()
    stage.on_call = lambda ticket: RuntimeError("a fault of ours")

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("another fault of ours")

    deps = stage.deps()
    executions = type("Broken", (type(deps.executions),), {"settle": broken, "tickets": broken})(stage.memory)
    stage.deps = lambda: replace(deps, executions=executions, model=stage.model)  # type: ignore[method-assign] # a house with a fault
    await stage.run(fetches(), says("never"))
    stage.memory.tickets["e"][0] = replace(
        stage.memory.tickets["e"][0],
        state=TicketState.SETTLED,
        settled_at=stage.clock.now(),
        result=answer(stage.memory.tickets["e"][0]),
    )
    known = collect_run(stage)
    assert verifier.verify(known.receipts)[0] == verifier.WHOLE
    code, lines = run_command(capsys, tmp_path, known, known.record)
    assert (code, lines[2:4]) == (3, ["NOT COVERED: calls/0", "NOT COVERED: events/3"])
    assert run_command(capsys, tmp_path, known, put(known.record, ("execution", "error"), "none"))[0] == 1


async def test_an_execution_that_was_cancelled_in_the_queue_has_nothing_that_is_covered(capsys: Any, tmp_path: Path) -> None:
    stage = Stage()
    await stage.deps().executions.cancel("e", by=OWNER, now=stage.clock.now())
    known = collect_run(stage)
    code, lines = run_command(capsys, tmp_path, known, known.record)
    parts = ["execution", "opening", "policy", "events/1"]
    assert (code, [line for line in lines if line.startswith("NOT COVERED")]) == (3, [f"NOT COVERED: {part}" for part in parts])


async def test_a_cancel_that_comes_while_the_end_is_signed_is_signed_for() -> None:
    stage = Stage()
    deps = stage.deps()
    kind_ = type(deps.executions)

    class Late(kind_):  # type: ignore[misc, valid-type] # a class that is worked out
        async def finish(self, execution: Any, ending: Any, *, now: Any) -> Any:
            await self.cancel("e", by="person_1", now=now)
            return await super().finish(execution, ending, now=now)

    build_deps = stage.deps
    stage.deps = lambda: replace(build_deps(), executions=Late(stage.memory))  # type: ignore[method-assign] # a cancel in between
    await stage.run(says("done"))
    known = collect_run(stage)
    ended = known.record["execution"]
    assert (ended["status"], ended["cancel_requested"], ended["cancelled_by"]) == ("completed", True, "person_1")
    assert known.receipts["entries"][-1]["cancelled_by"] == "person_1"
    assert fits(known.record, known.receipts)


@pytest.mark.parametrize("turns", [4, 32])
async def test_what_a_record_costs_to_verify_grows_with_its_size(turns: int) -> None:
    """Counted in digests: one for each part, and one for each entry."""
    stage = Stage()
    await stage.run(*[fetches()] * turns, says("done"))
    known, counted = collect_run(stage), 0
    digest = verifier.digest

    def counting(*arguments: Any) -> str:
        nonlocal counted
        counted += 1
        return digest(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifier, "digest", counting)
        assert fits(known.record, known.receipts)
    parts = 3 + sum(
        len(known.record[name]) for name in ("steps", *["calls"] * 3, "events", "ledger")
    )  # their arguments and flows, too
    assert counted == parts + len(known.receipts["entries"])


async def test_thoughts_of_two_turns_cannot_change_places_nor_lose_their_signature() -> None:
    run = await finish_run(with_thinking)
    turns = [step["content"] for step in run.record["steps"]]
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"}
    assert [content[0] == thought for content in turns] == [True, True, False]
    replayed = put(run.record, ("steps", 2, "content"), [thought, *turns[2]])
    unsigned = put(run.record, ("steps", 0, "content", 0), {**thought, "signature": ""})
    exchanged = put(run.record, ("steps", 0, "content"), [turns[0][1], turns[0][0], *turns[0][2:]])
    assert fits(run.record, run.receipts)
    assert not [changed for changed in (replayed, unsigned, exchanged) if fits(changed, run.receipts)]
