"""A deployment whose key is rotated, on doubles: two tasks with credentials, one call under way, and a real vault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.token import Token, TokenSlot
from ferryman.domain.executions.execution import Status
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.reseal import reseal_task
from ferryman.vault import decision_keys, request_keys, rotate, seal, sign
from ferryman.vault.vault import Vault
from tests.builders import build_execution, build_label, build_task, build_ticket
from tests.canaries import canary
from tests.operations.rotation.doubles import MemoryPublication, MemorySealedInventory
from tests.plain_gate import pass_unscanned, redact_plainly

VALUES = {
    ("t1", "A"): canary.create_key("rotation A"),
    ("t1", "B"): canary.create_key("rotation B"),
    ("t2", "A"): canary.create_key("rotation C"),
}
ARGUMENTS = b'{"url":"https://api.coingecko.com/"}'


class Killed(BaseException):
    """The process died here."""


@dataclass
class Counting:
    """Every method of `inner`, each a port_call that is counted; `strike` is messages before and after, and may end it all."""

    inner: Any
    strike: Callable[[str], None]

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.inner, name)
        if not callable(member):
            return member

        async def port_call(*args: Any, **named: Any) -> Any:
            self.strike(f"before {name}")
            answer = await member(*args, **named)
            self.strike(f"after {name}")
            return answer

        return port_call


@dataclass
class Here:
    """The far side of the re-sealing route, in this process."""

    tools: ToolDependencies

    async def reseal(self, task: str, *, version: int) -> list[str]:
        return await reseal_task(self.tools, task=task, version=version)


@dataclass
class Stage:
    """The deployment, sealed to version 1. `ends_call` says after how many pauses the call under way is over."""

    ends_call: int = 2
    memory: Memory = field(default_factory=Memory)
    key_store: MemoryKeyStore = field(default_factory=lambda: MemoryKeyStore({1: seal.generate_private_key()}))
    receipts: MemoryKeyStore = field(default_factory=lambda: MemoryKeyStore({1: sign.generate_private_key()}))
    decisions: MemoryKeyStore = field(default_factory=lambda: MemoryKeyStore({1: decision_keys.generate_secret()}))
    requests: MemoryKeyStore = field(default_factory=lambda: MemoryKeyStore({1: request_keys.generate_request_key()}))
    publication: MemoryPublication = field(default_factory=MemoryPublication)
    clock: ManualClock = field(default_factory=ManualClock)
    messages: list[str] = field(default_factory=list)
    kill_at: int = -1
    port_calls: list[str] = field(default_factory=list)
    on_pause: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.publication.public = seal.format_public_key(1, seal.derive_public_key(self.key_store.privates[1]))
        self.publication.receipt_keys = {1: sign.derive_public_key(self.receipts.privates[1]).hex()}
        self.publication.decision_keys = {1: decision_keys.derive_decision_public_key(self.decisions.privates[1]).hex()}
        self.sealed_inventory = MemorySealedInventory(self.memory, seal.read_key_version)
        self.vault = Vault(self.key_store)
        self.tools = ToolDependencies(
            tickets=None,  # type: ignore[arg-type]  # re-sealing has nothing to do with calls
            credentials=MemoryCredentials(self.memory),
            server_credentials=MemoryCredentials(self.memory, MCP_SERVERS),
            vault=self.vault,
            connections=None,  # type: ignore[arg-type]  # nobody consents to anything in here
            tokens=MemoryTokens(self.memory),
            gate=None,  # type: ignore[arg-type]  # nor goes out
            prepare=None,  # type: ignore[arg-type]  # nor with the way out
            redact=redact_plainly,
            redact_blocks=pass_unscanned,
            integrations={},
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=RecordingLog(),
        )
        for (task, name), value in VALUES.items():
            self.memory.tasks[task] = build_task(id=task)
            self.store(task, name, value)
        self.memory.executions["e"] = build_execution(task="t1", status=Status.RUNNING, started_at=START)
        self.memory.tickets["e"] = {0: self.ticket(0)}

    def store(self, task: str, name: str, value: str, public: str = "") -> None:
        """Store a credential, sealed with the public half that is published."""
        key = seal.PublicKey.parse(public or self.publication.public)
        version = self.memory.versions.setdefault(task, {}).get(name, 0) + 1
        label = build_label(task=task, name=name, version=version, hosts=("h.test",))
        self.memory.versions[task][name] = version
        self.memory.credentials.setdefault(task, {})[name] = SealedCredential(
            label=label,
            ciphertext=key.seal(value.encode(), seal.build_credential_info(label)),
            key_version=key.version,
            created_at=START,
            updated_at=START,
        )

    def store_token(self, task: str, key: str, *values: str) -> None:
        """Store fetched tokens of one use, the newest first, sealed with the public half that is published."""
        public = seal.PublicKey.parse(self.publication.public)
        tokens = [
            Token(
                fetch=f"f{number}",
                ciphertext=public.seal(value.encode(), seal.build_token_info("o", key, f"f{number}")),
                expires_at=START + timedelta(hours=1),
            )
            for number, value in enumerate(values)
        ]
        self.memory.tokens[key] = TokenSlot(owner="o", task=task, token=tokens[0], former=tuple(tokens[1:]))

    def ticket(self, seq: int) -> Ticket:
        """Return a call under way, its arguments sealed with the public half that is published."""
        sealed = seal.PublicKey.parse(self.publication.public).seal(ARGUMENTS, seal.build_call_info("e", seq))
        return build_ticket(seq=seq, call=f"c{seq}", arguments=sealed)

    def settle(self, seq: int = 0) -> None:
        """Store the call as settled."""
        self.memory.tickets["e"][seq] = replace(self.memory.tickets["e"][seq], state=TicketState.SETTLED)

    async def pause(self) -> None:
        """Time passes; the call under way is opened by its key holder, and ends when its pauses are over."""
        self.clock.turn(timedelta(seconds=1))
        self.on_pause()
        if self.memory.tickets["e"][0].state is not TicketState.SETTLED:
            await self.vault.open_arguments(self.memory.tickets["e"][0].arguments, execution="e", seq=0)
            self.ends_call -= 1
            if self.ends_call <= 0:
                self.settle()

    def strike(self, port_call: str) -> None:
        """Record a call of a port; raise `Killed` at the chosen one."""
        self.port_calls.append(port_call)
        if len(self.port_calls) == self.kill_at:
            raise Killed(port_call)

    def deps(self, key_store: MemoryKeyStore | None = None) -> rotate.RotationDependencies:
        """Return the dependencies of the rotation, every port call counted."""
        ports = (key_store or self.key_store, self.sealed_inventory, self.publication, Here(self.tools))
        counted = [Counting(port, self.strike) for port in ports]
        return rotate.RotationDependencies(
            key_store=counted[0],  # type: ignore[arg-type]  # the same methods, counted
            sealed_inventory=counted[1],  # type: ignore[arg-type]
            publication=counted[2],  # type: ignore[arg-type]
            resealer=counted[3],  # type: ignore[arg-type]
            clock=self.clock,
            pause=self.pause,
            tell=self.messages.append,
        )

    async def opens(self) -> dict[tuple[str, str], str]:
        """Return every credential's value, as a key holder opens it now."""
        return {
            (task, name): (await self.vault.open_credential(sealed)).secret.reveal()
            for task, stored in self.memory.credentials.items()
            for name, sealed in stored.items()
        }
