"""Quiet: the network libraries log URLs and headers; here they are silenced, and every record loses what looks injected."""

from __future__ import annotations

import logging
import re

LIBRARIES = ("httpx", "httpcore", "h11", "hpack", "h2", "anyio", "asyncio")
_KEYED = re.compile(
    r"(?i)((?:authorization|bearer|(?:[\w-]*[_-])?(?:api[_-]?key|apikey|appid|token|secret|password))['\"]?\s*[:=,]?\s*b?['\"]?"
    r"(?:bearer\s+|basic\s+)?)[^\s'\"&,;)\]]{8,}"
)


def silence() -> None:
    """Let no library on the way out write below WARNING, whatever the root logger is set to, and redact what it does write."""
    for name in LIBRARIES:
        logger = logging.getLogger(name)
        if logger.level < logging.WARNING:
            logger.setLevel(logging.WARNING)
        if not any(isinstance(each, Redacting) for each in logger.filters):
            logger.addFilter(Redacting())


class Redacting(logging.Filter):
    """Replaces whatever follows the name of a key or an authorization in a record's text."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        redacted = _KEYED.sub(r"\1[redacted]", text)
        if redacted != text:
            record.msg, record.args = redacted, None
        return True
