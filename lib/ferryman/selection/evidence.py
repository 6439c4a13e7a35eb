"""Evidence: kinds of values that a text has (a date, a place, an amount), and that a tool's parameters ask for."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import IntFlag

from ferryman.selection.words import list_stems


class Evidence(IntFlag):
    """Kinds of values; NUMBER is asked for by parameters of the types `integer` and `number`, the others by their names."""

    DATE = 1
    PLACE = 2
    COORDINATES = 4
    URL = 8
    EMAIL = 16
    MONEY = 32
    NUMBER = 64


_IN_TEXT = {
    Evidence.DATE: re.compile(
        r"\b\d{4}[-./]\d{1,2}[-./]\d{1,2}\b|\b\d{1,2}[-./]\d{1,2}[-./]\d{2,4}\b|\b\d{1,2}(?:st|nd|rd|th)\b"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:today|tomorrow|tonight|yesterday|weekend)\b"
        r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
        r"|\b(?:next|this|last) (?:week|month|day)",
        re.IGNORECASE,
    ),
    Evidence.PLACE: re.compile(r"\b[A-Z][a-z]{0,30},? (?:[A-Z]{2}\b|[A-Z][a-z])|\b(?:in|at|near|from|to|around) [A-Z][a-z]"),
    Evidence.COORDINATES: re.compile(r"\d\.\d{2,15}.{1,25}?\d\.\d{2}"),
    Evidence.URL: re.compile(r"https?://|\bwww\.|\.com\b"),
    Evidence.EMAIL: re.compile(r"\w@\w"),
    Evidence.MONEY: re.compile(r"[$€£¥]|\b(?:usd|eur|dollars?|euros?)\b", re.IGNORECASE),
    Evidence.NUMBER: re.compile(r"\d"),
}

_IN_NAMES = {
    Evidence.DATE: "date departure birthdate check_in datetime timestamp schedule",
    Evidence.PLACE: "city location place address country state destination",
    Evidence.COORDINATES: "latitude longitude lat lon coordinates",
    Evidence.URL: "url uri link website",
    Evidence.EMAIL: "email mail",
    Evidence.MONEY: "amount price budget currency cost",
}
_STEMS = {kind: frozenset(list_stems(names)) for kind, names in _IN_NAMES.items()}


def find_in_text(text: str) -> Evidence:
    """Return the kinds of values that `text` has."""
    kinds = Evidence(0)
    for kind, pattern in _IN_TEXT.items():
        if pattern.search(text):
            kinds |= kind
    return kinds


def find_in_parameters(stems: Collection[str], *, numeric: bool) -> Evidence:
    """Return the kinds that parameters ask for whose names have the `stems`; `numeric`: one of them is a number."""
    kinds = Evidence.NUMBER if numeric else Evidence(0)
    for kind, known in _STEMS.items():
        if not known.isdisjoint(stems):
            kinds |= kind
    return kinds
