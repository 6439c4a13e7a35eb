"""Notes: what an import tells its owner, one line for each thing it met, however many operations have it."""

from __future__ import annotations

NOTES_MAX = 50


class UnsupportedOperationError(Exception):
    """This operation cannot be called from here; the text is the reason its tool is disabled with."""


class Notes:
    """What was met, with how often and where first."""

    def __init__(self) -> None:
        self._met: dict[str, list[str]] = {}
        self._where = ""

    def at(self, where: str) -> None:
        """What follows was met at `where`, a tool's name."""
        self._where = where

    def add(self, what: str) -> None:
        """Note `what`; once for each place, and beyond `NOTES_MAX` different ones no more."""
        if what in self._met:
            places = self._met[what]
            if not places or places[-1] != self._where:
                places.append(self._where)
        elif len(self._met) < NOTES_MAX:
            self._met[what] = [self._where]

    def lines(self) -> tuple[str, ...]:
        """The notes, each with the first place and the number of the others."""
        return tuple(_line(what, places) for what, places in self._met.items())


def _line(what: str, places: list[str]) -> str:
    if not places[0]:
        return what
    return f"{places[0]}: {what}" if len(places) == 1 else f"{places[0]} and {len(places) - 1} more: {what}"
