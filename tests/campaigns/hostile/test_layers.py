"""Every layer can still be removed: its lines are where they were, and what is left is Python."""

from __future__ import annotations

import ast

import pytest

from tests.campaigns.hostile.layers import LAYERS
from tests.campaigns.hostile.replacements import LIBRARY, Layer, Replacement, apply_replacement, remove_layer


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_a_layer_can_be_removed(layer: Layer) -> None:
    for replacement in layer.replacements:
        assert ast.parse(apply_replacement(replacement, (LIBRARY / replacement.file).read_text()))


def test_the_system_without_a_layer_has_every_function_and_the_replacement() -> None:
    (layer,) = (item for item in LAYERS if item.name == "leak scan of requests")
    with remove_layer(layer) as functions:
        assert {entry.parent.name for entry in functions.glob("*/main.py")} >= {"api", "orchestrator", "http_get"}
        text = (functions.parent / "lib" / "ferryman" / layer.replacements[0].file).read_text()
    assert layer.replacements[0].old not in text
    assert layer.replacements[0].old in (LIBRARY / layer.replacements[0].file).read_text()


def test_a_replacement_that_does_not_find_its_line_is_an_error() -> None:
    with pytest.raises(LookupError):
        apply_replacement(Replacement(file="x.py", old="b", new="c"), "abba")
