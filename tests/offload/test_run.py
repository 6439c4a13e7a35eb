"""Running a function away from the event loop: what comes back, what it may take, and who ends it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from ferryman import offload
from ferryman.domain.calls.part import PartKind
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.problem import InvalidInputError
from ferryman.offload import TEXT, Budget, JobFailedError, OverBudgetError, TooManyJobsError, WorkerPool
from ferryman.offload.fork_server import ForkServer
from ferryman.offload.pool import NICE, WAITING_MAX
from tests.canaries.canary import create_key
from tests.offload import jobs

SHORT = Budget(cpu_s=0.2, wall_s=30, memory_bytes=TEXT.memory_bytes)
WORST = (jobs.backtrack, jobs.loop)


async def is_gone(process: int) -> bool:
    """Tell whether the process ends within some seconds."""
    for _ in range(500):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        await asyncio.sleep(0.01)
    return False


async def begun(pool: WorkerPool, owner: str = "a") -> int:
    """Return the process of the worker that takes the owner's next job."""
    return await pool.run(owner, TEXT, jobs.process)


async def test_a_function_answers_from_another_process():
    assert await offload.run("a", TEXT, jobs.reversed_, "abc") == "cba"
    assert await offload.run("a", TEXT, jobs.process) != os.getpid()


async def test_a_secret_may_cross_to_a_worker():
    assert await offload.run("a", TEXT, jobs.length_of, Secret(create_key("offload", 32))) == 32


@pytest.mark.parametrize("work", WORST)
async def test_what_takes_more_time_than_its_budget_is_ended(work):
    with pytest.raises(OverBudgetError, match=r"0\.2 s of processor time"):
        await offload.run("a", SHORT, work)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not bound a process's memory")
async def test_what_takes_more_memory_than_its_budget_is_ended():
    with pytest.raises(OverBudgetError, match="192 MiB of memory"):
        await offload.run("a", TEXT, jobs.hog)


async def test_what_takes_too_long_by_the_clock_is_ended():
    with pytest.raises(OverBudgetError):
        await offload.run("a", Budget(cpu_s=60, wall_s=0.2, memory_bytes=TEXT.memory_bytes), jobs.sleep)


@pytest.mark.parametrize("work", WORST)
async def test_the_event_loop_goes_on_while_the_worst_is_read(work):
    reading = asyncio.ensure_future(offload.run("a", SHORT, work))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert isinstance(reading.exception(), OverBudgetError)
    assert turns > 20  # a loop that waits for the text takes one, and then none for years


async def test_a_caller_that_gives_up_frees_the_worker_and_ends_it():
    pool = WorkerPool(workers_max=1)
    process = await begun(pool)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await pool.run("a", TEXT, jobs.backtrack)
    assert await pool.run("b", TEXT, jobs.reversed_, "ab") == "ba"
    assert await is_gone(process)


async def test_an_owner_has_one_worker_at_most():
    pool = WorkerPool(workers_max=2)
    flood = [asyncio.ensure_future(pool.run("a", SHORT, jobs.loop)) for _ in range(4)]
    await asyncio.sleep(0)
    started = time.process_time()
    assert await pool.run("b", TEXT, jobs.reversed_, "ab") == "ba"
    assert not any(job.done() for job in flood)
    assert time.process_time() - started < 1
    for job in flood:
        job.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


async def test_only_so_many_of_an_owner_may_wait():
    pool = WorkerPool(workers_max=1)
    flood = [asyncio.ensure_future(pool.run("a", TEXT, jobs.sleep)) for _ in range(WAITING_MAX + 1)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyJobsError, match=f"more than {WAITING_MAX}"):
        await pool.run("a", TEXT, jobs.reversed_, "ab")
    for job in flood:
        job.cancel()
    await asyncio.gather(*flood, return_exceptions=True)


async def test_a_worker_that_dies_in_the_midst_is_over_budget_and_replaced():
    with pytest.raises(OverBudgetError):
        await offload.run("a", TEXT, jobs.die)
    assert await offload.run("a", TEXT, jobs.reversed_, "ab") == "ba"


async def test_an_idle_worker_that_was_killed_costs_no_job():
    pool = WorkerPool()
    process = await begun(pool)
    os.kill(process, signal.SIGKILL)
    assert await is_gone(process)
    assert await pool.run("a", TEXT, jobs.reversed_, "ab") == "ba"


