"""XML: what the XML API and S3 write and read, and the headers that say of an object what its resource says."""

from __future__ import annotations

import re
from email.utils import format_datetime
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from starlette.responses import Response

from emulator.objects.errors import StorageError
from emulator.objects.values import StoredObject

HEADERS = {
    "contentEncoding": "content-encoding",
    "contentDisposition": "content-disposition",
    "contentLanguage": "content-language",
    "cacheControl": "cache-control",
}
"""By the names of the JSON API."""

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"

Tree = list[tuple[str, "str | Tree"]]
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build_object_headers(stored: StoredObject, prefix: str, *, metadata: bool = True) -> dict[str, str]:
    """Return the headers of an object's download; `prefix` is that of the service's own, x-goog- or x-amz-."""
    about = stored.about
    headers = {
        "content-type": about.content_type,
        "etag": f'"{stored.etag}"',
        "last-modified": format_datetime(stored.updated_at.replace(microsecond=0), usegmt=True),
        "accept-ranges": "bytes",
        **{HEADERS[name]: text for name, text in about.texts.items()},
    }
    if prefix == "x-goog-":
        md5 = stored.digests.md5_base64
        hashes = [f"crc32c={stored.digests.crc32c_base64}", *([f"md5={md5}"] if md5 else [])]
        headers |= {
            "x-goog-generation": str(stored.generation),
            "x-goog-metageneration": str(stored.metageneration),
            "x-goog-hash": ",".join(hashes),
            "x-goog-stored-content-length": str(stored.size),
            "x-goog-stored-content-encoding": about.texts.get("contentEncoding", "identity"),
            "x-goog-storage-class": "STANDARD",
        }
    if metadata:
        # in UTF-8, which ASGI's headers are written with by way of Latin-1
        headers |= {f"{prefix}meta-{name}": value.encode().decode("latin-1") for name, value in about.metadata.items()}
    return headers


def answer_xml(root: str, tree: Tree, status: int = 200) -> Response:
    """Return a document."""
    body = f'{DECLARATION}<{root} xmlns="{NAMESPACE}">{_write(tree)}</{root}>'
    return Response(body, status, media_type="application/xml")


def answer_xml_error(error: StorageError, *, body: bool) -> Response:
    """Return an error as the XML API and S3 tell it; an answer to HEAD has no body."""
    if error.status == 304 or not body:
        return Response(status_code=error.status, headers=error.headers)
    text = f"{DECLARATION}<Error>{_write([('Code', error.code), ('Message', str(error))])}</Error>"
    return Response(text, error.status, error.headers, "application/xml")


def parse_xml(body: bytes) -> ElementTree.Element:
    """Return the root of a document without the namespaces of its elements; raise StorageError."""
    malformed = StorageError(400, "invalid", "MalformedXML", "The XML you provided was not well-formed.")
    if b"<!" in body:  # no document that is sent here declares a type, and so none has entities
        raise malformed
    try:
        root = ElementTree.fromstring(body)  # noqa: S314 - as above
    except ElementTree.ParseError as error:
        raise malformed from error
    for element in root.iter():
        element.tag = str(element.tag).rpartition("}")[2]
    return root


def _write(tree: Tree) -> str:
    parts = (f"<{name}>{_write(value) if isinstance(value, list) else _text(value)}</{name}>" for name, value in tree)
    return "".join(parts)


def _text(value: str) -> str:
    """Return a text as XML has it; what no document of version 1.0 can hold is left out."""
    return escape(_INVALID.sub("", value)).replace("\r", "&#13;")
