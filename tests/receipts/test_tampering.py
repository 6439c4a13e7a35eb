"""Tampering: whatever is changed, left out, put in or moved in a chain of receipts, the verifier finds."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from ferryman import verify_receipts as verifier
from ferryman.domain.receipts.receipt import Fact, Head, ReceiptKind, append_receipts
from ferryman.vault.sign import SigningKey, generate_private_key

from .chains import KEYS, RUNNING, SHAPES, START, Document, chain, public

TIMES = 20
"""Of each kind of tampering, on each shape of chain."""

Tamper = Callable[[random.Random, Document], None]


def place(chance: random.Random, document: Document) -> int:
    return chance.randrange(len(document["entries"]))


def edit(chance: random.Random, document: Document) -> None:
    entry = document["entries"][place(chance, document)]
    name = chance.choice(sorted(entry))
    value = entry[name]
    others: list[Any] = [None, True, "", "x", -1, 0, 1, 1.5, [], {}, "null", "0" * 64, f"{value} ", str(value).upper()]
    if isinstance(value, int):
        others += [value + 1, str(value), float(value) + 0.5]
    entry[name] = chance.choice(others)


def plausible(chance: random.Random, document: Document) -> None:
    """Replace a value by another entry's."""
    first, other = (document["entries"][place(chance, document)] for _ in range(2))
    name = chance.choice(sorted(set(first) & set(other)))
    first[name] = copy.deepcopy(other[name])


def flip(chance: random.Random, document: Document) -> None:
    """Change one bit of the file."""
    text = bytearray(json.dumps(document).encode())
    text[chance.randrange(len(text))] ^= 1 << chance.randrange(8)
    document["flipped"] = bytes(text)


def rename(chance: random.Random, document: Document) -> None:
    entry = document["entries"][place(chance, document)]
    entry[chance.choice(["Number", "note", "seq2"])] = entry.pop(chance.choice(sorted(entry)))


def add(chance: random.Random, document: Document) -> None:
    document["entries"][place(chance, document)][chance.choice(["note", "epoch", "url"])] = chance.choice([None, 1, "x"])


def delete(chance: random.Random, document: Document) -> None:
    del document["entries"][place(chance, document)]


def delete_some(chance: random.Random, document: Document) -> None:
    first = place(chance, document)
    del document["entries"][first : first + chance.randint(1, 4)]


def truncate(chance: random.Random, document: Document) -> None:
    del document["entries"][place(chance, document) :]


def behead(chance: random.Random, document: Document) -> None:
    del document["entries"][: place(chance, document) + 1]


def duplicate(chance: random.Random, document: Document) -> None:
    entry = document["entries"][place(chance, document)]
    document["entries"].insert(chance.randint(0, len(document["entries"])), copy.deepcopy(entry))


def swap(chance: random.Random, document: Document) -> None:
    first, other = place(chance, document), place(chance, document)
    entries = document["entries"]
    entries[first], entries[other] = entries[other], entries[first]


def shuffle(chance: random.Random, document: Document) -> None:
    chance.shuffle(document["entries"])


def splice(chance: random.Random, document: Document) -> None:
    """Insert entries of another execution's chain, from the same place or from any."""
    donor = copy.deepcopy(chance.choice([shape for shape in SHAPES.values() if shape["execution"] != document["execution"]]))
    start = chance.randrange(len(donor["entries"]))
    at = chance.choice([start, place(chance, document)])
    document["entries"][at : at + chance.randint(0, 3)] = donor["entries"][start : start + chance.randint(1, 3)]


def renumber(chance: random.Random, document: Document) -> None:
    """Remove an entry, and close the gap."""
    delete(chance, document)
    for number, entry in enumerate(document["entries"]):
        entry["number"] = number


def rechain(chance: random.Random, document: Document) -> None:
    """Change an entry, and compute every hash again without the key."""
    edit(chance, document)
    before = verifier.GENESIS
    for number, entry in enumerate(document["entries"]):
        entry |= {"number": number, "previous": before}
        content = {name: value for name, value in entry.items() if name not in ("hash", "signature")}
        entry["hash"] = before = verifier.digest(content, verifier.DOMAIN)


