"""The root of http_tool: a tool function that reads declarations, fetches tokens and documents, and stores what is imported."""

from __future__ import annotations

from dataclasses import replace

from ferryman.composition.tool import ToolFunction
from ferryman.egress import checking
from ferryman.framing.frame import neutralize_unframed
from ferryman.gcp.clock import RandomIds
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.settings import Settings
from ferryman.tools.declared.calling import CustomToolDependencies, DeclaredToolDependencies
from ferryman.tools.declared.documents import OpenApiFetcher
from ferryman.tools.declared.management import ClusterManager
from ferryman.tools.declared.preparing import make_custom_preparer
from ferryman.tools.tokens.dependencies import TokenDependencies
from ferryman.vault.seal import PublicKey, build_token_info


class HttpToolFunction(ToolFunction):
    """What http_tool is made of beyond every tool function. `tasks` tell what a document may be fetched for; `oauth_issuer` is
    the operator's authorization server, "" for none."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        deps = self.dependencies
        clusters = FirestoreClusters(self.firestore)
        self.tasks = FirestoreTasks(self.firestore)
        self.oauth_issuer = settings.oauth_issuer
        self.documents = OpenApiFetcher(gate=deps.gate, redact=checking.redact_document)
        tokens = TokenDependencies(
            tokens=deps.tokens,
            gate=deps.gate,
            vault=self.vault,
            sealer=PublicKey.parse(settings.sealing_public_key),
            info=build_token_info,
            redact=deps.redact,
            clock=deps.clock,
            ids=RandomIds(),
            log=deps.tracer,
        )
        manager = ClusterManager(
            clusters=clusters, documents=self.documents, neutralize=neutralize_unframed, frame=checking.frame_text
        )
        declared = DeclaredToolDependencies(gate=deps.gate, tokens=tokens, integrations=deps.integrations)
        custom = CustomToolDependencies(clusters=clusters, declared=declared, manager=manager)
        self.dependencies = replace(deps, prepare=make_custom_preparer(custom))
