"""The receipts of a call, and whether each is genuine: its hash, its signature, and the arguments that it covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ferryman import verify_receipts


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReceipt:
    """A receipt, and what is wrong with it in words; "" where it is genuine."""

    entry: Mapping[str, Any]
    problem: str


def check_receipts(
    receipts: Sequence[Mapping[str, Any]], keys: Mapping[str, str], call: Mapping[str, Any]
) -> tuple[CheckedReceipt, ...]:
    """Return the receipts about a call of the API, each judged with the public keys in hex by version."""
    return tuple(CheckedReceipt(entry=entry, problem=_find_problem(entry, keys, call)) for entry in receipts)


def _find_problem(entry: Mapping[str, Any], keys: Mapping[str, str], call: Mapping[str, Any]) -> str:
    chain = {"format": verify_receipts.FORMAT, "execution": entry["execution"], "entries": [entry], "keys": keys}
    try:
        list(verify_receipts.genuine(chain, None, entry["number"], entry["previous"]))
    except verify_receipts.VerificationError as error:
        return str(error)
    covered = entry["covers"].get(f"calls/{call['seq']}/arguments")
    if covered is not None and covered != verify_receipts.digest(call["arguments"]):
        return "its digest is not that of the call's arguments"
    return ""
