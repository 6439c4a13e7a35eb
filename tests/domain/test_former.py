"""Former values: kept for a day after their end, five of them, the newest first."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValue, FormerValues, add_former, replace_sealed, select_current
from tests.builders import START, build_label

DAY = timedelta(days=1)
MOMENT = timedelta(microseconds=1)


def seal(version: int, *, key_version: int = 1) -> SealedCredential:
    label = build_label(version=version)
    return SealedCredential(label=label, ciphertext=b"", key_version=key_version, created_at=START, updated_at=START)


def list_versions(former: FormerValues) -> list[int]:
    return [value.sealed.label.version for value in former.values]


def test_the_first_value_that_ends_is_kept_for_a_day():
    assert add_former(None, seal(1), now=START) == FormerValues(
        task="t", name="K", values=(FormerValue(sealed=seal(1), until=START + DAY),)
    )


def test_a_value_that_ended_later_comes_first():
    former = add_former(add_former(None, seal(1), now=START), seal(2), now=START + MOMENT)
    assert list_versions(former) == [2, 1]


def test_a_value_is_dropped_as_soon_as_its_day_is_over():
    first = add_former(None, seal(1), now=START)
    assert list_versions(add_former(first, seal(2), now=START + DAY - MOMENT)) == [2, 1]
    assert list_versions(add_former(first, seal(2), now=START + DAY)) == [2]


def test_the_five_newest_are_kept():
    former = None
    for version in range(1, 8):
        former = add_former(former, seal(version), now=START)
    assert former is not None
    assert list_versions(former) == [7, 6, 5, 4, 3]


def test_a_value_is_current_until_its_time():
    value = FormerValue(sealed=seal(1), until=START)
    assert (select_current([value], START - MOMENT), select_current([value], START)) == ((value,), ())


def test_all_are_opened_by_the_oldest_key_and_scanned_for_until_the_latest_time():
    values = tuple(
        FormerValue(sealed=seal(1, key_version=key), until=START + timedelta(hours=hours))
        for key, hours in ((3, 2), (2, 3), (4, 1))
    )
    former = FormerValues(task="t", name="K", values=values)
    assert (former.key_version, former.until) == (2, START + timedelta(hours=3))


def test_values_that_were_sealed_again_keep_their_time_and_the_others_are_dropped():
    first, second = (FormerValue(sealed=seal(version), until=START + version * DAY) for version in (1, 2))
    former = FormerValues(task="t", name="K", values=(second, first))
    again = seal(2, key_version=2)
    assert replace_sealed(former, [(second, again)]) == replace(former, values=(replace(second, sealed=again),))
