"""The log: one JSON object a line on standard output, in the fields Cloud Logging reads."""

from __future__ import annotations

import json
import sys
from typing import Any


class JsonLog:
    """`ports.Tracer`. Callers give names, counts and reasons; values that may hold a key are never handed to it."""

    def line(self, event: str, **fields: Any) -> None:
        severity = fields.pop("severity", "INFO")
        sys.stdout.write(json.dumps({"severity": severity, "message": event, **fields}, default=str) + "\n")
        sys.stdout.flush()
