"""Versions: what is put in comes out while it may, and never after it was destroyed."""

import os

import pytest
from google.api_core import exceptions
from google.cloud.secretmanager_v1 import SecretVersion
from google_crc32c import value as crc32c

State = SecretVersion.State


async def add(secrets, secret, data: bytes, **more):
    return await secrets.add_secret_version(parent=secret.name, payload={"data": data, **more})


async def test_a_version_holds_what_was_put_in(secrets, secret):
    version = await add(secrets, secret, b"\x00key\xff")
    assert version.name == f"{secret.name}/versions/1"
    assert version.state == State.ENABLED
    accessed = await secrets.access_secret_version(name=version.name)
    assert accessed.payload.data == b"\x00key\xff"
    assert accessed.payload.data_crc32c == crc32c(b"\x00key\xff")


async def test_latest_is_the_newest_version(secrets, secret):
    await add(secrets, secret, b"one")
    await add(secrets, secret, b"two")
    accessed = await secrets.access_secret_version(name=f"{secret.name}/versions/latest")
    assert (accessed.name, accessed.payload.data) == (f"{secret.name}/versions/2", b"two")


@pytest.mark.parametrize("end", ["disable_secret_version", "destroy_secret_version"])
async def test_latest_is_the_newest_version_even_when_it_cannot_be_had(secrets, secret, end):
    await add(secrets, secret, b"one")
    newest = await add(secrets, secret, b"two")
    await getattr(secrets, end)(name=newest.name)
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.access_secret_version(name=f"{secret.name}/versions/latest")


async def test_a_secret_without_versions_has_no_latest(secrets, secret):
    with pytest.raises(exceptions.NotFound):
        await secrets.access_secret_version(name=f"{secret.name}/versions/latest")


async def test_a_disabled_version_can_be_enabled_again(secrets, secret):
    version = await add(secrets, secret, b"one")
    assert (await secrets.disable_secret_version(name=version.name)).state == State.DISABLED
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.access_secret_version(name=version.name)
    assert (await secrets.enable_secret_version(name=version.name)).state == State.ENABLED
    assert (await secrets.access_secret_version(name=version.name)).payload.data == b"one"


async def test_a_destroyed_version_stays_destroyed(secrets, secret):
    version = await add(secrets, secret, b"one")
    destroyed = await secrets.destroy_secret_version(name=version.name)
    assert destroyed.state == State.DESTROYED
    assert destroyed.destroy_time.year == 2026
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.enable_secret_version(name=version.name)
    assert (await secrets.get_secret_version(name=version.name)).state == State.DESTROYED


async def test_no_file_keeps_what_was_destroyed(place, secrets, secret):
    version = await add(secrets, secret, b"a-key-that-must-vanish")
    await secrets.destroy_secret_version(name=version.name)
    assert not any(b"a-key-that-must-vanish" in file.read_bytes() for file in place.path.iterdir())


async def test_the_files_are_for_their_owner_alone(place, secrets, secret):
    await add(secrets, secret, b"one")
    assert {oct(os.stat(file).st_mode & 0o777) for file in place.path.iterdir()} == {"0o600"}


async def test_everything_outlives_the_process(place, secrets, secret):
    version = await add(secrets, secret, b"one")
    again = await place.reopen()
    assert await again.get_secret(name=secret.name) == secret
    assert (await again.access_secret_version(name=version.name)).payload.data == b"one"
    assert (await add(again, secret, b"two")).name.endswith("/versions/2")


async def test_numbers_are_never_given_twice(secrets, secret):
    await secrets.destroy_secret_version(name=(await add(secrets, secret, b"one")).name)
    assert (await add(secrets, secret, b"two")).name.endswith("/versions/2")


async def test_a_payload_that_changed_on_the_way_is_refused(secrets, secret):
    with pytest.raises(exceptions.InvalidArgument):
        await add(secrets, secret, b"one", data_crc32c=crc32c(b"two"))
    version = await add(secrets, secret, b"one", data_crc32c=crc32c(b"one"))
    assert version.client_specified_payload_checksum


async def test_64_kib_fit_and_not_a_byte_more(secrets, secret):
    await add(secrets, secret, b"x" * 65536)
    with pytest.raises(exceptions.InvalidArgument):
        await add(secrets, secret, b"x" * 65537)
    with pytest.raises(exceptions.InvalidArgument):
        await add(secrets, secret, b"")


async def test_versions_are_listed_newest_first(secrets, secret):
    for _ in range(3):
        await add(secrets, secret, b"x")
    pager = await secrets.list_secret_versions(request={"parent": secret.name, "page_size": 2})
    assert [version.name[-1] async for version in pager] == ["3", "2", "1"]


async def test_enabling_an_enabled_version_still_changes_its_etag(secrets, secret):
    version = await add(secrets, secret, b"one")
    await secrets.enable_secret_version(name=version.name)
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.disable_secret_version(request={"name": version.name, "etag": version.etag})


async def test_a_version_may_have_an_alias(secrets, secret):
    await add(secrets, secret, b"one")
    await add(secrets, secret, b"two")
    secret.version_aliases = {"first": 1}
    await secrets.update_secret(secret=secret, update_mask={"paths": ["version_aliases"]})
    accessed = await secrets.access_secret_version(name=f"{secret.name}/versions/first")
    assert accessed.payload.data == b"one"


async def test_what_is_no_version_is_refused(secrets, secret):
    for name, error in (("9", exceptions.NotFound), ("none", exceptions.NotFound), ("1/2", exceptions.InvalidArgument)):
        with pytest.raises(error):
            await secrets.access_secret_version(name=f"{secret.name}/versions/{name}")
