"""The model and the services of a scenario, which count what they are asked."""

from __future__ import annotations

import json
import pickle
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, ClassVar, Protocol

from ferryman.billing.prices import Prices
from ferryman.catalog.tools import find_tool
from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.executions.execution import OWNER
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.extraction.prompt import SYSTEM as QUARANTINE
from ferryman.domain.http.request import InboundResponse, OutboundRequest
from ferryman.egress.checks import scan_request
from ferryman.egress.leaks import SecretScanner
from ferryman.egress.leaks.pieces import SecretPieces
from ferryman.inmemory.model import write_word_by_word
from ferryman.ports.clock import Clock as ClockPort
from ferryman.ports.errors import UnavailableError
from ferryman.ports.executions import Executions
from ferryman.ports.gate import CallPolicy
from ferryman.ports.model import ReplyWatcher
from tests.campaigns.crash.local_functions import Tally
from tests.campaigns.crash.pace import LivePace
from tests.campaigns.crash.scenarios import Scenario, turn_of

PRICES = Prices({"scripted": {"input": "3", "output": "15"}})


class Clock(ClockPort, Protocol):
    """A clock the harness turns."""

    def turn(self, by: timedelta | float) -> datetime: ...


class ScriptedModel:
    """`Model`: replies as the scenario says, counts its prompts, and lets the owner cancel while it thinks."""

    def __init__(self, scenario: Scenario, tally: Tally, clock: Clock, executions: Executions, pace: LivePace) -> None:
        self._scenario, self._tally, self._clock, self._executions = scenario, tally, clock, executions
        self._pace = pace

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        if prompt.system == QUARANTINE:
            self._clock.turn(self._scenario.thinks)
            return self._scenario.extract()
        turn = turn_of(prompt)
        size = len(json.dumps([prompt.system, list(prompt.tools), prompt.messages]).encode())
        price = PRICES.find(prompt.model)
        assert price is not None
        worst = price.compute_worst_case(prompt_bytes=size, output_tokens=prompt.max_tokens)
        self._tally.add("asked", turn=turn, worst=str(worst))
        self._clock.turn(self._scenario.thinks)
        if turn == self._scenario.cancelled_at:
            try:
                await self._executions.cancel("e", by=OWNER, now=self._clock.now())
            except UnavailableError:
                await self._executions.cancel("e", by=OWNER, now=self._clock.now())  # an owner who is not heard asks again
        reply = self._scenario.reply(prompt)
        if watcher is not None:
            for delta in write_word_by_word(reply.content):
                watcher.add(delta)
            await self._pace.end_turn()
        return reply


class SimulatedTransport:
    """The gate with its wire left out: hosts are judged, pieces of keys added up, and what would be sent is counted."""

    _pieces: ClassVar[dict[tuple[object, ...], SecretPieces | CallRefusedError]] = {}
    """What the scan of a request found: the runs of a scenario send the same requests, each of which is scanned once."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def _scan(self, outbound: OutboundRequest, credentials: Collection[Credential]) -> SecretPieces:
        secrets = tuple((credential.name, secret.reveal()) for credential in credentials for secret in credential.secrets)
        key = (pickle.dumps(outbound), secrets)
        if key not in self._pieces:
            try:
                self._pieces[key] = scan_request(outbound, SecretScanner(credentials))
            except CallRefusedError as refused:
                self._pieces[key] = refused
        result = self._pieces[key]
        if isinstance(result, CallRefusedError):
            raise result
        return result

    async def send(
        self,
        outbound: OutboundRequest,
        call: CallPolicy,
    ) -> ToolCallResult:
        named: dict[str, Any] = {"url": outbound.url, "method": outbound.method.value}
        try:
            url = check_url(find_tool(outbound.tool).policy.network, outbound.url, call.execution)
            pieces = self._scan(outbound, call.credentials.values())
            if call.confirm is not None and call.confirm.needs_form(host=url.host, method=named["method"]):
                form = HttpForm(method=named["method"], url=outbound.url, headers=(), body=repr(outbound.body))
                await call.confirm.confirm(form, host=url.host, method=named["method"])
            if call.count is not None and (known := await call.count(pieces)) is not None:
                raise CallRefusedError(refusal.refuse_leak(known))
        except CallRefusedError as refused:
            return ToolCallResult.from_refusal(outbound.tool, refused.refusal, credential=outbound.credential, **named)
        self._tally.add("effect", path=url.path, method=outbound.method.value, key=(outbound.idempotency or (None, None))[1])
        return ToolCallResult(outbound.tool, "done", credential_used=outbound.credential, response_status=200, **named)

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        raise CallRefusedError(refusal.INTERNAL_ERROR)  # no scenario asks for anything of our own
