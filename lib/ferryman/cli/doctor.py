"""`ferryman doctor`: a look at a running house, part by part."""

from __future__ import annotations

from dataclasses import asdict

import click

from ferryman.cli import exits
from ferryman.cli.operating import operating
from ferryman.cli.screen import Screen
from ferryman.domain.finding import Grade, worst
from ferryman.gcp.examining import Examiner
from ferryman.wiring.doctor import Patient, examine
from ferryman.wiring.local import environment
from ferryman.wiring.operator import Operator

STYLES = {Grade.WELL: "green", Grade.LOOK: "yellow", Grade.WRONG: "bold red"}


@click.command()
@operating
async def doctor(house: Operator, screen: Screen) -> int:
    """Look at the stack that runs here, or at a deployment, and change nothing.

    Each function with and without a token, the queues, Firestore, the versions of the keys and what is sealed to them, the
    clock, the plans. Exit codes: 0 nothing is wrong (warnings are not), 1 something is.
    """
    patient = Patient(
        key=house.key,
        rows=environment.table(),
        functions=house.functions,
        queues=(environment.QUEUE, environment.SCHEDULES_QUEUE),
        sealing=house.sealing,
        receipts=house.receipts,
        holdings=house.holdings,
        examiner=Examiner(house.clients, house.project, house.location),
        token=house.token,
    )
    found = await examine(patient)
    rows = [{**asdict(each), "grade": each.grade.value} for each in found]
    verdict = worst(found)
    screen.record({"verdict": verdict.value, "findings": rows})
    screen.table(rows, "grade", "of", "what", "seen", empty="Nothing was found.")
    wrong, look = (sum(each.grade is grade for each in found) for grade in (Grade.WRONG, Grade.LOOK))
    screen.say(f"{len(found)} looked at, {look} to look at, {wrong} wrong", STYLES[verdict])
    return exits.FAILED if verdict is Grade.WRONG else exits.DONE
