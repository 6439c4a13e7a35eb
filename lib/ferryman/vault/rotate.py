"""Key rotation: add a version of the sealing key, seal everything stored to it, retire the old versions.

No progress is stored: every step reads the present state. Killed at any point, the next rotation continues.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ferryman.domain.credentials.keys import KeyVersion, SealedCredentialRef
from ferryman.ports.clock import Clock
from ferryman.vault import decision_keys, request_keys, seal, sign


class NothingToRotateError(Exception):
    """There is nothing to rotate: the deployment has no key yet."""


class KeyStore(Protocol):
    """All versions of one key, for its operator. Raise `UnavailableError`."""

    async def list_versions(self) -> Sequence[KeyVersion]: ...
    async def private(self, version: int) -> bytes: ...
    async def add(self, private: bytes) -> int: ...
    async def enable(self, version: int) -> None: ...
    async def disable(self, version: int) -> None: ...


class SealedInventory(Protocol):
    """The sealed values. `count_calls` counts open calls by version; `count_begun_before` running executions."""

    async def list_credentials(self) -> Sequence[SealedCredentialRef]: ...
    async def list_tokens(self) -> Sequence[SealedCredentialRef]: ...
    async def count_calls(self) -> Mapping[int, int]: ...
    async def count_begun_before(self, moment: datetime) -> int: ...


class Publication(Protocol):
    """The public keys of the functions. Each method is repeatable, and returns when new instances have the key.

    An older instance may use the old key for `drains`, in the executions that it has begun.
    """

    drains: timedelta

    async def publish_sealing_key(self, public: str) -> None: ...
    async def publish_receipt_keys(self, public: Mapping[int, str]) -> None: ...
    async def read_receipt_keys(self) -> Mapping[int, str]: ...
    async def publish_decision_keys(self, public: Mapping[int, str]) -> None: ...
    async def read_decision_keys(self) -> Mapping[int, str]: ...


class TaskResealer(Protocol):
    """Lets a key holder seal a task's credentials and fetched tokens again; returns the credentials that do not open."""

    async def reseal(self, task: str, *, version: int) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationDependencies:
    """What a rotation needs. `pause` is awaited between two counts of open calls; `tell` is called with each step."""

    key_store: KeyStore
    sealed_inventory: SealedInventory
    publication: Publication
    resealer: TaskResealer
    clock: Clock
    pause: Callable[[], Awaitable[None]]
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationResult:
    """The version that everything is sealed to, the versions retired, and the credentials (task, name) that open with none."""

    version: int
    retired: tuple[int, ...]
    unreadable: tuple[tuple[str, str], ...]


async def rotate(deps: RotationDependencies) -> RotationResult:
    """Rotate the sealing key, or continue one that was interrupted and left two versions enabled.

    Executions run on meanwhile: an old version is disabled when no credential and no call that is not over is sealed to it.
    """
    enabled = _list_enabled(await deps.key_store.list_versions())
    if not enabled:
        raise NothingToRotateError("there is no sealing key yet; it is made when the deployment is set up")
    if len(enabled) == 1:
        newest = await deps.key_store.add(seal.generate_private_key())
        deps.tell(f"version {newest} is added; version {enabled[0]} stays readable until nothing is sealed to it")
    else:
        newest = enabled[-1]
        deps.tell(f"going on with version {newest}")
    await deps.publication.publish_sealing_key(
        seal.format_public_key(newest, seal.derive_public_key(await deps.key_store.private(newest)))
    )
    published = deps.clock.now()
    deps.tell(f"new credentials and calls are sealed to version {newest}")
    retired: set[int] = set()
    unreadable: set[SealedCredentialRef] = set()
    while True:
        await _empty_old_versions(deps, newest, published, unreadable)
        old = [version for version in _list_enabled(await deps.key_store.list_versions()) if version != newest]
        for version in old:
            await deps.key_store.disable(version)
            retired.add(version)
            deps.tell(f"version {version} is disabled")
        # a value may have been sealed to it between the read and the disabling
        if not await _find_used_versions(deps, newest, unreadable):
            return RotationResult(
                version=newest,
                retired=tuple(sorted(retired)),
                unreadable=tuple(sorted((credential.task, credential.name) for credential in unreadable)),
            )


async def _empty_old_versions(
    deps: RotationDependencies, newest: int, published: datetime, unreadable: set[SealedCredentialRef]
) -> None:
    """Wait until no readable value is sealed to an older version than `newest`, nor can be."""
    last_text = ""
    while used := await _find_used_versions(deps, newest, unreadable):
        await _enable_again(deps, used)
        for task in sorted({credential.task for credential in await _list_stale(deps, newest, unreadable)}):
            names = await deps.resealer.reseal(task, version=newest)
            unreadable |= {
                credential
                for credential in await deps.sealed_inventory.list_credentials()
                if credential.task == task and credential.name in names
            }
        calls = sum(count for version, count in (await deps.sealed_inventory.count_calls()).items() if version < newest)
        if calls:
            last_text = _tell_once(deps, last_text, f"waiting for {calls} calls under way that are sealed to an old version")
            await deps.pause()
    while deps.clock.now() < published + deps.publication.drains and (
        begun := await deps.sealed_inventory.count_begun_before(published)
    ):
        last_text = _tell_once(deps, last_text, f"waiting for {begun} executions that began before")
        await deps.pause()
    if await _find_used_versions(deps, newest, unreadable):
        await _empty_old_versions(deps, newest, published, unreadable)