def rekey(chance: random.Random, document: Document) -> None:
    """Change a public key of the file that has signed an entry."""
    version = str(document["entries"][place(chance, document)]["key"])
    key = bytearray(bytes.fromhex(document["keys"][version]))
    key[chance.randrange(32)] ^= 1 << chance.randrange(8)
    document["keys"][version] = key.hex()


def retitle(chance: random.Random, document: Document) -> None:
    document[chance.choice(["execution", "format"])] += chance.choice(["2", " ", "_"])


TAMPERS: tuple[Tamper, ...] = (
    edit, plausible, flip, rename, add, delete, delete_some, truncate, behead, duplicate, swap, shuffle, splice, renumber,
    rechain, rekey, retitle,
)  # fmt: skip


def judge(document: Document, pinned: dict[str, str] | None = None) -> int:
    """Return the verifier's exit code."""
    try:
        return verifier.verify(document, pinned)[0]
    except verifier.VerificationError:
        return verifier.WRONG


def flipped(document: Document, tmp_path: Any) -> Document | None:
    """Return the document that the bytes of a flipped file are; None where the verifier cannot read it."""
    file = tmp_path / "flipped.json"
    file.write_bytes(document["flipped"])
    try:
        read: Document = verifier.read(str(file), fractions=False)
    except (ValueError, RecursionError):
        return None
    return read


@pytest.mark.parametrize("shape", SHAPES)
def test_a_chain_that_nobody_touched_is_whole(shape: str) -> None:
    assert judge(SHAPES[shape]) == verifier.WHOLE
    assert judge(SHAPES[shape], public()) == verifier.WHOLE


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_every_tampering_is_found(tamper: Tamper, tmp_path: Any) -> None:
    tried = caught = 0
    for shape, untouched in SHAPES.items():
        chance = random.Random(f"{tamper.__name__} {shape}")
        while tried % TIMES or tried // TIMES == list(SHAPES).index(shape):
            document: Any = copy.deepcopy(untouched)
            tamper(chance, document)
            if "flipped" in document:
                document = flipped(document, tmp_path)
            if document is not None and json.dumps(document, sort_keys=True) == json.dumps(untouched, sort_keys=True):
                continue  # a swap of one with itself, a value replaced by its like: nothing was changed
            tried += 1
            caught += document is None or judge(document) != verifier.WHOLE
    print(f"{tamper.__name__}: {caught} of {tried} found")
    assert (caught, tried) == (tried, TIMES * len(SHAPES))


def test_there_are_at_least_a_thousand_of_them() -> None:
    assert TIMES * len(SHAPES) * len(TAMPERS) >= 1_000


def test_every_single_entry_left_out_or_changed_is_found() -> None:
    for untouched in SHAPES.values():
        for number, entry in enumerate(untouched["entries"]):
            without = {**untouched, "entries": untouched["entries"][:number] + untouched["entries"][number + 1 :]}
            assert judge(without) != verifier.WHOLE
            for name in entry:
                changed = copy.deepcopy(untouched)
                value = changed["entries"][number][name]
                changed["entries"][number][name] = value + 1 if isinstance(value, int) else f"{value}0"
                assert judge(changed) == verifier.WRONG, (number, name)


def test_every_truncation_is_found_and_told_from_a_forgery() -> None:
    for untouched in SHAPES.values():
        for length in range(len(untouched["entries"])):
            assert judge({**untouched, "entries": untouched["entries"][:length]}) == verifier.OPEN


def test_a_chain_that_is_still_growing_is_not_said_to_be_whole() -> None:
    code, text = verifier.verify(RUNNING)
    assert (code, "no last entry" in text) == (verifier.OPEN, True)


def test_a_forger_who_replaces_the_keys_too_is_found_by_a_key_that_was_kept() -> None:
    forged = chain("exec_2", (1, 0), keys={1: SigningKey(1, generate_private_key()), 2: SigningKey(2, generate_private_key())})
    assert judge(forged) == verifier.WHOLE
    assert judge(forged, public()) == verifier.WRONG


def test_a_holder_of_the_key_cannot_tell_a_story_that_contradicts_itself() -> None:
    whole = SHAPES["turns of many calls"]
    for change in ({"turn": 2}, {"seq": 7}, {"parent": 7}, {"count": 3}, {"credits": "0.1"}):
        changed = copy.deepcopy(whole["entries"])
        for entry in changed:
            if entry["number"] in (1, 2, len(changed) - 1):
                entry |= {name: value for name, value in change.items() if name in entry}
        assert judge(sign_again(whole, changed)) == verifier.WRONG, change


