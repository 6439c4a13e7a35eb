"""Mutations of signed requests: each is another request than was signed, or signed by another key, or of another time."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

from ferryman.domain.signed_request import RequestToken, SignedRequest, sign_request
from ferryman.tools.platform.forwarding import CALL_META
from tests.tools.platform_tools.rig import FORMER, KEY, Rig, build_request

RETIRED = b"retired-key-of-the-platform-32by"
"""A key that was valid before the two that are."""


PATHS = ("/mcp?x=1", "/mcp?&", "/mcp/", "//mcp", "/mcp%2f", "/%6dcp", "/", "/mcp;x", "/MCP", "/mcp?mcp")
HEADERS = (
    *(("Mcp-Method", "tools/list"), ("Mcp-Method", ""), ("Mcp-Name", "cron_add")),
    *(("Mcp-Name", "cron_list "), ("Mcp-Name", "")),
)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A request as it is sent. `is_good` tells that it is as it was signed, and has to be accepted."""

    kind: str
    request: SignedRequest
    headers: Mapping[str, str]
    authorization: str | None = field(repr=False)
    is_good: bool = False


@dataclass(kw_only=True)
class Mutator:
    """Makes attempts out of good requests. `random` decides which parts are changed."""

    rig: Rig
    random: Random

    def build_good(self, key: bytes = KEY, token: RequestToken | None = None) -> Attempt:
        """Return a request as the runtime signs it."""
        params = {
            "name": self.random.choice(("cron_list", "orchestrator__get_workspace_info", "orchestrator__list_conversations")),
            "arguments": {},
            "_meta": {CALL_META: {"execution": "exec_ws_a", "seq": self.random.randrange(100)}},
        }
        request, headers = build_request("tools/call", params)
        signed = sign_request(key, request, token or self.rig.token())
        return Attempt(kind="good", request=request, headers=headers, authorization=signed, is_good=True)

    def iterate_bits(self) -> Iterator[Attempt]:
        """Yield every single bit of one token flipped, but for those of the scheme's name, whose case is told apart too."""
        good = self.build_good()
        text = (good.authorization or "").encode()
        for place in range(len(text)):
            for bit in range(7):
                flipped = bytes([*text[:place], text[place] ^ 1 << bit, *text[place + 1 :]])
                if all(0x20 <= byte < 0x7F for byte in flipped):
                    yield replace(good, kind="a bit of the token", authorization=flipped.decode("ascii"), is_good=False)

    def iterate_body_bits(self) -> Iterator[Attempt]:
        """Yield every single bit of one body flipped."""
        good = self.build_good()
        body = good.request.body
        for place in range(len(body)):
            for bit in range(8):
                flipped = bytes([*body[:place], body[place] ^ 1 << bit, *body[place + 1 :]])
                request = replace(good.request, body=flipped)
                yield replace(good, kind="a bit of the body", request=request, is_good=False)

    def build_other(self) -> Attempt:
        """Return a request that was changed, or signed for another, in one of the other ways."""
        kinds = (
            *(self._change_body, self._change_path, self._change_header, self._swap, self._move_payload),
            *(self._age, self._sign_otherwise, self._leave_out, self._aim_elsewhere),
        )
        return replace(self.random.choice(kinds)(), is_good=False)

    def _change_body(self) -> Attempt:
        good = self.build_good()
        place, length = self.random.randrange(len(good.request.body)), self.random.randrange(1, 9)
        body = good.request.body
        other = body[:place] + self.random.randbytes(length) + body[place + self.random.randrange(length + 1) :]
        changed = other if other != body else body + b" "
        return replace(good, kind="another body", request=replace(good.request, body=changed))

    def _change_path(self) -> Attempt:
        good = self.build_good()
        path = self.random.choice(
            ("/mcp?x=1", "/mcp?", "/mcp/", "//mcp", "/mcp%2f", "/%6dcp", "/", "/mcp;x", "/MCP", "/mcp?mcp")
        )
        if path == "/mcp?":
            path = "/mcp?&"
        return replace(good, kind="another path", request=replace(good.request, path=path))

    def _change_header(self) -> Attempt:
        good = self.build_good()
        name, value = self.random.choice(HEADERS)
        changed = {**good.headers, name: value}
        if changed[name].strip() == good.headers[name]:
            changed = {header: text for header, text in good.headers.items() if header != name}
        return replace(good, kind="another header", headers=changed)

    def _swap(self) -> Attempt:
        good, other = self.build_good(), self.build_good()
        if self.random.random() < 0.5 and good.request.body != other.request.body:
            return replace(good, kind="the token of another request", authorization=other.authorization)
        request = replace(other.request, method=self.random.choice(("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")))
        return replace(other, kind="another method", request=request)

    def _move_payload(self) -> Attempt:
        """Return a request whose payload names somebody else under the signature of before."""
        good = self.build_good()
        payload, _, mac = (good.authorization or "").removeprefix("Bearer ").partition(".")
        user, workspace, moment, nonce = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode().split(":")
        parts = self.random.choice(
            (
                (user, "ws_b", moment, nonce),
                ("bob", workspace, moment, nonce),
                (f"{user}:{workspace}", "ws_b", moment, nonce),
                (user, workspace, str(int(moment) + self.random.randrange(1, 300)), nonce),
                (user, workspace, moment, f"{self.random.getrandbits(128):032x}"),
                (user, workspace, moment, nonce, ""),
                (workspace, user, moment, nonce),
            )
        )
        moved = base64.urlsafe_b64encode(":".join(parts).encode()).decode().rstrip("=")
        return replace(good, kind="another payload", authorization=f"Bearer {moved}.{mac}")

    def _age(self) -> Attempt:
        seconds = self.random.choice((-1, 1)) * self.random.choice((301, 302, 600, 3_600, 86_400 * 365))
        token = self.rig.token(at=self.rig.clock.now() + timedelta(seconds=seconds))
        return replace(self.build_good(token=token), kind="another time")

    def _sign_otherwise(self) -> Attempt:
        key = self.random.choice((RETIRED, self.random.randbytes(32), KEY[::-1], KEY + b"x", FORMER + KEY))
        return replace(self.build_good(key), kind="another key")

    def _leave_out(self) -> Attempt:
        good = self.build_good()
        text = good.authorization or ""
        changed = self.random.choice(
            (
                None,
                "",
                "Bearer ",
                text[: self.random.randrange(len(text))],
                text.partition(".")[0],
                f"{text}.{text}",
                f"{text}00",
                f"{text}=",
            )
        )
        return replace(good, kind="another token", authorization=changed)

    def _aim_elsewhere(self) -> Attempt:
        """Return a request that is signed well for one workspace, or user, and names a call of another."""
        token = self.random.choice(
            (self.rig.token(workspace="ws_b"), self.rig.token(user="bob"), self.rig.token(workspace="none"))
        )
        return replace(self.build_good(token=token), kind="a call of another workspace or user")
