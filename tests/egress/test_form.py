"""The form of a request about to leave: the request itself, with each secret named in the place of its value."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.http.request import BodyType, Method, SecretPlaceholder, Template
from ferryman.egress import checks
from tests.egress.plants import VALUES, credential, outbound, policy

VALUE = VALUES["prefixed"]
MARK = "{{secrets.NEWS_KEY}}"
PLACE = Template((SecretPlaceholder("NEWS_KEY"),))


def build(key: Credential | None = None, **fields: Any) -> HttpForm:
    keys = {"NEWS_KEY": credential(VALUE) if key is None else key}
    return checks.build_form(outbound(**fields), keys, policy(), ())


def build_declared(key: Credential | None = None, **fields: Any) -> HttpForm:
    return build(key, **{"tool": "declared", "credential": None, "headers": {}, **fields})


def test_a_form_is_the_request_that_is_sent_but_for_its_secrets() -> None:
    request, keys = outbound(), {"NEWS_KEY": credential(VALUE)}
    prepared, _, _ = checks.prepare_request(request, keys, policy())
    form = checks.build_form(request, keys, policy(), ())
    assert (form.method, form.url) == (prepared.method.value, str(prepared.url))
    assert [(name, value.replace(VALUE, MARK)) for name, value in prepared.headers] == list(form.headers)
    assert prepared.body is not None
    assert (form.body, form.body_sha256) == (prepared.body.decode(), hashlib.sha256(prepared.body).hexdigest())


@pytest.mark.parametrize(
    ("kind", "fields", "header"),
    [
        (AuthType.BEARER, {}, ("authorization", f"Bearer {MARK}")),
        (AuthType.BASIC, {}, ("authorization", f"Basic {MARK}")),
        (AuthType.HEADER, {"auth_header_name": "X-Api-Key"}, ("x-api-key", MARK)),
    ],
)
def test_an_injected_credential_is_named_in_its_header(kind: AuthType, fields: dict[str, str], header: tuple[str, str]) -> None:
    form = build(credential(VALUES["basic"] if kind is AuthType.BASIC else VALUE, kind=kind, **fields))
    assert header in form.headers


def test_a_credential_in_the_query_is_named_there() -> None:
    form = build(credential(VALUE, kind=AuthType.QUERY_PARAM, auth_param_name="key"))
    assert form.url.endswith(f"?page=1&key={MARK}")


def test_placeholders_are_named_in_headers_query_and_body() -> None:
    form = build_declared(
        fixed_headers={"X-Key": Template(("k ", SecretPlaceholder("NEWS_KEY")))},
        query_params={"q": PLACE},
        body={"a": [PLACE]},
    )
    assert ("x-key", f"k {MARK}") in form.headers
    assert form.url.endswith(f"q={MARK}")
    assert form.body == f'{{"a":["{MARK}"]}}'


def test_a_pair_is_named_where_the_scheme_has_it() -> None:
    pair = credential(VALUES["basic"], kind=AuthType.BASIC)
    form = build_declared(pair, fixed_headers={"Authorization": Template(("Basic ", SecretPlaceholder("NEWS_KEY")))})
    assert ("authorization", f"Basic {MARK}") in form.headers


@pytest.mark.parametrize("kind", [BodyType.FORM, BodyType.MULTIPART])
def test_placeholders_are_named_in_forms(kind: BodyType) -> None:
    body = {"a": PLACE} if kind is BodyType.FORM else {"a": [{"content": PLACE}]}
    form = build_declared(body=body, body_type=kind)
    assert form.body is not None
    assert MARK in form.body
    assert form == build_declared(body=body, body_type=kind)


def test_no_value_is_in_a_form() -> None:
    form = build_declared(fixed_headers={"X-Key": PLACE}, query_params={"q": PLACE}, body={"a": PLACE})
    assert VALUE.encode() not in pickle.dumps(form)


def test_the_idempotency_key_of_a_call_is_not_in_it() -> None:
    assert build(idempotency=("Idempotency-Key", "e-1")) == build(idempotency=("Idempotency-Key", "e-2")) == build()


def test_a_request_without_a_body_has_none() -> None:
    form = build(method=Method.GET, body=None)
    assert (form.body, form.is_binary, form.body_sha256) == (None, False, "")


@pytest.mark.parametrize(
    "fields",
    [
        {"body": {"q": MARK}},
        {"body": {"q": "{{secrets.OTHER}}"}},
        {"url": "https://api.news.test/%7B%7Bsecrets.NEWS_KEY%7D%7D"},
        {"url": "https://api.news.test/e3tzZWNyZXRzLk5FV1NfS0VZfX0="},
        {"headers": {"accept": f"text/{MARK}"}},
    ],
)
def test_what_is_written_like_the_name_of_a_secret_and_is_none_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(CallRefusedError) as refused:
        build(**fields)
    assert refused.value.refusal.reason in ("not_approvable", "header_forbidden")


def test_a_body_that_no_person_could_be_shown_is_refused() -> None:
    with pytest.raises(CallRefusedError, match="longer than 700000 bytes"):
        build(body={"q": "ab cd " * 120_000})


def test_a_form_that_redaction_would_change_is_refused_as_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ferryman.egress.checks.scan_request", lambda *_: None)
    with pytest.raises(CallRefusedError) as refused:
        build(body={"q": VALUE})
    assert refused.value.refusal.reason == "credential_leak"


def test_credentials_say_the_grant_and_not_its_value() -> None:
    key = credential(VALUE)
    assert build(key).credentials.keys() == {"NEWS_KEY"}
    again = replace(key, label=replace(key.label, version=2))
    assert build(key).credentials != build(again).credentials
    assert build(key) == build(credential(VALUES["github"]))


def test_the_credentials_of_a_login_count() -> None:
    keys = {"NEWS_KEY": credential(VALUE), "CLIENT": credential(VALUES["github"], "CLIENT")}
    form = checks.build_form(outbound(), keys, policy(), ("CLIENT",))
    assert form.credentials.keys() == {"NEWS_KEY", "CLIENT"}


def test_another_token_of_the_same_login_is_the_same_form() -> None:
    token = Template(("Bearer ", SecretPlaceholder("token")))
    request = outbound(tool="declared", credential=None, headers={}, fixed_headers={"Authorization": token})
    first, second = credential(VALUE, "token"), credential(VALUES["github"], "token")
    former = {"former_token": credential(VALUE, "former_token", hosts=())}
    forms = [checks.build_form(request, keys, policy(), ()) for keys in ({"token": first}, {"token": second, **former})]
    assert forms[0] == forms[1]
    assert ("authorization", "Bearer {{secrets.token}}") in forms[0].headers
