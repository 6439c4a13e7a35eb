"""`ferryman doctor`: examine a running deployment, part by part."""

from __future__ import annotations

from dataclasses import asdict

import click

from ferryman.cli import exits
from ferryman.cli.operator_commands import operator_command
from ferryman.cli.screen import Screen
from ferryman.composition.operator import Operator
from ferryman.domain.counts import say_count
from ferryman.domain.finding import Grade, find_worst_grade
from ferryman.operations.doctor import examine
from ferryman.stack import environment

STYLES = {Grade.WELL: "green", Grade.LOOK: "yellow", Grade.WRONG: "bold red"}


@click.command()
@operator_command
async def doctor(deps: Operator, screen: Screen) -> int:
    """Examine the stack that runs here, or a deployment, and change nothing.

    Each function with and without a token, the queues, Firestore, the versions of the keys and what is sealed to them, the
    clock, the plans. Exit codes: 0 nothing is wrong (warnings are not), 1 something is.
    """
    findings = await examine(deps, environment.load_functions(), (environment.QUEUE, environment.SCHEDULES_QUEUE))
    rows = [asdict(finding) for finding in findings]
    verdict = find_worst_grade(findings)
    screen.print_json({"verdict": verdict.value, "findings": rows})
    screen.print_table(rows, "grade", "of", "what", "seen", empty="Nothing was found.")
    wrong, look = (sum(finding.grade is grade for finding in findings) for grade in (Grade.WRONG, Grade.LOOK))
    screen.print_line(f"{say_count(len(findings), 'checks')}, {say_count(look, 'warnings')}, {wrong} wrong", STYLES[verdict])
    return exits.FAILED if verdict is Grade.WRONG else exits.DONE
