"""`make browser-test`: the tests of this folder, where there is a browser; where there is none, a line that says so.

That is an error only where FERRYMAN_BROWSER=1 asks for a browser: a machine without one can still run everything else.
"""

from __future__ import annotations

import sys

import pytest

from tests.browser.installing import MissingBrowserError, install, is_browser_required


def main() -> int:
    try:
        install()
    except MissingBrowserError as error:
        print(f"no page was looked at in a browser: {error}")
        return int(is_browser_required())
    places = [] if any(word.startswith("tests/") for word in sys.argv[1:]) else ["tests/browser"]
    return int(pytest.main(["-q", "-p", "no:logging", "-n", "2", "--dist", "loadgroup", *places, *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
