"""The operator of a local stack: which functions a new public half is given to."""

from __future__ import annotations

from pathlib import Path

import ferryman
from ferryman.stack.operator import SEALS

ROOTS = Path(ferryman.__file__).parent / "composition"


def test_every_function_that_seals_is_given_the_new_public_half():
    # embedded has no stack; the operator makes the keys
    sealing = {path.stem for path in ROOTS.glob("*.py") if "settings.sealing_public_key" in path.read_text()}
    assert sealing == set(SEALS)
