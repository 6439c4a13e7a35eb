"""Exchange: a grant's token request, sent through the gate, and its answer read. Every secret in it goes to one host alone."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from ferryman.domain import oauth
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.grant import REFRESH_SECONDS
from ferryman.domain.http import BodyType, Hole, Method, Mixed, Outbound, Text
from ferryman.domain.plan import PRO
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.url import parse

if TYPE_CHECKING:
    from ferryman.tools.carry import ToolHouse

TOOL = "token"
"""What the gate's line calls these requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who asks: the OAuth client at one token endpoint."""

    token_url: str
    client_id: str
    client_secret: Secret | None
    creds_location: str


async def exchange(house: ToolHouse, label: Label, client: Client, form: Mapping[str, str | Secret]) -> oauth.Answer:
    """What the token endpoint of `label`'s service answers to `form`; raises `oauth.Unusable`.

    The endpoint is the one of today's catalog, or nothing is sent. It is asked once: a code or a refresh token may be used up
    by a request whose answer is lost.
    """
    service = house.integrations.get(label.service)
    if service is None or service.oauth is None or service.oauth.token_url != client.token_url:
        raise oauth.Unusable("the catalog has no such token endpoint for the service any more")
    outbound, credentials = asked(label, client, form)
    host = service.oauth.token_host
    remit = Remit(owner=label.owner, task=label.task, plan=PRO, tools=(), integrations=(label.service,), domains=(host,))
    try:
        inbound = await house.gate.fetch(
            outbound,
            remit=remit,
            credentials=credentials,
            within_s=REFRESH_SECONDS,
            body_max=oauth.ANSWER_BYTES_MAX,
        )
    except Refused as refused:
        raise oauth.Unusable(refused.refusal.message.removeprefix("Error: ")) from None
    sent = [each.secret for each in credentials.values()]
    return oauth.read(inbound.status, inbound.body, cut=inbound.cut, sent=sent)


def asked(label: Label, client: Client, form: Mapping[str, str | Secret]) -> tuple[Outbound, dict[str, Credential]]:
    """The request (RFC 6749, 2.3.1 and 4.1.3), with a hole for each secret, and what goes into the holes."""
    hosts = (parse(client.token_url).host,)
    credentials: dict[str, Credential] = {}

    def hole(name: str, secret: Secret) -> Hole:
        own = Label(
            owner=label.owner,
            task=label.task,
            name=name,
            version=label.version,
            service=label.service,
            auth_type=AuthType.BEARER,
            hosts=hosts,
        )
        credentials[name] = Credential(label=own, secret=secret)
        return Hole(name)

    headers: dict[str, Text] = {"Accept": "application/json"}
    body: dict[str, Text] = {
        name: Mixed((hole(name.upper(), value),)) if isinstance(value, Secret) else value for name, value in form.items()
    }
    if client.client_secret is not None and client.creds_location == "basic_header":
        headers["Authorization"] = Mixed(("Basic ", hole("CLIENT", _basic(client.client_id, client.client_secret))))
    else:
        body["client_id"] = client.client_id
        if client.client_secret is not None:
            body["client_secret"] = Mixed((hole("CLIENT_SECRET", client.client_secret),))
    outbound = Outbound(
        tool=TOOL,
        method=Method.POST,
        url=client.token_url,
        fixed_headers=headers,
        body=body,
        body_type=BodyType.FORM,
    )
    return outbound, credentials


def _basic(client_id: str, secret: Secret) -> Secret:
    pair = f"{quote_plus(client_id)}:{quote_plus(secret.reveal())}"
    return Secret(base64.b64encode(pair.encode()).decode())
