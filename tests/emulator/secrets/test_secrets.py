"""Secrets: made, found, listed, changed and removed."""

import pytest
from google.api_core import exceptions
from google.cloud.secretmanager_v1 import Replication, Secret

PROJECT = "projects/test"
AUTOMATIC = Replication(automatic=Replication.Automatic())


async def test_a_secret_is_found_as_it_was_made(secrets, secret):
    stored = await secrets.get_secret(name="projects/test/secrets/keys")
    assert stored == secret
    assert stored.labels == {"use": "test"}
    assert stored.create_time.year == 2026


async def test_a_name_is_given_once(secrets, secret):
    with pytest.raises(exceptions.AlreadyExists):
        await secrets.create_secret(parent=PROJECT, secret_id="keys", secret=Secret(replication=AUTOMATIC))


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a" * 256, "ä"])
async def test_a_name_is_made_of_letters_digits_hyphens_and_underscores(secrets, name):
    with pytest.raises(exceptions.InvalidArgument):
        await secrets.create_secret(parent=PROJECT, secret_id=name, secret=Secret(replication=AUTOMATIC))


async def test_a_secret_must_say_how_it_is_replicated(secrets):
    with pytest.raises(exceptions.InvalidArgument):
        await secrets.create_secret(parent=PROJECT, secret_id="keys", secret=Secret())


async def test_a_secret_nobody_made_is_not_found(secrets):
    with pytest.raises(exceptions.NotFound):
        await secrets.get_secret(name="projects/test/secrets/none")


async def test_the_list_has_the_newest_first_and_goes_on_page_after_page(secrets):
    for number in range(5):
        await secrets.create_secret(parent=PROJECT, secret_id=f"s{number}", secret=Secret(replication=AUTOMATIC))
    await secrets.create_secret(parent="projects/other", secret_id="s9", secret=Secret(replication=AUTOMATIC))
    pager = await secrets.list_secrets(request={"parent": PROJECT, "page_size": 2})
    assert pager.total_size == 5
    assert [secret.name[-2:] async for secret in pager] == ["s4", "s3", "s2", "s1", "s0"]


async def test_labels_can_be_changed_and_nothing_else_changes_with_them(secrets, secret):
    changed = Secret(name=secret.name, labels={"use": "other", "new": "1"}, annotations={"not": "named"})
    await secrets.update_secret(secret=changed, update_mask={"paths": ["labels"]})
    stored = await secrets.get_secret(name=secret.name)
    assert stored.labels == {"use": "other", "new": "1"}
    assert not stored.annotations
    assert stored.etag != secret.etag


async def test_how_a_secret_is_replicated_cannot_be_changed(secrets, secret):
    with pytest.raises(exceptions.InvalidArgument):
        await secrets.update_secret(secret=secret, update_mask={"paths": ["replication"]})


async def test_an_update_with_an_old_etag_is_refused(secrets, secret):
    await secrets.update_secret(secret=secret, update_mask={"paths": ["labels"]})
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.update_secret(secret=secret, update_mask={"paths": ["labels"]})


@pytest.mark.parametrize("label", [("Upper", "x"), ("1st", "x"), ("k" * 64, "x"), ("key", "v" * 64), ("key", "a b")])
async def test_a_label_that_no_resource_may_have_is_refused(secrets, secret, label):
    template = Secret(name=secret.name, labels=dict([label]))
    with pytest.raises(exceptions.InvalidArgument):
        await secrets.update_secret(secret=template, update_mask={"paths": ["labels"]})


async def test_a_removed_secret_takes_its_versions_along(secrets, secret):
    await secrets.add_secret_version(parent=secret.name, payload={"data": b"one"})
    await secrets.delete_secret(name=secret.name)
    with pytest.raises(exceptions.NotFound):
        await secrets.access_secret_version(name=f"{secret.name}/versions/1")
    again = await secrets.create_secret(parent=PROJECT, secret_id="keys", secret=Secret(replication=AUTOMATIC))
    with pytest.raises(exceptions.NotFound):
        await secrets.access_secret_version(name=f"{again.name}/versions/latest")


async def test_a_removal_with_an_old_etag_is_refused(secrets, secret):
    with pytest.raises(exceptions.FailedPrecondition):
        await secrets.delete_secret(request={"name": secret.name, "etag": '"old"'})


async def test_what_would_not_be_honoured_is_refused(secrets):
    template = Secret(replication=AUTOMATIC, ttl={"seconds": 60})
    with pytest.raises(exceptions.MethodNotImplemented):
        await secrets.create_secret(parent=PROJECT, secret_id="keys", secret=template)
    with pytest.raises(exceptions.MethodNotImplemented):
        await secrets.list_secrets(request={"parent": PROJECT, "filter": "labels.use=test"})
