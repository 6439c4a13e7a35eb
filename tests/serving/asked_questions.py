"""What an MCP server asks a person in the tests, with markup in it, and answers that fit."""

from __future__ import annotations

from ferryman.domain.calls.continuation import ServerQuestion

SCHEMA = {
    "type": "object",
    "properties": {
        "people": {"type": "integer", "minimum": 1, "maximum": 12, "title": "For <b>how</b> many"},
        "hour": {"type": "string", "enum": ["18:00", "20:00"]},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["cake", "candles"]}},
        "outside": {"type": "boolean"},
    },
    "required": ["people", "hour"],
}
QUESTIONS = (
    ServerQuestion(key="booking", mode="form", message="For whom? <script>alert(1)</script>", schema=SCHEMA),
    ServerQuestion(key="page", mode="url", message="Link it.", url="https://evil.example.com/link"),
)
ANSWERS = {"booking": {"people": 4, "hour": "20:00", "extras": ["cake"], "outside": True}, "page": {}}