async def _find_used_versions(deps: RotationDependencies, newest: int, unreadable: set[SealedCredentialRef]) -> set[int]:
    """Return the older versions that something is sealed to."""
    stale = {credential.version for credential in await _list_stale(deps, newest, unreadable)}
    return stale | {
        version for version, count in (await deps.sealed_inventory.count_calls()).items() if version < newest and count
    }


async def _list_stale(
    deps: RotationDependencies, newest: int, unreadable: set[SealedCredentialRef]
) -> list[SealedCredentialRef]:
    stored = [*await deps.sealed_inventory.list_credentials(), *await deps.sealed_inventory.list_tokens()]
    return [sealed for sealed in stored if sealed.version < newest and sealed not in unreadable]


async def _enable_again(deps: RotationDependencies, versions: Iterable[int]) -> None:
    """Restore those of `versions` that were disabled: after a backup was restored, or after a late sealing."""
    known = {version.number: version for version in await deps.key_store.list_versions()}
    for version in sorted(set(versions) & known.keys()):
        if not known[version].enabled:
            await deps.key_store.enable(version)
            deps.tell(f"version {version} is enabled again, for the values that are still sealed to it")


def _tell_once(deps: RotationDependencies, last_text: str, text: str) -> str:
    if text != last_text:
        deps.tell(text)
    return text


async def rotate_receipts(deps: RotationDependencies) -> int:
    """Add a version to the receipt key and to the published keys; return the version that receipts are now signed with.

    Old versions stay, so that their public halves remain published. A version that was added and never published is used first.
    """
    enabled = _list_enabled(await deps.key_store.list_versions())
    if not enabled:
        raise NothingToRotateError("there is no receipt key yet; it is made when the deployment is set up")
    served = await deps.publication.read_receipt_keys()
    if enabled[-1] in served:
        enabled.append(await deps.key_store.add(sign.generate_private_key()))
        deps.tell(f"version {enabled[-1]} is added")
    halves = {number: sign.derive_public_key(await deps.key_store.private(number)).hex() for number in enabled}
    await deps.publication.publish_receipt_keys({**served, **halves})
    deps.tell(f"receipts are signed with version {enabled[-1]}")
    return enabled[-1]


async def rotate_decisions(deps: RotationDependencies) -> int:
    """Add a version to the api's key; return the version that decisions of people are now signed with.

    It and the one before are valid: an older one is disabled, and what was approved under it is asked about again. A version
    that was added and never published is used first.
    """
    enabled = _list_enabled(await deps.key_store.list_versions())
    if not enabled:
        raise NothingToRotateError("there is no key for decisions yet; it is made when the deployment is set up")
    if enabled[-1] in await deps.publication.read_decision_keys():
        enabled.append(await deps.key_store.add(decision_keys.generate_secret()))
        deps.tell(f"version {enabled[-1]} is added")
    valid = decision_keys.select_valid(enabled)
    secrets = {number: await deps.key_store.private(number) for number in valid}
    await deps.publication.publish_decision_keys(
        {number: decision_keys.derive_decision_public_key(secret).hex() for number, secret in secrets.items()}
    )
    deps.tell(f"decisions are signed with version {enabled[-1]}")
    for number in enabled:
        if number not in valid:
            await deps.key_store.disable(number)
            deps.tell(f"version {number} is disabled; what was approved under it is asked about again")
    return enabled[-1]


async def rotate_requests(deps: RotationDependencies) -> int:
    """Add a version to the key that requests to the platform are signed with; return it.

    It and the one before are valid: an older one is disabled. Signers and verifiers learn of it by themselves, each within the
    time that keys are kept in memory.
    """
    enabled = _list_enabled(await deps.key_store.list_versions())
    if not enabled:
        raise NothingToRotateError("there is no key of the platform yet; it is made when the deployment is set up")
    enabled.append(await deps.key_store.add(request_keys.generate_request_key()))
    deps.tell(f"version {enabled[-1]} is added; requests are signed with it")
    for number in enabled[: -request_keys.VALID_MAX]:
        await deps.key_store.disable(number)
        deps.tell(f"version {number} is disabled; no request is signed with it any longer")
    return enabled[-1]


def _list_enabled(versions: Iterable[KeyVersion]) -> list[int]:
    return sorted(version.number for version in versions if version.enabled)
