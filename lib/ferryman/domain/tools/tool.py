"""Tools: the definitions that the model reads, and all that is decided about a tool; pure data that every process shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from ferryman.domain.expense import Expense
from ferryman.domain.http.network import NetworkPolicy


class Repeatable(StrEnum):
    """Whether a call whose outcome is unknown may be made again."""

    SAFE = "safe"
    """Always: repeating it has no further effect, whatever its arguments."""
    KEYED = "keyed"
    """Where its HTTP method is safe, or its service recognises repetitions by an idempotency key."""
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What the calls of a tool may do, and what they cost."""

    timeout_s: float | None
    """The seconds that a call may take, as its message says; None: what the deployment allows (`FERRYMAN_REQUEST_S`)."""
    argument_characters_max: int | None
    """To how many characters a text among the arguments is cut, in silence (`tools.own_arguments`); None cuts nothing."""
    argument_items_max: int | None
    """To how many items a list among the arguments is cut; None cuts nothing."""
    response_bytes_max: int | None
    """How many bytes of a response are read, at most those of the owner's plan; None: as many as that allows."""
    result_characters_max: int | None
    """To how many characters a result is cut, where it is framed; None: to those of every tool (`RESULT_CHARACTERS_MAX`)."""
    network: NetworkPolicy
    fee: Decimal
    """Credits for a call that used a credential (S0-111)."""
    expense: Expense
    """The account of the ledger that a call is entered in: with its fee, or with the bytes of one that is not metered."""
    counts: bool
    """Whether a call counts against the plan's calls for a minute and for an execution."""
    repeatable: Repeatable
    parallel_safe: bool
    """Whether a call may run beside other calls of its turn. A task's calls run one after the other, whatever this says."""
    wrapped: bool
    """Whether a result is content of others, which is framed for the model: so for whatever comes over a network."""
    needs_confirmation: bool
    """Whether a person has to agree to each call, whatever the rules of task, agent and workspace say."""
    reads: tuple[str, ...]
    """What a call reads, such as services, webhooks or the task's tools."""
    changes: tuple[str, ...]
    """What a call changes, in the same words."""
    decided_by: tuple[str, ...] | None
    """The arguments that decide where the effect of a call goes, such as a URL or an account; None: all of them.

    These three are shown to people; no call is admitted or refused by them yet.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCategory:
    """What tools are grouped under. `icon` is the name of a picture (catalog/icons.json)."""

    id: str
    name: str
    icon: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListing:
    """What is shown of a tool (S4-6). One that is not `implemented` is listed only: no model is offered it (S4-7).

    `reason` says why it is not implemented, as "waits for the file store"; None for one that can be called.
    """

    name: str
    display_name: str
    description: str
    category: str
    icon: str
    implemented: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ToolListing):
    """A tool that can be called. `kind` is the package that executes its calls, `function` the cloud function that does.

    `requires` names the service whose credential it needs (S0-105). `calls_others`: its calls name another tool of the task.
    """

    kind: str
    function: str
    requires: str | None
    calls_others: bool
    policy: ToolPolicy
    schema: Mapping[str, Any]

    @property
    def names_credential(self) -> bool:
        """Whether the calls name the credential that they use (S0-9)."""
        return "credential" in self.schema.get("properties", ())

    def to_definition(self) -> dict[str, Any]:
        """Return the tool as `build_definition` does."""
        return build_definition(self.name, self.description, self.schema)


def build_definition(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in the Messages API's form: exactly name, description and input_schema (S0-11)."""
    return {"name": name, "description": description, "input_schema": dict(schema)}
