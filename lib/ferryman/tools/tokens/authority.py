"""The keys of the operator's authorization server, fetched through the gate: its metadata (RFC 8414), then its key set.

Which server that is the settings of this function say, and no request. Both documents are the server's own: the metadata has to
name the issuer exactly as the settings do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.oauth_urls import list_metadata_urls
from ferryman.domain.owners.plan import PRO
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy, FetchGate

DOCUMENT_BYTES_MAX = 200_000
KEYS_MAX = 100
WITHIN_S = 10.0
OWNER = "operator"
"""In whose name the gate fetches them."""

TOOL = "oauth"


async def fetch_authority_keys(gate: FetchGate, issuer: str) -> Sequence[Mapping[str, Any]]:
    """Return the JSON Web Keys of `issuer`. Raise `UnavailableError`, whose text says what is wrong with its documents."""
    for url in list_metadata_urls(issuer):
        metadata = await _fetch(gate, url)
        if metadata is None:
            continue
        if metadata.get("issuer") != issuer:
            raise UnavailableError("the metadata of the authorization server is of another issuer")
        keys_url = metadata.get("jwks_uri")
        keys = await _fetch(gate, keys_url) if isinstance(keys_url, str) else None
        listed = None if keys is None else keys.get("keys")
        if not isinstance(listed, list) or len(listed) > KEYS_MAX or not all(isinstance(key, dict) for key in listed):
            raise UnavailableError(f"the authorization server has no key set of at most {KEYS_MAX} keys")
        return listed
    raise UnavailableError("the authorization server has no metadata (RFC 8414)")


async def _fetch(gate: FetchGate, url: str) -> Mapping[str, Any] | None:
    """Return the JSON object at `url`; None where there is none. Raise `UnavailableError` where it cannot be fetched."""
    try:
        host = parse_url(url).host
        policy = ExecutionPolicy(owner=OWNER, task="", plan=PRO, tools=(), integrations=(), domains=(host,))
        call = CallPolicy(execution=policy, credentials={}, within_s=WITHIN_S, body_max=DOCUMENT_BYTES_MAX)
        outbound = OutboundRequest(tool=TOOL, method=Method.GET, url=url, headers={"accept": "application/json"})
        inbound = await gate.fetch(outbound, call)
    except InvalidUrlError as error:
        raise UnavailableError(f"a URL of the authorization server cannot be fetched: {error}") from None
    except CallRefusedError as error:
        raise UnavailableError(f"the authorization server cannot be reached: {error}") from None
    if inbound.status != 200:
        return None
    if inbound.cut:
        raise UnavailableError(f"a document of the authorization server has more than {DOCUMENT_BYTES_MAX:,} bytes")
    try:
        value = json.loads(inbound.body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
