"""The log of a function, at DEBUG, with libraries that say what they know: none of it is a key's."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.canaries import canary

KEY = canary.create_key("log")
LIBRARIES = (
    "httpx",
    "httpcore.http11",
    "httpx2",
    "grpc._cython",
    "anthropic",
    "google.auth.transport",
    "google.cloud",
    "asyncio",
)

Saying = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def saying() -> Saying:
    """The lines of a process of its own that listens as a function does, at DEBUG, and does as it is told."""

    def run(code: str, *, code_of_exit: int = 0) -> list[dict[str, Any]]:
        begin = (
            "import logging, sys\nfrom ferryman.gcp import log\nlogging.basicConfig()\nKEY = sys.argv[1]\n"
            "log.capture_loggers('DEBUG')\n"
        )
        command = [sys.executable, "-c", begin + textwrap.dedent(code), KEY]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (code_of_exit, "")
        assert KEY not in ran.stdout
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_library_says_below_warning_is_not_heard(saying: Saying, library: str) -> None:
    script = f"""
        logger = logging.getLogger({library!r})
        logger.setLevel("DEBUG")
        logger.debug("HTTP Request: GET https://a.test/?key=%s", KEY)
        logger.info(f"headers {{KEY}}")
    """
    assert saying(script) == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_of_a_librarys_warning_only_its_format_and_its_place_are_written(saying: Saying, library: str) -> None:
    (first, second) = saying(f"""
        logging.getLogger({library!r}).warning("Illegal header value %r", KEY)
        logging.getLogger({library!r}).error(f"Illegal header value {{KEY}}")
    """)
    assert (first["message"], first["severity"], first["logger"]) == ("Illegal header value %r", "WARNING", library)
    assert (second["message"], second["severity"]) == ("a library's message, left out", "ERROR")


def test_a_traceback_is_written_without_any_exceptions_text(saying: Saying) -> None:
    (line,) = saying("""
        def send():
            try:
                raise ValueError(f"bad header {KEY}")
            except ValueError as error:
                raise RuntimeError(KEY) from error
        try:
            send()
        except RuntimeError:
            logging.getLogger("functions_framework").exception("Exception on %s", "/" + KEY)
    """)
    assert (line["kind"], [frame.rpartition(" ")[2] for frame in line["trace"]]) == ("RuntimeError", ["<module>", "send"])


def test_the_last_words_of_a_process_show_no_value(saying: Saying) -> None:
    (line,) = saying("raise RuntimeError(KEY)", code_of_exit=1)
    assert (line["severity"], line["kind"]) == ("CRITICAL", "RuntimeError")


def test_a_handler_that_a_library_has_given_itself_is_taken_away(saying: Saying) -> None:
    script = """
        logger = logging.getLogger("google")
        logger.addHandler(logging.StreamHandler())
        logger.propagate = False
        logger.setLevel("DEBUG")
        log.capture_loggers("DEBUG")
        logging.getLogger("google.cloud.secretmanager").debug(KEY)
    """
    assert saying(script) == []


def test_googles_own_client_does_not_write_what_it_reads(saying: Saying) -> None:
    """Its interceptors put whole requests and responses into a record's fields, the sealing key among them."""
    script = """
        record = logging.LogRecord("google.cloud.secretmanager_v1", logging.WARNING, "x.py", 1, "Received response", None, None)
        record.rpcResponse = {"payload": KEY}
        logging.getLogger("google.cloud.secretmanager_v1").handle(record)
    """
    (line,) = saying(script)
    assert set(line) == {"time", "severity", "message", "logger", "at"}


def test_our_own_loggers_are_heard_from_the_level_on(saying: Saying) -> None:
    lines = saying("""
        logging.getLogger("ferryman.loop").debug("turn %d", 3)
        log.capture_loggers("WARNING")
        logging.getLogger("ferryman.loop").info("not heard")
    """)
    assert [(line["message"], line["severity"]) for line in lines] == [("turn 3", "DEBUG")]
