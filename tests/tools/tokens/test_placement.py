"""A token's place in the tool's request: a placeholder, alone under its name."""

from __future__ import annotations

import dataclasses

import pytest

from ferryman.declared.auth import get_placement
from ferryman.domain.credentials.credential import NAME
from ferryman.domain.http.request import SecretPlaceholder, Template
from ferryman.domain.tools.declared import Apply, Exchange, TokenExchange
from ferryman.tools.tokens.access import FORMER, place_token
from ferryman.tools.tokens.client import BASIC, TOKEN

from .harness import OAUTH, OUTBOUND

PLACEHOLDER = SecretPlaceholder(TOKEN)


def test_a_bearer_token_goes_into_authorization() -> None:
    assert place_token(OUTBOUND, get_placement(OAUTH)).fixed_headers == {"Authorization": Template(("Bearer ", PLACEHOLDER))}


@pytest.mark.parametrize(
    ("apply", "text"),
    [
        (Apply(), ("Bearer ", PLACEHOLDER)),
        (Apply(format="{token}"), (PLACEHOLDER,)),
        (Apply(format="Session id={token}; v=1"), ("Session id=", PLACEHOLDER, "; v=1")),
        (Apply(format="{token}:{token}"), (PLACEHOLDER, ":", PLACEHOLDER)),
    ],
)
def test_the_format_has_the_text_around_it(apply: Apply, text: tuple[str | SecretPlaceholder, ...]) -> None:
    assert place_token(OUTBOUND, apply).fixed_headers == {apply.name: Template(text)}


def test_a_token_goes_into_the_query_as_it_is() -> None:
    placed = place_token(OUTBOUND, Apply(location="query", name="sid"))
    assert (placed.query_params, placed.fixed_headers) == ({"sid": Template((PLACEHOLDER,))}, {})


def test_it_takes_the_place_of_whatever_stood_there_however_it_was_spelt() -> None:
    before = dataclasses.replace(
        OUTBOUND,
        headers={"x_session": "model", "Accept": "a"},
        fixed_headers={"X-SESSION": "owner", "X-Other": "o"},
        query_params={"SID": "model", "s-id": 1},
    )
    header = place_token(before, Apply(name="X-Session", format="{token}"))
    assert (header.headers, header.fixed_headers) == ({"Accept": "a"}, {"X-Other": "o", "X-Session": Template((PLACEHOLDER,))})
    assert place_token(before, Apply(location="query", name="sid")).query_params == {"s-id": 1, "sid": Template((PLACEHOLDER,))}


def test_no_owner_can_name_a_credential_as_what_is_made_in_here() -> None:
    assert not any(NAME.fullmatch(item) for item in (TOKEN, FORMER, BASIC))


def test_a_login_says_where_its_token_goes() -> None:
    apply = Apply(name="X-Session")
    assert get_placement(TokenExchange(request=Exchange(url="https://a.test/"), apply=apply)) == apply
