"""robots.txt, as RFC 9309 has it."""

from __future__ import annotations

import pytest

from ferryman.domain.http.robots import RULES_MAX, read_robots

GROUPS = """
# a comment
User-agent: other
Disallow: /

User-Agent: Ferryman   # us
User-agent: second
Disallow: /a
Allow: /a/b
Disallow: /*.gif$
Disallow: /q*x*y
Sitemap: https://a.test/s

User-agent: *
Disallow: /any
"""


@pytest.mark.parametrize(
    ("target", "admitted"),
    [
        *(("/", True), ("/a", False), ("/abc", False), ("/a/b", True), ("/a/c", False), ("/z", True)),
        *(("/x.gif", False), ("/x.gif?1", True), ("/qxy", False), ("/q1x2y3", False), ("/qyx", True), ("/%61", False)),
    ],
)
def test_the_longest_rule_of_our_group_decides(target: str, admitted: bool) -> None:
    assert read_robots(GROUPS, "ferryman").admits(target) is admitted


def test_without_a_group_of_ours_that_for_anybody_holds() -> None:
    rules = read_robots(GROUPS, "unnamed")
    assert (rules.admits("/any"), rules.admits("/a")) == (False, True)


def test_a_group_of_ours_without_rules_allows_everything() -> None:
    assert read_robots("User-agent: *\nDisallow: /\n\nUser-agent: us\nDisallow:\n", "us").admits("/x")


@pytest.mark.parametrize("text", ["", "\0", "Disallow: /", "User-agent *\nDisallow: /", "<html>"])
def test_what_is_no_robots_txt_allows_everything(text: str) -> None:
    assert read_robots(text, "us").admits("/x")


def test_of_two_that_are_equal_the_kinder_holds() -> None:
    assert read_robots("User-agent: *\nDisallow: /a\nAllow: /a", "us").admits("/a")


def test_so_many_rules_are_read() -> None:
    text = "User-agent: *\n" + "Disallow: /a\n" * RULES_MAX + "Disallow: /b"
    assert read_robots(text, "us").admits("/b")
