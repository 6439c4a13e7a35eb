"""The keychain: the keys' private halves go into Secret Manager by hand, past Terraform, whose state never sees them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ferryman.operations.deploy.commands import CommandFailedError, Commands
from ferryman.settings import Settings
from ferryman.vault import decision_keys, request_keys, seal, sign

SEALING, RECEIPTS, DECISIONS = Settings().sealing_key_secret, Settings().receipt_key_secret, Settings().api_key_secret
REQUESTS = Settings().platform_key_secret
UNMADE: dict[str, Any] = {
    "sealing_public_key": "1:AAAA",
    "receipt_public_keys": {"1": "00" * 32},
    "decision_public_keys": {"1": "00" * 32},
}
"""What the variables are while no key exists: enough to plan with, and to make the secrets' containers alone."""


def has_secrets(commands: Commands) -> bool:
    """Return whether the secrets' containers are made."""
    try:
        for secret in (SEALING, RECEIPTS, DECISIONS, REQUESTS):
            commands.ask("secrets", "describe", secret, "--format=value(name)")
    except CommandFailedError:
        return False
    return True


def load_public_keys(commands: Commands, tell: Callable[[str], None], *, make: bool) -> dict[str, Any]:
    """Return the variables of Terraform that hold public halves; where a key has no version, one is made, or `UNMADE` is
    answered.

    A key is made here and handed to gcloud through a pipe: it is in no file, argument, log or state. Raises
    `CommandFailedError`.
    """
    secrets = (SEALING, RECEIPTS, DECISIONS, REQUESTS)
    sealing, receipts, decisions, requests = (_versions(commands, secret) for secret in secrets)
    if not (sealing and receipts and decisions and requests) and not make:
        return UNMADE
    for secret, known, generate in (
        (SEALING, sealing, seal.generate_private_key),
        (RECEIPTS, receipts, sign.generate_private_key),
        (DECISIONS, decisions, decision_keys.generate_secret),
        (REQUESTS, requests, request_keys.generate_request_key),
    ):
        if not known:
            commands.ask("secrets", "versions", "add", secret, "--data-file=-", stdin=generate())
            tell(f"a first version of {secret} is made")
            known += _versions(commands, secret)
    newest = max(sealing)
    return {
        "sealing_public_key": seal.format_public_key(newest, seal.derive_public_key(_private(commands, SEALING, newest))),
        "receipt_public_keys": {
            str(version): sign.derive_public_key(_private(commands, RECEIPTS, version)).hex() for version in receipts
        },
        "decision_public_keys": {
            str(version): decision_keys.derive_decision_public_key(_private(commands, DECISIONS, version)).hex()
            for version in decision_keys.select_valid(decisions)
        },
    }


def write_public_keys(file: Path, halves: dict[str, Any]) -> Path:
    """Write `file` as Terraform reads variables. A receipt key's public half that it held is held on to."""
    before = json.loads(file.read_text()) if file.exists() else UNMADE
    if halves == UNMADE and before != UNMADE:
        halves = {**UNMADE, **before}  # of a key that came later, no version is made yet
    if before != UNMADE:
        halves = {**halves, "receipt_public_keys": {**before["receipt_public_keys"], **halves["receipt_public_keys"]}}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(halves, indent=1) + "\n")
    return file


def _versions(commands: Commands, secret: str) -> list[int]:
    try:
        listed = commands.ask("secrets", "versions", "list", secret, "--filter=state:enabled", "--format=value(name)")
    except CommandFailedError:
        return []
    return sorted(int(name.rpartition("/")[2]) for name in listed.split())


def _private(commands: Commands, secret: str, version: int) -> bytes:
    # in base64: the plain output is made for people, and is not the same to the byte
    text = commands.ask("secrets", "versions", "access", str(version), f"--secret={secret}", "--format=get(payload.data)")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
