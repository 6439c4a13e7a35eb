"""The metadata server: where a function asks who it is, and gets the tokens that prove it."""

import secrets
from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from emulator.identity.tokens import LIFETIME, IdentityTokens

FLAVOR = {"Metadata-Flavor": "Google"}
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def certs_app(tokens: IdentityTokens) -> Starlette:
    """Return the application that serves what identity tokens are checked with: certificates and the JSON Web Key Set."""

    async def certs(_: Request) -> JSONResponse:
        return JSONResponse(tokens.certs())

    async def jwks(_: Request) -> JSONResponse:
        return JSONResponse(tokens.jwks())

    return Starlette(routes=[Route("/certs", certs), Route("/jwks", jwks)])


def metadata_app(tokens: IdentityTokens, email: str, project: str) -> Starlette:
    """Return the metadata server of one function, which runs as the service account `email` in `project`.

    Point a Google client at it with GCE_METADATA_HOST and GCE_METADATA_IP, both host:port, or host:port/path.
    """

    def is_known(request: Request) -> bool:
        return request.path_params["account"] in ("default", email)

    async def identity(request: Request) -> Response:
        audience = request.query_params.get("audience")
        if not is_known(request):
            return _answer_missing()
        if not audience:
            return PlainTextResponse("non-empty audience parameter required", 400)
        return PlainTextResponse(tokens.mint(email, audience))

    async def token(request: Request) -> Response:
        if not is_known(request):
            return _answer_missing()
        # Nobody checks it here, and it must not pass for an identity token anywhere: random, not signed.
        value = f"local.{secrets.token_urlsafe(32)}"
        return JSONResponse({"access_token": value, "expires_in": LIFETIME.seconds, "token_type": "Bearer"})

    async def account(request: Request) -> Response:
        if not is_known(request):
            return _answer_missing()
        return JSONResponse({"aliases": ["default"], "email": email, "scopes": SCOPES})

    def text(value: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return PlainTextResponse(value) if "account" not in request.path_params or is_known(request) else _answer_missing()

        return answer

    root = "/computeMetadata/v1"
    account_root = f"{root}/instance/service-accounts/{{account}}"
    return Starlette(
        routes=[
            Route("/", text("computeMetadata/\n")),
            Route(f"{account_root}/identity", identity),
            Route(f"{account_root}/token", token),
            Route(f"{account_root}/email", text(email)),
            Route(f"{account_root}/scopes", text("\n".join(SCOPES))),
            Route(f"{account_root}/", account),
            Route(f"{root}/project/project-id", text(project)),
            Route(f"{root}/universe/universe-domain", text("googleapis.com")),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=_check_flavor)],
    )


async def _check_flavor(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
    # Google's server refuses both too: a page in a browser cannot set the one, and a proxy betrays itself by the other.
    if request.headers.get("metadata-flavor") != "Google" or "x-forwarded-for" in request.headers:
        return PlainTextResponse("Missing required header: Metadata-Flavor", 403, headers=FLAVOR)
    response = await answer(request)
    response.headers.update(FLAVOR)
    return response


def _answer_missing() -> Response:
    return PlainTextResponse("Not Found", 404)
