"""The plays: enough of them, and each another."""

from __future__ import annotations

from collections import Counter

from tests.hostile.perform import cast
from tests.hostile.play import Play
from tests.hostile.plays import PLAYS
from tests.hostile.spelling import filled

PLAYS_MIN = 500


def test_there_are_at_least_five_hundred() -> None:
    assert len(PLAYS) >= PLAYS_MIN


def test_no_play_is_another_under_a_second_name() -> None:
    names = Counter(play.name for play in PLAYS)
    assert [name for name, count in names.items() if count > 1] == []
    contents = Counter(repr([getattr(play, field) for field in Play.__slots__ if field != "name"]) for play in PLAYS)
    assert [content[:200] for content, count in contents.items() if count > 1] == []


def test_every_text_of_a_play_can_be_written_out() -> None:
    for play in PLAYS:
        words = cast(play).words
        filled([play.turns, dict(play.task), list(play.names), list(play.reach)], words)
