"""The metadata server: where a function asks who it is, and gets the tokens that prove it."""

import secrets
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from emulator.identity.tokens import LIFETIME, Tokens

FLAVOR = {"Metadata-Flavor": "Google"}
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def metadata_app(tokens: Tokens, email: str, project: str) -> Starlette:
    """The metadata server of one function, which runs as the service account `email` in `project`.

    Point a Google client at it with GCE_METADATA_HOST and GCE_METADATA_IP, both host:port.
    """

    def known(request: Request) -> bool:
        return request.path_params["account"] in ("default", email)

    async def identity(request: Request) -> Response:
        audience = request.query_params.get("audience")
        if not known(request):
            return _missing()
        if not audience:
            return PlainTextResponse("non-empty audience parameter required", 400)
        return PlainTextResponse(tokens.mint(email, audience))

    async def token(request: Request) -> Response:
        if not known(request):
            return _missing()
        # Nobody checks it here, and it must not pass for an identity token anywhere: random, not signed.
        value = f"local.{secrets.token_urlsafe(32)}"
        return JSONResponse({"access_token": value, "expires_in": LIFETIME.seconds, "token_type": "Bearer"})

    async def account(request: Request) -> Response:
        if not known(request):
            return _missing()
        return JSONResponse({"aliases": ["default"], "email": email, "scopes": SCOPES})

    def text(value: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return PlainTextResponse(value) if "account" not in request.path_params or known(request) else _missing()

        return answer

    root = "/computeMetadata/v1"
    own = f"{root}/instance/service-accounts/{{account}}"
    return Starlette(
        routes=[
            Route("/", text("computeMetadata/\n")),
            Route(f"{own}/identity", identity),
            Route(f"{own}/token", token),
            Route(f"{own}/email", text(email)),
            Route(f"{own}/scopes", text("\n".join(SCOPES))),
            Route(f"{own}/", account),
            Route(f"{root}/project/project-id", text(project)),
            Route(f"{root}/universe/universe-domain", text("googleapis.com")),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=_flavored)],
    )


async def _flavored(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    # Google's server refuses both too: a page in a browser cannot set the one, and a proxy betrays itself by the other.
    if request.headers.get("metadata-flavor") != "Google" or "x-forwarded-for" in request.headers:
        return PlainTextResponse("Missing required header: Metadata-Flavor", 403, headers=FLAVOR)
    response = await answer(request)
    response.headers.update(FLAVOR)
    return response


def _missing() -> Response:
    return PlainTextResponse("Not Found", 404)
