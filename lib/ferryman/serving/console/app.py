"""The console as an ASGI application: find the session and the page, and answer errors as pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ferryman import offload
from ferryman.composition.api import ApiDependencies
from ferryman.domain.ids import is_id
from ferryman.ports.errors import UnavailableError
from ferryman.serving.console import pages, sign_in
from ferryman.serving.console.api_client import ApiClient, ApiProblemError
from ferryman.serving.console.assets import answer_asset
from ferryman.serving.console.elsewhere import find_elsewhere, name_workspace
from ferryman.serving.console.forms import SMALL_BYTES, is_foreign, read_form, read_large_form, refuse_foreign
from ferryman.serving.console.parts import find_parts
from ferryman.serving.console.rendering import render_apart, render_page, render_plain
from ferryman.serving.console.routing import PARTS_HEADER, ROOT, ConsolePage, ConsoleRequest, ConsoleRoute, Redirect
from ferryman.serving.console.security_headers import HEADERS
from ferryman.serving.console.uploads import MULTIPART, Upload, read_upload

PARTS_MAX = 100


class ConsoleEndpoint:
    """Answers every request at and below `ROOT`."""

    def __init__(self) -> None:
        routes = [
            Route(f"{ROOT}/assets/{{digest}}/{{name}}", answer_asset),
            Route(sign_in.PATH, _answer_sign_in, methods=["GET", "POST"]),
            Route(sign_in.ENTER_PATH, _answer_link, methods=["GET", "POST"]),
        ]
        routes.extend(Route(route.path, _build_endpoint(route), methods=["GET", "POST"]) for route in pages.ROUTES)
        self._router = Router(routes, redirect_slashes=False, default=_answer_missing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._router(scope, receive, send)


def _build_endpoint(route: ConsoleRoute) -> Any:
    async def answer(request: Request) -> Response:
        deps: ApiDependencies = request.app.state.deps
        return await _answer(deps, request, route)

    return answer


async def _answer(deps: ApiDependencies, request: Request, route: ConsoleRoute) -> Response:
    try:
        signed_in = await sign_in.find_session(deps, request)
        if signed_in is None:
            return _ask_to_sign_in(deps, request)
        session, signed = signed_in
        params: Mapping[str, str] = request.path_params
        if not all(is_id(value) for name, value in params.items() if f"{{{name}}}" in route.path):
            raise HTTPException(404, "there is no such page")
        form, upload = await _read_change(request, session.owner, signed) if request.method == "POST" else ({}, None)
        page_request = ConsoleRequest(
            request=request,
            path=request.url.path,
            session=session,
            signed=signed,
            api=ApiClient(app=request.app, origin=request.scope, session=session, secret=signed.secret),
            now=deps.clock.now(),
            params=params,
            query=dict(request.query_params),
            form=form,
            upload=upload,
        )
        try:
            return await _run(deps, page_request, route)
        except ApiProblemError as error:
            page = await find_elsewhere(page_request) if error.status == 404 else None
            if page is None:
                raise
            return await _render(page, page_request, route)
        finally:
            if upload is not None:
                await upload.drop()
    except ApiProblemError as error:
        if error.status == 401:
            return sign_in.show_sign_in(request, "Your API key is no longer valid.", next_path=request.url.path, status=403)
        return _show_error(request, error.status, error.title, error.detail, error.by_field)
    except (offload.OverBudgetError, offload.JobFailedError):
        return _show_error(request, 422, "Too large to be shown", "Rendering this text takes longer than a page may take.", {})
    except HTTPException as error:
        return _show_error(request, error.status_code, "Nothing was done", error.detail, {})
    except UnavailableError:
        return _show_error(request, 503, "Try again", "A service behind this one does not answer.", {})


async def _run(deps: ApiDependencies, page_request: ConsoleRequest, route: ConsoleRoute) -> Response:
    handler = route.show
    if page_request.request.method == "POST":
        if (action := page_request.read_field("do")) == "sign-out":
            return await sign_in.end_session(deps, page_request.request, page_request.session)
        if action not in route.actions:
            raise HTTPException(422, f"do: must be one of {', '.join(route.actions) or 'nothing'}")
        handler = route.actions[action]
    result = await handler(page_request)
    if isinstance(result, Redirect):
        return sign_in.redirect(page_request.path, result.target)
    if not isinstance(result, ConsolePage):
        return result
    return await _render(result, page_request, route)


async def _render(result: ConsolePage, page_request: ConsoleRequest, route: ConsoleRoute) -> Response:
    page = ConsolePage(**{**_list_fields(result), "values": {"section": route.section, **result.values}})
    name = "" if page_request.is_partial else await name_workspace(page_request.api)
    part_names = page_request.request.headers.get(PARTS_HEADER)

    def respond() -> Response:
        markup = render_page(page, page_request, workspace_name=name)
        if part_names is None:
            answer = HTMLResponse(markup, status_code=result.status, headers=HEADERS)
            for cookie in result.cookies:
                answer.set_cookie(**cookie)
            return answer
        parts = find_parts(markup, part_names.split(",")[:PARTS_MAX])
        return JSONResponse({"parts": parts}, status_code=result.status, headers={**HEADERS, "Vary": PARTS_HEADER})

    return await render_apart(page_request, respond)


def _list_fields(page: ConsolePage) -> dict[str, Any]:
    return {"template": page.template, "title": page.title, "values": page.values, "status": page.status}


async def _read_change(request: Request, owner: str, signed: Any) -> tuple[dict[str, tuple[str, ...]], Upload | None]:
    """Return the fields of a form that a page of this session sends to this path, and its file. Raise 403 for any other."""
    refuse_foreign(request)
    is_upload = request.headers.get("content-type", "").startswith(MULTIPART)
    form, upload = await read_upload(request) if is_upload else (await _read_fields(request, owner), None)
    for name in ("do", "token"):
        if len(form.get(name, ())) > 1:
            raise HTTPException(400, f"{name}: is in the form more than once")
    if not signed.accepts_form_token(form.get("token", ("",))[0], request.url.path):
        raise HTTPException(403, "token: the form does not belong to this page and this session; open the page again")
    return form, upload


async def _read_fields(request: Request, owner: str) -> dict[str, tuple[str, ...]]:
    body = await request.body()
    return read_form(body) if len(body) <= SMALL_BYTES else await read_large_form(owner, body)


def _ask_to_sign_in(deps: ApiDependencies, request: Request) -> Response:
    if request.method == "GET" and is_foreign(request) and sign_in.name_cookie(deps) not in request.cookies:
        # a link on another site: the browser sends the SameSite=Strict cookie only once this page leads to itself
        page = render_plain("again.html", request.url.path, title="Ferryman")
        return HTMLResponse(page, headers={**HEADERS, "Refresh": "0"})
    status = 403 if request.method == "POST" or PARTS_HEADER in request.headers else 200
    return sign_in.show_sign_in(request, "", next_path=request.url.path, status=status)


def _show_error(request: Request, status: int, title: str, detail: str, errors: Mapping[str, str]) -> Response:
    values = {"title": title or "Nothing was done", "detail": detail, "errors": errors, "status": status}
    return HTMLResponse(render_plain("error.html", request.url.path, **values), status_code=status, headers=HEADERS)


async def _answer_missing(scope: Scope, receive: Receive, send: Send) -> None:
    request = Request(scope)
    await _show_error(request, 404, "There is no such page", "No page has this address.", {})(scope, receive, send)


async def _answer_sign_in(request: Request) -> Response:
    return await _answer_public(request, sign_in.answer_sign_in)


async def _answer_link(request: Request) -> Response:
    return await _answer_public(request, sign_in.answer_link)


async def _answer_public(request: Request, handler: Any) -> Response:
    deps: ApiDependencies = request.app.state.deps
    try:
        response: Response = await handler(deps, request)
    except HTTPException as error:
        return _show_error(request, error.status_code, "Nothing was done", error.detail, {})
    except UnavailableError:
        return _show_error(request, 503, "Try again", "A service behind this one does not answer.", {})
    return response
