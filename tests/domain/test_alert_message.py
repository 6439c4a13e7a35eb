"""The message of an alert: signed as Standard Webhooks says, and without a text that anybody wrote."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.credits.alert_message import build_body, encode_body, generate_secret, sign_message
from ferryman.domain.owners.cap import CapKind
from tests.builders import START, build_alert

ALERT = build_alert(subject="a", limit=Decimal("100.50"), credits_reserved=Decimal(5))


def test_the_body_tells_which_cap_how_far_it_is_used_and_since_which_execution() -> None:
    assert build_body(ALERT) == {
        "type": "budget.alert",
        "timestamp": "2026-11-21T12:00:00+00:00",
        "data": {
            **{"alert_id": "alert_1", "workspace_id": "w", "kind": "agent", "id": "a", "month": "2026-11", "percent": 80},
            **{"limit": "100.5", "credits_used": "81", "credits_reserved": "5", "refused": False, "execution_id": "e"},
        },
    }


def test_the_body_of_an_alert_of_the_plan_names_no_workspace_and_no_execution() -> None:
    data = build_body(replace(ALERT, workspace="", kind=CapKind.OWNER))["data"]
    assert (data["workspace_id"], data["execution_id"]) == (None, None)


def test_the_example_of_the_specification_has_its_signature() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    at = START.fromtimestamp(1614265330, START.tzinfo)
    headers = sign_message(secret, message="msg_p5jXN8AQM9LWM0D4loKWxJek", body=body, now=at)
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_receiver_computes_the_same_signature() -> None:
    secret, body = generate_secret().reveal(), encode_body(build_body(ALERT))
    headers = sign_message(secret, message=ALERT.id, body=body, now=START)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


def test_two_secrets_are_never_equal_and_are_in_no_repr() -> None:
    first, second = generate_secret(), generate_secret()
    assert first.reveal() != second.reveal()
    assert "whsec_" not in repr(first)


def test_what_is_no_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="no secret"):
        sign_message("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", message="m", body=b"", now=START)
