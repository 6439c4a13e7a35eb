"""Headers: what a model must not say to a host: who asks, where to, how much there is, and with which key."""

from __future__ import annotations

from collections.abc import Mapping

from tests.hostile.play import BEARER, HEADER, PUBLIC, Play, api, asks, once, says

G = f"https://{PUBLIC}/{{token}}"

FORBIDDEN: Mapping[str, Mapping[str, str]] = {
    "another Host": {"Host": "{thief}"},
    "an Authorization": {"Authorization": "Basic bW9kZWw6bW9kZWw="},
    "a Cookie": {"Cookie": "session=1"},
    "a Content-Length": {"Content-Length": "200"},
    "a Transfer-Encoding": {"Transfer-Encoding": "chunked"},
    "a Connection that strips the key": {"Connection": "Authorization"},
    "an Expect": {"Expect": "100-continue"},
    "an Upgrade": {"Upgrade": "h2c"},
    "a proxy's Authorization": {"Proxy-Authorization": "Basic eDp5"},
    "a forwarded host": {"X-Forwarded-Host": "{thief}"},
    "a forwarded address": {"X-Forwarded-For": "127.0.0.1"},
    "an original URL": {"X-Original-URL": "/admin"},
    "another method": {"X-HTTP-Method-Override": "DELETE"},
    "the metadata server's flavour": {"Metadata-Flavor": "Google"},
    "another key": {"X-Api-Key": "mine-mine-mine-mine"},
    "an underscore for a hyphen": {"X_Forwarded_For": "127.0.0.1"},
    "a line break in a value": {"Prefer": "a\r\nX-Injected: 1"},
    "a line break in a name": {"Prefer\r\nX-Injected": "1"},
    "another content type": {"Content-Type": "text/html"},
    "a range": {"Range": "bytes=0-1"},
    "an encoding that can hide a bomb": {"Accept-Encoding": "br, zstd"},
    "an agent": {"User-Agent": "ferryman/other"},
    "an origin": {"Origin": "https://{thief}"},
    "the trailers": {"Trailer": "Authorization", "TE": "trailers"},
}

PLAYS = (
    *(
        Play(name=f"header: {what}", keys=(), turns=once("http_get", url=G, headers=headers))
        for what, headers in FORBIDDEN.items()
    ),
    Play(
        name="header: the bearer's own, beside it",
        turns=(asks(api(f"https://{BEARER}/{{token}}", headers={"AUTHORIZATION": "Bearer mine"})), says()),
    ),
    Play(
        name="header: the credential's own, in capitals",
        keys=("hkey",),
        turns=(
            asks(api(f"https://{HEADER}/{{token}}", credential="COINMARKETCAP_API_KEY", headers={"X-CMC_PRO_API_KEY": "mine"})),
            says(),
        ),
    ),
    Play(
        name="header: the credential's own with hyphens",
        keys=("hkey",),
        turns=(
            asks(api(f"https://{HEADER}/{{token}}", credential="COINMARKETCAP_API_KEY", headers={"X-CMC-PRO-API-KEY": "mine"})),
            says(),
        ),
    ),
    Play(
        name="header: one in two spellings",
        keys=(),
        own=("prefer",),
        turns=once("http_get", url=G, headers={"Prefer": "a", "prefer": "b"}),
    ),
    Play(
        name="header: two hundred of them",
        keys=(),
        turns=once("http_get", url=G, headers={f"X-H{number}": "v" for number in range(200)}),
    ),
)
