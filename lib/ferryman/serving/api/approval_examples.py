"""Examples of answers about approvals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from ferryman.serving.api.shapes import approval as shapes

AT = datetime(2026, 11, 22, 9, tzinfo=UTC)
LATER = AT + timedelta(hours=2)
DIGEST = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
BEFORE = "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
PERSON = "person_8277e0910d750195b448797616e091"
CURSOR = "dGhlIGVuZCBvZiB0aGlzIHBhZ2U"

_PLACE = {
    "workspace_id": "ws_5d41402abc4b2a76b9719d911017c5",
    "agent_id": "agent_3f8a7c1d09b2e4a6f5c8d7e6b1a203",
    "task_id": "task_2b525468e13227c127f103c34f5e4e",
    "execution_id": "exec_67ec551ec9450d2efb780e96f8ac1a",
    "conversation_id": None,
}
_LABEL = {"integrity": "trusted", "confidentiality": "owner", "sources": [], "more": False}


def _form(body: str) -> dict[str, object]:
    what = {
        **{"kind": "http", "method": "POST", "url": "https://api.example.com/orders", "body": body, "is_binary": False},
        "headers": [["Authorization", "Bearer {{secrets.SHOP_KEY}}"], ["Content-Type", "application/json"]],
        "body_sha256": "4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce",
        "credentials": {"SHOP_KEY": "version 1"},
    }
    flow = {
        **{"asks": False, "reason": "trusted"},
        "lines": [
            "http_post: may go (trusted)",
            "└─ url = https://api.example.com/orders",
            '   └─ trusted: the prompt: "order at https://api.example.com/orders"',
        ],
    }
    rest = {"flow": flow, "tool_digest": "0" * 64, "policy": "1" * 64, "place": {"execution": _PLACE["execution_id"]}}
    return {**rest, "tool": "http_post", "what": what, "label": _LABEL, "expires_at": "2026-12-22T09:00:00.000000Z"}


_LISTED = {
    **_PLACE,
    **{"approval_id": "appr_0f4be6c2a917d3582c61b07e94aa51", "seq": 3, "tool": "http_post", "host": "api.example.com"},
    **{"digest": DIGEST, "state": "pending", "expired": False, "created_at": AT, "expires_at": AT + timedelta(days=30)},
    **{"decision": None, "sent": []},
}
_DECISION = {
    **{"verdict": "approve", "sends": 1, "reason": "", "arguments": None, "declassified": ""},
    **{"by": PERSON, "at": LATER, "key": 1},
    "signature": "0" * 128,
}
_STANDING = {
    **{"standing_approval_id": "stand_4d0e8b7712c9a6f3508b1de2740c39", "workspace_id": _PLACE["workspace_id"]},
    **{"task_id": None, "tool": "http_post", "hosts": ["api.example.com"], "methods": ["POST"]},
    **{"arguments": {"url": "https://api.example.com/orders"}, "uses": 20, "used": 0, "by": PERSON, "created_at": AT},
    **{"expires_at": AT + timedelta(days=30), "revoked": False, "key": 1, "signature": "0" * 128},
}


def build_approval_answers() -> Mapping[str, BaseModel]:
    """Return an answer of each operation about approvals, by its operationId."""
    before = {"approval_id": "appr_1fa0d2c9be5a45d4a3d6f7f6a2b7c1", "digest": BEFORE, "form": _form('{"amount":20}')}
    whole = {**_LISTED, "form": _form('{"amount":25}'), "label": _LABEL, "before": before}
    decided = {**whole, "state": "approved", "decision": _DECISION}
    return {
        "listApprovals": shapes.ApprovalList.model_validate({"approvals": [_LISTED], "next": CURSOR}),
        "getApproval": shapes.ApprovalResponse.model_validate(whole),
        "decideApproval": shapes.ApprovalResponse.model_validate(decided),
        "createStandingApproval": shapes.StandingApprovalResponse.model_validate(_STANDING),
        "listStandingApprovals": shapes.StandingApprovalList.model_validate({"standing_approvals": [_STANDING], "next": None}),
    }
