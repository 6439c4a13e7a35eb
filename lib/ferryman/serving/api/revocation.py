"""Revocation: long answers ask, while they are sent, whether who asked still has the right to them."""

from __future__ import annotations

from ferryman.composition.api import ApiDependencies
from ferryman.domain.workspaces.access import judge_key
from ferryman.domain.workspaces.member import Right
from ferryman.serving.api.rights import Caller


async def still_has_right(deps: ApiDependencies, caller: Caller, right: Right, *, is_own: bool = False) -> bool:
    """Read key, owner, membership and workspace together, and tell whether a request of `caller` would have `right` now.

    With `is_own`, the key must be the owner's own one, too.

    Raise `UnavailableError`.
    """
    key, access = await deps.keys.check(caller.digest, caller.key, caller.workspace)
    rights = None if key is None else judge_key(key, access, now=deps.clock.now())
    if key is None or rights is None or (is_own and not key.is_own):
        return False
    return right in rights and access.finds_workspace(caller.key)
