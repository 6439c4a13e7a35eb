"""Every layer can still be taken out: its lines stand where they stood, and what is left is Python."""

from __future__ import annotations

import ast

import pytest

from tests.campaigns.hostile.cuts import LIBRARY, Cut, Layer, cut_layer, cut_library
from tests.campaigns.hostile.layers import LAYERS


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
def test_a_layer_can_be_taken_out(layer: Layer) -> None:
    for cut in layer.cuts:
        assert ast.parse(cut_library(cut, (LIBRARY / cut.file).read_text()))


def test_the_system_without_a_layer_has_every_function_and_the_cut() -> None:
    (layer,) = (item for item in LAYERS if item.name == "leak scan of requests")
    with cut_layer(layer) as functions:
        assert {entry.parent.name for entry in functions.glob("*/main.py")} >= {"api", "orchestrator", "http_get"}
        text = (functions.parent / "lib" / "ferryman" / layer.cuts[0].file).read_text()
    assert layer.cuts[0].old not in text
    assert layer.cuts[0].old in (LIBRARY / layer.cuts[0].file).read_text()


def test_a_cut_that_does_not_find_its_line_is_an_error() -> None:
    with pytest.raises(LookupError):
        cut_library(Cut(file="x.py", old="b", new="c"), "abba")
