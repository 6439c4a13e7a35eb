"""Kept: the tokens that were fetched for a task, as credentials that go nowhere, to be looked for like any other.

What fetches a token is one function and what meets it may be another: an upstream that echoes what it was sent is asked by all.
"""

from __future__ import annotations

from typing import Protocol

from ferryman import ports
from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.token import Token
from ferryman.tools.tokens.apply import TOKEN


class Vault(Protocol):
    """Opens a token at rest; None for one that does not open. Raises `Unavailable`."""

    async def token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None: ...


async def kept(tokens: ports.Tokens, vault: Vault, *, owner: str, task: str) -> dict[str, Credential]:
    """The tokens that are known of `task`, also such as are used no more, by names that are nobody's.

    Those that are sealed to a version of the key that was retired are not known any more. Raises `Unavailable` where the store
    does not answer.
    """
    label = Label(owner=owner, task=task, name=TOKEN, version=1, service="", auth_type=AuthType.BEARER, hosts=())
    found: dict[str, Credential] = {}
    for key, slot in sorted((await tokens.list(owner, task)).items()):
        for token in (slot.token, slot.former):
            secret = await _opened(vault, token, owner, key) if token is not None else None
            if secret is not None:
                found[f"{TOKEN}_{len(found) + 1}"] = Credential(label=label, secret=secret)
    return found


async def _opened(vault: Vault, token: Token, owner: str, key: str) -> Secret | None:
    try:
        return await vault.token(token.ciphertext, owner=owner, key=key, fetch=token.fetch)
    except ports.Unavailable:
        return None
