"""Grant requests: a consent's code or refresh token, sent to the token endpoint of today's catalog and to no other host."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential, Grant, Label, SealedCredential, Secret
from ferryman.domain.credentials.grant import REFRESH_SECONDS, get_grant_status
from ferryman.domain.credentials.oauth import TokenResponse, TokenResponseError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import BodyType, Method, OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.owners.plan import PRO
from ferryman.tools.tokens.client import OAUTH_HEADERS, TokenRequest, authenticate_client, bind_secret, request_token
from ferryman.tools.tokens.dependencies import GrantDependencies

TOOL = "token"
"""The tool of these requests in the log of the gate."""


async def request_grant(deps: GrantDependencies, label: Label, grant: Grant, form: Mapping[str, str | Secret]) -> TokenResponse:
    """Return what the token endpoint of `grant` answers to `form`. Raise `TokenResponseError`, also where nothing was sent."""
    service = deps.integrations.get(label.service)
    if service is None or service.oauth is None or service.oauth.token_url != grant.token_url:
        raise TokenResponseError("the catalog no longer has such a token endpoint for the service")
    host = service.oauth.token_host
    policy = ExecutionPolicy(
        owner=label.owner, task=label.task, plan=PRO, tools=(), integrations=(label.service,), domains=(host,)
    )
    if service.oauth.issuer != grant.issuer and grant.issuer is not None:
        raise TokenResponseError("the token is of another issuer than the service's", error="invalid_grant")
    resource = {} if grant.resource is None else {"resource": grant.resource}
    fields = {**form, **resource, "client_id": grant.client_id, "client_secret": grant.client_secret}
    credentials = {
        name: bind_secret(name, value, owner=label.owner, task=label.task, hosts=(host,))
        for name, value in fields.items()
        if isinstance(value, Secret)
    }
    placeholders = {name: Template((SecretPlaceholder(name),)) for name in credentials}
    outbound = OutboundRequest(
        tool=TOOL,
        method=Method.POST,
        url=grant.token_url,
        fixed_headers=OAUTH_HEADERS,
        body={name: placeholders.get(name, value) for name, value in fields.items() if value is not None},
        body_type=BodyType.FORM,
    )
    request = authenticate_client(TokenRequest(outbound=outbound, credentials=credentials), grant.creds_location, policy)
    try:
        return await request_token(deps.gate, request, policy=policy, within_s=REFRESH_SECONDS, now=deps.clock.now())
    except CallRefusedError as refused:
        raise TokenResponseError(refused.refusal.message.removeprefix("Error: ")) from None


async def find_sealed(deps: GrantDependencies, label: Label) -> SealedCredential | None:
    """Return the stored credential of this task and name, whatever its version."""
    return next((sealed for sealed in await deps.credentials.list(label.task) if sealed.label.name == label.name), None)


async def seal_grant(
    deps: GrantDependencies, credential: Credential, *, version: int, created_at: datetime | None = None
) -> SealedCredential:
    """Return `credential` as it is stored, sealed to key `version`; created at `created_at`, or now. Raise KeyError."""
    assert credential.grant is not None, "the credential of a consent has a grant"
    ciphertext, now = await deps.vault.seal_grant(credential, version=version), deps.clock.now()
    return SealedCredential(
        label=credential.label,
        ciphertext=ciphertext,
        key_version=version,
        created_at=created_at or now,
        updated_at=now,
        grant=get_grant_status(credential.grant),
    )
