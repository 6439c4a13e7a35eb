"""Resources: objects and buckets as the JSON API shows them, and what of an object it may be told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.objects.errors import invalid, unsupported
from emulator.objects.exchange import locate_object
from emulator.objects.names import check_about
from emulator.objects.values import ACCEPTED_CLASSES, TEXTS, ObjectAbout, StorageBucket, StoredObject, format_time
from emulator.reading import InvalidRequestError, read_member

DEFAULT_TYPE = "application/octet-stream"
REFUSED = (
    *("acl", "contexts", "customTime", "customerEncryption", "eventBasedHold", "kmsKeyName", "retention", "temporaryHold"),
)
"""What would change who may read an object or when it ends: refused rather than kept and not done."""
LOCATION = "US-CENTRAL1"


def show_object(stored: StoredObject, root: str) -> dict[str, Any]:
    """Return the resource of an object."""
    created, updated = format_time(stored.created_at), format_time(stored.updated_at)
    generation = str(stored.generation)
    resource: dict[str, Any] = {
        "kind": "storage#object",
        "id": f"{stored.bucket}/{stored.name}/{generation}",
        "selfLink": locate_object(root, "/storage/v1", stored),
        "mediaLink": locate_object(root, "/download/storage/v1", stored, generation=generation, alt="media"),
        "name": stored.name,
        "bucket": stored.bucket,
        "generation": generation,
        "metageneration": str(stored.metageneration),
        "contentType": stored.about.content_type,
        "storageClass": ACCEPTED_CLASSES[0],
        "size": str(stored.size),
        "crc32c": stored.digests.crc32c_base64,
        "etag": stored.json_etag,
        "timeCreated": created,
        "updated": updated,
        "timeStorageClassUpdated": created,
        **stored.about.texts,
    }
    if stored.digests.md5 is not None:
        resource["md5Hash"] = stored.digests.md5_base64
    else:
        resource["componentCount"] = len(stored.segments)
    if stored.about.metadata:
        resource["metadata"] = dict(stored.about.metadata)
    return resource


def show_bucket(bucket: StorageBucket, root: str) -> dict[str, Any]:
    """Return the resource of a bucket."""
    created = format_time(bucket.created_at)
    return {
        "kind": "storage#bucket",
        "id": bucket.name,
        "selfLink": f"{root}/storage/v1/b/{bucket.name}",
        "name": bucket.name,
        "projectNumber": "0",
        "metageneration": "1",
        "location": bucket.location,
        "locationType": "region",
        "storageClass": ACCEPTED_CLASSES[0],
        "etag": "CAE=",
        "timeCreated": created,
        "updated": created,
        "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"},
    }


def read_about(source: Mapping[str, Any], before: ObjectAbout | None = None) -> ObjectAbout:
    """Return what a resource says of an object, beside what was said `before`: a null takes that away. Raise StorageError."""
    if refused := [name for name in REFUSED if source.get(name) not in (None, False, [], {})]:
        raise unsupported(f"The field {refused[0]} of an object")
    if source.get("storageClass", ACCEPTED_CLASSES[0]) not in (None, *ACCEPTED_CLASSES):
        raise unsupported(f"The storage class {source['storageClass']}")
    try:
        named = {name: read_member(source, name, str, "object") for name in TEXTS if source.get(name) is not None}
        content_type = read_member(source, "contentType", str, "object") if source.get("contentType") is not None else None
        changed = read_member(source, "metadata", dict, "object") if source.get("metadata") is not None else {}
        metadata = {str(key): read_member(changed, key, str, "object.metadata") for key in changed if changed[key] is not None}
    except InvalidRequestError as error:
        raise invalid(str(error)) from error
    texts, type_before, metadata_before = ({}, None, {}) if before is None else _split(before)
    removed = {key for key in changed if changed[key] is None}
    if "metadata" in source and source["metadata"] is None:
        metadata_before = {}
    about = ObjectAbout(
        content_type=content_type or (DEFAULT_TYPE if "contentType" in source or type_before is None else type_before),
        texts={**{name: text for name, text in texts.items() if name not in source}, **named},
        metadata={**{key: value for key, value in metadata_before.items() if key not in removed}, **metadata},
    )
    check_about(about.content_type, about.texts, about.metadata)
    return about


def _split(about: ObjectAbout) -> tuple[Mapping[str, str], str | None, Mapping[str, str]]:
    return about.texts, about.content_type, about.metadata
