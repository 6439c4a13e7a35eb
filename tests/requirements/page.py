"""The page of the specification: `python -m tests.requirements.page` writes docs/specification.md from the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.requirements.mentions import PAGE
from tests.requirements.table import SIZES, Requirement, State, count_states, load_conflicts, load_lines

TITLES = {
    0: "Seed 0: the four HTTP tools and the gate",
    1: "Seed 1: declared HTTP tools",
    2: "Seed 2: local tools of a concierge",
    3: "Seed 3: tool calling in a chat",
    4: "Seed 4: tools of an agent runtime",
}
HEAD = """# Specification

Every line that Ferryman is built to, under the number by which comments and tests name it. Each is *proven* (tests fail without
it), *decided otherwise* (for the reason given; tests hold what is done instead), or *open* (not built; some name what they wait
for).

`make specification` writes this page from the tables in `tests/requirements/`, which also name the tests of each line.
"""


def write_page(lines: Mapping[str, Requirement]) -> str:
    """Return the page: the counts, then a table for each seed."""
    return "\n".join([HEAD, *_write_counts(lines), *_write_seeds(lines), *_write_conflicts()]) + "\n"


def _write_counts(lines: Mapping[str, Requirement]) -> Iterator[str]:
    yield f"| seed | lines | {' | '.join(State)} |"
    yield "|---|---|---|---|---|"
    counts = count_states(lines.values())
    for seed, count in counts.items():
        yield f"| {TITLES[seed]} | {SIZES[seed]} | {' | '.join(str(count[state]) for state in State)} |"
    total = sum(counts.values(), start=type(counts[0])())
    yield f"| all | {len(lines)} | {' | '.join(str(total[state]) for state in State)} |"


def _write_seeds(lines: Mapping[str, Requirement]) -> Iterator[str]:
    for seed, title in TITLES.items():
        yield f"\n## {title}\n"
        yield "| line | what it says | state |"
        yield "|---|---|---|"
        for line in lines.values():
            if line.id.startswith(f"S{seed}-"):
                yield f"| {line.id} | {_escape(line.text)} | {_write_state(line)} |"


def _write_conflicts() -> Iterator[str]:
    yield "\n## Where the seeds contradict each other\n"
    yield "| number | what they say | what was decided |"
    yield "|---|---|---|"
    for line in load_conflicts().values():
        yield f"| {line.id} | {_escape(line.text)} | {_escape(line.otherwise or '')} |"


def _write_state(line: Requirement) -> str:
    if line.waits_for is not None:
        return f"{line.state}: waits for {_escape(line.waits_for)}"
    return line.state.value if line.otherwise is None else f"{line.state}: {_escape(line.otherwise)}"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(write_page(load_lines()))
