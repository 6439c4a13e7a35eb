"""A token's place in the tool's request: a hole, alone under its name."""

from __future__ import annotations

import dataclasses

import pytest

from ferryman.domain.credentials.credential import NAME
from ferryman.domain.http.request import SecretPlaceholder, Template
from ferryman.domain.tools.declared import Apply, Exchange, TokenExchange
from ferryman.tools.tokens import TOKEN
from ferryman.tools.tokens.access import FORMER
from ferryman.tools.tokens.client import BASIC
from ferryman.tools.tokens.placement import place_token, placement_of

from .harness import OAUTH, OUTBOUND

HOLE = SecretPlaceholder(TOKEN)


def test_a_bearer_token_goes_into_authorization() -> None:
    assert place_token(OUTBOUND, placement_of(OAUTH)).fixed_headers == {"Authorization": Template(("Bearer ", HOLE))}


@pytest.mark.parametrize(
    ("apply", "text"),
    [
        (Apply(), ("Bearer ", HOLE)),
        (Apply(format="{token}"), (HOLE,)),
        (Apply(format="Session id={token}; v=1"), ("Session id=", HOLE, "; v=1")),
        (Apply(format="{token}:{token}"), (HOLE, ":", HOLE)),
    ],
)
def test_the_format_says_what_stands_around_it(apply: Apply, text: tuple[str | SecretPlaceholder, ...]) -> None:
    assert place_token(OUTBOUND, apply).fixed_headers == {apply.name: Template(text)}


def test_a_token_goes_into_the_query_as_it_is() -> None:
    found = place_token(OUTBOUND, Apply(location="query", name="sid"))
    assert (found.query_params, found.fixed_headers) == ({"sid": Template((HOLE,))}, {})


def test_it_takes_the_place_of_whatever_stood_there_however_it_was_spelt() -> None:
    before = dataclasses.replace(
        OUTBOUND,
        headers={"x_session": "model", "Accept": "a"},
        fixed_headers={"X-SESSION": "owner", "X-Other": "o"},
        query_params={"SID": "model", "s-id": 1},
    )
    header = place_token(before, Apply(name="X-Session", format="{token}"))
    assert (header.headers, header.fixed_headers) == ({"Accept": "a"}, {"X-Other": "o", "X-Session": Template((HOLE,))})
    assert place_token(before, Apply(location="query", name="sid")).query_params == {"s-id": 1, "sid": Template((HOLE,))}


def test_no_owner_can_name_a_credential_as_what_is_made_in_here() -> None:
    assert not any(NAME.fullmatch(each) for each in (TOKEN, FORMER, BASIC))


def test_a_login_says_where_its_token_goes() -> None:
    apply = Apply(name="X-Session")
    assert placement_of(TokenExchange(request=Exchange(url="https://a.test/"), apply=apply)) == apply
