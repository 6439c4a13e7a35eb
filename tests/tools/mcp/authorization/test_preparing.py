"""Consents: which client asks, for which scopes, and what is pinned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.remote_servers.authorization import ServerAuthorization
from ferryman.tools.mcp.authorization.challenge import NO_CHALLENGE, Challenge
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.authorization.preparing import ConsentRequest, PreparedConsent, prepare_consent
from ferryman.tools.mcp.authorization.registration import PersonalClient
from tests.canaries import canary
from tests.tools.mcp.authorization.documents import ISSUER, SERVER, Documents, build_documents, build_issuer, build_resource

DOCUMENT = "https://ferryman.example.com/oauth/client.json"
REQUEST = ConsentRequest(redirect_uri="http://127.0.0.1:49999/callback/mcp", document_url=DOCUMENT)
PERSONAL = PersonalClient(id="mine", has_secret=True)
BEFORE = ServerAuthorization(
    issuer=ISSUER,
    authorize_url=f"{ISSUER}/authorize",
    token_url=f"{ISSUER}/token",
    resource=SERVER,
    client_id="registered",
    scopes=("read", "list"),
)


async def prepare(
    documents: Documents,
    challenge: Challenge = NO_CHALLENGE,
    before: ServerAuthorization | None = None,
    **change: Any,
) -> PreparedConsent:
    return await prepare_consent(documents, SERVER, challenge, replace(REQUEST, **change), before=before)


async def test_everything_that_was_discovered_is_pinned() -> None:
    documents = build_documents(issuer=build_issuer(client_id_metadata_document_supported=True))
    assert (await prepare(documents)).authorization == ServerAuthorization(
        issuer=ISSUER,
        authorize_url=f"{ISSUER}/authorize",
        token_url=f"{ISSUER}/token",
        resource=SERVER,
        client_id=DOCUMENT,
    )


async def test_the_client_of_a_person_comes_first() -> None:
    documents = build_documents(issuer=build_issuer(client_id_metadata_document_supported=True))
    prepared = await prepare(documents, client=PERSONAL)
    assert (prepared.authorization.client_id, prepared.client_secret) == ("mine", None)
    assert prepared.authorization.creds_location == "basic_header"


async def test_a_secret_goes_into_the_body_where_the_header_is_not_taken() -> None:
    documents = build_documents(issuer=build_issuer(token_endpoint_auth_methods_supported=["client_secret_post"]))
    assert (await prepare(documents, client=PERSONAL)).authorization.creds_location == "body"


async def test_a_secret_that_the_authorization_server_does_not_take_is_refused() -> None:
    documents = build_documents(issuer=build_issuer(token_endpoint_auth_methods_supported=["private_key_jwt"]))
    with pytest.raises(AuthorizationFailedError, match="takes none of"):
        await prepare(documents, client=PERSONAL)


async def test_a_client_is_registered_where_our_document_is_not_read() -> None:
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    assert (await prepare(documents)).authorization.client_id == "registered"
    (body,) = documents.posted
    assert body["redirect_uris"] == [REQUEST.redirect_uri]
    assert (body["application_type"], body["token_endpoint_auth_method"]) == ("native", "none")


async def test_a_client_that_is_led_back_to_a_site_is_registered_as_a_web_one() -> None:
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    await prepare(documents, redirect_uri="https://ferryman.example.com/back")
    assert documents.posted[0]["application_type"] == "web"


async def test_a_secret_of_a_registration_is_kept_apart() -> None:
    secret = canary.create_key("registered")
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    documents.registered = (201, {"client_id": "registered", "client_secret": secret})
    prepared = await prepare(documents)
    assert prepared.client_secret is not None
    assert prepared.client_secret.reveal() == secret
    assert secret not in repr(prepared)


@pytest.mark.parametrize("answer", [{}, {"client_id": 7}, {"client_id": "a b"}, {"client_id": "x" * 513}])
async def test_a_registration_without_a_client_id_is_refused(answer: dict[str, Any]) -> None:
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    documents.registered = (201, answer)
    with pytest.raises(AuthorizationFailedError, match="no client id"):
        await prepare(documents)


@pytest.mark.parametrize("secret", ["short", 7, "aaaaaaaaaaaaaaaaaaaaaaaa"])
async def test_a_secret_that_no_text_can_be_scanned_for_is_refused(secret: Any) -> None:
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    documents.registered = (201, {"client_id": "registered", "client_secret": secret})
    with pytest.raises(AuthorizationFailedError, match="client secret"):
        await prepare(documents)


async def test_a_refused_registration_says_what_to_do() -> None:
    documents = build_documents(issuer=build_issuer(registration_endpoint=f"{ISSUER}/register"))
    documents.registered = (400, {"error": "invalid_redirect_uri"})
    with pytest.raises(AuthorizationFailedError, match=r"HTTP 400.*give its client id"):
        await prepare(documents)


async def test_without_any_way_to_register_a_person_has_to() -> None:
    with pytest.raises(AuthorizationFailedError, match="give its client id"):
        await prepare(build_documents())


async def test_our_document_is_not_named_where_this_deployment_has_no_public_url() -> None:
    documents = build_documents(issuer=build_issuer(client_id_metadata_document_supported=True))
    with pytest.raises(AuthorizationFailedError, match="give its client id"):
        await prepare(documents, document_url="")


async def test_the_scopes_of_the_challenge_come_before_those_of_the_metadata() -> None:
    documents = build_documents(build_resource(scopes_supported=["all"]))
    assert (await prepare(documents, Challenge(scopes=("read",)), client=PERSONAL)).authorization.scopes == ("read",)


async def test_the_scopes_of_the_metadata_are_asked_for_where_the_challenge_has_none() -> None:
    documents = build_documents(build_resource(scopes_supported=["read", "write"]))
    assert (await prepare(documents, client=PERSONAL)).authorization.scopes == ("read", "write")


async def test_no_scopes_are_asked_for_where_none_are_named() -> None:
    documents = build_documents(issuer=build_issuer(scopes_supported=["offline_access", "admin"]))
    assert (await prepare(documents, client=PERSONAL)).authorization.scopes == ()


async def test_access_without_the_person_is_asked_for_where_the_authorization_server_gives_it() -> None:
    documents = build_documents(issuer=build_issuer(scopes_supported=["offline_access", "admin"]))
    chosen = (await prepare(documents, Challenge(scopes=("read",)), client=PERSONAL)).authorization.scopes
    assert chosen == ("read", "offline_access")


async def test_a_step_up_keeps_the_scopes_of_the_consent_before() -> None:
    chosen = (await prepare(build_documents(), Challenge(scopes=("write",)), BEFORE, client=PERSONAL)).authorization.scopes
    assert chosen == ("read", "list", "write")


async def test_the_scopes_of_another_issuers_consent_are_not_asked_for() -> None:
    before = replace(BEFORE, issuer="https://other.example.com")
    chosen = (await prepare(build_documents(), Challenge(scopes=("write",)), before, client=PERSONAL)).authorization.scopes
    assert chosen == ("write",)


async def test_scopes_that_a_person_names_take_the_place_of_the_servers() -> None:
    chosen = (
        await prepare(build_documents(), Challenge(scopes=("all",)), client=PERSONAL, scopes=("read",))
    ).authorization.scopes
    assert chosen == ("read",)


async def test_scopes_do_not_grow_without_end_over_steps() -> None:
    before = replace(BEFORE, scopes=tuple(f"s{n}" for n in range(50)))
    with pytest.raises(AuthorizationFailedError, match="more than 50 scopes"):
        await prepare(build_documents(), Challenge(scopes=("one-more",)), before, client=PERSONAL)
