"""The corpus: every way to write a secret down, in every place, and over several; and what looks like one and is none."""

from __future__ import annotations

import random
from itertools import cycle

import pytest

from ferryman.egress.leaks import redact_json
from tests.egress.leaks import requests
from tests.egress.leaks.corpus import HARDER, KINDS, NESTABLE, SECRET_PARTS, WAYS
from tests.egress.leaks.trials import SCANNERS, is_found, list_echoes, list_false_positives, list_leaks, list_split_leaks
from tests.egress.plants import outbound
from tests.figures import Tally

PLACES = sorted(requests.places(""))
CHAINS = 200


@pytest.mark.parametrize("group", WAYS)
def test_no_way_to_write_a_secret_leaves(group: str, tally: Tally) -> None:
    turns = cycle(PLACES)

    def place(written: str) -> list[tuple[str, dict[str, object]]]:
        fields = requests.places(written)
        return [(name, fields[name]) for name in ("body value, in a sentence", next(turns), next(turns))]

    assert list_leaks(WAYS[group], place, group, tally) == []


@pytest.mark.parametrize(
    "way", [("as it is", "plain"), ("base64", "unpadded"), ("percent", "partly"), ("hexadecimal", "upper")]
)
def test_no_secret_leaves_from_any_place(way: tuple[str, str], tally: Tally) -> None:
    missed = []
    for kind, value in KINDS.items():
        for place, fields in requests.places(WAYS[way[0]][way[1]](value)).items():
            passed = is_found(kind, fields)
            tally("leaks out, by place", place, passed)
            missed += [] if passed else [(kind, place)]
    assert not missed


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_no_way_inside_another_leaves(depth: int, tally: Tally) -> None:
    dice, missed, tried = random.Random(depth), [], 0
    kinds = sorted(set(KINDS) - {"PEM"})
    while tried < CHAINS:
        kind, chain = dice.choice(kinds), [dice.choice(NESTABLE) for _ in range(depth)]
        written = KINDS[kind]
        for group, name in chain:
            written = WAYS[group][name](written)
        if len(written) > 20_000:
            continue
        tried += 1
        passed = is_found(kind, {"body": {"note": f"see {written} there"}})
        tally("leaks out, nested", f"{depth} deep", passed)
        missed += [] if passed else [(kind, chain)]
    assert not missed


def test_a_secret_spread_over_fields_does_not_leave(tally: Tally) -> None:
    assert list_split_leaks(requests.splits, tally) == []
    missed = []
    for kind, value in KINDS.items():
        for name, url in requests.labels(value):
            passed = is_found(kind, {"url": url})
            tally("leaks out, host labels", name, passed)
            missed += [] if passed else [(kind, name)]
    assert not missed


def test_sixteen_characters_of_a_secret_are_a_leak_in_any_common_notation(tally: Tally) -> None:
    notations = (("as it is", "plain"), ("as it is", "reversed"), ("hexadecimal", "lower"), ("base64", "standard"))
    missed = []
    for kind, secret in SECRET_PARTS.items():
        for fragment in list(requests.fragments(secret))[::3]:
            for group, name in (*notations, ("base64", "second alignment"), ("base32", "alignment 0"), ("percent", "all")):
                passed = is_found(kind, {"body": {"note": f"x {WAYS[group][name](fragment)} y"}})
                tally("leaks out, fragments", f"16 characters, {group}", passed)
                missed += [] if passed else [(kind, name, fragment)]
    assert not missed


def test_eight_characters_of_a_secret_are_none(tally: Tally) -> None:
    blocked = []
    for kind, secret in SECRET_PARTS.items():
        for crumb in requests.crumbs(secret):
            passed = SCANNERS[kind].find_in_request(outbound(body={"note": f"x {crumb} y"})) is None
            tally("no leaks", "8 characters", passed)
            blocked += [] if passed else [(kind, crumb)]
    assert not blocked


def test_what_is_no_secret_may_leave(tally: Tally) -> None:
    assert list_false_positives(requests.harmless(), tally) == []


def test_four_fifths_of_what_is_not_promised_does_not_leave_either(tally: Tally) -> None:
    passed = []
    for name, write in HARDER.items():
        for kind, value in KINDS.items():
            passed.append(is_found(kind, {"body": {"note": f"see {write(value)} there"}}))
            tally("leaks out, not promised", name, passed[-1])
    assert sum(passed) * 5 >= len(passed) * 4


@pytest.mark.parametrize("group", WAYS)
def test_an_echo_is_redacted_in_every_way(group: str, tally: Tally) -> None:
    assert list_echoes(WAYS[group], group, tally) == []


def test_an_echo_spread_over_a_json_value_is_redacted(tally: Tally) -> None:
    missed = []
    for kind, value in KINDS.items():
        for name, fields in requests.splits(value):
            if list(fields) != ["body"]:
                continue
            seen = redact_json(fields["body"], SCANNERS[kind])
            passed = "[redacted:NEWS_KEY]" in repr(seen)
            tally("leaks in, split", name, passed)
            missed += [] if passed else [(kind, name)]
    assert not missed
