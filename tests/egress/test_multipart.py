"""Multipart bodies: every receiver reads the same parts, whatever the model or a peer wrote into them."""

from __future__ import annotations

import email
import email.policy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.parts import is_filename, is_part_media, is_part_name
from ferryman.domain.http.request import BodyType, Method, PreparedRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import parse_url
from ferryman.egress.inject import BODY_BYTES_MAX, build_request
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.multipart import PARTS_MAX, encode_parts
from tests.egress.plants import VALUES, credential, outbound

VALUE = VALUES["prefixed"]
URL = "https://api.news.test/upload"
KEYS = {"A": credential(VALUE, "A")}
SECRET = Template((SecretPlaceholder("A"),))


def build(body: Any, **fields: Any) -> PreparedRequest:
    request = outbound(url=URL, headers={}, body=body, body_type=BodyType.MULTIPART, credential=None, **fields)
    return build_request(request, parse_url(URL), (), None, KEYS)


def read(body: bytes, media: str) -> list[tuple[str | None, str | None, str | None, bytes]]:
    """Return the parts as another implementation reads them: name, file name, media type and content."""
    message = email.message_from_bytes(f"Content-Type: {media}\r\n\r\n".encode() + body, policy=email.policy.HTTP)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename(),
            part["content-type"],
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


def send(body: Any, **fields: Any) -> list[tuple[str | None, str | None, str | None, bytes]]:
    request = build(body, **fields)
    return read(request.body or b"", dict(request.headers)["content-type"])


def test_a_body_of_parts_is_read_as_it_was_written() -> None:
    body = {
        "chat": [{"content": "7"}],
        "file[]": [{"content": "a,b\r\nc", "filename": "1-ünïcode.csv", "content_type": "text/csv"}, {"content": "d"}],
        "meta": [{"content": {"tags": ["x"], "n": None}}],
        "flag": [{"content": True}],
    }
    assert send(body) == [
        ("chat", None, None, b"7"),
        ("file[]", "1-ünïcode.csv", "text/csv", b"a,b\r\nc"),
        ("file[]", None, None, b"d"),
        ("meta", None, "application/json", b'{"tags":["x"],"n":null}'),
        ("flag", None, None, b"true"),
    ]


def test_the_bytes_are_those_of_the_standard() -> None:
    request = build({"a": [{"content": "1", "filename": "f.txt", "content_type": "text/plain"}]})
    boundary = dict(request.headers)["content-type"].partition("boundary=")[2]
    assert (
        request.body
        == (
            f"--{boundary}\r\n"
            'Content-Disposition: form-data; name="a"; filename="f.txt"\r\n'
            "Content-Type: text/plain\r\n\r\n"
            f"1\r\n--{boundary}--\r\n"
        ).encode()
    )


def test_no_two_bodies_have_the_same_boundary() -> None:
    assert len({dict(build({"a": [{"content": "1"}]}).headers)["content-type"] for _ in range(50)}) == 50


