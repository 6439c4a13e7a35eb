"""A scenario: what a hostile model says, what hostile hosts answer, and what may come of it at most."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.campaigns.hostile.mcp_peer import McpPeer
from tests.campaigns.hostile.member import Member

PUBLIC, BEARER, HEADER, PARAM, HOOK = (
    "api.coingecko.com",
    "lunarcrush.com",
    "pro-api.coinmarketcap.com",
    "www.alphavantage.co",
    "hooks.slack.com",
)
WILD = "api.mailchimp.com"
"""Of this one every label before it is approved."""

OWN_HEADER: Mapping[str, tuple[str, str, str]] = {
    BEARER: ("authorization", "key", "Bearer "),
    HEADER: ("x-cmc_pro_api_key", "hkey", ""),
}
"""The one header in which a host gets its key: its name, the word of the key, and the prefix of the value."""

KEYS: Mapping[str, tuple[str, str]] = {
    "key": ("LUNARCRUSH_API_KEY", "lunarcrush"),
    "hkey": ("COINMARKETCAP_API_KEY", "coinmarketcap"),
    "pkey": ("ALPHAVANTAGE_API_KEY", "alphavantage"),
    "skey": ("COINGECKO_DEMO_KEY", "coingecko"),
    "bkey": ("LUNARCRUSH_LOGIN", "lunarcrush"),
}
"""The credentials a scenario may have, by the word that is replaced by the value: name and service.

