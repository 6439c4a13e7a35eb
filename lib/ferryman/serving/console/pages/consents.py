"""The page that a consent leads back to: it finishes what this session has begun, and nothing else."""

from __future__ import annotations

from starlette.responses import Response

from ferryman.domain.credentials.authorization_response import ConsentDeclinedError, UnexpectedCallbackError, read_response
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.consents import find_pending, lead_back
from ferryman.serving.console.routing import ROOT, ConsolePage, ConsoleRequest, ConsoleRoute

ADDRESS_CHARACTERS_MAX = 16_384
UNKNOWN = "This session did not ask for this consent within the last ten minutes. Connect again."


async def show_connected(request: ConsoleRequest) -> ConsolePage | Response:
    """Finish the consent that the browser was led back from."""
    return await _finish(request, f"{request.path}?{request.request.url.query}", is_pasted=False)


async def paste_address(request: ConsoleRequest) -> ConsolePage | Response:
    """Finish the consent whose last address was pasted."""
    return await _finish(request, request.read_field("address").strip()[:ADDRESS_CHARACTERS_MAX], is_pasted=True)


async def _finish(request: ConsoleRequest, address: str, *, is_pasted: bool) -> ConsolePage | Response:
    pending = find_pending(request, request.params["place"], address)
    if pending is None:
        return _refuse(UNKNOWN, ROOT, 400)
    if not is_pasted:
        # whatever is in front of the function may have another name for this page
        address = f"{pending.redirect_uri}?{request.request.url.query}"
    try:
        response = read_response(address, redirect_uri=pending.redirect_uri, state=pending.state, issuer=pending.issuer)
        body = {"state": pending.state, "code": response.code, **({} if response.iss is None else {"iss": response.iss})}
        await request.api.post(f"{pending.connect}/finish", body)
    except (ConsentDeclinedError, UnexpectedCallbackError) as refused:
        return _refuse(f"{refused}; nothing was connected.", pending.page, 400)
    except ApiProblemError as error:
        if error.status in (401, 404):
            raise
        return _refuse(error.detail or "; ".join(error.by_field.values()), pending.page, error.status)
    return lead_back(request, pending, "connected")


def _refuse(reason: str, back: str, status: int) -> ConsolePage:
    values = {"reason": reason, "back": back}
    return ConsolePage(template="consent_refused.html", title="Nothing was connected", values=values, status=status)


ROUTES = (ConsoleRoute(path=f"{ROOT}/consents/{{place}}/connected", show=show_connected, actions={"finish": paste_address}),)
