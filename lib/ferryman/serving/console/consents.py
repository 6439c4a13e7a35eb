"""Consents: a person is led to the page of a service, and back to the console, which finishes what was begun.

What was begun is in a cookie that is signed for the session: an answer that another session has asked for, or nobody, is
refused (login CSRF, RFC 6749, 10.12). The address of the consent page is a link with its host beside it, and never the answer
to a form: browsers hold redirects of forms to the policy of the page (`form-action 'self'`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.credentials.connection import LIFETIME, STATE, digest_state, is_loopback
from ferryman.domain.credentials.redirect_uris import choose_pasted_uri
from ferryman.domain.remote_servers.client_document import locate_console_callback
from ferryman.serving.console import sign_in
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest

MCP = "mcp"
"""The place that consents to MCP servers lead back to; any other is the id of a service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingConsent:
    """A pending consent: `connect` is its route of the API, `page` the page to return to, `place` the redirect URI's name."""

    place: str
    connect: str
    page: str
    redirect_uri: str
    state: str
    issuer: str


def locate_callback(place: str) -> str:
    """Return the path of the page that a consent at `place` leads back to."""
    return f"{ROOT}/consents/{place}/connected"


def choose_redirect_uri(request: ConsoleRequest, place: str, registered: Sequence[str] = ()) -> str:
    """Return where a consent leads back to: this console where the API lets it, else an address that is pasted.

    `registered` are those of the service.
    """
    deps: ApiDependencies = request.request.app.state.deps
    scheme = "http" if deps.is_local else "https"
    here = f"{scheme}://{request.request.headers.get('host', '')}{locate_callback(place)}"
    allowed = (locate_console_callback(deps.client_document_url),) if place == MCP else registered
    if is_loopback(here) or here in allowed:
        return here
    return choose_pasted_uri(place, registered)


def is_pasted(place: str, redirect_uri: str) -> bool:
    """Tell whether nobody listens at `redirect_uri`, so that the person pastes the address that the browser ended at."""
    return urlsplit(redirect_uri).path != locate_callback(place)


def show_consent(request: ConsoleRequest, begun: Mapping[str, Any], *, place: str, connect: str, page: str) -> ConsolePage:
    """Return the page that leads to the consent that was `begun`, with the cookie that binds it to the session.

    Raises 502 where the consent page is not one of https.
    """
    address = urlsplit(begun["authorize_url"])
    if address.scheme != "https":
        raise HTTPException(502, "the page of the consent has no https address")
    pending = PendingConsent(
        place=place,
        connect=connect,
        page=page,
        redirect_uri=begun["redirect_uri"],
        state=begun["state"],
        issuer=begun.get("issuer", ""),
    )
    values = {
        "begun": {"issuer": "", "resource": "", "scopes": [], **begun},
        "host": address.netloc,
        "is_pasted": is_pasted(place, pending.redirect_uri),
        "callback": locate_callback(place),
        "back": page,
    }
    text = base64.urlsafe_b64encode(json.dumps(asdict(pending)).encode()).decode()
    cookie = {"value": request.signed.sign_text(text), "max_age": int(LIFETIME.total_seconds())}
    cookies = [{**_describe_cookie(request, pending.state), **cookie}]
    return ConsolePage(template="consent.html", title="Consent", values=values, cookies=cookies)


def find_pending(request: ConsoleRequest, place: str, address: str) -> PendingConsent | None:
    """Return the consent that this session began at `place`, by the state in the `address`; None where there is none."""
    try:
        states = parse_qs(urlsplit(address).query, max_num_fields=50).get("state", [])
    except ValueError:
        return None
    if len(states) != 1 or not STATE.fullmatch(states[0]):
        return None
    cookie = request.request.cookies.get(_describe_cookie(request, states[0])["key"], "")
    text = request.signed.read_text(cookie)
    if text is None:
        return None
    pending = PendingConsent(**json.loads(base64.urlsafe_b64decode(text)))
    # another place's answer does not arrive here (mix-up attacks, RFC 9700, 4.4.2)
    return pending if pending.place == place else None


def lead_back(request: ConsoleRequest, pending: PendingConsent, done: str) -> Response:
    """Return the redirect to the page that the consent was for, which deletes the cookie of the pending consent."""
    response = sign_in.redirect(request.path, f"{pending.page}?done={done}")
    response.delete_cookie(**_describe_cookie(request, pending.state))
    return response


def _describe_cookie(request: ConsoleRequest, state: str) -> dict[str, Any]:
    described = sign_in.describe_cookie(request.request.app.state.deps)
    return {**described, "key": f"{described['key']}-consent-{digest_state(state)[:16]}"}
