"""`python -m bench.loop.parts`: what the parts of a round of our loop take of the processor, each measured alone.

The rest is the whole round without them: the loop itself, its journal, receipts, money, seals and log, on stores in memory.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from bench.loop import ours
from bench.loop.contestants import serve
from bench.loop.messages_api import build_reply
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.vault.seal import PublicKey, derive_public_key, generate_private_key

ROUNDS, TIMES, RUNS = 10, 100, 5
SIGNATURES = 3
"""Of a turn with one call: the call is planned and settled, and the turn replied."""


class ScriptModel:
    """`ports.Model`: the replies of the local Messages API, without a request."""

    async def reply(self, prompt: Prompt) -> Reply:
        reply = build_reply(ROUNDS, {"messages": prompt.messages, "model": prompt.model})
        return Reply(content=tuple(reply["content"]), stop_reason=reply["stop_reason"], usage=Usage(input_tokens=20))


class NoScanner:
    """`ports.ReplyScanner` that reads nothing."""

    async def scan(self, execution: Execution, content: Any) -> Any:  # noqa: ARG002 - the port's own signature
        return content


async def measure(work: Callable[[], Awaitable[object]], times: int = TIMES) -> float:
    """Return the milliseconds of processor time that one `work` takes: the least of some runs, since others use the machine."""
    spent = []
    for _ in range(RUNS):
        begun = time.process_time()
        for _ in range(times):
            await work()
        spent.append((time.process_time() - begun) / times * 1000)
    return min(spent)


async def run_alone(loop: ours.Loop, deps: LoopDependencies) -> None:
    """Run an execution of ten rounds."""
    name = f"alone-{next(ours.NUMBERS)}"
    await deps.executions.start(Execution(id=name, task=loop.task.id, owner="o", created_at=deps.clock.now()), most=10**6)
    assert await deliver(deps, name, slice=0, holder="bench")
    ended = await deps.executions.get(name)
    assert ended is not None
    assert ended.status is Status.COMPLETED


async def main(port: str) -> dict[str, float]:
    loop = ours.build_loop(f"http://127.0.0.1:{port}/{ROUNDS}/0", 200)
    await ours.prepare(loop)
    deps, tools = loop.deps, loop.deps.registry.get_definitions(loop.task.tools)
    prompt = Prompt(
        model=ours.MODEL, system="x" * 2_000, messages=[{"role": "user", "content": "Read."}], tools=tools, max_tokens=9
    )
    execution = Execution(id="e", task=loop.task.id, owner="o", created_at=deps.clock.now())
    content = (await deps.model.reply(prompt)).content
    signer, public = await deps.signing.key(), PublicKey(1, derive_public_key(generate_private_key()))
    alone = replace(deps, model=ScriptModel(), scanner=NoScanner())

    async def sign() -> None:
        for _ in range(SIGNATURES):
            signer.sign(b"x" * 32)

    async def seal() -> None:
        public.seal(b'{"url": "https://api.bench.test/pages/1"}', b"call")

    return {
        "a reply is scanned for ten credentials": await measure(lambda: deps.scanner.scan(execution, content)),
        "the request to the model, and its reply": await measure(lambda: deps.model.reply(prompt)),
        "the rest": await measure(lambda: run_alone(loop, alone), TIMES // ROUNDS) / ROUNDS,
        f"  of it {SIGNATURES} signatures (Ed25519)": await measure(sign),
        "  of it one sealing (HPKE, ML-KEM and X25519)": await measure(seal),
    }


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the log
    with serve("bench.loop.messages_api") as served:
        for part, spent_ms in asyncio.run(main(served)).items():
            print(f"{part:48}{spent_ms:8.2f} ms", file=answers)
    sys.exit(0)