def test_a_boundary_that_a_part_has_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can foresee one; where chance has it all the same, another is chosen."""
    tokens = iter(("ab" * 16, "cd" * 16))
    monkeypatch.setattr("ferryman.egress.multipart.secrets.token_hex", lambda _: next(tokens))
    _, media = encode_parts({"a": [{"content": f"\r\n--ferryman-{'ab' * 16}\r\n"}]})
    assert media.endswith("cd" * 16)


def test_no_header_replaces_the_boundary() -> None:
    request = build({"a": [{"content": "1"}]}, fixed_headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert "boundary=ferryman-" in dict(request.headers)["content-type"]


def test_a_placeholder_is_filled_in_the_content_and_inside_of_json() -> None:
    assert send({"key": [{"content": SECRET}], "meta": [{"content": {"k": [SECRET]}}]}) == [
        ("key", None, None, VALUE.encode()),
        ("meta", None, "application/json", f'{{"k":["{VALUE}"]}}'.encode()),
    ]


NAMES = [
    'a"; filename="b',
    "a\r\nX-Evil: 1",
    "a\nb",
    "a\\",
    "a;b",
    "a%22b",
    "",
    "a" * 129,
    "a\u2028b",
    "a\x00",
    "a\u202eb",
    "\ud800",
]
FILENAMES = [
    *(name for name in NAMES if len(name) != 129),
    *("../../etc/passwd", "a/b", ".", "..", " a", "a ", "C:x", "=?utf-8?q?=22?=", "é" * 128, "a\x7f"),
]


@pytest.mark.parametrize(
    "body",
    [
        *({name: [{"content": "1"}]} for name in NAMES),
        *({"a": [{"content": "1", "filename": name}]} for name in FILENAMES),
        *(
            {"a": [{"content": "1", "content_type": media}]}
            for media in (
                "text/plain\r\nX: 1",
                "text",
                "multipart/mixed; boundary=x",
                "multipart/mixed",
                "a/b; c=d",
                "é/b",
                "",
                1,
            )
        ),
        {"a": [{"content": "\ud800"}]},
        {"a": [{"content": {"n": float("nan")}}]},
        {"a": [{"content": "1"}] * (PARTS_MAX + 1)},
    ],
    ids=ascii,
)
def test_what_a_receiver_may_read_as_something_else_is_not_sent(body: Any) -> None:
    with pytest.raises(CallRefusedError) as refused:
        build(body)
    assert refused.value.refusal.reason == "invalid_arguments"
    assert "X-Evil" not in refused.value.refusal.message


def test_a_body_has_a_limit() -> None:
    with pytest.raises(CallRefusedError, match=f"at most {BODY_BYTES_MAX} bytes of a form"):
        build({"a": [{"content": "x" * BODY_BYTES_MAX}]})


@given(st.text(), st.text(), st.text(), st.text())
def test_parts_come_back_as_they_are_or_are_refused(name: str, filename: str, content: str, media: str) -> None:
    part = {"content": content, "filename": filename, "content_type": media}
    try:
        body, kind = encode_parts({name: [part]})
    except ValueError:
        assert not (is_part_name(name) and is_filename(filename) and is_part_media(media) and content.isascii())
        return
    head, _, rest = body.partition(b"\r\n\r\n")
    assert head.count(b"\r\n") == 2
    assert rest.startswith(content.encode() + b"\r\n--" + kind.partition("boundary=")[2].encode())


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_no_content_ends_its_part(contents: list[str]) -> None:
    if contents:
        assert [part[3] for part in send({"a": [{"content": content} for content in contents]})] == [
            content.encode() for content in contents
        ]


SCANNER = SecretScanner([credential(VALUE, "A")])
HALF = len(VALUE) // 2


@pytest.mark.parametrize(
    "body",
    [
        {"a": [{"content": VALUE}]},
        {"a": [{"content": f"x{VALUE}y", "filename": "f", "content_type": "text/plain"}]},
        {"a": [{"content": {"deep": [{"er": VALUE}]}}]},
        {"a": [{"content": {VALUE: 1}}]},
        {"a": [{"content": "1", "filename": f"{VALUE}.txt"}]},
        {VALUE: [{"content": "1"}]},
        {"a": [{"content": VALUE[:HALF], "filename": "f.txt"}], "b": [{"content": VALUE[HALF:], "filename": "g.txt"}]},
        {"a": [{"content": VALUE[:HALF], "filename": "f.txt"}, {"content": VALUE[HALF:], "filename": "f.txt"}]},
        {"b": [{"content": VALUE[HALF:], "filename": "f.txt"}], "a": [{"content": VALUE[:HALF], "filename": "g.txt"}]},
        {"a": [{"content": "1", "filename": VALUE[:HALF]}], "b": [{"content": "2", "filename": VALUE[HALF:]}]},
        {"a": [{"content": VALUE.encode().hex(), "filename": "f", "content_type": "text/plain"}]},
    ],
)
def test_a_key_in_a_part_is_found(body: Any) -> None:
    finding = SCANNER.find_in_request(outbound(method=Method.POST, body=body, body_type=BodyType.MULTIPART))
    assert finding is not None
    assert finding.name == "A"


def test_an_honest_upload_and_a_placeholder_are_no_leak() -> None:
    body = {"key": [{"content": SECRET}], "a": [{"content": "name,value\r\n", "filename": "f.csv", "content_type": "text/csv"}]}
    assert SCANNER.find_in_request(outbound(body=body, body_type=BodyType.MULTIPART)) is None
    assert SCANNER.find_in_request(outbound(body=None, body_type=BodyType.MULTIPART)) is None
