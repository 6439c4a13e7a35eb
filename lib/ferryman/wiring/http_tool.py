"""The root of http_tool: a tool function that reads declarations, fetches tokens and documents, and stores what is imported."""

from __future__ import annotations

import secrets
from dataclasses import replace

from ferryman.egress.frame import harmless
from ferryman.egress.leaks import Scanner
from ferryman.egress.sanitize import framed
from ferryman.gcp.clock import RandomIds
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.settings import Settings
from ferryman.tools.custom.calling import Custom, Way, reader
from ferryman.tools.custom.documents import Documents
from ferryman.tools.custom.handling import Handling
from ferryman.tools.tokens.house import TokenHouse
from ferryman.vault.seal import PublicKey, token_info
from ferryman.wiring.tool import Tool


class HttpTool(Tool):
    """What http_tool is made of beyond every tool function. `tasks` tell what a document may be fetched for."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        house = self.carrying
        clusters = FirestoreClusters(self.firestore)
        self.tasks = FirestoreTasks(self.firestore)
        self.documents = Documents(gate=house.gate, redact=house.redact)
        tokens = TokenHouse(
            tokens=house.tokens,
            gate=house.gate,
            vault=self.vault,
            sealer=PublicKey.parse(settings.sealing_public_key),
            info=token_info,
            redact=house.redact,
            clock=house.clock,
            ids=RandomIds(),
            log=house.tracer,
        )
        handling = Handling(
            clusters=clusters,
            documents=self.documents,
            tame=harmless,
            framed=lambda text, credentials: framed(text, Scanner(credentials), nonce=secrets.token_hex(8)),
        )
        way = Way(gate=house.gate, tokens=tokens, integrations=house.integrations)
        custom = Custom(clusters=clusters, way=way, handling=handling)
        self.carrying = replace(house, read=reader(custom))
