"""`python -m tests.campaigns.hostile`: run every scenario of a hostile model and count; with --layers, again without each
layer."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TextIO

from tests.campaigns.hostile.laundering.campaign import SCENARIOS as LAUNDERING
from tests.campaigns.hostile.laundering.campaign import LaunderingScenario
from tests.campaigns.hostile.layers import LAYERS
from tests.campaigns.hostile.replacements import Layer, remove_layer
from tests.campaigns.hostile.results import Results, run_scenarios
from tests.campaigns.hostile.scenario import Scenario
from tests.campaigns.hostile.scenarios import SCENARIOS
from tests.campaigns.hostile.wire import NOBODY

SENTENCES_MAX = 6


def main() -> int:
    """Run the scenarios; return 0 only when none succeeded, or when every layer stopped at least one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], help="scenarios whose name contains this; repeatable")
    parser.add_argument(
        "--layers", nargs="?", const="", help="without each layer in turn, or without those whose name contains this"
    )
    parser.add_argument("--every", type=int, default=1, help="of each kind, every so many-th scenario, from the first on")
    options = parser.parse_args()
    only = options.only or [""]
    scenarios = [scenario for scenario in _sample(options.every) if any(text in scenario.name for text in only)]
    if options.layers is not None:
        return _layers(scenarios, [layer for layer in LAYERS if options.layers in layer.name])
    results = asyncio.run(run_scenarios(scenarios, report=_report_progress))
    _report(results)
    got, missed = results.verdict.got, results.verdict.missed
    lost = _kinds({*got, *missed})
    for kind, count in Counter(scenario.kind for scenario in scenarios).items():
        print(f"{kind:<14} {count - lost[kind]:>3} held of {count}")
    print(f"{results.scenarios - len(missed)} scenarios, {len(got)} succeeded")
    return 1 if got or missed or not results.scenarios else 0


def _sample(every: int) -> list[Scenario | LaunderingScenario]:
    kinds: dict[str, list[Scenario | LaunderingScenario]] = {}
    for scenario in (*SCENARIOS, *LAUNDERING):
        kinds.setdefault(scenario.kind, []).append(scenario)
    return [scenario for scenarios in kinds.values() for scenario in scenarios[::every]]


def _layers(scenarios: Sequence[Scenario | LaunderingScenario], layers: Sequence[Layer]) -> int:
    print("| without | scenarios that succeed | of which kinds |\n|---|---|---|")
    unseen = 0
    for layer in layers:
        with remove_layer(layer) as source:
            results = asyncio.run(run_scenarios(scenarios, source=source, report=_report_progress))
        _report(results, to=sys.stderr)
        print(_row(layer, results), flush=True)
        unseen += not _kinds(results.verdict.got) and not layer.behind
    return 1 if unseen else 0


def _row(layer: Layer, results: Results) -> str:
    got, missed = results.verdict.got, results.verdict.missed
    # one that succeeds does not read the refusal that is due otherwise
    kinds, total = _kinds(got), results.scenarios - len(missed.keys() - got.keys())
    if not kinds:
        return f"| {layer.name} | 0 of {total} | none: {layer.behind or 'UNSEEN'} |"
    listed = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
    return f"| {layer.name} | {kinds.total()} of {total} | {listed} |"


def _kinds(names: Iterable[str]) -> Counter[str]:
    return Counter(name.partition(":")[0] for name in names if name != NOBODY)


def _report_progress(ended: int, total: int) -> None:
    if ended % 25 == 0 or ended == total:
        print(f"  {ended:>4} of {total} ended", file=sys.stderr, flush=True)


def _report(results: Results, to: TextIO | None = None) -> None:
    for what, scenarios in (("SUCCEEDED", results.verdict.got), ("DID NOT HAPPEN", results.verdict.missed)):
        for name, sentences in scenarios.items():
            print(f"{what}  {name}", *sentences[:SENTENCES_MAX], sep="\n    ", file=to)
    print(f"{results.scenarios} scenarios in {results.seconds:.0f} s", file=to)


if __name__ == "__main__":
    sys.exit(main())
