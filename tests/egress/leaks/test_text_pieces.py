"""Text pieces: what of a request is scanned, under which names and places, and in which orders it is joined."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ferryman.domain.http.request import Method, SecretPlaceholder, Template
from ferryman.egress.leaks import text_pieces
from ferryman.egress.leaks.text_pieces import PATH_MAX, PIECES_MAX, TextPiece, collect_pieces, decode_piece
from tests.egress.plants import outbound


def list_texts(pieces: list[TextPiece]) -> list[str]:
    return [piece.text for piece in pieces]


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        ("a", [("q.000000", "q", "a", False)]),
        (4, [("q.000000", "q", "4", False)]),
        (None, []),
        ([True, False, None], []),
        ([1.5, "b"], [("q.000000", "q", "1.5", False), ("q.000001", "q", "b", False)]),
        (("a",), [("q.000000", "q", "a", False)]),
        ({"k": "v"}, [("q.k", "k", "k", True), ("q.k", "k", "v", False)]),
        ({"k": None}, [("q.k", "k", "k", True)]),
        ({1: "v"}, [("q.1", "1", "1", True), ("q.1", "1", "v", False)]),
        ({None: "v"}, [("q.None", "None", "None", True), ("q.None", "None", "v", False)]),
        (
            {"k": [{"l": "v"}, "w"], "m": 10**5_000},
            [
                *[("q.k", "k", "k", True), ("q.k.000000.l", "l", "l", True), ("q.k.000000.l", "l", "v", False)],
                *[("q.k.000001", "k", "w", False), ("q.m", "m", "m", True), ("q.m", "m", "", False)],
            ],
        ),
    ],
)
def test_the_keys_and_leaves_of_a_value_are_pieces_in_their_order(value: Any, pieces: list[tuple[str, str, str, bool]]) -> None:
    assert collect_pieces(value, "q") == pieces


def test_a_path_is_kept_to_its_longest_and_a_name_whole() -> None:
    name = "n" * 200
    (key, value), deep = collect_pieces({name: "v"}, "q"), collect_pieces({"k" * 100: {"l" * 100: "v"}}, "q")[-1]
    assert (key.name, value.path) == (name, f"q.{name}"[:PATH_MAX])
    assert len(deep.path) == PATH_MAX


@pytest.mark.parametrize("value", [["a"] * (PIECES_MAX + 9), {str(number): "a" for number in range(PIECES_MAX)}])
def test_of_a_value_of_too_many_pieces_no_more_are_collected_than_tell_so(value: Any) -> None:
    assert PIECES_MAX < len(collect_pieces(value, "q")) <= PIECES_MAX + 2


def test_a_request_is_collected_whole() -> None:
    request = outbound(
        tool="tool",
        method=Method.POST,
        credential="NAME",
        url="https://a.test/one/two?three=four&five#six",
        headers={"h": "7"},
        query_params={"p": "8"},
        body={"b": "9"},
    )
    pieces = text_pieces.collect_request_pieces(request)
    assert [(piece.path, piece.name, piece.text) for piece in pieces] == [
        *[("tool", "tool", "tool"), ("method", "method", "POST"), ("credential", "credential", "NAME")],
        ("url", "url", "https://a.test/one/two?three=four&five#six"),
        *[("url.path.000000", "path", "one"), ("url.path.000001", "path", "two")],
        *[("url.query.three", "three", "three"), ("url.query.three", "three", "four")],
        *[("url.query.five", "five", "five"), ("url.query.five", "five", ""), ("url.fragment", "fragment", "six")],
        *[("headers.h", "h", "h"), ("headers.h", "h", "7"), ("query_params.p", "p", "p"), ("query_params.p", "p", "8")],
        *[("body.b", "b", "b"), ("body.b", "b", "9")],
    ]
    assert [piece.text for piece in pieces if piece.key] == ["three", "five", "h", "p", "b"]


def test_of_a_placeholder_the_name_is_collected() -> None:
    secret = Template(("v-", SecretPlaceholder("NAME")))
    request = outbound(fixed_headers={"h": secret}, query_params={"p": secret}, body={"b": [secret]}, headers={})
    texts = list_texts(text_pieces.collect_request_pieces(request))
    assert texts[-6:] == ["h", "v-{{secrets.NAME}}", "p", "v-{{secrets.NAME}}", "b", "v-{{secrets.NAME}}"]


def test_a_call_without_a_credential_has_no_piece_for_it() -> None:
    assert "credential" not in [piece.path for piece in text_pieces.collect_request_pieces(outbound(credential=None))]


def test_a_url_among_the_values_is_split_and_any_other_piece_stays() -> None:
    key, words = TextPiece("q.k", "k", "https://a.test/", key=True), TextPiece("q", "k", "see https://a.test/")
    pieces = text_pieces.split_urls([key, words, TextPiece("q.k", "k", "https://a.test/b?c=d")])
    assert pieces == [
        key,
        words,
        TextPiece("url", "k", "https://a.test/b?c=d"),
        TextPiece("q.k.host.000000", "host", "a"),
        TextPiece("q.k.host.000001", "host", "test"),
        TextPiece("q.k.path.000000", "path", "b"),
        TextPiece("q.k.query.c", "c", "c", key=True),
        TextPiece("q.k.query.c", "c", "d"),
        TextPiece("q.k.fragment", "fragment", ""),
    ]


KEYED = [
    TextPiece("url", "url", "U"),
    TextPiece("headers.k2", "k2", "k2", key=True),
    TextPiece("headers.k2", "k2", "v2"),
    TextPiece("body.k10", "k10", "v10"),
    TextPiece("body.a1", "a1", "7"),
]


def test_pieces_are_joined_in_order_and_the_values_alone() -> None:
    assert text_pieces.join_pieces(KEYED) == ("U\nk2\nv2\nv10\n7", "v2v107")
    assert text_pieces.group_by_kind(KEYED) == "U\nk2\nv2\nv10\n7"
    assert text_pieces.group_by_kind(KEYED[2:] + KEYED[:2]) == "U\nk2\nv2\nv10\n7"


def test_values_are_joined_in_every_order_that_a_receiver_may_use() -> None:
    assert list(text_pieces.iterate_arrangements(KEYED)) == [
        "v2v107",
        "k2",
        "7v10v2",  # backwards; by place and by name too
        "7v2v10",  # as people number the names
        "v2v10",  # without numbers; beside the headers alone
        "v107",
    ]


def test_values_are_joined_decoded() -> None:
    parts = [
        TextPiece("body.b", "b", base64.b64encode(b"first part").decode()),
        TextPiece("body.a", "a", b"second part".hex()),
    ]
    joined = list(text_pieces.iterate_arrangements(parts))
    assert "first partsecond part" in joined
    assert "second partfirst part" in joined


@pytest.mark.parametrize("field", ["url.", "headers.", "query_params."])
def test_values_are_joined_without_those_of_one_field(field: str) -> None:
    parts = [TextPiece(f"{field}a", "a", "one"), TextPiece("body.b", "b", "two"), TextPiece("body.c", "c", "three")]
    assert "twothree" in list(text_pieces.iterate_arrangements(parts))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("c2VjcmV0", "secret"),
        ("c2VjcmV0IQ==", "secret!"),
        ("c2VjcmV0IQ", "secret!"),
        ("c2VjcmV0c3NX", "secretssW"),
        ("Pz8_Pj4-", "???>>>"),
        ("Pz8/Pj4+", "???>>>"),
        ("736563726574", "secret"),
        ("73 65 63 72 65 74", "secret"),
        ("%73%65cret", "secret"),
        (r"\x73ecret", "secret"),
        ("&#115;ecret", "secret"),
        ("YzJWamNtVjA=", "secret"),
        ("NjMzMjU2NmE2MzZkNTYzMA==", "secret"),
        ("plain", "plain"),
        ("two words", "two words"),
        ("c2V", "c2V"),
        ("/////w==", "/////w=="),
        ("ff00ff00", "ff00ff00"),
        ("c2VjcmV0I", "c2VjcmV0I"),
        ("secrets", "secrets"),
        ("ABCDEFG", "ABCDEFG"),
        ("", ""),
    ],
)
def test_a_piece_in_one_notation_is_decoded_and_any_other_stays(text: str, plain: str) -> None:
    assert decode_piece(text) == plain


def test_a_piece_is_decoded_three_times_and_a_long_one_never() -> None:
    four, long = "secret words", "secret words! " * 300
    for _ in range(4):
        four = base64.b64encode(four.encode()).decode()
    assert decode_piece(four) == base64.b64encode(b"secret words").decode()
    written = base64.b64encode(long.encode()).decode()
    assert decode_piece(written) == written
    fits = base64.b64encode(b"secret words" * 256).decode()
    assert len(fits) == text_pieces.PIECE_MAX
    assert decode_piece(fits) == "secret words" * 256


def test_a_piece_does_not_show_its_text() -> None:
    assert "secret" not in repr(TextPiece("secret", "secret", "secret"))
