"""The keychain: the keys' private halves go into Secret Manager by hand, past Terraform, whose state never sees them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ferryman.settings import Settings
from ferryman.vault import seal, sign
from ferryman.wiring.deploying.commands import Commands, Failed

SEALING, RECEIPTS = Settings().sealing_key_secret, Settings().receipt_key_secret
UNMADE: dict[str, Any] = {"sealing_public_key": "1:AAAA", "receipt_public_keys": {"1": "00" * 32}}
"""What the variables are while no key exists: enough to plan with, and to make the secrets' containers alone."""


def there(commands: Commands) -> bool:
    """Whether the secrets' containers are made."""
    try:
        for each in (SEALING, RECEIPTS):
            commands.ask("secrets", "describe", each, "--format=value(name)")
    except Failed:
        return False
    return True


def public_halves(commands: Commands, tell: Callable[[str], None], *, make: bool) -> dict[str, Any]:
    """The variables of Terraform that hold public halves; where a key has no version, one is made, or `UNMADE` is answered.

    A key is made here and handed to gcloud through a pipe: it stands in no file, argument, log or state. Raises `Failed`.
    """
    sealing, receipts = (_versions(commands, each) for each in (SEALING, RECEIPTS))
    if not (sealing and receipts) and not make:
        return UNMADE
    for secret, known, generate in ((SEALING, sealing, seal.generate), (RECEIPTS, receipts, sign.generate)):
        if not known:
            commands.ask("secrets", "versions", "add", secret, "--data-file=-", given=generate())
            tell(f"a first version of {secret} is made")
            known += _versions(commands, secret)
    newest = max(sealing)
    return {
        "sealing_public_key": seal.text_of(newest, seal.public_of(_private(commands, SEALING, newest))),
        "receipt_public_keys": {str(each): sign.public_of(_private(commands, RECEIPTS, each)).hex() for each in receipts},
    }


def kept(file: Path, halves: dict[str, Any]) -> Path:
    """`file`, written as Terraform reads variables. A receipt key's public half that it held is held on to."""
    before = json.loads(file.read_text()) if file.exists() else UNMADE
    if halves == UNMADE and before != UNMADE:
        return file
    if before != UNMADE:
        halves = {**halves, "receipt_public_keys": {**before["receipt_public_keys"], **halves["receipt_public_keys"]}}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(halves, indent=1) + "\n")
    return file


def _versions(commands: Commands, secret: str) -> list[int]:
    try:
        listed = commands.ask("secrets", "versions", "list", secret, "--filter=state:enabled", "--format=value(name)")
    except Failed:
        return []
    return sorted(int(each.rpartition("/")[2]) for each in listed.split())


def _private(commands: Commands, secret: str, version: int) -> bytes:
    # in base64: the plain output is made for people, and is not the same to the byte
    text = commands.ask("secrets", "versions", "access", str(version), f"--secret={secret}", "--format=get(payload.data)")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
