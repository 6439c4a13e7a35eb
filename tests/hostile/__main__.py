"""`python -m tests.hostile`: every play, and the sum; with --layers, the same plays with each layer off in its turn."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO

from tests.hostile.cuts import Layer, without
from tests.hostile.layers import LAYERS
from tests.hostile.play import Play
from tests.hostile.plays import PLAYS
from tests.hostile.season import Season, season
from tests.hostile.wire import NOBODY

SENTENCES_MAX = 6


def main() -> int:
    """Exit code 0 only when no play got anything with every layer on, and as many layers as may have bought nothing."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--only", default="", help="plays whose name holds this")
    asked.add_argument("--layers", nargs="?", const="", help="with each layer off in its turn, or those whose name holds this")
    asked.add_argument("--every", type=int, default=1, help="of each kind, the first play and every so many after it")
    given = asked.parse_args()
    plays = [play for play in _sample(given.every) if given.only in play.name]
    if given.layers is not None:
        return _layers(plays, [layer for layer in LAYERS if given.layers in layer.name])
    ended = asyncio.run(season(plays, tell=_tell))
    _report(ended)
    got, missed = ended.verdict.got, ended.verdict.missed
    lost = _kinds({*got, *missed})
    for kind, count in Counter(play.kind for play in plays).items():
        print(f"{kind:<14} {count - lost[kind]:>3} held of {count}")
    print(f"{ended.plays - len(missed)} plays, {len(got)} succeeded")
    return 1 if got or missed or not ended.plays else 0


def _sample(every: int) -> list[Play]:
    kinds: dict[str, list[Play]] = {}
    for play in PLAYS:
        kinds.setdefault(play.kind, []).append(play)
    return [play for of_kind in kinds.values() for play in of_kind[::every]]


def _layers(plays: Sequence[Play], layers: Sequence[Layer]) -> int:
    print("| without | plays that get through | of which kinds |\n|---|---|---|")
    unseen = 0
    for layer in layers:
        with without(layer) as source:
            ended = asyncio.run(season(plays, source=source, tell=_tell))
        _report(ended, to=sys.stderr)
        print(_row(layer, ended), flush=True)
        unseen += not _kinds(ended.verdict.got) and not layer.behind
    return 1 if unseen else 0


def _row(layer: Layer, ended: Season) -> str:
    kinds, played = _kinds(ended.verdict.got), ended.plays - len(ended.verdict.missed)
    if not kinds:
        return f"| {layer.name} | 0 of {played} | none: {layer.behind or 'UNSEEN'} |"
    listed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    return f"| {layer.name} | {kinds.total()} of {played} | {listed} |"


def _kinds(names: Iterable[str]) -> Counter[str]:
    return Counter(name.partition(":")[0] for name in names if name != NOBODY)


def _tell(ended: int, of: int) -> None:
    if ended % 25 == 0 or ended == of:
        print(f"  {ended:>4} of {of} played", file=sys.stderr, flush=True)


def _report(ended: Season, to: TextIO | None = None) -> None:
    for what, plays in (("SUCCEEDED", ended.verdict.got), ("NOT PLAYED", ended.verdict.missed)):
        for name, sentences in plays.items():
            print(f"{what}  {name}", *sentences[:SENTENCES_MAX], sep="\n    ", file=to)
    print(f"{ended.plays} plays in {ended.seconds:.0f} s", file=to)


if __name__ == "__main__":
    sys.exit(main())
