"""Header names: which are compared as one, and which the owner of a declared tool may set."""

from __future__ import annotations

import pytest

from ferryman.domain.http.headers import is_declarable_header, normalize_header


def test_case_and_underscores_do_not_tell_two_headers_apart():
    assert normalize_header("X_Api-KEY_") == "x-api-key-"


@pytest.mark.parametrize(
    "header",
    ["X-Api-Key", "Accept", "ACCEPT", "Accept_Language", "Authorization", "Content-Type", "If-Match", "X-Goog-FieldMask"],
)
def test_a_header_that_does_not_frame_the_request_may_be_declared(header):
    assert is_declarable_header(header)


@pytest.mark.parametrize(
    "header",
    [
        *("Host", "host", "Cookie", "Transfer-Encoding", "TRANSFER_ENCODING", "X-Real-IP", "Via"),
        *(
            "Accept-Encoding",
            "Content-Length",
            "Proxy-Authorization",
            "X-Goog-User-Project",
            "x_forwarded_for",
            "Sec-Fetch-Mode",
        ),
    ],
)
def test_a_header_that_frames_the_request_or_is_the_platform_s_may_not(header):
    assert not is_declarable_header(header)
