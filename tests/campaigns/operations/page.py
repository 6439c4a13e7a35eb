"""The page: every command that docs/operations.md shows in a block for a shell, and why some are not typed by tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/operations.md"

NOT_TYPED: Mapping[str, str] = {
    r"\bgcloud (beta )?services ": "Google makes the agents of its services",
    r"\bgcloud firestore ": "Google's database makes backups, clones and exports; the local one has none",
    r"\bgcloud logging ": "Google keeps the logs; the local stack's are files in its folder",
    r"\bgcloud secrets ": "Google's program speaks to Google's Secret Manager alone",
    r"\bgcloud storage ": "Google makes the agent of Cloud Storage",
    r"\bgcloud tasks ": "Google's program speaks to Google's Cloud Tasks alone",
    r"^git fetch ": "there is no release yet to go to",
    r"^make$": "it installs the checkout that the tests themselves run from",
    r"^make rehearse$": "it takes minutes and asks the package registry; it is its own target",
}
"""Commands by a pattern, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One line of a block, without its comment; `section` is the heading above it."""

    section: str
    text: str

    @property
    def not_typed(self) -> str | None:
        """Why tests do not type it; None where they do."""
        return next((reason for pattern, reason in NOT_TYPED.items() if re.search(pattern, self.text)), None)

    @property
    def assigns(self) -> str | None:
        """The variable that it sets to something of the reader's own."""
        match = re.match(r"(?:export )?([A-Z_]+)=\S+$", self.text)
        return match[1] if match else None


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a page, in their order."""
    section, inside = "", False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line == "```sh"
        elif inside:
            if command := re.split(r"(?:^|\s)# ", line)[0].strip():
                yield Command(section=section, text=command)
        elif line.startswith("#"):
            section = line.lstrip("# ")
