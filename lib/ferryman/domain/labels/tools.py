"""The label of what a tool reads: it follows from the catalog's entry, never from the tool's name."""

from __future__ import annotations

from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.labels.label import BOTTOM, READ, FlowLabel
from ferryman.domain.tools.tool import ToolPolicy


def label_reading(policy: ToolPolicy) -> FlowLabel:
    """Return the label of whatever a tool with this policy may read; one that reads nothing adds nothing to its arguments'."""
    reads_nothing = not policy.reads and policy.network is NetworkPolicy.NONE
    return BOTTOM if reads_nothing else READ
