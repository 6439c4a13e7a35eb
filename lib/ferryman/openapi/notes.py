"""Notes: what an import tells its owner, one line for each finding, however many operations have it."""

from __future__ import annotations

NOTES_MAX = 50


class UnsupportedOperationError(Exception):
    """This operation cannot be called from here; the text is the reason why its tool is disabled."""


class Notes:
    """Findings, each with the places where it was found."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self.place = ""
        """Where the next findings are: the name of a tool, or "" for the document."""

    def add(self, finding: str) -> None:
        """Note `finding`, once for each place, and at most `NOTES_MAX` different ones."""
        places = self._places.get(finding)
        if places is not None and places[-1] != self.place:
            places.append(self.place)
        elif places is None and len(self._places) < NOTES_MAX:
            self._places[finding] = [self.place]

    def list_lines(self) -> tuple[str, ...]:
        """Return the notes, each with its first place and the number of the others."""
        return tuple(_write_line(finding, *places) for finding, places in self._places.items())


def _write_line(finding: str, first: str, *others: str) -> str:
    if not first:
        return finding
    return f"{first} and {len(others)} more: {finding}" if others else f"{first}: {finding}"
