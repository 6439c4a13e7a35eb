"""Known tokens: those that were fetched for a task, as credentials that are sent nowhere and scanned for like any other.

The function that fetches a token and the one that receives it may be two: an upstream may echo what any of them sent.
"""

from __future__ import annotations

from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.credentials.token import Token
from ferryman.ports.errors import DisabledKeyError
from ferryman.ports.tokens import Tokens
from ferryman.tools.tokens.client import TOKEN, bind_secret
from ferryman.tools.vault import ToolVault


async def open_known_tokens(tokens: Tokens, vault: ToolVault, *, owner: str, task: str) -> dict[str, Credential]:
    """Return the tokens that are known of `task`, also those that are no longer used, under names that no credential has.

    Those that are sealed to a disabled version of the key are no longer known. Raise `UnavailableError` where the store or the
    keys do not answer: what cannot be compared does not count as clean.
    """
    known: dict[str, Credential] = {}
    for key, slot in sorted((await tokens.list(owner, task)).items()):
        for token in (slot.token, *slot.former):
            secret = await _open(vault, token, owner, key) if token is not None else None
            if secret is not None:
                known[f"{TOKEN}_{len(known) + 1}"] = bind_secret(TOKEN, secret, owner=owner, task=task)
    return known


async def _open(vault: ToolVault, token: Token, owner: str, key: str) -> Secret | None:
    try:
        return await vault.open_token(token.ciphertext, owner=owner, key=key, fetch=token.fetch)
    except DisabledKeyError:
        return None
