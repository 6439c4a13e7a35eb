"""What a search of the web finds, and the limits of a search (S4-42 … S4-50)."""

from __future__ import annotations

from dataclasses import dataclass, field

RESULTS_DEFAULT = 5
"""How many results a search returns where nothing is said (S4-45)."""

RESULTS_MAX = 15
"""And how many at most (S4-45)."""

QUERY_CHARACTERS_MAX = 1_000
TITLE_CHARACTERS_MAX = 300
SNIPPET_CHARACTERS_MAX = 600
ENGINE_CHARACTERS_MAX = 50
URL_CHARACTERS_MAX = 1_000
"""A result with a longer URL is left out: a URL that is cut leads elsewhere.

With these, the answer to any search fits into what a model is shown of a result, every character escaped.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPage:
    """A page that was found (S4-46). All texts are one line of visible characters; `snippet` may be empty.

    `url` is `http` or `https`, in printable ASCII. `engine` names the engine that found it.
    """

    title: str
    url: str
    snippet: str = field(repr=False)
    engine: str
