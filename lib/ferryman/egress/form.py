"""The form of a request about to leave, as a person reads and approves it: the request, with each secret named.

It is built by the function that builds the request, of the same input, with stand-ins for the credentials. What is written like
the name of a secret and is none is refused: nobody could tell the two apart.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from ferryman.domain.approvals.approval import FORM_BYTES_MAX
from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.credentials.grant import describe_grant
from ferryman.domain.credentials.value import encode_pair
from ferryman.domain.http.request import BodyType, OutboundRequest, PreparedRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import URL
from ferryman.egress import multipart
from ferryman.egress.inject import build_request, list_request_placeholders

BEGIN = str(Template((SecretPlaceholder(""),))).partition("}")[0]
"""What the name of every secret begins with."""

NOTHING = "*"
"""In the place of every secret, to see what is written beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A request that passed the checks: its URL, the model's headers, and the credential that is injected, if one is."""

    url: URL = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    credential: Credential | None = None

    def build(self, outbound: OutboundRequest, credentials: Mapping[str, Credential]) -> PreparedRequest:
        """Return the request as it is sent. Raise `CallRefusedError`."""
        return build_request(outbound, self.url, self.headers, self.credential, credentials)

    def build_with(self, outbound: OutboundRequest, stand_ins: Mapping[str, Credential]) -> PreparedRequest:
        """Return the request with `stand_ins` for its credentials, and without what its own call alone has."""
        injected = None if self.credential is None else stand_ins[self.credential.name]
        unnumbered = replace(outbound, idempotency=None)
        return build_request(unnumbered, self.url, self.headers, injected, stand_ins, choose=multipart.derive_boundary)


def write_form(
    outbound: OutboundRequest, request: CheckedRequest, credentials: Mapping[str, Credential], login: Collection[str]
) -> HttpForm:
    """Return the form of a request. `login` names credentials that count, though they are not in it.

    Raise `CallRefusedError` for one that nobody could read, or approve.
    """
    used = {name: credentials[name] for name in list_request_placeholders(outbound)}
    if request.credential is not None:
        used[request.credential.name] = request.credential
    marks = {name: str(Template((SecretPlaceholder(name),))) for name in used}
    beside = request.build_with(outbound, {name: _stand_in(item, NOTHING) for name, item in used.items()})
    if any(BEGIN in text for text in list_texts(_write(outbound, beside, (BEGIN, *marks.values())))):
        raise CallRefusedError(refusal.refuse_unshowable(f"a text in it begins like the name of a secret: {BEGIN}"))
    named = request.build_with(outbound, {name: _stand_in(item, marks[name]) for name, item in used.items()})
    grants = {**used, **{name: credentials[name] for name in login if name in credentials}}
    form = _write(outbound, named, marks.values())
    return replace(form, credentials={name: describe_grant(item) for name, item in sorted(grants.items())})


def list_texts(form: HttpForm) -> Iterator[str]:
    """Yield every text of a form; a binary body as the characters of its bytes."""
    yield form.url
    yield from (value for _, value in form.headers)
    if form.body is not None:
        yield base64.b64decode(form.body).decode("latin-1") if form.is_binary else form.body


def _stand_in(credential: Credential, value: str) -> Credential:
    return replace(credential, secret=Secret(value), grant=None)


def _write(outbound: OutboundRequest, prepared: PreparedRequest, marks: Collection[str]) -> HttpForm:
    url = _name(str(prepared.url), marks)
    pairs = tuple((name, _name(value, marks)) for name, value in prepared.headers)
    body = prepared.body
    if body is not None and len(body) > FORM_BYTES_MAX:
        raise CallRefusedError(refusal.refuse_unshowable(f"it is longer than {FORM_BYTES_MAX} bytes"))
    if body is not None and outbound.body_type is BodyType.FORM:
        body = _name(body.decode(), marks).encode()
    text, is_binary = _read(body)
    digest = "" if body is None else hashlib.sha256(body).hexdigest()
    return HttpForm(method=prepared.method.value, url=url, headers=pairs, body=text, is_binary=is_binary, body_sha256=digest)


def _name(text: str, marks: Collection[str]) -> str:
    """Return `text` with each mark as it is, where it was encoded for a URL or as a pair."""
    for mark in marks:
        text = text.replace(quote(mark, safe=""), mark).replace(encode_pair(mark), mark)
    return text


def _read(body: bytes | None) -> tuple[str | None, bool]:
    if body is None:
        return None, False
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), True
