"""The wire: which connections and requests of a scenario may be, by the rules of HTTP and of the task, not by the product's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote, unquote_plus

from tests.campaigns.hostile.added import locate
from tests.campaigns.hostile.scenario import BEARER, FRESH, HEADER, HOOK, OWN_HEADER, PARAM, PUBLIC
from tests.campaigns.hostile.scenario_run import ScenarioRun
from tests.campaigns.hostile.spelling import fill
from tests.campaigns.hostile.upstream import ENGINE, ReceivedRequest

HOSTS = {"coingecko": PUBLIC, "lunarcrush": BEARER, "coinmarketcap": HEADER, "alphavantage": PARAM, "webhook": HOOK}
PLAIN_HEADERS = ("host", "accept", "accept-encoding", "user-agent", "connection", "content-type", "content-length")
MCP_HEADERS = ("authorization", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "last-event-id")
MINUTE_S = 50.0
"""A minute of the rate limit as the hosts see it: a request sent late in one may arrive early in the next."""

NOBODY = "nobody's"


def find_faults(run: ScenarioRun, all_seen: Sequence[ReceivedRequest]) -> Iterable[str]:
    """Yield a sentence for each connection or request that the scenario does not allow."""
    scenario = run.scenario
    allowed = {HOSTS[service] for service in scenario.services if service in HOSTS} - set(scenario.barred)
    allowed |= {fill(host, run.words).lower() for host in scenario.reach}
    hosts = {host for host, _ in locate(scenario, run.words)}
    allowed |= hosts
    requests = [seen for seen in all_seen if seen.head]
    if scenario.requests is not None and len(requests) > scenario.requests:
        yield f"{len(requests)} requests arrived where {scenario.requests} may"
    calls = sum(seen.host in hosts and b'"tools/call"' in seen.body for seen in requests)
    if scenario.calls is not None and calls > scenario.calls:
        yield f"{calls} calls of tools arrived where {scenario.calls} may"
    if scenario.a_minute is not None and (most := _busiest([seen.opened for seen in requests])) > scenario.a_minute:
        yield f"{most} requests arrived in a minute where {scenario.a_minute} may"
    for seen in all_seen:
        if seen.host not in allowed:
            yield f"a connection to {seen.host} was made"
        if seen.stranger and seen.head:
            yield f"a request went to whoever answered as {seen.host}, with another's certificate"
        if seen.seconds > scenario.seconds:
            yield f"a connection stayed open for {seen.seconds:.0f} s"
        if seen.head:
            yield from _heads(run, seen)
            yield from _unasked(run, seen)


def find_absences(run: ScenarioRun, all_seen: Sequence[ReceivedRequest]) -> Iterable[str]:
    """Yield why a scenario did not take place: that it got nothing means nothing then."""
    if run.trouble is not None:
        yield run.trouble
    if sum(bool(seen.head) for seen in all_seen) < run.scenario.requests_min:
        yield "the host that was to answer was never asked"


def _unasked(run: ScenarioRun, seen: ReceivedRequest) -> Iterable[str]:
    """Find a request that is none of those that may be, or whose path reads as another's once it is decoded."""
    if run.scenario.sent is None:
        return
    request_text = f"{seen.head.split(b' ', 1)[0].decode('latin-1')} {seen.target} {seen.body.decode('latin-1')}".rstrip()
    if not any(re.fullmatch(fill(pattern, run.words), request_text, re.DOTALL) for pattern in run.scenario.sent):
        yield f"a request that no tool declares was made: {request_text[:200]!r}"
    path = seen.target.partition("?")[0]
    for _ in range(4):
        path = unquote(path)
        if any(part.partition(";")[0] in (".", "..") for part in re.split(r"[/\\]", path)):
            yield "a path climbs out of its own"
            return


def _busiest(moments: Sequence[float]) -> int:
    """Count how many requests at most arrived in one minute, each minute begun by the first request after the one before."""
    most = count = 0
    opened = float("-inf")
    for moment in sorted(moments):
        if moment - opened > MINUTE_S:
            opened, count = moment, 0
        count += 1
        most = max(most, count)
    return most


def _heads(run: ScenarioRun, seen: ReceivedRequest) -> Iterable[str]:
    names = [name for name, _ in seen.headers]
    headers = dict(seen.headers)
    own_header = OWN_HEADER.get(seen.host, ("",))[0]
    allowed = {*PLAIN_HEADERS, *run.scenario.model_headers, own_header, *_list_mcp_headers(run, seen)}
    yield from (f"the header {name} arrived" for name in dict.fromkeys(names) if name not in allowed)
    yield from (f"the header {name} arrived twice" for name in dict.fromkeys(names) if names.count(name) > 1)
    if seen.host not in (headers.get("host"), ENGINE):
        yield f"a request for {headers.get('host')} went to {seen.host}"
    form = r"|application/x-www-form-urlencoded|multipart/form-data; boundary=ferryman-[0-9a-f]+" if run.scenario.sent else ""
    if not re.fullmatch(f"application/json{form}", headers.get("content-type", "application/json")):
        yield "a content type other than those declared arrived"
    if headers.get("accept-encoding") != ("identity" if seen.host == ENGINE else "gzip, deflate, br"):
        yield "an accept-encoding of the model's arrived"
    if (
        seen.host in OWN_HEADER
        and own_header in headers
        and headers[own_header]
        not in [f"{OWN_HEADER[seen.host][2]}{run.words[word]}" for word in (OWN_HEADER[seen.host][1], *FRESH)]
        and f"{own_header}: {headers[own_header]}" not in [fill(place, run.words) for place in run.scenario.places]
    ):
        yield f"a {own_header} of the model's arrived"
    if len(seen.body) != int(headers.get("content-length", "0")):
        yield "more was sent than one request"
    if seen.head.split(b" ", 1)[0] not in (b"GET", b"POST", b"PUT", b"DELETE"):
        yield "a method that no tool has arrived"
    if seen.host == PARAM:
        parts = re.split("[&;]", seen.target.partition("?")[2])
        if sum(unquote_plus(part.partition("=")[0]).strip().lower() in ("apikey", "apikey[]") for part in parts) > 1:
            yield "the credential's parameter arrived twice"


def _list_mcp_headers(run: ScenarioRun, seen: ReceivedRequest) -> tuple[str, ...]:
    is_server = seen.host in {host for host, _ in locate(run.scenario, run.words)}
    return MCP_HEADERS if is_server else ()


def find_owner(seen: ReceivedRequest, by_token: Mapping[str, ScenarioRun]) -> str:
    """Return the token of the scenario that a connection belongs to, by its name and path, or `NOBODY`."""
    match = re.search(r"t[0-9a-f]{12}", f"{seen.host} {seen.target}")
    if match and match[0] in by_token:
        return match[0]
    for token, run in by_token.items():
        if any(seen.host == name for name in _list_names(run)):
            return token
    return NOBODY


def _list_names(run: ScenarioRun) -> list[str]:
    return [fill(name, run.words).lower() for name in run.scenario.names]
