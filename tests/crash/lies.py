"""`make faults`: every story, lied to by Firestore at every call in every way."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

import grpc

from emulator.firestore import SERVER_OPTIONS, Firestore
from tests.crash import folk
from tests.crash.bars import broken
from tests.crash.liar import LIES, Liar, Lie
from tests.crash.scene import INDEXES
from tests.crash.simulated import Play
from tests.crash.stories import STORIES, Story


async def main(stories: tuple[Story, ...], step: int) -> int:
    liar, firestore = Liar(), Firestore(path=None, indexes=INDEXES)
    server = grpc.aio.server(interceptors=[liar], options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    found: list[str] = []
    runs, begun = 0, time.monotonic()

    async def play(story: Story, about: tuple[str, int, Lie] | None) -> Play:
        nonlocal runs
        runs += 1
        clients = folk.clients_of(f"lies-{runs}", address)
        played = Play(story=story, doors=folk.cloud_ports(clients), begins=lambda: liar.begin(about), ends=liar.end)
        left = await played.perform(together=1 + runs % 2)
        where = f"{story.name}, {about[0]}#{about[1]} {about[2]}" if about else f"{story.name} (uninterrupted)"
        found.extend(f"{where}: {each}" for each in broken(left))
        if about is not None and not liar.told:
            found.append(f"{where}: lost: the call was not reached")
        await clients.close()
        return played

    for story in stories:
        await play(story, None)
        calls = [(name, nth) for name, times in sorted(liar.seen.items()) for nth in range(times) if name in LIES]
        lies = [(name, nth, lie) for name, nth in calls for lie in LIES[name]][::step]
        for about in lies:
            await play(story, about)
        print(
            f"{story.name:>10}  {len(lies):>4} lies  {len(found)} findings so far  {time.monotonic() - begun:5.0f} s",
            flush=True,
        )
    await server.stop(0)
    await firestore.close()
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{runs - len(stories)} lies, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m tests.crash.lies", description=__doc__)
    asked.add_argument("--story", action="append", help="only this story (again for more)")
    asked.add_argument("--step", type=int, default=1, help="only every so many-th lie")
    chosen = asked.parse_args()
    told = tuple(story for story in STORIES if not chosen.story or story.name in chosen.story)
    sys.exit(asyncio.run(main(told, chosen.step)))
