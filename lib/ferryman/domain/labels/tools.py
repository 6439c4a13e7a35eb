"""The label of what a tool reads, by the catalog's entry and never by its name; and of what its definition says."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.labels.label import BOTTOM, OWNED, READ, FlowLabel
from ferryman.domain.tools.offered import OfferedTool
from ferryman.domain.tools.tool import ToolPolicy


def label_reading(policy: ToolPolicy) -> FlowLabel:
    """Return the label of whatever a tool with this policy may read; one that reads nothing adds nothing to its arguments'."""
    reads_nothing = not policy.reads and policy.network is NetworkPolicy.NONE
    return BOTTOM if reads_nothing else READ


def label_definitions(tools: Iterable[OfferedTool]) -> FlowLabel:
    """Return the label of what a model is told of `tools`: a stranger wrote names and schemas of those that were imported."""
    is_foreign = any(tool.enabled and not tool.is_own for tool in tools)
    return READ if is_foreign else OWNED
