"""The numbers of a text: what an amount is compared with, whichever way it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from ferryman.domain.flow.packed import pack_numbers, unpack_numbers
from ferryman.domain.flow.tokens import SEPARATOR, TextToken
from ferryman.domain.flow.words import read_words

NUMBERS_MAX = 10_000
"""How many numbers of a text are remembered, the first ones."""

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,10})?")
_CURRENCY = re.compile(r"(?:[$€£¥₹₽₩]|[A-Z]{3}(?=\d))")
_UNITS = re.compile(r"(?:[$€£¥₹₽₩]|(?<=\d)[A-Z]{3})$")
_CURRENCIES = read_words("$ € £ ¥ ₹ euro euros dollar dollars pounds usd eur gbp chf jpy cad aud")
_NONE = Decimal(-1) / 7
"""No number of a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberPlace:
    """Where a number is in a text, and whether it is an amount of money there."""

    start: int
    end: int
    is_money: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberIndex:
    """The numbers of a text, packed: `joined` has them between separators; `places` where each begins and ends, and whether it
    is money there."""

    joined: str = field(repr=False)
    places: bytes = field(repr=False)

    def find(self, number: Decimal) -> NumberPlace | None:
        """Return where a number is; None where the text does not have it."""
        index = self.joined.find(f"{SEPARATOR}{_write(number)}{SEPARATOR}")
        if index < 0:
            return None
        position = 3 * self.joined.count(SEPARATOR, 0, index)
        start, end, is_money = unpack_numbers(self.places)[position : position + 3]
        return NumberPlace(start=start, end=end, is_money=bool(is_money))


def index_numbers(tokens: Iterable[TextToken], text: str) -> NumberIndex:
    """Return the numbers among the tokens of `text`, as `list_numbers` has them, for many texts to be remembered."""
    places = list_numbers(tokens, text)
    numbers = [value for place in places.values() for value in (place.start, place.end, place.is_money)]
    joined = SEPARATOR.join(["", *map(_write, places), ""]) if places else ""
    return NumberIndex(joined=joined, places=pack_numbers(numbers))


def read_number(token: str) -> Decimal | None:
    """Return the number that a token is; None where it is none. Of numbers of other scripts none is read."""
    if not token.isascii() or _NUMBER.fullmatch(token) is None:
        return None
    return Decimal(token.replace(",", "")).normalize()


def list_numbers(tokens: Iterable[TextToken], text: str) -> dict[Decimal, NumberPlace]:
    """Return the numbers among the tokens of `text`, each where it is an amount of money first, else where it is longest."""
    places: dict[Decimal, NumberPlace] = {}
    before, previous = "", _NONE
    for token in tokens:
        written = text[token.start : token.end]
        if not (written[0].isdigit() or written[-1].isdigit()) and token.form not in _CURRENCIES:
            before, previous = token.form, _NONE  # most are no numbers
            continue
        bare = _UNITS.sub("", _CURRENCY.sub("", written, count=1))
        number = read_number(bare)
        if number is not None and (number in places or len(places) < NUMBERS_MAX):
            place = NumberPlace(start=token.start, end=token.end, is_money=bare != written or before in _CURRENCIES)
            known = places.get(number)
            if known is None or _rank(place) > _rank(known):
                places[number] = place
        elif token.form in _CURRENCIES and previous in places:
            places[previous] = NumberPlace(start=places[previous].start, end=token.end, is_money=True)
        before, previous = token.form, number if number is not None else _NONE
    return places


def _write(number: Decimal) -> str:
    """Return the one way in which a number is written here: nothing is zero with a sign."""
    return str(number or abs(number))


def _rank(place: NumberPlace) -> tuple[bool, int]:
    return place.is_money, place.end - place.start
