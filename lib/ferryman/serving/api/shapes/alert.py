"""An alert of a budget, as it is listed."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ferryman.domain.delivery import AlertState
from ferryman.domain.owners.cap import CapKind
from ferryman.serving.api.shapes.shape import Credits, ListPage, ResponseShape


class AlertResponse(ResponseShape):
    """A cap of which 50, 80 or 100 percent are used, or which has refused an execution.

    `status` is the HTTP status that its receiver answered last, and `reason` says why there was none.
    """

    alert_id: str = Field(validation_alias="id")
    kind: CapKind
    id: str = Field(validation_alias="subject")
    month: str
    percent: int
    limit: Credits
    credits_used: Credits
    credits_reserved: Credits
    refused: bool = Field(validation_alias="is_refused")
    execution_id: str = Field(validation_alias="execution")
    created_at: datetime
    state: AlertState
    attempts: int
    status: int | None
    reason: str
    settled_at: datetime | None


class AlertList(ListPage):
    """A page of alerts, the newest first."""

    alerts: tuple[AlertResponse, ...]
