"""One tool function on its real route: tickets in Firestore on the local cloud, ten credentials, ten calls an execution.

Run with `python -m bench.tool [--route | --memory | --plain]`. The local cloud, the upstream and this client share the
machine's cores with the function. `--plain` compares the function with its store in memory to a plain aiohttp handler. The
memory is measured over 100,000 calls, or BENCH_CALLS: its row says how many they were.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from bench import Row
from bench.processes import find_processes
from bench.tool.journal import CALLS, build_names
from bench.tool.load import Load, build_call, run_load
from bench.tool.site import FUNCTION, IN_MEMORY, ROOT, Site, run_site, start_printing, wait_for_port

AT_ONCE = (80, 300)
PER_SECOND, P99_MS, RATIO, MIB_MAX = 250.0, 400.0, 0.5, 120.0
PROMISED_CALLS = 100_000
LONG_CALLS = int(os.environ.get("BENCH_CALLS", PROMISED_CALLS))
ROUNDS = 10
PAIRS = 3
VENV = ROOT / "build/tool/venv"
AIOHTTP = ROOT / "locks/peer-aiohttp.lock"


def rows() -> Iterable[Row]:
    """Yield the rows of the tool function."""
    chosen = set(sys.argv[1:]) & {"--route", "--memory", "--plain"} or {"--route", "--memory", "--plain"}
    if "--route" in chosen:
        yield from asyncio.run(measure_route())
    if "--plain" in chosen:
        yield asyncio.run(compare_plain())
    if "--memory" in chosen:
        yield asyncio.run(measure_memory())


async def measure_route() -> list[Row]:
    """Measure the real route at 80 and at 300 executions at once."""
    results = []
    async with run_site() as site:
        with site.serve(FUNCTION) as (port, process):
            await wait_for_port(port)
            await warm(site, port)
            for at_once in AT_ONCE:
                load, cpu_ms = await load_route(site, port, process, at_once, at_once)
                reached = load.per_second >= PER_SECOND and load.p99_ms <= P99_MS and not load.failed
                print(*load.failed[:1], file=sys.stderr)
                what = f"one tool function, real route, {at_once} at once"
                results.append(
                    Row(
                        what,
                        ">= 250 calls/s, p99 <= 400 ms",
                        str(load),
                        reached,
                        f"{cpu_ms:.1f} ms of CPU a call, {describe_load()}",
                    )
                )
            mib = measure_mib(process)
            results.append(Row("its memory under that load", "<= 120 MiB", f"{mib:.0f} MiB", mib <= MIB_MAX))
    return results


async def warm(site: Site, port: int) -> None:
    """Have the function connect, and start its workers."""
    await load_route(site, port, os.getpid(), 8, 16)


async def load_route(site: Site, port: int, process: int, at_once: int, executions: int) -> tuple[Load, float]:
    """Return what a run measured, and the processor milliseconds of the function's processes for a call."""
    names = build_names(f"e{time.monotonic_ns()}", executions, at_once)
    await site.journal.store_executions(site.clients, names)
    before = measure_cpu_s(process)
    load = await run_load(port, names, at_once, build_call(site.token, f"127.0.0.1:{port}"))
    return load, (measure_cpu_s(process) - before) * 1000 / len(load.calls_s)


async def measure_memory() -> Row:
    """Measure the function's memory after some calls, and after many more."""
    async with run_site() as site:
        with site.serve(FUNCTION) as (port, process):
            await wait_for_port(port)
            figures = list[float]()
            for _ in range(ROUNDS):
                await load_route(site, port, process, 80, LONG_CALLS // ROUNDS // CALLS)
                figures.append(measure_mib(process))
                print(f"{figures[-1]:.1f} MiB", file=sys.stderr, flush=True)
    is_flat = figures[-1] <= figures[1] * 1.05
    first, last = figures[0], figures[-1]
    what = f"its memory after {LONG_CALLS:,} calls"
    reached = is_flat and max(figures) <= MIB_MAX and LONG_CALLS >= PROMISED_CALLS
    return Row(what, f"<= 120 MiB, flat, after {PROMISED_CALLS:,}", f"{first:.0f} to {last:.0f} MiB", reached)


def describe_load() -> str:
    """Return how busy the machine was, on which milliseconds and calls per second depend."""
    return f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"


def make_environment() -> None:
    """Install aiohttp where it is not yet: in an environment of its own."""
    if not VENV.exists():
        uv = str(ROOT / ".venv/bin/uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(VENV)], check=True)
        pip = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", str(VENV / "bin/python")]
        subprocess.run([*pip, "--requirement", str(AIOHTTP)], check=True)


async def compare_plain() -> Row:
    """Compare the calls a second of the function, its store in memory, with those of a plain aiohttp handler."""
    make_environment()
    executions = at_once = AT_ONCE[0]
    ratios, ours, theirs = list[float](), list[float](), list[float]()
    async with run_site() as site:
        with ExitStack() as closing:
            arguments = [str(Path(__file__).with_name("plain.py")), str(site.ca), str(site.upstream_port), "api.coingecko.com"]
            plain = start_printing(arguments, closing, str(VENV / "bin/python"))
            port, process = closing.enter_context(site.serve(IN_MEMORY, BENCH_EXECUTIONS=f"{PAIRS + 1},{executions},{at_once}"))
            await wait_for_port(port)
            for number in range(PAIRS + 1):
                names = build_names(f"e{number}", executions, at_once)
                build = build_call(site.token, f"127.0.0.1:{port}")
                before = measure_cpu_s(process)
                mine = await run_load(port, names, at_once, build)
                cpu_ms = (measure_cpu_s(process) - before) * 1000 / len(mine.calls_s)
                other = await run_load(plain, names, at_once, build)
                print(f"ours {mine}; aiohttp {other}", file=sys.stderr, flush=True)
                if number:
                    ours.append(mine.per_second)
                    theirs.append(other.per_second)
                    ratios.append(mine.per_second / other.per_second)
    ratio = statistics.median(ratios)
    measured = f"{ratio:.2f}x ({statistics.median(ours):.0f} to {statistics.median(theirs):.0f} calls/s)"
    what = "the same with the store in memory, beside a plain aiohttp handler"
    return Row(what, ">= 0.5x", measured, ratio >= RATIO, f"{cpu_ms:.1f} ms of CPU a call of ours, {describe_load()}")


def measure_cpu_s(root: int) -> float:
    """Return the processor seconds of a function's processes, those that have ended included."""
    total = 0.0
    for process in find_processes(root):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def measure_mib(root: int) -> float:
    """Return the memory of a function's processes together, pages that they share counted once (PSS)."""
    kib = 0
    for process in find_processes(root):
        try:
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kib += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024
