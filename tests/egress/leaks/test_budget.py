"""Budget: a text that unfolds, in all its parts together, costs a bounded number of steps; what was not seen is withheld."""

from __future__ import annotations

import base64
import json
import sysconfig
from pathlib import Path

import pytest

from bench.scan import build_tree
from ferryman.egress.leaks import SecretScanner, StepBudget, redact_blocks, redact_json, redact_text
from ferryman.egress.leaks.redaction import OMITTED, format_redaction
from ferryman.egress.leaks.views import SMALL, STEPS, STEPS_PER_CHARACTER_OF_SMALL, NestingLimitError
from tests.egress.leaks.hostile import filler
from tests.egress.plants import VALUES, credential, outbound
from tests.linear import measure_cpu

KEY = VALUES["prefixed"]
SCANNER = SecretScanner([credential(KEY)])
HONEST = json.dumps(build_tree(60_000))
BOMBS = filler("small bombs")
CODED = base64.b64encode(base64.b64encode(f"key={KEY};".encode())).decode()


def test_a_view_is_paid_for_by_its_length_and_by_its_kind() -> None:
    text, data = StepBudget(0), StepBudget(0)
    text.spend("a" * 1_000)
    data.spend(b"a" * 1_000)
    assert text.remaining < data.remaining < STEPS


def test_a_part_is_paid_for_by_the_whole_too() -> None:
    whole = StepBudget(1_000)
    StepBudget(0, within=whole).spend("a")
    assert whole.remaining < STEPS + STEPS_PER_CHARACTER_OF_SMALL * 1_000


def test_what_is_spent_stays_spent() -> None:
    budget = StepBudget(0)
    for _ in range(2):
        with pytest.raises(NestingLimitError):
            budget.spend("a" * STEPS)


def test_bombs_in_every_token_cost_little_more_than_an_honest_text() -> None:
    honest = measure_cpu(lambda: redact_text(HONEST, SCANNER), 3)
    assert measure_cpu(lambda: redact_text(BOMBS, SCANNER)) < 30 * honest


def test_bombs_in_every_leaf_cost_little_more_than_an_honest_value() -> None:
    honest = measure_cpu(lambda: redact_json(json.loads(HONEST), SCANNER), 3)
    assert measure_cpu(lambda: redact_json({"items": BOMBS.split()}, SCANNER)) < 30 * honest


def test_bombs_in_every_block_of_a_turn_cost_little_more_than_an_honest_turn() -> None:
    honest = measure_cpu(lambda: redact_blocks([{"type": "text", "text": HONEST}], SCANNER), 3)
    blocks = [{"type": "text", "text": bomb} for bomb in BOMBS.split()]
    assert measure_cpu(lambda: redact_blocks(blocks, SCANNER)) < 30 * honest


def test_nothing_is_found_where_the_budget_is_spent_and_that_is_a_finding() -> None:
    budget = StepBudget(0)
    budget.remaining = 0
    finding = SCANNER.find("honest", budget=budget)
    assert finding is not None
    assert finding.name is None


def test_a_text_that_could_not_be_scanned_is_omitted() -> None:
    assert OMITTED in redact_text(BOMBS, SCANNER)


@pytest.mark.parametrize("keys", [1, 4])
def test_an_honest_text_with_encoded_keys_keeps_all_the_rest(keys: int) -> None:
    part = HONEST[: len(HONEST) // keys]
    text = "".join(f"{part} {CODED} " for _ in range(keys))
    assert redact_text(text, SCANNER) == text.replace(CODED, format_redaction("NEWS_KEY"))


def test_an_honest_small_text_of_many_notations_is_no_more_than_a_request_may_hold() -> None:
    source = (Path(sysconfig.get_path("stdlib")) / "quopri.py").read_text()[:SMALL]
    escaped = "".join(f"\\x{ord(character):02x} &amp; %41 =3D\n\"'{character}" for character in source[:300])
    for text in (source, source[:4_000] + escaped[: SMALL - 4_100]):
        assert SCANNER.find_in_request(outbound(body={"text": text})) is None
        assert redact_json({"text": text}, SCANNER) == {"text": text}
