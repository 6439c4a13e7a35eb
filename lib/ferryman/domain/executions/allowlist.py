"""Allowlist: the hosts and webhooks that an execution may call; any URL that was not approved is refused."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.http.url import URL, InvalidUrlError, NotHttpsError, parse_url

_APPROVED = (NetworkPolicy.REGISTRY, NetworkPolicy.DECLARED_HOST)
_DOT_SEGMENTS = frozenset((".", "..", "%2e", "%2e%2e", ".%2e", "%2e."))


def check_url(network: NetworkPolicy, raw: str, policy: ExecutionPolicy) -> URL:
    """Return the parsed URL. Raise `CallRefusedError` unless a tool with this `network` policy may call it (S0-28).

    A tool for webhooks may call the registered URLs, one of an MCP server exactly those of its call, others the approved
    domains; one with any other policy may call nothing.
    """
    is_webhook = network is NetworkPolicy.WEBHOOK_LIST
    if is_webhook and not policy.webhook:
        raise CallRefusedError(refusal.WEBHOOK_NOT_ENABLED)
    try:
        url = parse_url(raw)
    except NotHttpsError:
        raise CallRefusedError(refusal.WRONG_SCHEME) from None
    except InvalidUrlError as error:
        raise CallRefusedError(refusal.refuse_malformed_url(str(error))) from None
    if is_webhook:
        if not is_registered(url, policy):
            raise CallRefusedError(refusal.WEBHOOK_NOT_REGISTERED)
    elif network is NetworkPolicy.MCP_SERVER:
        if raw not in policy.server_urls:
            raise CallRefusedError(refusal.refuse_host(url.host, ()))
    elif network not in _APPROVED or not policy.admits(url.host):
        raise CallRefusedError(refusal.refuse_host(url.host, policy.domains if network in _APPROVED else ()))
    return url


def is_registered(url: URL, policy: ExecutionPolicy) -> bool:
    """Tell whether `url` is one of the task's webhooks: by its host (S0-58), or by host, path and query if the task says so."""
    targets = _parse_all(policy.webhook_urls)
    if policy.webhook_match == "host":
        return any(target.host == url.host for target in targets)
    # Compared raw: a server that normalizes dot segments would take another path for the one that was registered.
    if any(segment.lower() in _DOT_SEGMENTS for segment in url.path.split("/")):
        return False
    return any((target.host, target.path, target.query) == (url.host, url.path, url.query) for target in targets)


def list_webhook_hosts(policy: ExecutionPolicy) -> frozenset[str]:
    """Return the hosts of the webhooks that an execution may call."""
    return frozenset(target.host for target in _parse_all(policy.webhook_urls)) if policy.webhook else frozenset()


def _parse_all(raws: Iterable[str]) -> list[URL]:
    # A registered URL passed the grammar then; where the grammar became stricter since, it is no longer a target.
    urls = []
    for raw in raws:
        try:
            urls.append(parse_url(raw))
        except InvalidUrlError:
            continue
    return urls
