"""The `repr` of no object shows a secret that the object holds, or a text that was not scanned."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ferryman
from ferryman.domain.calls.call import ToolCall
from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.domain.files.access import S3Access
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest, PreparedRequest
from ferryman.domain.http.url import URL
from ferryman.egress.gate import ReadyRequest
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.leaks.text_pieces import collect_request_pieces
from ferryman.egress.send import PLACEHOLDER_URL
from ferryman.inmemory.clock import START
from ferryman.settings import read
from ferryman.tools.prepared_call import CallContext
from tests.builders import build_label
from tests.canaries import canary

SECRETS = st.text(canary.LETTERS, min_size=16, max_size=64)
TELLING = (
    "secret",
    "value",
    "ciphertext",
    "headers",
    "body",
    "query",
    "query_params",
    "arguments",
    "content",
    "system",
    "messages",
    "access_key",
    "secret_key",
    "s3_access_key",
    "s3_secret_key",
)
"""Fields that hold a secret, what was sealed, or what a model or an upstream wrote."""

VISIBLE = {
    ("Run", "messages"),  # the loop's, in the form that came to rest
    ("Credential", "secret"),  # a Secret shows itself to nobody
    ("Integration", "headers"),  # names alone, as the catalog lists them
    ("ExecutionPolicy", "headers"),
}


def dataclasses_of(package: str) -> Iterator[type]:
    for module_info in pkgutil.walk_packages(ferryman.__path__, "ferryman."):
        if module_info.name.startswith(f"ferryman.{package}"):
            module = importlib.import_module(module_info.name)
            for var in vars(module).values():
                if inspect.isclass(var) and dataclasses.is_dataclass(var) and var.__module__ == module.__name__:
                    yield var


@pytest.mark.parametrize(
    "package", ["domain", "egress", "vault", "tools", "loop", "models", "gcp", "ports", "client", "objects", "settings"]
)
def test_no_field_that_may_tell_is_shown(package: str) -> None:
    visible = {(item.__name__, f.name) for item in dataclasses_of(package) for f in dataclasses.fields(item) if f.repr}
    assert {(name, field) for name, field in visible if field in TELLING} - VISIBLE == set()


def holders(key: str) -> dict[str, Any]:
    """Return every kind of thing that holds a key on its way, with the key wherever it may be."""
    label = build_label()
    raw = key.encode()
    credential = Credential(label=label, secret=Secret(key))
    outbound = OutboundRequest(
        tool="api_call",
        method=Method.POST,
        url=f"https://{key}.a.test/{key}?{key}",
        headers={key: key},
        query_params={key: key},
        body={key: [key]},
        credential=key,
    )
    url = URL(host="a.test", path="/", query=f"api_key={key}")
    headers = (("authorization", f"Bearer {key}"), ("x-api-key", key))
    prepared = PreparedRequest(method=Method.POST, url=url, headers=headers, body=raw)
    return {
        "a secret": Secret(key),
        "a credential": credential,
        "a sealed one": SealedCredential(label=label, ciphertext=raw, key_version=1, created_at=START, updated_at=START),
        "a call": ToolCall(id="c", name="api_call", arguments={key: key}),
        "a request as asked for": outbound,
        "its pieces": collect_request_pieces(outbound),
        "a call to be read": CallContext(
            claimed_call=None, arguments={key: key}, credentials={"K": credential}, renew=None, about={}
        ),  # type: ignore[arg-type]
        "a request with its key": prepared,
        "a request that passed": ReadyRequest(prepared=prepared, addresses=(), url=""),
        "an answer": InboundResponse(status=200, headers=headers, body=raw, size_bytes=9),
        "a prompt": Prompt(model="m", system=key, messages=({"role": "user", "content": key},), max_tokens=1),
        "a reply": Reply(content=({"type": "text", "text": key},), stop_reason="end_turn", usage=Usage()),
        "a scanner": SecretScanner([credential]),
        "settings": read({"ANTHROPIC_API_KEY": key}),
        "access to a bucket": S3Access(endpoint="https://a.test", region="r", bucket="b", access_key=key, secret_key=key),
        "what httpx is given": httpx.Request("POST", PLACEHOLDER_URL, headers=headers, content=raw),
    }


@given(key=SECRETS)
def test_nothing_that_holds_a_key_shows_it(key: str) -> None:
    for what, holder in holders(key).items():
        for text in (repr(holder), str(holder), f"{holder}", f"{[holder]!r}"):
            # a URL says itself as text, which is what it is for
            assert key not in text, what


def test_a_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Secret("x" * 16))
