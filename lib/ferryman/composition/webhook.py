"""The root of webhook: a tool function that sends alerts, too."""

from __future__ import annotations

from ferryman.composition.tool import ToolFunction
from ferryman.gcp.alerts import FirestoreAlerts
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.workspaces import FirestoreWorkspaces
from ferryman.settings import Settings
from ferryman.tools.alerting.send import SendingDependencies


class WebhookFunction(ToolFunction):
    """What webhook is made of beyond every tool function."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        deps = self.dependencies
        self.alerts = SendingDependencies(
            alerts=FirestoreAlerts(self.firestore),
            approvals=FirestoreApprovals(self.firestore),
            workspaces=FirestoreWorkspaces(self.firestore),
            credentials=deps.credentials,
            vault=self.vault,
            gate=self.gate,
            clock=deps.clock,
            tracer=deps.tracer,
        )
