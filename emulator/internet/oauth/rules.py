"""Rules: how one OAuth server behaves, as tests set it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from emulator.reading import InvalidRequestError, check_kind, read_member, read_object, read_strings, refuse_unknown

CONSENTS = ("ask", "allow", "deny")
SECONDS = ("code_s", "access_s", "refresh_s", "delay_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Lifetimes in seconds. `clients` are secrets by client id, None for a public one; `redirect_uris` beside loopback ones.

    `consent` asks a person with a page, or answers for them; `iss` is what authorization responses name as their issuer, "" for
    none (RFC 9207); `resources` are those for which a client may ask for a token (RFC 8707), which then is a signed JWT of
    `subject` (RFC 9068); with `documents`, a client may be named by the https URL of its metadata document, which is not
    fetched; `rotate` gives a new refresh token each time, after which the old one, shown again, revokes all of its family;
    `delay_s` is how long a token request takes.
    """

    clients: Mapping[str, str | None] = field(default_factory=lambda: {"ferryman": None})
    redirect_uris: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict)
    consent: str = "ask"
    iss: str = ""
    resources: tuple[str, ...] = ()
    subject: str = "248289761001"
    documents: bool = False
    rotate: bool = True
    code_s: float = 60.0
    access_s: float = 3600.0
    refresh_s: float = 86_400.0
    delay_s: float = 0.0


def read_rules(value: object, where: str, before: Rules | None = None) -> Rules:
    """Return the rules from JSON, those it does not name as `before`; raise InvalidRequestError."""
    source = read_object(value, where)
    refuse_unknown(source, [entry.name for entry in fields(Rules)], where)
    changed: dict[str, object] = {}
    kinds: dict[str, type] = {
        **dict.fromkeys(("consent", "iss", "subject"), str),
        **dict.fromkeys(("rotate", "documents"), bool),
    }
    kinds |= dict.fromkeys(SECONDS, float)
    for name in kinds.keys() & source.keys():
        changed[name] = check_kind(source[name], kinds[name], f"{where}.{name}")
    for name in {"clients", "users"} & source.keys():
        known = read_member(source, name, dict, where)
        # only a client may be without its secret
        changed[name] = {
            key: None if name == "clients" and item is None else check_kind(item, str, f"{where}.{name}.{key}")
            for key, item in known.items()
        }
    for name in {"redirect_uris", "resources"} & source.keys():
        changed[name] = read_strings(source[name], f"{where}.{name}")
    if changed.get("consent", "ask") not in CONSENTS:
        raise InvalidRequestError(f"{where}.consent must be one of {', '.join(CONSENTS)}")
    return replace(before or Rules(), **changed)  # type: ignore[arg-type] # each was checked above