`skey` is as short as a key may be: 16 characters; `bkey` is the password of a user name, `USER`.
"""

USER = "client"

FRESH: Mapping[str, str] = {"fresh": "the token"}
"""Words of what a token endpoint gives out, and what it is called."""

TOOLS = ("http_get", "http_post", "api_call")
SERVICES = ("coingecko", "lunarcrush", "coinmarketcap", "alphavantage", "mailchimp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a host answers on a path. `raw` is written as it is instead; `bits` of it follow, each after `pause_s`.
    A `peer` answers what it is asked.

    Before it is sent, hosts that it `renames` have other addresses, as a name server of the host's own may give them.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | bytes = '{"ok": true, "said": "{marker}"}'
    raw: bytes | None = None
    bits: tuple[bytes, ...] = ()
    pause_s: float = 0.0
    renames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    peer: McpPeer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedServer:
    """An MCP server that the owner adds to the task's agent before the execution, and what of it the owner accepts.

    `accept` names its tools that are accepted, None for all that may be. It is answered at `host` and `path`. Its id is
    `{server}`, and those of further ones `{server2}` and so on.
    """

    peer: McpPeer
    name: str = "peer"
    host: str = "{token}.peer.example"
    path: str = "/{token}/rpc"
    auth: Mapping[str, Any] = field(default_factory=lambda: {"type": "bearer", "token": "{mkey}"})
    headers: Mapping[str, str] = field(default_factory=dict)
    accept: tuple[str, ...] | None = None
    status: int | None = 201


CALLS = "gRPC"
"""The method of an act that is a call: its path is the call's name, its body the request's bytes."""

CREATES = "create"
"""The method of an act of an application: it creates the document `path` with the fields `body`, where executions are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A request of the attacker's own, to the API or straight to a function, while the victim's execution runs.

    `to` may also be a port of the local cloud: `admin`, `grpc`, `metadata`, which is that of one function, or `bucket`, where
    direct links lead.
    `bearer`: mine (an API key of the attacker's), operator (the local cloud's token), none, forged, hs256, unsigned, stale,
    or NAME>AUDIENCE: a genuine token of function NAME for the URL of function AUDIENCE; or the name of one of the scenario's
    `members`. It comes in `bearer_header`.
    `status` is what it has to be answered with, where that is known. It is sent so many `times`, so many of
    them `at_once`, each with its `{number}`, and at `most` so many of these may be done. What is started is `{mine}` from
    then on, an agent that is made `{magent}`, a task `{mtask}`, a conversation `{mchat}`, a link to a file `{link}`, and a
    direct one `{direct}`.
    """

    to: str
    method: str = "POST"
    path: str = "/"
    body: Any = None
    bearer: str = "mine"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    at_once: int = 1
    most: int | None = None
    bearer_header: str = "Authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One attack. Texts may hold `{word|spelling}` (see `spelling`); words are those of `perform.prepare_run`.

    `turns` are the model's, as scripts write them; `answers` are by the end of the path, on every host.
    `names` gives hosts addresses of their own, which all lead to the upstream; `reach` are hosts it may connect to beside
    those of `services`, `barred` those of them it may not.
    `agent` has the fields of an agent that is made for the task; without any, the task is the default one's.
    `requests` is how many may arrive in all, `a_minute` in 60 seconds, and `requests_min` how many have to: with fewer, the
    scenario did not take place. `declared` are tools that the owner has declared, and `before` the owner's requests to the
    API before the execution; with these, `sent` are regular expressions, and every request has to match one of them: method,
    target and body, separated by spaces. `places` are the texts in which the first of `keys` may occur in a request to its
    own host, beside its header there. `prompts` is how often the model may be asked, `seconds` how long a connection may stay
    open, and `model_headers` are the headers that the model may set. `acts` are sent while a `victim`, an execution of another
    owner, is under way, its POST for `victim_s` seconds; `members` are let into that owner's workspaces before. The model's
    turns are run besides, unless `acts_alone`. `renames` gives hosts other addresses once `before` is answered. With `alerted`,
    the execution is refused by a cap: its alert is awaited, and `after` are sent, in which it is `{alert}`. The execution
    belongs to a `conversation`. With `resumes`, the victim's conversation may use little more than its first execution, and
    the victim goes on in it after the attack. With a `chat`, executions answer these messages of the owner's, one after the
    other, and each answer is watched in every format; a victim who `victim_chats` has its execution so, in the conversation
    `{vchat}`.

    `expected` are texts that the model has to have read in results: without one, the scenario did not take place. What is
    `{whisper}` it may not have read. Hosts in `clear` answer in clear as well, and everything with `{marker}`.
    An execution with `moves` waits for a person, and each is an attempt to have the call sent (`waiting`).
    `quarantined` is what the quarantined model says, which reads texts of hosts for `extract`.
    `victim_before` are the victim's own requests. A workspace with `room` has so many bytes left for files. `servers` are MCP
    servers of the agent, at which `calls` of tools may arrive in all.
    """

    name: str
    turns: tuple[Mapping[str, Any], ...] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tools: tuple[str, ...] = TOOLS
    services: tuple[str, ...] = SERVICES
    keys: tuple[str, ...] = ("key",)
    task: Mapping[str, Any] = field(default_factory=dict)
    agent: Mapping[str, Any] = field(default_factory=dict)
    reach: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()
    declared: tuple[Mapping[str, Any], ...] = ()
    before: tuple[Act, ...] = ()
    sent: tuple[str, ...] | None = None
    places: tuple[str, ...] = ()
    requests: int | None = None
    requests_min: int = 0
    a_minute: int | None = None
    prompts: int | None = None
    seconds: float = 40.0
    model_headers: tuple[str, ...] = ()
    plan: str = "pro"
    acts: tuple[Act, ...] = ()
    victim: bool = False
    victim_s: float = 3.0
    members: tuple[Member, ...] = ()
    acts_alone: bool = False
    input: str | None = None
    renames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    alerted: bool = False
    after: tuple[Act, ...] = ()
    conversation: str | None = None
    chat: tuple[str, ...] = ()
    victim_chats: bool = False
    resumes: bool = False
    expected: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    victim_before: tuple[Act, ...] = ()
    room: int | None = None
    quarantined: tuple[Mapping[str, Any], ...] = ()
    moves: tuple[Callable[[Any, Any], Awaitable[None]], ...] = ()
    servers: tuple[AddedServer, ...] = ()
    calls: int | None = None

    @property
    def kind(self) -> str:
        """The part of its name before the colon."""
        return self.name.partition(":")[0]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool use, as scripts write it."""
    return {"name": tool, "input": arguments}


def call_tools(*calls: Mapping[str, Any], text: str = "Working.") -> dict[str, Any]:
    """Return a turn with tool uses."""
    return {"text": text, "tool_calls": list(calls)}


def finish(text: str = "Done.") -> dict[str, Any]:
    """Return a turn without tool uses, which ends the execution."""
    return {"text": text}


def call_once(tool: str, **arguments: Any) -> tuple[Mapping[str, Any], ...]:
    """Return the turns of one call and the end."""
    return (call_tools(call(tool, **arguments)), finish())


def call_api(url: str, *, method: str = "GET", credential: str = "LUNARCRUSH_API_KEY", **more: Any) -> dict[str, Any]:
    """Return an `api_call` with a credential."""
    return call("api_call", method=method, url=url, credential=credential, **more)


def declare_probe(**entry: Any) -> dict[str, Any]:
    """Declare a tool as an owner does: an item of a service, with the service's key in its header."""
    return {
        "kind": "http",
        "name": "probe",
        "description": "Looks at an item.",
        "url": f"https://{BEARER}/{{token}}/items/⟨id⟩",
        "headers": {"Authorization": "Bearer {{secrets.LUNARCRUSH_API_KEY}}"},
        **entry,
    }


def import_document(**fields: Any) -> Act:
    """Return the owner's import of a document."""
    return Act(to="api", path="/v1/tasks/{task}/tools/import-openapi", body=fields)
