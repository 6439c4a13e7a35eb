"""Log filtering: the network libraries log URLs and headers, which may hold keys; nothing of that reaches a log."""

from __future__ import annotations

import logging
import re

SILENT = ("httpx", "httpcore", "h11", "hpack", "h2")
"""They write of the request itself. Each of their failures reaches us as an exception, so nothing is lost."""

OFF = logging.CRITICAL + 1
SHARED = ("anyio", "asyncio")
"""They belong to the whole process, which may want their warnings."""

_KEYED = re.compile(
    r"(?i)((?:authorization|bearer|api[_-]?key|appid|token|secret|password)['\"]?\s*+(?:[:=,]\s*+)?b?['\"]?(?:bearer\s++|basic\s++)?)"
    r"[^\s'\"&,;)\]]{8,}"
)


def silence_network_logs() -> None:
    """Let nothing that the network libraries write reach a log, whatever its level; redact warnings of the shared ones."""
    known = logging.root.manager.loggerDict
    for name in SILENT:
        logging.getLogger(name).setLevel(OFF)
        # a filter of the parent does not see what its children write; its level does, where they have none of their own
        for child in [logger_name for logger_name in known if logger_name.startswith(f"{name}.")]:
            logging.getLogger(child).setLevel(logging.NOTSET)
    for name in SHARED:
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
        if not any(isinstance(known_filter, RedactingFilter) for known_filter in logger.filters):
            logger.addFilter(RedactingFilter())


class RedactingFilter(logging.Filter):
    """Replaces what follows the name of a key or an authorization in a record's text."""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        redacted = _KEYED.sub(r"\1[redacted]", text)
        if redacted != text:
            record.msg, record.args = redacted, None
        return True
