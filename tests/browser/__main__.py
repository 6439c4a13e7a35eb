"""`make browser-test`: the tests of this folder, where there is a browser; where there is none, a line that says so.

That fails unless FERRYMAN_NO_BROWSER=1: a run that looked at nothing is no success.
"""

from __future__ import annotations

import os
import sys

import pytest

from tests.browser.installing import MissingBrowserError, find_chromium


def main() -> int:
    if os.environ.get("FERRYMAN_NO_BROWSER") == "1":
        print("FERRYMAN_NO_BROWSER=1: no page was looked at in a browser")
        return 0
    try:
        find_chromium()
    except MissingBrowserError as error:
        print(error)
        return 1
    return int(pytest.main(["-q", "-n", "2", "tests/browser", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
