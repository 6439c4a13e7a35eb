"""The plays, by kind."""

from __future__ import annotations

from tests.hostile.play import Play
from tests.hostile.plays import answers, budget, custom, documents, exfiltration, headers, neighbours, remit, smuggling, tokens

PLAYS: tuple[Play, ...] = (
    *exfiltration.PLAYS,
    *remit.PLAYS,
    *headers.PLAYS,
    *answers.PLAYS,
    *budget.PLAYS,
    *neighbours.PLAYS,
    *smuggling.PLAYS,
    *documents.PLAYS,
    *tokens.PLAYS,
    *custom.PLAYS,
)
