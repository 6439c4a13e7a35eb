"""The log: one JSON object a line on standard output, in the fields Cloud Logging reads."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from traceback import walk_tb
from typing import Any

OURS = "ferryman"


class JsonLog:
    """`ports.Tracer`. Callers give names, counts and reasons; values that may hold a key are never handed to it."""

    def line(self, event: str, **fields: Any) -> None:
        severity = fields.pop("severity", "INFO")
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        sys.stdout.write(json.dumps({"time": now, "severity": severity, "message": event, **fields}, default=str) + "\n")
        sys.stdout.flush()


class JsonLogHandler(logging.Handler):
    """Records of Python's loggers, as lines of the same log.

    Of a library's record only its place and its format are written: its arguments, a text formatted beforehand and the text of
    an exception may hold what was sent. Below WARNING a library's record is dropped.
    """

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.partition(".")[0] == OURS
        if not ours and record.levelno < logging.WARNING:
            return
        fields: dict[str, Any] = {"logger": record.name, "at": f"{Path(record.pathname).name}:{record.lineno}"}
        if record.exc_info and record.exc_info[0] is not None:
            fault, _, traceback = record.exc_info
            fields["kind"] = fault.__name__
            fields["trace"] = [f"{Path(f.f_code.co_filename).name}:{line} {f.f_code.co_name}" for f, line in walk_tb(traceback)]
        JsonLog().line(_get_text(record, ours=ours), severity=record.levelname, **fields)


def _get_text(record: logging.LogRecord, *, ours: bool) -> str:
    if ours:
        return record.getMessage()
    return str(record.msg) if record.args else "a library's message, left out"


def capture_loggers(level: str) -> None:
    """Have every logger of the process speak through `JsonLogHandler` alone, from `level` on: DEBUG, INFO, WARNING or ERROR."""
    root = logging.getLogger()
    root.handlers[:] = [JsonLogHandler()]
    root.setLevel(level)
    for logger in list(logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger) and not all(isinstance(h, logging.NullHandler) for h in logger.handlers):
            logger.handlers.clear()
            logger.propagate = True
    sys.excepthook = _log_unhandled


def _log_unhandled(kind: type[BaseException], fault: BaseException, traceback: Any) -> None:
    """Log the exception that ends the process, without its text."""
    logging.getLogger().critical("unhandled", exc_info=(kind, fault, traceback))
