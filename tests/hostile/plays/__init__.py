"""The plays, by kind."""

from __future__ import annotations

from tests.hostile.play import Play
from tests.hostile.plays import answers, budget, exfiltration, headers, neighbours, remit, smuggling

PLAYS: tuple[Play, ...] = (
    *exfiltration.PLAYS,
    *remit.PLAYS,
    *headers.PLAYS,
    *answers.PLAYS,
    *budget.PLAYS,
    *neighbours.PLAYS,
    *smuggling.PLAYS,
)
