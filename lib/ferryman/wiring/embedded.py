"""Embedded: declared tools in one's own process, by the same gate; a variable that they name is a credential."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from ferryman import ports, settings
from ferryman.declared import auth as logins
from ferryman.declared import check, entry, urls
from ferryman.declared.templates import Mode
from ferryman.domain import refusal
from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Secret, value_problems
from ferryman.domain.declared import Declared
from ferryman.domain.http import REQUEST_SECONDS, Hole, Mixed
from ferryman.domain.plan import PRO
from ferryman.domain.problem import Invalid, Problem
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.egress.leaks import Scanner
from ferryman.gcp.clock import RandomIds, SystemClock
from ferryman.local.keys import MemoryKeys
from ferryman.local.log import NoLog
from ferryman.local.memory import Memory
from ferryman.local.tokens import MemoryTokens
from ferryman.tools.custom.calling import Way, ready
from ferryman.tools.passage import Gate, Reading
from ferryman.tools.tokens.house import TokenHouse
from ferryman.tools.tokens.kept import kept
from ferryman.vault.seal import PublicKey, generate, public_of, token_info
from ferryman.vault.vault import Vault
from ferryman.wiring import egress

OWN = "embedded"
"""The owner, the task and the service of everything in here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Declared tools that can be called. Nothing is stored, and nothing has to be closed.

    `await Embedded.of(entries, env=os.environ).call("getWeather", {"city": "Paris"})`
    """

    tools: Mapping[str, Declared]
    credentials: Mapping[str, Credential] = field(repr=False)
    remit: Remit
    way: Way = field(repr=False)
    numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)

    @classmethod
    def of(
        cls,
        entries: Iterable[Mapping[str, Any]],
        *,
        env: Mapping[str, str],
        gate: Gate | None = None,
        log: ports.Log | None = None,
    ) -> Self:
        """The tools that `entries` declare, which may go to the hosts they name and to no other.

        Each variable of `env` that they name is a credential: bound to the hosts of the tools that name it, and never shown.
        Without a `gate`, the one of a deployed function is used. Raises `Invalid` with every fault, and with every variable
        that is not there or whose leak could not be told from chance.
        """
        log = NoLog() if log is None else log
        tools = _read(list(entries))
        credentials = _credentials(tools, env)
        hosts = {host for each in tools for host in _hosts(each)}
        remit = Remit(
            owner=OWN,
            task=OWN,
            plan=PRO,
            tools=(),
            integrations=(OWN,),
            domains=tuple(sorted(hosts)),
            credentials=tuple(credentials),
            declared={each.name: each.fingerprint for each in tools},
        )
        gate = egress.gate(settings.read(env), log) if gate is None else gate
        holes = {name: Mixed((Hole(name),)) for name in credentials}
        way = Way(gate=gate, tokens=_tokens(gate, log), integrations={}, env=holes)
        return cls(tools={each.name: each for each in tools}, credentials=credentials, remit=remit, way=way)

    async def call(self, name: str, arguments: Mapping[str, Any], *, within_s: float = REQUEST_SECONDS) -> ToolCallResult:
        """What came of one call, as a task's model would be told it; always a result, also where it was refused."""
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise Refused(refusal.unknown_tool(name))
            if not tool.enabled:
                raise Refused(refusal.tool_disabled(name, tool.reason or "its owner switched it off"))
            tokens = await kept(self.way.tokens.tokens, self.way.tokens.vault, owner=OWN, task=OWN)
            passage = ready(self.way, self._reading(name, arguments, {**self.credentials, **tokens}), tool, arguments)
        except Refused as refused:
            return ToolCallResult.refused(name, refused.refusal)
        return await passage.go(within_s)

    def _reading(self, name: str, arguments: Mapping[str, Any], credentials: Mapping[str, Credential]) -> Reading:
        seq, now = next(self.numbers), datetime.now(UTC)
        ticket = Ticket(seq=seq, step=0, call=str(seq), tool=name, arguments=b"", shown={}, epoch=1, created_at=now)
        summons = ports.Summons(execution=OWN, seq=seq, epoch=1, task=OWN, owner=OWN)
        errand = ports.Errand(summons=summons, ticket=ticket, remit=self.remit, versions={}, created=now, task_name=OWN)

        async def renewed(_: object) -> Mapping[str, Credential]:
            return credentials

        return Reading(errand=errand, arguments=arguments, credentials=credentials, renewed=renewed, about={})


def _read(entries: Sequence[Mapping[str, Any]]) -> list[Declared]:
    problems: list[Problem] = []
    tools: list[Declared] = []
    for index, each in enumerate(entries):
        try:
            tool = entry.read(each, where=f"tools.{index}", mode=Mode.EMBEDDED)
        except Invalid as error:
            problems += error.problems
            continue
        if tool.name in {other.name for other in tools}:
            problems.append(Problem(field=f"tools.{index}.name", message="is declared twice"))
        tools.append(tool)
    if problems:
        raise Invalid(problems)
    return tools


def _hosts(tool: Declared) -> tuple[str, ...]:
    """The hosts that it calls: its own, and its login's."""
    login = (logins.url(tool.auth)[0],) if tool.auth is not None else ()
    return tuple(urls.parse(each).host for each in (tool.url, *login))


def _credentials(tools: Iterable[Declared], env: Mapping[str, str]) -> dict[str, Credential]:
    hosts: dict[str, set[str]] = {}
    for tool in tools:
        own, *login = _hosts(tool)
        for name in check.uses(tool):
            hosts.setdefault(name, set()).add(own)
        for name in check.token_secrets(tool):
            hosts.setdefault(name, set()).update((own, *login))  # a token goes no further than what it was got for
    problems = [
        Problem(field=f"env.{name}", message=message)
        for name in sorted(hosts)
        for message in (
            [each.message for each in value_problems(env[name])] if env.get(name) else ["is not set in the environment"]
        )
    ]
    if problems:
        raise Invalid(problems)
    return {name: _credential(name, env[name], tuple(sorted(hosts[name]))) for name in sorted(hosts)}


def _credential(name: str, value: str, hosts: tuple[str, ...]) -> Credential:
    label = Label(owner=OWN, task=OWN, name=name, version=1, service=OWN, auth_type=AuthType.BEARER, hosts=hosts)
    return Credential(label=label, secret=Secret(value))


def _tokens(gate: Gate, log: ports.Log) -> TokenHouse:
    """Tokens in memory, sealed to a key that is this process's own."""
    private = generate()
    return TokenHouse(
        tokens=MemoryTokens(Memory()),
        gate=gate,
        vault=Vault(MemoryKeys({1: private})),
        sealer=PublicKey(1, public_of(private)),
        info=token_info,
        redact=lambda credentials, text: Scanner(credentials).redact(text),
        clock=SystemClock(),
        ids=RandomIds(),
        log=log,
    )
