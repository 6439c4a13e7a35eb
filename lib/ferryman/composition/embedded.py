"""The composition root of embedded tools: declared tools in a process of one's own, behind the same gate (S1-16)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from ferryman import settings
from ferryman.declared.entry import EMBEDDED, list_hosts, read_credentials, read_public, read_tools
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS, SecretPlaceholder, Template, Text
from ferryman.domain.owners.plan import PRO
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.egress import checking
from ferryman.egress.build import build_gate
from ferryman.gcp.clock import RandomIds, SystemClock
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import NoLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.ports.gate import FetchGate
from ferryman.ports.log import Log
from ferryman.ports.tickets import CallRequest, ClaimedCall
from ferryman.tools.declared.calling import DeclaredToolDependencies, prepare_declared_call
from ferryman.tools.known_secrets import open_known_tokens
from ferryman.tools.prepared_call import CallContext
from ferryman.tools.tokens.dependencies import TokenDependencies
from ferryman.vault.seal import PublicKey, build_token_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault

PLACE = ExecutionContext(user=EMBEDDED, owner=EMBEDDED, workspace=EMBEDDED, agent=EMBEDDED, task=EMBEDDED, execution=EMBEDDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """Declared tools that can be called. Nothing is stored, and nothing has to be closed.

    `await Embedded.declare(entries, env=os.environ).call("getWeather", {"city": "Paris"})`
    """

    tools: Mapping[str, DeclaredTool]
    credentials: Mapping[str, Credential] = field(repr=False)
    policy: ExecutionPolicy
    deps: DeclaredToolDependencies = field(repr=False)
    numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)

    @classmethod
    def declare(
        cls,
        entries: Iterable[Mapping[str, Any]],
        *,
        env: Mapping[str, str],
        gate: FetchGate | None = None,
        log: Log | None = None,
    ) -> Self:
        """Return the tools that `entries` declare, which may call the hosts they name and no other.

        Each variable of `env` that they name is a credential, bound to the hosts of the tools that name it and never shown,
        unless their `public_env` lists it: then it is a text like any other. Without a `gate`, the one of a deployed function
        is used. Raise `InvalidInputError` with every fault, and with every variable that is not set, that is public to one
        tool and secret to another, or that is secret and whose leak could not be told from chance.
        """
        log = NoLog() if log is None else log
        tools = read_tools(list(entries))
        public, credentials = read_public(tools, env), read_credentials(tools, env)
        hosts = {host for tool in tools for host in list_hosts(tool)}
        policy = ExecutionPolicy(
            owner=EMBEDDED,
            task=EMBEDDED,
            plan=PRO,
            tools=(),
            integrations=(EMBEDDED,),
            domains=tuple(sorted(hosts)),
            credentials=tuple(credentials),
            declared={tool.name: tool.fingerprint for tool in tools},
        )
        gate = build_gate(settings.read(env), log) if gate is None else gate
        variables: dict[str, Text] = {**public, **{name: Template((SecretPlaceholder(name),)) for name in credentials}}
        deps = DeclaredToolDependencies(gate=gate, tokens=_build_tokens(gate, log), integrations={}, env=variables)
        return cls(tools={tool.name: tool for tool in tools}, credentials=credentials, policy=policy, deps=deps)

    async def call(self, name: str, arguments: Mapping[str, Any], *, within_s: float = REQUEST_SECONDS) -> ToolCallResult:
        """Return the result of one call, as a task's model would see it; a refused call has a result, too."""
        try:
            tool = self.tools.get(name)
            if tool is None:
                raise CallRefusedError(refusal.refuse_unknown_tool(name))
            if not tool.enabled:
                raise CallRefusedError(refusal.refuse_disabled_tool(name, tool.reason or "its owner switched it off"))
            tokens = await open_known_tokens(self.deps.tokens.tokens, self.deps.tokens.vault, owner=EMBEDDED, task=EMBEDDED)
            prepared_call = await prepare_declared_call(
                self.deps, self._prepare_context(name, arguments, {**self.credentials, **tokens}), tool, arguments
            )
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(name, refused.refusal)
        return await prepared_call.go(within_s)

    def _prepare_context(self, name: str, arguments: Mapping[str, Any], credentials: Mapping[str, Credential]) -> CallContext:
        seq, now = next(self.numbers), datetime.now(UTC)
        ticket = Ticket(seq=seq, step=0, call=str(seq), tool=name, arguments=b"", display_arguments={}, epoch=1, created_at=now)
        call_request = CallRequest(execution=EMBEDDED, seq=seq, epoch=1, task=EMBEDDED, owner=EMBEDDED)
        claimed_call = ClaimedCall(
            call_request=call_request,
            ticket=ticket,
            policy=self.policy,
            versions={},
            created=now,
            context=PLACE,
            task_name=EMBEDDED,
        )

        async def renew(_: object) -> Mapping[str, Credential]:
            return credentials

        # nothing has to be closed here, so no connection may wait for another call
        context = CallContext(claimed_call=claimed_call, arguments=arguments, credentials=credentials, renew=renew, about={})
        return replace(context, reuses_connections=False)


def _build_tokens(gate: FetchGate, log: Log) -> TokenDependencies:
    """Return a store of tokens in memory, sealed to a key that only this process has."""
    private = generate_private_key()
    return TokenDependencies(
        tokens=MemoryTokens(Memory()),
        gate=gate,
        vault=Vault(MemoryKeyStore({1: private})),
        sealer=PublicKey(1, derive_public_key(private)),
        info=build_token_info,
        redact=checking.redact,
        clock=SystemClock(),
        ids=RandomIds(),
        log=log,
    )
