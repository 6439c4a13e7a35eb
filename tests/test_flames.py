"""What profiles count: functions that ran, of samples that could be read."""

from __future__ import annotations

from collections import Counter

from bench.flames import fold, weigh

SERVE, FIND = "serve (lib/ferryman/offload/worker.py:54)", "find (lib/ferryman/egress/leaks/scanner.py:80)"
STACK = ("api_call", "serve (ferryman/offload/worker.py)", "find (ferryman/egress/leaks/scanner.py)")


def test_lines_of_a_function_count_together() -> None:
    raw = f"{SERVE};{FIND} 3\n{SERVE};{FIND.replace(':80', ':81')} 2\n"
    assert fold(raw, "api_call") == {STACK: 5}


def test_what_was_read_while_it_changed_is_left_out() -> None:
    raw = f"{SERVE};{FIND} 3\n{SERVE};\x00\x07(ZB 4\n{SERVE};cut (ZB6C-<.6@+\n"
    assert fold(raw, "api_call") == {STACK: 3}


def test_what_waits_takes_no_processor_time() -> None:
    waiting = ("api_call", "main (ferryman/offload/fork_server.py)")
    assert weigh(Counter({STACK: 1, waiting: 9}), {"api_call": 2.0}) == {STACK: 2_000_000}
