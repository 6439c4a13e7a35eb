"""Refusals: what a result tells where no request came to the gate."""

from __future__ import annotations

from ferryman.composition.embedded import Embedded
from ferryman.domain.http.request import InboundResponse
from tests.canaries.canary import create_key
from tests.plain_gate import FilledRequest, PlainGate, build_response

SECRET = create_key("client secret of a login", 40)
TOOL = {
    "kind": "http",
    "name": "forecast",
    "url": "https://api.service.test/v1/{place}",
    "auth": {
        "type": "oauth2_client_credentials",
        "token_url": "https://login.service.test/token",
        "client_id": "me",
        "client_secret": "{{env.CLIENT_SECRET}}",
    },
}


async def failing(arrived: FilledRequest) -> InboundResponse:
    return build_response("", status=500)


async def test_a_key_in_the_address_of_a_call_without_a_token_is_not_told() -> None:
    embedded = Embedded.declare([TOOL], env={"CLIENT_SECRET": SECRET}, gate=PlainGate(failing))  # type: ignore[arg-type]  # it fetches
    result = await embedded.call("forecast", {"place": f"paris-{SECRET}"})
    assert result.block_reason == "token_not_fetched"
    assert result.url == "https://api.service.test/v1/paris-[redacted:CLIENT_SECRET]"
