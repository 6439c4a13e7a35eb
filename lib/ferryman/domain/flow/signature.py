"""Flow signatures: whether a tool changes the world or sends data out, and which of its arguments decide where that goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ferryman.domain.tools.correction import ArgumentRole, FlowCorrection


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


def apply_settings(signature: FlowSignature, correction: FlowCorrection | None, fixed: Iterable[str]) -> FlowSignature:
    """Return `signature` with what its owner says of the tool: a correction, and the arguments that are fixed."""
    corrected = signature if correction is None else correct_signature(signature, correction)
    arguments = frozenset(fixed)
    return replace(corrected, fixed=arguments) if arguments else corrected
