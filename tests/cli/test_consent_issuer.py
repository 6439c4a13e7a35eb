"""An authorization response that names another issuer: nothing of it is acted on, or repeated (RFC 9207)."""

from __future__ import annotations

import pytest

from ferryman.domain.credentials.authorization_response import ConsentDeclinedError, UnexpectedCallbackError, read_response

URI, STATE, ISSUER = "http://127.0.0.1:9/callback/mcp", "s" * 43, "https://login.example.com"


def lead_back(query: str) -> str:
    return f"{URI}?state={STATE}&{query}"


@pytest.mark.parametrize("query", ["code=c", "error=access_denied", "error=server_error&error_description=Call+0900"])
@pytest.mark.parametrize("iss", ["https://evil.example.com", f"{ISSUER}/", "HTTPS://LOGIN.EXAMPLE.COM"])
def test_an_answer_of_another_issuer_is_refused_whatever_it_says(query: str, iss: str) -> None:
    with pytest.raises(UnexpectedCallbackError, match="another issuer") as refused:
        read_response(lead_back(f"{query}&iss={iss}"), redirect_uri=URI, state=STATE, issuer=ISSUER)
    assert "0900" not in str(refused.value)


def test_an_error_of_the_issuer_itself_is_told_by_the_words_of_the_standard() -> None:
    with pytest.raises(ConsentDeclinedError, match="access_denied"):
        read_response(lead_back(f"error=access_denied&iss={ISSUER}"), redirect_uri=URI, state=STATE, issuer=ISSUER)


def test_an_answer_of_the_issuer_is_taken() -> None:
    answer = read_response(lead_back(f"code=c&iss={ISSUER}"), redirect_uri=URI, state=STATE, issuer=ISSUER)
    assert (answer.code, answer.iss) == ("c", ISSUER)