async def test_a_fork_server_that_was_killed_is_started_again():
    server = ForkServer()
    pool = WorkerPool(server)
    await begun(pool)
    assert server._child is not None
    server._child.kill()
    pool.close()
    assert await pool.run("a", TEXT, jobs.reversed_, "ab") == "ba"
    pool.close()
    server.close()


async def test_closing_leaves_no_process():
    server = ForkServer()
    pool = WorkerPool(server)
    worker = await begun(pool)
    assert server._child is not None
    child = server._child
    pool.close()
    server.close()
    assert child.returncode is not None
    assert await is_gone(worker)


async def test_refusals_cross_whole():
    with pytest.raises(CallRefusedError) as refused:
        await offload.run("a", TEXT, jobs.refuse)
    assert refused.value.refusal.credential == "KEY"
    with pytest.raises(InvalidInputError) as rejected:
        await offload.run("a", TEXT, jobs.reject)
    assert [problem.field for problem in rejected.value.problems] == ["spec"]


async def test_of_any_other_exception_only_the_type_crosses():
    with pytest.raises(JobFailedError) as failed:
        await offload.run("a", TEXT, jobs.fail, "what was read")
    assert str(failed.value) == "KeyError"


async def test_an_answer_that_would_run_code_is_not_read():
    with pytest.raises(JobFailedError, match="UnpicklingError"):
        await offload.run("a", TEXT, jobs.answer_code)


async def test_an_answer_may_hold_a_member_of_an_enum():
    assert await offload.run("a", TEXT, jobs.answer_kind) is PartKind.JSON


async def test_a_worker_writes_no_file(tmp_path):
    with pytest.raises(JobFailedError, match="OSError"):
        await offload.run("a", TEXT, jobs.write, tmp_path / "file")


async def test_a_worker_is_its_last_owners_for_a_while():
    pool = WorkerPool(reserved_s=60)
    mine = await begun(pool, "a")
    other = await begun(pool, "b")
    assert other != mine
    assert (await begun(pool, "a"), await begun(pool, "b")) == (mine, other)


async def test_an_owner_who_uses_up_workers_uses_up_nobody_elses():
    pool = WorkerPool(reserved_s=60, idle_s=60)
    mine = await begun(pool, "a")
    for _ in range(3):
        with pytest.raises(OverBudgetError):
            await pool.run("b", TEXT, jobs.die)
    assert await begun(pool, "a") == mine


def test_the_workers_of_a_closed_event_loop_end_when_the_next_needs_one():
    async def get_worker() -> int:
        return await offload.run("ann", TEXT, jobs.process)

    worker = asyncio.run(get_worker())
    asyncio.run(get_worker())
    until = time.monotonic() + 10
    while _lives(worker) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _lives(worker)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not tell a process's time")
@pytest.mark.parametrize(("work", "is_lowered"), [(jobs.rank_after_waiting, False), (jobs.rank_after_working, True)])
@pytest.mark.skipif(os.nice(0) >= NICE, reason="the tests themselves run at a lower priority")
async def test_a_job_that_works_long_gets_a_lower_priority_and_one_that_waits_long_does_not(work, is_lowered):
    assert (await offload.run("a", TEXT, work) == NICE) is is_lowered


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this system does not tell a process's time")
async def test_a_worker_of_lower_priority_goes_on_reading_for_its_owner_and_for_no_other():
    pool = WorkerPool(reserved_s=0)
    first = await begun(pool, "ann")
    assert await pool.run("ann", TEXT, jobs.rank_after_working) == NICE
    assert [await begun(pool, "ann") == first, await begun(pool, "bob") == first] == [True, False]
    pool.close()


async def test_an_argument_that_is_packed_comes_whole_and_secrets_with_it():
    packed = offload.pack_argument([Secret(create_key("packed", 32))])
    assert await offload.run("a", TEXT, jobs.total_length, packed) == 32


async def test_a_worker_unpacks_its_last_two_packed_arguments_once():
    pool = WorkerPool()
    first, second, third = (offload.pack_argument([number]) for number in range(3))
    order = (first, second, first, third, first, second)
    objects = [await pool.run("a", TEXT, jobs.identity, packed) for packed in order]
    assert [objects[0] == objects[2] == objects[4], objects[1] == objects[5]] == [True, False]
    pool.close()


def test_a_packed_argument_shows_nothing_of_its_value():
    assert "sk" not in f"{offload.pack_argument(['sk'])!r} {offload.pack_argument(['sk'])!s}"


async def test_no_worker_ends_under_thousands_of_jobs_that_follow_each_other_at_once():
    pool = WorkerPool()
    assert len({await begun(pool) for _ in range(4_000)}) == 1
    pool.close()
