"""The safety preamble: the rules come first, and then what the execution may use, by name."""

from __future__ import annotations

from ferryman.domain.executions.policy import ServiceHeaders
from ferryman.loop.preamble import RULES, build_preamble


def read_lines(preamble: str) -> list[str]:
    """Return the lines after the rules."""
    return preamble.removeprefix(RULES).splitlines()[1:]


def test_an_execution_that_may_use_nothing_is_told_so() -> None:
    assert read_lines(build_preamble((), ())) == [
        "Credentials available by name: none.",
        "Domains approved for this task: none.",
    ]


def test_credentials_domains_and_the_headers_of_services_are_told_by_name() -> None:
    headers = [
        ServiceHeaders(domains=("a.test", "*.b.test"), names=("X-Page", "X-Sort")),
        ServiceHeaders(domains=("c.test",), names=("X-Team",)),
    ]
    assert read_lines(build_preamble(("A_KEY", "B_KEY"), ("a.test", "*.b.test"), headers)) == [
        "Credentials available by name: A_KEY, B_KEY.",
        "Domains approved for this task: a.test, *.b.test.",
        "Headers you may set for a.test, *.b.test: X-Page, X-Sort.",
        "Headers you may set for c.test: X-Team.",
    ]


def test_each_line_ends_so_that_the_task_s_own_prompt_begins_a_new_one() -> None:
    assert build_preamble((), ()).endswith(".\n")
