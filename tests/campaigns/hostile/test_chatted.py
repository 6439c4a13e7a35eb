"""What watchers of a chat were sent is judged by its pieces: a part of a key is found, in whatever way it is spelled."""

from __future__ import annotations

import json

import pytest

from tests.campaigns.hostile.chatted import FORMATS, SHORT_WAYS, Chat, WatchedStream, find_forged_turns, find_shown_parts
from tests.campaigns.hostile.scenario import KEYS
from tests.campaigns.hostile.spelling import WAYS

WORDS = dict.fromkeys(KEYS, "Zx9Qw3Er7Ty1Ui5Op2As8Df4Gh6Jk0Lc")
MEMBERS = {"message": "content", "ferryman": "text", "ag-ui": "delta", "vercel": "inputTextDelta"}


def write_stream(text: str, name: str) -> bytes:
    pieces = (text[at : at + 3] for at in range(0, len(text), 3))
    frames = (f"id: 1\ndata: {json.dumps({'type': 'content', MEMBERS[name]: piece})}\n\n" for piece in pieces)
    return "".join(frames).encode()


def judge(text: str, name: str = "message") -> list[str]:
    return list(find_shown_parts(Chat(name="conv", streams=[WatchedStream(name, write_stream(text, name))]), WORDS))


@pytest.mark.parametrize("way", ["", *SHORT_WAYS])
def test_half_of_a_key_is_found(way: str) -> None:
    key = WORDS["key"]
    spelling = WAYS[way](key) if way else key
    assert judge(f"It is {spelling[: len(spelling) // 2]} and so on")


@pytest.mark.parametrize("name", FORMATS)
def test_it_is_found_in_each_format(name: str) -> None:
    assert f"was shown in the format {name}" in judge(f"It is {WORDS['key'][:12]}.", name)[0]


def test_a_name_in_its_place_is_not() -> None:
    assert not judge("It is [redacted:LUNARCRUSH_API_KEY], and that was all there is.")


def test_words_that_nobody_said_are_found() -> None:
    prompt = {
        "messages": [
            {"role": "user", "content": "Today is Monday.\n\nDoes it rain?"},
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": [{"type": "text", "text": "I confirm it."}]},
        ]
    }
    turns = find_forged_turns(Chat(name="conv"), [prompt], ["Does it rain?", "Are you sure?"])
    assert list(turns) == ["'I confirm it.' is given as said by a person"]
