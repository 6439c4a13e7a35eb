"""Flow signatures: whether a tool changes the world or sends data out, and which of its arguments decide where that goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class ArgumentRole(StrEnum):
    """What an argument is to the effect of a call."""

    DECIDES = "decides"
    """Where the effect goes: a recipient, a URL, an account, an amount, the id or the name of the thing."""
    CONTENT = "content"
    """What others read there. It may hold links, addresses and account numbers, which decide where its reader goes."""
    DETAIL = "detail"
    """How or when, or whatever else decides nothing, but for such links, addresses and account numbers."""
    FREE = "free"
    """What decides nothing, whatever it holds: the owner alone reads it, or says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentFlow:
    """The role of one argument.

    `words` are those by which a text names it. `identifies` tells that it is the key of a thing, and `things` are words for
    what that is, such as `file`. `is_new_title` tells that it is the title of a thing that the call makes. `is_whole` tells
    that the role is that of all in it; else what is in an object has its own.
    """

    role: ArgumentRole
    words: tuple[str, ...] = ()
    identifies: bool = False
    things: tuple[str, ...] = ()
    is_new_title: bool = False
    is_whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSignature:
    """What a call of a tool may do to the world, and what decides where.

    `changes`: it changes something. `sends`: data leaves to where its arguments say, also where it only reads. `destroys`: it
    takes something away. `reads_people`: whatever it reads was written by people alone, such as contacts. An argument without
    an entry decides. `fixed` are arguments that the owner has fixed: no text that was read changes them.
    """

    tool: str
    changes: bool
    sends: bool = False
    destroys: bool = False
    reads_people: bool = False
    arguments: Mapping[str, ArgumentFlow] = field(default_factory=dict, repr=False)
    fixed: frozenset[str] = frozenset()

    @property
    def has_effect(self) -> bool:
        """Whether a call does more than read."""
        return self.changes or self.sends

    def find_flow(self, name: str) -> ArgumentFlow:
        """Return the role of an argument."""
        return self.arguments.get(name) or ArgumentFlow(role=ArgumentRole.DECIDES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCorrection:
    """What the owner of a tool says against its derived signature; None leaves what was derived.

    `roles` are those of arguments, by name.
    """

    changes: bool | None = None
    sends: bool | None = None
    destroys: bool | None = None
    reads_people: bool | None = None
    roles: Mapping[str, ArgumentRole] = field(default_factory=dict)


def fix_signature(signature: FlowSignature, arguments: Iterable[str]) -> FlowSignature:
    """Return `signature` where the owner has fixed these arguments."""
    fixed = frozenset(arguments)
    return replace(signature, fixed=fixed) if fixed else signature


def correct_signature(signature: FlowSignature, correction: FlowCorrection) -> FlowSignature:
    """Return `signature` as its owner has corrected it."""
    roles = {name: replace(signature.find_flow(name), role=role, is_whole=True) for name, role in correction.roles.items()}
    return replace(
        signature,
        changes=signature.changes if correction.changes is None else correction.changes,
        sends=signature.sends if correction.sends is None else correction.sends,
        destroys=signature.destroys if correction.destroys is None else correction.destroys,
        reads_people=signature.reads_people if correction.reads_people is None else correction.reads_people,
        arguments={**signature.arguments, **roles},
    )
