"""`python -m bench.firestore_compare --steps 5000`: ours and Google's emulator, step by step."""

from __future__ import annotations

import asyncio
import signal
import sys
import uuid
from contextlib import AsyncExitStack

import click
import grpc
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from bench.firestore_compare.machine import StepRunner, build_machine
from bench.firestore_compare.model import Model
from bench.firestore_compare.runner import FirestoreRunner
from emulator.conformance import run_emulator
from emulator.firestore.official import find_official, run_official

STEPS_PER_RUN = 50


@click.command()
@click.option("--steps", default=5_000, show_default=True, help="At least so many steps.")
@click.option("--seed", "first", default=0, help="Where the random choice begins; the same choices come again with it.")
def main(steps: int, first: int) -> None:
    """Run random writes, transactions and queries on this emulator, on Google's where it is installed, and on a model.

    Ends with the number of steps on which all agreed; a disagreement is shown by the shortest sequence that leads to it,
    and the exit status is 1.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    loop = asyncio.new_event_loop()
    closing = AsyncExitStack()
    try:
        sys.exit(compare(loop, closing, steps, first))
    finally:
        loop.run_until_complete(closing.aclose())
        loop.close()


def compare(loop: asyncio.AbstractEventLoop, closing: AsyncExitStack, steps: int, number: int) -> int:
    """Return the exit status."""

    async def open_channels() -> dict[str, grpc.aio.Channel]:
        addresses = {"ours": await closing.enter_async_context(run_emulator())}
        if (script := find_official()) is None:
            click.echo("Google's Firestore emulator is not installed here, or Java is not: only the model is compared with.")
        else:
            addresses["official"], _ = await closing.enter_async_context(run_official(script))
        return {
            name: await closing.enter_async_context(grpc.aio.insecure_channel(address)) for name, address in addresses.items()
        }

    channels, step_count = loop.run_until_complete(open_channels()), 0

    def create_runners() -> dict[str, StepRunner]:
        project = f"p-{uuid.uuid4().hex}"
        return {"model": Model(), **{name: FirestoreRunner(channel, project) for name, channel in channels.items()}}

    def count_step() -> None:
        nonlocal step_count
        step_count += 1

    profile = settings(
        max_examples=20,
        stateful_step_count=STEPS_PER_RUN,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    while step_count < steps:
        machine_class = build_machine(loop, create_runners, count_step)
        run_state_machine_as_test(seed(number)(machine_class), settings=profile)
        click.echo(f"{step_count} steps, seed {number}")
        number += 1
    click.echo(f"{step_count} steps agreed: {', '.join(['model', *channels])}")
    return 0


if __name__ == "__main__":
    main()
