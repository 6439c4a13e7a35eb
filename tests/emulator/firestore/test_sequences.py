"""Sequences: random writes, transactions and queries give what the plainest model of documents says they give."""

import asyncio
import uuid
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack

import grpc
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from bench.firestore_compare.machine import StepRunner, build_machine
from bench.firestore_compare.model import Model
from bench.firestore_compare.runner import FirestoreRunner
from emulator.firestore.official import find_official, run_official

from .conftest import Clock, serving

SHORT = settings(
    max_examples=8,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def agree(loop: asyncio.AbstractEventLoop, closing: AsyncExitStack, addresses: Mapping[str, str]) -> None:
    """Run the short profile on the model and on every address."""

    async def open_channels() -> dict[str, grpc.aio.Channel]:
        return {
            name: await closing.enter_async_context(grpc.aio.insecure_channel(address)) for name, address in addresses.items()
        }

    channels = loop.run_until_complete(open_channels())

    def create_runners() -> dict[str, StepRunner]:
        project = f"p-{uuid.uuid4().hex}"
        return {"model": Model(), **{name: FirestoreRunner(channel, project) for name, channel in channels.items()}}

    run_state_machine_as_test(build_machine(loop, create_runners), settings=SHORT)


def test_any_sequence_of_steps_gives_what_the_model_says(loop: asyncio.AbstractEventLoop) -> None:
    closing = AsyncExitStack()
    try:
        served = loop.run_until_complete(closing.enter_async_context(serving(clock=Clock())))
        agree(loop, closing, {"ours": served.address})
    finally:
        loop.run_until_complete(closing.aclose())


@pytest.mark.official
def test_any_sequence_of_steps_gives_what_googles_emulator_gives(loop: asyncio.AbstractEventLoop) -> None:
    closing, script = AsyncExitStack(), find_official()
    assert script is not None
    try:
        served = loop.run_until_complete(closing.enter_async_context(serving(clock=Clock())))
        address, _ = loop.run_until_complete(closing.enter_async_context(run_official(script)))
        agree(loop, closing, {"ours": served.address, "official": address})
    finally:
        loop.run_until_complete(closing.aclose())
