"""Shares: a number of tokens divided among the parts that it was counted for as a whole.

A provider counts the tokens of a prompt, and those of a reply. What they were used for is estimated: each part has the share of
its characters, and the shares sum up to the provider's number to the unit.
"""

from __future__ import annotations

from collections.abc import Sequence


def divide(total: int, weights: Sequence[int]) -> list[int]:
    """Divide `total` tokens in proportion to `weights`, such as characters (largest remainder; of equal ones, the first).

    The shares sum up to `total` exactly. Where no weight is above 0, the last one has all.
    """
    whole = sum(weights)
    if not whole:
        return [0] * (len(weights) - 1) + [total] if weights else []
    shares = [total * weight // whole for weight in weights]
    rests = sorted(range(len(weights)), key=lambda index: -(total * weights[index] % whole))
    for index in rests[: total - sum(shares)]:
        shares[index] += 1
    return shares
