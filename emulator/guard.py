"""The guard: a process of its own that kills what it was told of when the emulator is gone, however that ended."""

import os
import signal
import sys
from contextlib import suppress


def main() -> None:
    """Read `+GROUP` and `-GROUP` lines; at the end of the input, kill the groups that are left."""
    # An interrupt from the terminal is for the emulator, which then closes the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
