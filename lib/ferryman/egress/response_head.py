"""What the frame says of a response beside its body: status, media type, where it redirects to, and when to ask again.

All but the status are texts of a stranger: bounded, without credentials and pieces of them, and of characters that cannot end
an attribute (prompt injection).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.status import RETRY_STATUSES, is_redirect
from ferryman.egress.leaks import SecretScanner, redact_text
from ferryman.egress.leaks.redaction import format_finding
from ferryman.framing.frame import neutralize_unframed

INVALID = "invalid"
"""Shown in place of a header that is malformed, too long, or given twice."""

LOCATION_CHARACTERS_MAX = 2_048
_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+_-]{0,63}/[a-z0-9][a-z0-9.+_-]{0,99}", re.ASCII)
_REDACTED = re.compile(r"\[redacted:[A-Za-z0-9_:-]{1,80}\]", re.ASCII)
# The characters of a URL (RFC 3986), but for the apostrophe.
_LOCATION = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+", re.ASCII)
# An entity that a reader could take for the end of an attribute, however often it is escaped.
_ENTITY = re.compile(r"&(?:amp;)*+(?:#[0-9x]|(?:quot|apos|lt|gt|nbsp|tab|newline);)", re.IGNORECASE)
_RETRY_AFTER = re.compile(
    r"[0-9]{1,9}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4}"
    r" [0-9]{2}:[0-9]{2}:[0-9]{2} GMT",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHead:
    """The attributes of a frame; None for a header that was not sent, or that this status does not have."""

    status: int
    content_type: str | None = None
    location: str | None = None
    retry_after: str | None = None

    def __str__(self) -> str:
        """Return them as they are written in the frame, each after a space."""
        values = {
            "status": str(self.status),
            "content_type": self.content_type,
            "location": self.location,
            "retry_after": self.retry_after,
        }
        return "".join(f' {name}="{value}"' for name, value in values.items() if value is not None)


def read_head(inbound: InboundResponse, scanner: SecretScanner) -> ResponseHead:
    """Return what may be shown of the status line and the headers."""
    return ResponseHead(
        status=inbound.status,
        content_type=_clean_media_type(inbound, scanner),
        location=_clean_location(inbound, scanner) if is_redirect(inbound.status) else None,
        retry_after=get_retry_after(inbound),
    )


def get_header(inbound: InboundResponse, name: str) -> str | None:
    """Return the value of a header; None where there is none, an empty text where it is given twice, differently."""
    values = {value.strip(" \t") for header, value in inbound.headers if header.lower() == name}
    if not values:
        return None
    return values.pop() if len(values) == 1 else ""


def get_media_type(inbound: InboundResponse) -> str | None:
    """Return the media type in small letters, without parameters; an empty text where it is malformed. Not yet scanned."""
    declared = get_header(inbound, "content-type")
    if declared is None:
        return None
    name = declared.partition(";")[0].strip(" \t").lower()
    return name if _MEDIA_TYPE.fullmatch(name) else ""


def _clean_media_type(inbound: InboundResponse, scanner: SecretScanner) -> str | None:
    name = get_media_type(inbound)
    if not name:
        return None if name is None else INVALID
    return _clean(name, _MEDIA_TYPE, scanner)


def _clean_location(inbound: InboundResponse, scanner: SecretScanner) -> str | None:
    location = get_header(inbound, "location")
    if location is None:
        return None
    if len(location) > LOCATION_CHARACTERS_MAX or _ENTITY.search(location):
        return INVALID
    return _clean(redact_text(location.replace("'", "%27"), scanner), _LOCATION, scanner)


def get_retry_after(inbound: InboundResponse) -> str | None:
    """Return when to ask again, in seconds or as a date, which leave no room for other words; `INVALID` for any other text."""
    value = get_header(inbound, "retry-after") if inbound.status in RETRY_STATUSES else None
    return value if value is None or _RETRY_AFTER.fullmatch(value) else INVALID


def _clean(text: str, grammar: re.Pattern[str], scanner: SecretScanner) -> str:
    """Return `text`, or the name of a credential in it: of a piece of one, the rest may be in the body."""
    if not grammar.fullmatch(_REDACTED.sub("", text)):
        return INVALID
    text = neutralize_unframed(text)
    finding = scanner.find_piece(_REDACTED.sub(" ", text))
    if finding is not None:
        return INVALID if finding.name is None else format_finding(finding)
    return text if grammar.fullmatch(text) else INVALID
