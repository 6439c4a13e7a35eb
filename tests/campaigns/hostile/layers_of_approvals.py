"""The layers of approvals and of the flow policy, each with the lines that remove it."""

from __future__ import annotations

from tests.campaigns.hostile.replacements import Layer, Replacement

LAYERS_OF_APPROVALS = (
    Layer(
        name="flow policy",
        replacements=(
            Replacement(
                file="domain/flow/verdict.py",
                old="return self.reason in (FlowReason.TAINTED, FlowReason.UNDECIDED, FlowReason.TOO_MANY)",
                new="return False",
            ),
        ),
    ),
    Layer(
        name="the hash of what is approved",
        replacements=(
            Replacement(
                file="tools/approving/authority.py",
                old=(
                    "        and decision.digest == digest\n"
                    "        and decision.approval == derive_approval_id(place.execution, decision.seq, digest)\n"
                ),
                new="",
            ),
        ),
    ),
    Layer(
        name="single use of approvals",
        replacements=(
            Replacement(
                file="tools/approving/authority.py",
                old="        and (decision.sends_max > 1 or decision.seq == seq)\n",
                new="",
            ),
            Replacement(file="domain/approvals/approval.py", old="    if not approval.has_room(seq):\n", new="    if False:\n"),
            Replacement(
                file="tools/approving/confirming.py",
                old="        if seq not in used.sent or len(set(used.sent)) > decision.sends_max:\n",
                new="        if False:\n",
            ),
            Replacement(
                file="domain/approvals/standing.py",
                old="    if standing.revoked or len(standing.used) >= standing.uses_max:\n",
                new="    if standing.revoked:\n",
            ),
            Replacement(
                file="tools/approving/confirming.py",
                old=" and len(set(used.used)) <= standing.uses_max:",
                new=":",
            ),
        ),
    ),
    Layer(
        name="signatures of decisions",
        replacements=(
            Replacement(
                file="vault/decisions.py",
                old="        public = self._keys.get(key)\n",
                new="        return True\n        public = self._keys.get(key)\n",
            ),
        ),
    ),
    Layer(
        name="labels of what others wrote",
        replacements=(
            Replacement(
                file="domain/labels/label.py",
                old="    return max(parts, key=_INTEGRITY.index, default=Integrity.TRUSTED)",
                new="    return Integrity.TRUSTED",
            ),
        ),
    ),
)
