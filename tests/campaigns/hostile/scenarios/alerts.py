"""Alerts of budgets: addresses that lead inward or elsewhere, receivers that misbehave, forged deliveries, and the secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.stack import environment
from tests.campaigns.hostile.forge import BENT
from tests.campaigns.hostile.member import ADMIN, OPERATOR, READER, STRANGER, VIEWER, Member
from tests.campaigns.hostile.scenario import (
    BEARER,
    HOOK,
    PUBLIC,
    Act,
    Answer,
    Scenario,
    call_api,
    call_once,
    call_tools,
    declare_probe,
    finish,
)

WORKSPACE = "/v1/workspaces/{workspace}"
HOOK_URL = f"https://{HOOK}/{{token}}/alert"
THEIRS = "https://{thief}/{token}/alert"
DONE, REFUSED, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, INVALID = 200, 400, 401, 403, 404, 422
ATTEMPTS_MAX = 8
SIGNED = ("webhook-id", "webhook-timestamp", "webhook-signature")
TO_HOOK = ("coingecko", "lunarcrush", "webhook")
ONE_MESSAGE = (r"POST /{token}/alert \{.*\}",)


def _set(status: int | None = DONE, **change: Any) -> Act:
    return Act(to="api", method="PATCH", path=WORKSPACE, body=change, status=status)


def _tell(what: str, address: str = HOOK_URL, *, status: int = DONE, **more: Any) -> Scenario:
    """Return a scenario whose execution is refused by a cap of its workspace, the alert of which goes to `address`."""
    usual: dict[str, Any] = {"turns": (finish(),), "services": TO_HOOK, "model_headers": SIGNED, "prompts": 0}
    before = (_set(max_credits_month="50"), _set(status, alert_url=address))
    return Scenario(**{"name": f"alert: {what}", "before": before, "alerted": True, **usual, **more})


INWARD = {
    "loopback": "https://127.0.0.1/{token}",
    "loopback, shortened": "https://127.1/{token}",
    "loopback in decimal": "https://2130706433/{token}",
    "loopback in hexadecimal": "https://0x7f000001/{token}",
    "loopback in octal": "https://0177.0.0.1/{token}",
    "loopback of version 6": "https://[::1]/{token}",
    "loopback mapped to version 6": "https://[::ffff:127.0.0.1]/{token}",
    "loopback by its name": "https://localhost/{token}",
    "the metadata server": "https://169.254.169.254/{token}/latest/meta-data",
    "the metadata server by its name": "https://metadata.google.internal/{token}",
    "a private network": "https://10.0.0.7/{token}",
    "a private network of version 6": "https://[fd00::1]/{token}",
    "nowhere": "https://0.0.0.0/{token}",
}
SPELT = {
    "a user name": "https://me@{thief}/{token}",
    "a user name and password": f"https://{HOOK}:443@{{thief}}/{{token}}",
    "another port": "https://{thief}:8443/{token}",
    "the port of plain http": "https://{thief}:80/{token}",
    "plain http": "http://{thief}/{token}",
    "no scheme": "//{thief}/{token}",
    "a file": "file:///etc/passwd?{token}",
    "a backslash": f"https://{HOOK}\\@{{thief}}/{{token}}",
    "a tab in its host": "https://{thief}\t/{token}",
    "a line break": f"https://{HOOK}/{{token}} HTTP/1.1\r\nHost: {{thief}}\r\n\r\n",
    "wide dots": "https://{thief}\uff0e/{token}",
}
ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "loopback": ("127.0.0.1",),
    "the metadata server": ("169.254.169.254",),
    "a private network": ("10.11.12.13",),
    "loopback of version 6": ("::1",),
    "a public address and a private one": ("93.184.216.34", "10.11.12.13"),
}
THIEF: Mapping[str, tuple[str, ...]] = {"{thief}": ()}
DESTINATIONS = (
    *(_tell(f"sent to {what}", url, status=INVALID, requests=0) for what, url in INWARD.items()),
    *(_tell(f"an address with {what}", url, status=INVALID, names=THIEF, requests=0) for what, url in SPELT.items()),
    *(
        _tell(f"a name that is {what}", THEIRS, status=INVALID, names={"{thief}": ips}, requests=0)
        for what, ips in ADDRESSES.items()
    ),
    *(
        _tell(f"a name that becomes {what} once it is checked", THEIRS, names=THIEF, renames={"{thief}": ips}, requests=0)
        for what, ips in ADDRESSES.items()
    ),
    _tell(
        "a name that becomes a host with another's certificate",
        THEIRS,
        names=THIEF,
        reach=("{thief}",),
        renames={"{thief}": ("stranger",)},
        requests=0,
    ),
    *(
        _tell(
            f"redirected with {status} to {what}",
            answers={"/alert": Answer(status=status, headers={"location": to})},
            names=THIEF,
            sent=ONE_MESSAGE,
            requests=ATTEMPTS_MAX,
            requests_min=1,
        )
        for status in (301, 302, 303, 307, 308)
        for what, to in {
            "a thief": THEIRS,
            "loopback": "https://127.0.0.1/{token}",
            "the metadata server": "http://169.254.169.254/{token}",
            "another path": "/{token}/other",
        }.items()
    ),
)

LINE = b"X-Long: " + b"x" * 1_000 + b"\r\n"
RECEIVERS: Mapping[str, Answer] = {
    "does not answer": Answer(raw=b"", bits=(b"",) * 60, pause_s=1.0),
    "drips its body": Answer(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n", bits=(b"x",) * 60, pause_s=1.0),
    "drips its head": Answer(raw=b"HTTP/1.1 200 OK\r\n", bits=(b"x-a: b\r\n",) * 60, pause_s=1.0),
    "answers with a head without end": Answer(raw=b"HTTP/1.1 200 OK\r\n" + LINE * 1_000),
    "answers with a body without end": Answer(raw=b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 4_000_000),
    "answers with many provisional heads": Answer(raw=b"HTTP/1.1 103 Early\r\n\r\n" * 10_000),
    "answers with what is no HTTP": Answer(raw=b"\x00\xff" * 1_000),
    "answers with a status that there is not": Answer(raw=b"HTTP/1.1 2000 OK\r\n\r\n"),
    "answers with two lengths": Answer(raw=b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 9\r\n\r\nx"),
    "answers with zeros, compressed": Answer(headers={"content-encoding": "gzip"}, body=b"\0" * 4_000_000),
    "answers with the owner's key": Answer(body="{key}"),
    "answers with the owner's key in a header": Answer(headers={"x-key": "{key}"}),
    "answers with the owner's key in its status line": Answer(raw=b"HTTP/1.1 200 {key}\r\ncontent-length: 0\r\n\r\n"),
    "fails with the owner's key": Answer(status=500, body="{key}", headers={"location": "{key}", "retry-after": "{key}"}),
    "answers with the owner's key as no HTTP": Answer(raw=b"{key}\r\n\r\n"),
}
MISBEHAVING = tuple(
    _tell(f"a receiver that {what}", answers={"/alert": answer}, requests=ATTEMPTS_MAX, requests_min=1)
    for what, answer in RECEIVERS.items()
)


def _deliver(bearer: str, body: Any = None, *, to: str = "webhook", status: int | None = None, times: int = 1) -> Act:
    usual = {"alert": "{alert}"}
    return Act(to=to, path="/alert", body=usual if body is None else body, bearer=bearer, status=status, times=times)


def _forge(what: str, *acts: Act) -> Scenario:
    return _tell(what, after=acts, requests=1, requests_min=1)


GENUINE = "orchestrator>webhook"
FORGED = (
    _forge("delivered by nobody", _deliver("none"), _deliver("none", to="orchestrator")),
    _forge("delivered with an API key", _deliver("mine"), _deliver("mine", to="orchestrator")),
    *(
        _forge(f"delivered with a token that is {kind}", _deliver(kind), _deliver(kind, to="orchestrator"))
        for kind in ("forged", "unsigned", "hs256", *BENT)
    ),
    *(
        _forge(f"delivered as {name}", _deliver(f"{name}>webhook"), _deliver(f"{name}>orchestrator", to="orchestrator"))
        for name in (row["name"] for row in environment.load_functions() if row["name"] != "orchestrator")
    ),
    _forge("delivered with a token for another function", _deliver("orchestrator>api_call")),
    _forge("delivered to another tool", *(_deliver(f"orchestrator>{to}", to=to) for to in ("api_call", "http_get"))),
    _forge("delivered again after it was taken", _deliver(GENUINE, status=DONE, times=8)),
    _forge("delivered with an id that there is not", _deliver(GENUINE, {"alert": "alert_" + "0" * 30}, status=DONE)),
    *(
        _forge(f"delivered with {what}", _deliver(GENUINE, {"alert": "{alert}", **fields}, status=REFUSED))
        for what, fields in {
            "an address": {"url": THEIRS},
            "another owner": {"owner": "owner-x"},
            "another workspace": {"workspace": "{workspace}"},
            "a body": {"body": {"percent": 1}},
            "a list": {"alert": ["{alert}"]},
        }.items()
    ),
)

SECRET = "/v1/tasks/{workspace}/credentials"
VALUE = {"value": "Mine1234Mine5678Abc", "service": "alerts"}


def _ask(method: str, path: str, status: int, body: Any = None) -> Act:
    return Act(to="api", method=method, path=path, body=body, status=status)


BACK = (
    _tell(
        "the key in its address is looked for everywhere", f"{HOOK_URL}?key={{canary}}", requests=ATTEMPTS_MAX, requests_min=1
    ),
    _tell(
        "the key in the path of its address is looked for everywhere",
        f"{HOOK_URL}/services/{{canary}}",
        requests=ATTEMPTS_MAX,
        requests_min=1,
    ),
    _tell(
        "the key in its address is told to nobody where its receiver fails",
        f"{HOOK_URL}?key={{canary}}",
        answers={"/alert": Answer(status=302, headers={"location": "https://{thief}/{token}"})},
        names=THIEF,
        requests=ATTEMPTS_MAX,
        requests_min=1,
    ),
    _tell(
        "the key in an address that resolves to nothing any more",
        f"{THEIRS}?key={{canary}}",
        names=THIEF,
        renames={"{thief}": ("10.11.12.13",)},
        requests=0,
    ),
    _forge(
        "its secret is asked back",
        _ask("PATCH", WORKSPACE, DONE, {"name": "Another"}),
        _ask("PATCH", WORKSPACE, INVALID, {"alert_secret": "whsec_AAAA"}),
        _ask("GET", f"{WORKSPACE}?fields=alert_secret", DONE),
    ),
    _forge(
        "its secret is taken for a task's credential",
        _ask("GET", SECRET, NOT_FOUND),
        _ask("PUT", f"{SECRET}/ALERT_SECRET", NOT_FOUND, VALUE),
        _ask("DELETE", f"{SECRET}/ALERT_SECRET", NOT_FOUND),
        _ask("PUT", "/v1/tasks/{task}/credentials/ALERT_SECRET", INVALID, VALUE),
    ),
    Scenario(
        name="alert: its secret as the credential of a call",
        before=(_set(alert_url=HOOK_URL),),
        services=TO_HOOK,
        turns=(call_tools(call_api(f"https://{BEARER}/{{token}}", credential="ALERT_SECRET")), finish()),
        requests=0,
    ),
    Scenario(
        name="alert: its secret in a placeholder",
        before=(_set(alert_url=HOOK_URL),),
        services=TO_HOOK,
        turns=call_once("http_post", url=f"https://{PUBLIC}/{{token}}", body={"a": "{{secrets.ALERT_SECRET}}"}),
        requests=1,
    ),
    Scenario(
        name="alert: its address as a webhook of the model's",
        before=(_set(alert_url=HOOK_URL),),
        services=TO_HOOK,
        tools=("webhook",),
        turns=call_once("webhook", url=HOOK_URL, body={"type": "budget.alert"}),
        requests=0,
    ),
    Scenario(
        name="alert: its secret in a declared tool",
        before=(_set(alert_url=HOOK_URL),),
        declared=(declare_probe(),),
        services=TO_HOOK,
        turns=call_once("probe", id="{{secrets.ALERT_SECRET}}"),
        requests=1,
    ),
)

THEIR_WORKSPACE = "/v1/workspaces/{vworkspace}"
HEADER = {"Ferryman-Workspace": "{vworkspace}"}


def _as(who: Member, what: str, *acts: Act) -> Scenario:
    return Scenario(name=f"alert: {who.name} {what}", victim=True, members=(who,), acts=acts)


def _move(bearer: str, status: int) -> Act:
    return Act(to="api", method="PATCH", path=THEIR_WORKSPACE, body={"alert_url": HOOK_URL}, bearer=bearer, status=status)


GUESSED = {"alert": "alert_" + "0" * 30}
OTHERS = (
    *(_as(who, "moves the alerts to itself", _move(who.name, FORBIDDEN)) for who in (VIEWER, OPERATOR, READER)),
    *(
        _as(
            who,
            "delivers an alert with its key",
            _deliver(who.name, GUESSED, status=UNAUTHORIZED),
            _deliver(who.name, GUESSED, to="orchestrator", status=UNAUTHORIZED),
        )
        for who in (VIEWER, ADMIN, STRANGER)
    ),
    *(
        _as(
            who,
            "asks for the alerts of the plan",
            Act(to="api", method="GET", path="/v1/alerts?of=plan", bearer=who.name, status=FORBIDDEN),
        )
        for who in (VIEWER, ADMIN)
    ),
    Scenario(name="alert: another owner moves the alerts to itself", victim=True, acts=(_move("mine", NOT_FOUND),)),
    Scenario(
        name="alert: another owner asks for the alerts",
        victim=True,
        acts=(Act(to="api", method="GET", path="/v1/alerts", headers=HEADER, status=NOT_FOUND),),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (*DESTINATIONS, *MISBEHAVING, *FORGED, *BACK, *OTHERS)
