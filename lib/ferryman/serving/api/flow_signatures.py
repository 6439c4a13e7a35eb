"""Flow signatures as they are shown: of built-in and of declared tools, as the agent's owner has corrected them."""

from __future__ import annotations

from collections.abc import Mapping

from ferryman.catalog.tools import TOOLS
from ferryman.domain.flow.derivation import derive_built_in, derive_declared, derive_remote
from ferryman.domain.flow.signature import FlowSignature, apply_settings
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.settings import ToolSettings
from ferryman.serving.api.shapes.agent import FlowSignatureResponse


def describe_signature(name: str, declared: Mapping[str, DeclaredTool], settings: ToolSettings) -> FlowSignatureResponse | None:
    """Return the signature of a tool; None where it cannot be called."""
    derived = _derive(name, declared)
    if derived is None:
        return None
    signature = apply_settings(derived, settings.flow, settings.arguments)
    return FlowSignatureResponse(
        changes=signature.changes,
        sends=signature.sends,
        destroys=signature.destroys,
        reads_people=signature.reads_people,
        roles={argument: flow.role for argument, flow in signature.arguments.items()},
        fixed=tuple(sorted(signature.fixed)),
        corrected=settings.flow is not None,
    )


def _derive(name: str, declared: Mapping[str, DeclaredTool]) -> FlowSignature | None:
    if name in TOOLS:
        return derive_built_in(TOOLS[name])
    if is_remote_name(name):
        return derive_remote(name)
    return derive_declared(declared[name]) if name in declared else None