def sign_again(whole: Document, entries: list[dict[str, Any]]) -> Document:
    """Return the document with these entries, numbered, chained and signed as a holder of the key can."""
    before = verifier.GENESIS
    for number, entry in enumerate(entries):
        entry |= {"number": number, "previous": before}
        content = {name: value for name, value in entry.items() if name not in ("hash", "signature")}
        entry["hash"] = before = verifier.digest(content, verifier.DOMAIN)
        entry["signature"] = KEYS[entry["key"]].sign(bytes.fromhex(before)).hex()
    return {**whole, "entries": entries}


def test_a_call_settles_after_the_calls_that_it_asked_for_and_asks_for_none_afterwards() -> None:
    whole = SHAPES["with calls that asked for others"]
    kinds = ["opened", "replied", *["planned"] * 4, *["settled"] * 4]
    assert [entry["kind"] for entry in whole["entries"][:10]] == kinds
    for order in ((8, 6, 7, 9), (6, 8, 7, 9)):  # the call that asked before one of those it asked for
        entries = [whole["entries"][place] for place in (*range(6), *order, *range(10, len(whole["entries"])))]
        with pytest.raises(verifier.VerificationError, match="has an open sub-call"):
            verifier.verify(sign_again(whole, copy.deepcopy(entries)))
    late = [whole["entries"][place] for place in (0, 1, 2, 3, 4, 6, 8, 5, 7, 9, *range(10, len(whole["entries"])))]
    with pytest.raises(verifier.VerificationError, match="or for no open call"):
        verifier.verify(sign_again(whole, copy.deepcopy(late)))


def test_the_numbers_of_calls_may_have_gaps_and_never_fall() -> None:
    whole = SHAPES["with calls that asked for others"]
    assert [entry["seq"] for entry in whole["entries"][2:6]] == [0, 1, 3, 4]
    entries = [whole["entries"][place] for place in (0, 1, 3, 2, *range(4, len(whole["entries"])))]
    with pytest.raises(verifier.VerificationError, match="does not plan call 2 of turn 1 or a later one"):
        verifier.verify(sign_again(whole, copy.deepcopy(entries)))


def test_the_first_entry_that_is_wrong_is_named() -> None:
    document = copy.deepcopy(SHAPES["turns of many calls"])
    document["entries"][5]["outcome"] = "failed"
    with pytest.raises(verifier.VerificationError, match=r"^entry 5 \(settled\) was changed"):
        verifier.verify(document)


def settle_under(sends: int, *, most: int) -> Document:
    """Return a chain whose `sends` calls were sent under one approval for `most`."""
    document = copy.deepcopy(chain("exec_1", (sends,)))
    head, entries = Head(), []
    for entry in document["entries"]:
        approval = {"approval": "appr_1", "digest": "0" * 64, "approved_by": "owner", "approved_for": str(most)}
        settled = approval if entry["kind"] == "settled" else {}
        fields = {name: entry[name] for name in entry if name not in ("execution", "number", "kind", "at", "previous", "key")}
        members = {name: value for name, value in fields.items() if name not in ("hash", "signature", "covers")}
        fact = Fact(ReceiptKind(entry["kind"]), {**members, **settled}, {})
        signed, head = append_receipts(head, [fact], execution="exec_1", at=START, key=1, sign=KEYS[1].sign)
        entries += [item.to_json() for item in signed]
    return {**document, "entries": entries}


@pytest.mark.parametrize(("text", "fits"), [("0" * 64, True), ("", True), ("eve@evil.test", False), ("0" * 63, False)])
def test_a_declassified_value_is_there_as_its_hash(text: str, fits: bool) -> None:
    assert verifier.fits(verifier.KINDS["settled"]["declassified"], text) is fits


@pytest.mark.parametrize(("sends", "code"), [(1, verifier.WHOLE), (2, verifier.WHOLE), (3, verifier.WRONG)])
def test_a_send_more_than_a_person_approved_is_found(sends: int, code: int) -> None:
    assert judge(settle_under(sends, most=2)) == code
