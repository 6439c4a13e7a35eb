"""`make isolation`: attempts of one side at what belongs to another, by a seed, and how many of them came to anything."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from tests.campaigns.isolation.campaign import GUESSES, SEED, Results, run, run_functions
from tests.campaigns.isolation.faults import FAULTS, InjectedFault, find_fault
from tests.campaigns.isolation.relations import RELATIONS

SENTENCES_MAX = 4


def main() -> int:
    """Make the attempts; return 0 only when none succeeded or told anything, and every injected fault was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.isolation", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="which attempts are drawn")
    parser.add_argument(
        "--guesses",
        type=int,
        default=GUESSES,
        help="of each relation, besides every place of every route",
    )
    parser.add_argument("--relation", default="", help="relations whose name contains this")
    options = parser.parse_args()
    begun, results, missed = time.process_time(), Results(), list[InjectedFault]()
    for relation in RELATIONS:
        if options.relation in relation.name:
            results.join(asyncio.run(run(relation, seed=options.seed, guesses=options.guesses)))
            results.join(asyncio.run(run_functions(relation, seed=options.seed)))
    report(results)
    if not options.relation:
        missed = [fault for fault in FAULTS if not asyncio.run(find_fault(fault))]
        for fault in missed:
            print(f"MISSED  {fault.title}: {fault.where}")
        print(f"{len(FAULTS) - len(missed)} of {len(FAULTS)} injected faults found")
    seconds = time.process_time() - begun
    print(f"seed {options.seed}, {seconds:.1f} s of processor time")
    print(f"{results.counts.total()} attempts, {len(results.findings)} succeeded or told something")
    return 1 if results.findings or missed or not results.counts else 0


def report(results: Results) -> None:
    """Print the findings, and the table of attempts by kind."""
    for attempt, sentences in results.findings.items():
        print(f"FOUND  {attempt}", *sentences[:SENTENCES_MAX], sep="\n    ")
    relations = list(dict.fromkeys(relation for relation, _ in results.counts))
    print(f"| what is tried | {' | '.join(relations)} |\n|---|{'---|' * len(relations)}")
    for kind in dict.fromkeys(kind for _, kind in results.counts):
        print(f"| {kind} | {' | '.join(str(results.counts[relation, kind]) for relation in relations)} |")


if __name__ == "__main__":
    sys.exit(main())
