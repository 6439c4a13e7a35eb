"""What a call of the platform's tools is posted with: which call it is. All else about it is read where it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.labels.label import FlowLabel
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.keyless.hook import NOTHING, CallTarget


class PlatformHook:
    """`CallHook` of the kind `platform`."""

    async def find_target(self, _: ClaimedCall, __: Execution) -> CallTarget:
        return NOTHING

    async def prepare(self, claimed: ClaimedCall, _: Execution) -> Mapping[str, Any]:
        request = claimed.call_request
        return {"execution": request.execution, "seq": request.seq, "epoch": request.epoch}

    async def conclude(self, _: ClaimedCall, __: Execution, ___: KeylessAnswer | None) -> ClosedWrite | None:
        return None

    def label_answer(self, _: KeylessAnswer) -> FlowLabel | None:
        return None
