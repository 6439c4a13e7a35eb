"""Allow: whether a task may call a URL at all; whatever was not approved is refused."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain import refusal
from ferryman.domain.integration import WEBHOOK
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.url import URL, Malformed, NotHTTPS, parse

_DOT_SEGMENTS = frozenset((".", "..", "%2e", "%2e%2e", ".%2e", "%2e."))


def allowed(tool: str, raw: str, remit: Remit) -> URL:
    """`raw` as the URL that `tool` may call, or `Refused`. The webhook tool has its registered URLs, the others the domains."""
    if tool == WEBHOOK and not remit.webhook:
        raise Refused(refusal.webhook_not_enabled())
    try:
        url = parse(raw)
    except NotHTTPS:
        raise Refused(refusal.not_https()) from None
    except Malformed as error:
        raise Refused(refusal.malformed_url(str(error))) from None
    if tool == WEBHOOK:
        if not registered(url, remit):
            raise Refused(refusal.webhook_not_registered())
    elif not remit.admits(url.host):
        raise Refused(refusal.not_approved(url.host, remit.domains))
    return url


def registered(url: URL, remit: Remit) -> bool:
    """Whether `url` is one of the task's webhooks: by its host (S0-58), or by host, path and query where the task says so."""
    targets = _readable(remit.webhook_urls)
    if remit.webhook_match == "host":
        return any(each.host == url.host for each in targets)
    # Compared raw: whoever normalises dot segments further on would be sent elsewhere than was registered.
    if any(segment.lower() in _DOT_SEGMENTS for segment in url.path.split("/")):
        return False
    return any((each.host, each.path, each.query) == (url.host, url.path, url.query) for each in targets)


def _readable(raws: Iterable[str]) -> list[URL]:
    # What was registered passed the grammar then; should the grammar have become stricter, it just is no target any more.
    found = []
    for raw in raws:
        try:
            found.append(parse(raw))
        except Malformed:
            continue
    return found
