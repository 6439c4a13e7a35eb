"""Secret scanning: no secret leaves, and none comes back, in any form that can be decoded."""

from ferryman.egress.leaks.blocks import redact_blocks
from ferryman.egress.leaks.pieces import SecretPieces
from ferryman.egress.leaks.redaction import is_clean, redact_json, redact_text
from ferryman.egress.leaks.scanner import LeakFinding, SecretScanner, prepare
from ferryman.egress.leaks.views import ShortBudget, StepBudget, StepsSpentError

__all__ = [
    "LeakFinding",
    "SecretPieces",
    "SecretScanner",
    "ShortBudget",
    "StepBudget",
    "StepsSpentError",
    "is_clean",
    "prepare",
    "redact_blocks",
    "redact_json",
    "redact_text",
]
