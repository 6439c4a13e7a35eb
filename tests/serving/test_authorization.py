"""Authorization of /mcp: keys and access tokens, what each may, what a client is told to come back with, and who is linked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.exceptions import HTTPException

from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.identity import AccessToken, list_scopes, narrow_link
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.access import authenticate_key
from ferryman.serving.api.authorization import check_scope, read_bearer, require_right
from ferryman.serving.api.rights import Caller
from tests.authority import ISSUER, SUBJECT, sign_token

from .conftest import Stage
from .routes import ROUTES, Ask

METADATA = "https://testserver/.well-known/oauth-protected-resource/mcp"
LINK = ApiKey(owner="ann", scopes=(Right.READ, Right.RUN), issuer=ISSUER, subject=SUBJECT, created_at=START)
DIGEST = AccessToken(issuer=ISSUER, subject=SUBJECT, scopes=frozenset()).digest


async def link(client: httpx.AsyncClient, headers: dict[str, str] | None = None, token: str = "") -> httpx.Response:
    return await client.post("/v1/identities", json={"access_token": token or sign_token()}, headers=headers)


async def authenticate(stage: Stage, *authorizations: str) -> Caller:
    """Return who presents this, as /mcp finds out."""
    deps = stage.deps()
    bearer = await read_bearer(deps, authorizations)
    key = bearer.select_key(deps, await deps.keys.find(bearer.digest))
    return await authenticate_key(deps, bearer.digest, key, None)


async def refuse(stage: Stage, *authorizations: str) -> HTTPException:
    with pytest.raises(HTTPException) as refused:
        await authenticate(stage, *authorizations)
    return refused.value


async def test_a_key_and_a_token_together_link_an_identity_with_its_person(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.OPERATOR, approves=True)
    answer = await link(client, headers)
    assert (answer.status_code, answer.json()["issuer"], answer.json()["subject"]) == (201, ISSUER, SUBJECT)
    caller = await authenticate(stage, f"Bearer {sign_token()}")
    assert (caller.person, caller.rights) == (answer.json()["person_id"], {Right.READ, Right.RUN})
    assert caller.workspace == derive_default_workspace("ann")


async def test_no_token_approves_or_manages_whatever_its_scopes(client: httpx.AsyncClient, stage: Stage) -> None:
    await link(client)
    scopes = "ferryman:read ferryman:run ferryman:approve ferryman:manage approve manage ferryman:tools:approve *"
    caller = await authenticate(stage, f"Bearer {sign_token(scope=scopes)}")
    assert caller.rights == {Right.READ, Right.RUN}


async def test_a_link_has_the_rights_of_the_membership_at_each_moment(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.VIEWER)
    person = (await link(client, headers)).json()["person_id"]
    assert (await authenticate(stage, f"Bearer {sign_token()}")).rights == {Right.READ}
    place = (derive_default_workspace("ann"), person)
    stage.memory.memberships[place] = replace(stage.memory.memberships[place], role=Role.OPERATOR)
    assert (await authenticate(stage, f"Bearer {sign_token()}")).rights == {Right.READ, Right.RUN}
    stage.memory.memberships[place] = replace(stage.memory.memberships[place], role=Role.VIEWER)
    assert (await authenticate(stage, f"Bearer {sign_token()}")).rights == {Right.READ}


async def test_a_link_ends_with_the_membership_and_when_it_is_deleted(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.OPERATOR)
    name = (await link(client, headers)).json()["identity_id"]
    assert (await client.delete(f"/v1/identities/{name}", headers=headers)).status_code == 204
    assert (await refuse(stage, f"Bearer {sign_token()}")).status_code == 403
    person = (await link(client, headers)).json()["person_id"]
    await stage.deps().members.remove(person, owner="ann", workspace=derive_default_workspace("ann"))
    assert (await refuse(stage, f"Bearer {sign_token()}")).status_code == 403


async def test_an_identity_is_linked_with_one_person_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    first = await link(client)
    assert (await link(client)).json()["identity_id"] == first.json()["identity_id"]
    for headers in (stage.owner("bob"), stage.member(Role.ADMIN)):
        assert (await link(client, headers)).status_code == 409
    assert stage.memory.keys[DIGEST].owner == "ann"


@pytest.mark.parametrize("claims", [{"aud": "https://other.test/mcp"}, {"exp": 1}, {"iss": "https://evil.test"}], ids=str)
async def test_no_token_for_others_links_anybody(client: httpx.AsyncClient, stage: Stage, claims: dict[str, Any]) -> None:
    answer = await link(client, token=sign_token(**claims))
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "access_token")
    assert DIGEST not in stage.memory.keys


async def test_a_key_that_was_made_for_less_links_nobody(client: httpx.AsyncClient, stage: Stage) -> None:
    narrow = stage.member(Role.ADMIN, scopes=(Right.READ, Right.RUN))
    assert (await link(client, narrow)).status_code == 403


async def test_links_and_keys_are_listed_apart(client: httpx.AsyncClient) -> None:
    name = (await link(client)).json()["identity_id"]
    assert name in [item["identity_id"] for item in (await client.get("/v1/identities")).json()["identities"]]
    assert name not in [item["key_id"] for item in (await client.get("/v1/keys")).json()["keys"]]


@pytest.mark.parametrize("authorizations", [(), ("",), ("Bearer ",), ("Basic YTpi",), ("Bearer x", "Bearer y")], ids=str)
async def test_who_presents_nothing_is_told_where_to_get_a_token(stage: Stage, authorizations: tuple[str, ...]) -> None:
    refused = await refuse(stage, *authorizations)
    challenge = (refused.headers or {})["WWW-Authenticate"]
    assert refused.status_code == 401
    assert challenge == f'Bearer scope="ferryman:read ferryman:run", resource_metadata="{METADATA}"'


async def test_a_token_that_is_not_accepted_is_told_why(stage: Stage) -> None:
    refused = await refuse(stage, f"Bearer {sign_token(exp=1)}")
    assert 'error="invalid_token", error_description="it has expired"' in (refused.headers or {})["WWW-Authenticate"]


async def test_a_token_of_nobody_is_forbidden_and_names_the_command(stage: Stage) -> None:
    refused = await refuse(stage, f"Bearer {sign_token(sub='somebody else')}")
    assert (refused.status_code, "ferryman mcp link" in refused.detail) == (403, True)


async def test_no_token_is_accepted_while_the_keys_cannot_be_fetched(stage: Stage) -> None:
    stage.authority.fails = UnavailableError("it does not answer")
    with pytest.raises(UnavailableError):
        await authenticate(stage, f"Bearer {sign_token()}")


async def test_the_digest_of_an_identity_is_no_api_key(client: httpx.AsyncClient, stage: Stage) -> None:
    await link(client)
    for text in (DIGEST, f"fm_{DIGEST[:43]}"):
        assert (await refuse(stage, f"Bearer {text}")).status_code == 401


@pytest.mark.parametrize("ask", [ask for ask in ROUTES if ask.path not in ("/", "/healthz", "/v1/join")], ids=str)
async def test_no_token_is_accepted_anywhere_else(client: httpx.AsyncClient, ask: Ask) -> None:
    await link(client)
    headers = {"Authorization": f"Bearer {sign_token()}"}
    body = {} if ask.body is None else {"json": ask.body}
    answer = await client.request(ask.method, ask.url("task_x", "exec_x"), headers=headers, **body)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("scopes", "rights", "tools"),
    [
        ("", set(), ()),
        ("ferryman:read", {Right.READ}, ()),
        ("ferryman:run", {Right.RUN}, None),
        ("ferryman:read ferryman:tools:search", {Right.READ, Right.RUN}, ("category:search",)),
        ("ferryman:tools:search ferryman:tools:files", {Right.RUN}, ("category:files", "category:search")),
        ("ferryman:run ferryman:tools:search", {Right.RUN}, None),
        ("ferryman:tools: ferryman:tools:Search ferryman:tools:a:b FERRYMAN:RUN", set(), ()),
    ],
)
def test_a_token_has_the_rights_and_the_tools_of_its_scopes(
    scopes: str, rights: set[Right], tools: tuple[str, ...] | None
) -> None:
    narrowed = narrow_link(LINK, scopes.split())
    assert (set(narrowed.scopes), narrowed.tools) == (rights, tools)


def test_a_token_never_has_more_than_its_link() -> None:
    reading = narrow_link(replace(LINK, scopes=(Right.READ,), tools=("category:search",)), list_scopes(["search", "files"]))
    assert (reading.scopes, reading.tools) == ((Right.READ,), ("category:search",))


async def test_a_tool_of_another_category_asks_for_its_scope(client: httpx.AsyncClient, stage: Stage) -> None:
    await link(client)
    caller = await authenticate(stage, f"Bearer {sign_token(scope='ferryman:read ferryman:tools:search')}")
    check_scope(stage.deps(), caller, "web_search_tool", "search")
    with pytest.raises(HTTPException) as refused:
        check_scope(stage.deps(), caller, "write_file", "files")
    challenge = (refused.value.headers or {})["WWW-Authenticate"]
    assert refused.value.status_code == 403
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="ferryman:read ferryman:tools:files"' in challenge
    assert f'resource_metadata="{METADATA}"' in challenge


async def test_running_asks_for_its_scope_and_a_role_without_it_is_told_nothing(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    await link(client)
    caller = await authenticate(stage, f"Bearer {sign_token(scope='ferryman:read')}")
    with pytest.raises(HTTPException) as refused:
        require_right(stage.deps(), caller, Right.RUN)
    assert 'scope="ferryman:read ferryman:run"' in (refused.value.headers or {})["WWW-Authenticate"]
    with pytest.raises(HTTPException) as refused:
        require_right(stage.deps(), caller, Right.APPROVE)
    assert (refused.value.status_code, refused.value.headers) == (403, None)


@pytest.mark.parametrize("path", ["", "/mcp"])
async def test_anybody_reads_where_tokens_are_issued(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(f"/.well-known/oauth-protected-resource{path}", headers={"Authorization": ""})
    described = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert (described["resource"], described["authorization_servers"]) == ("https://testserver/mcp", [ISSUER])
    assert {"ferryman:read", "ferryman:run", "ferryman:tools:search"} <= set(described["scopes_supported"])
    assert described["bearer_methods_supported"] == ["header"]


async def test_there_is_no_metadata_of_any_other_resource(client: httpx.AsyncClient) -> None:
    for path in ("/other", "/mcp/more", "/"):
        assert (await client.get(f"/.well-known/oauth-protected-resource{path}")).status_code == 404
