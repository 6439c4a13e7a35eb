"""`make mcp-drift CASES=folder`: the cases of agent-egress-bench through the pins of tools, in one table.

A case maps so: what is listed before is accepted by a person; then the server lists what comes after. `block` is due where a
tool that was accepted is listed otherwise: it must not be offered or called until a person has accepted the new descriptor.
`warn` is due where there are tools more: the others go on, and these are reported and not offered. `allow` is due where a
descriptor was only made clearer. Nobody can tell that from a rug pull by the descriptor, so that it is held like any other
change, its difference is shown, and one acceptance brings the tool back: this is counted as quarantined, not as the verdict.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ferryman.domain.remote_servers.pin import PinState
from tests.campaigns.drift.cases import DriftCase, read_cases
from tests.campaigns.drift.pinned import PinnedServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a case: our verdict, the tools with their states, and whether anything ran that nobody has accepted."""

    verdict: str
    states: tuple[str, ...]
    quarantined: bool
    comes_back: bool


def run_case(case: DriftCase) -> Outcome:
    """Drive one case through the pins of its servers."""
    verdict, states, quarantined, comes_back = "allow", [], True, True
    for name, tools in case.after.items():
        before = PinnedServer(name=name[:24]).list(case.before[name]).accept()
        after = before.list(tools)
        unchanged = {tool["name"] for tool in tools if tool in case.before[name]}
        stopped = [pin for pin in after.pins if pin.state in (PinState.CHANGED, PinState.REFUSED, PinState.MISSING)]
        new = [pin for pin in after.pins if pin.state is PinState.NEW]
        verdict = "block" if stopped or verdict == "block" else "warn" if new or verdict == "warn" else "allow"
        states += [f"{pin.name} {pin.state.value}" for pin in after.pins]
        quarantined &= after.list_callable() == unchanged
        comes_back &= after.accept().list_callable() == {tool["name"] for tool in tools}
    return Outcome(verdict=verdict, states=tuple(states), quarantined=quarantined, comes_back=comes_back)


def main(folder: str) -> int:
    """Print the table; return 1 where a descriptor that nobody has accepted would be offered or called."""
    try:
        cases = read_cases(Path(folder))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{'case':<40} {'due':<6} {'ours':<6} {'quarantined':<12} {'comes back':<11} tools")
    safe = equal = 0
    for case in cases:
        outcome = run_case(case)
        good = outcome.quarantined and outcome.comes_back
        safe += good
        equal += outcome.verdict == case.expected
        marks = ("yes" if outcome.quarantined else "NO"), ("yes" if outcome.comes_back else "NO")
        print(
            f"{case.id:<40} {case.expected:<6} {outcome.verdict:<6} {marks[0]:<12} {marks[1]:<11} {', '.join(outcome.states)}"
        )
    print(
        f"{safe} of {len(cases)} quarantined until a person accepts ({safe / len(cases):.0%}); the verdict that is due: {equal}"
    )
    return 0 if safe == len(cases) else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.campaigns.drift FOLDER, where cases/mcp-drift of agent-egress-bench is")
    sys.exit(main(sys.argv[1]))
