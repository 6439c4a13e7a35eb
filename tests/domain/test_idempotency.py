"""Idempotency keys: one request per key, one attempt at a time, one answer."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.owners import idempotency
from ferryman.domain.owners.idempotency import (
    ATTEMPT,
    KEY_LIFETIME,
    AnsweredError,
    Completion,
    InProgressError,
    KeyedRequest,
    KeyReusedError,
    MalformedKeyError,
    claim_key,
    complete_request,
    parse_key,
    release_attempt,
)
from tests.builders import START

REQUEST = KeyedRequest(id="i", owner="o", fingerprint="f", seed="s1", claimed_at=START, until=START + ATTEMPT)
AGAIN = replace(REQUEST, seed="s2", claimed_at=START + ATTEMPT, until=START + 2 * ATTEMPT)
OTHER = replace(AGAIN, fingerprint="g")
ANSWERED = replace(REQUEST, until=None, answer=b"sealed")
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ('"a"', "a"),
        ('  "8e03978e-40d5"  ', "8e03978e-40d5"),
        (r'"say \"hi\" \\ twice"', r'say "hi" \ twice'),
        (f'"{"x" * 255}"', "x" * 255),
    ],
)
def test_a_key_is_one_string_in_double_quotes(header: str, key: str) -> None:
    assert parse_key(header) == key


@pytest.mark.parametrize(
    "header",
    ["", '""', "a", '"a', 'a"', '"a" "b"', '"a", "b"', '"a";x=1', '"\x7f"', '"é"', r'"\a"', '"a\n"', '\t"a"', f'"{"x" * 256}"'],
)
def test_anything_else_is_refused_with_the_form(header: str) -> None:
    with pytest.raises(MalformedKeyError, match="in double quotes, of 1 to 255 printable ASCII characters"):
        parse_key(header)


def test_a_key_belongs_to_its_owner_its_workspace_and_its_person() -> None:
    places = [("ann", "k", "w"), ("ben", "k", "w"), ("ann", "l", "w"), ("annk", "", "w"), ("ann", "k", "v")]
    people = [("ann", "k", "", ""), ("ann", "k", "", "person_1"), ("ann", "k", "w", "person_1")]
    ids = [idempotency.derive_id(owner, key, workspace=workspace) for owner, key, workspace in places]
    ids += [idempotency.derive_id(owner, key, workspace=place, person=person) for owner, key, place, person in people]
    assert (len(set(ids)), {len(name) for name in ids}) == (8, {64})
    assert idempotency.derive_id("ann", "k", workspace="w") in ids


def test_a_retry_finds_the_answer_from_before_there_were_workspaces() -> None:
    earlier = hashlib.sha256(b"ann\0k").hexdigest()
    assert idempotency.derive_id("ann", "k") == earlier


def test_what_a_request_creates_has_the_same_id_in_each_attempt() -> None:
    retried = replace(REQUEST, attempt=2, until=None)
    assert REQUEST.name("task") == retried.name("task")
    assert (REQUEST.name("task")[:5], len(REQUEST.name("task"))) == ("task_", 35)


def test_what_another_request_creates_has_another_id_and_so_has_another_kind_of_thing() -> None:
    names = {REQUEST.name("task"), AGAIN.name("task"), REQUEST.name("exec")}
    assert len({name.rpartition("_")[2] for name in names}) == 3


def test_a_key_is_free_for_the_first_request_and_again_after_a_day() -> None:
    assert claim_key(None, OTHER, now=START) is OTHER
    assert claim_key(ANSWERED, OTHER, now=START + KEY_LIFETIME) is OTHER


def test_until_then_it_belongs_to_its_request() -> None:
    with pytest.raises(KeyReusedError):
        claim_key(ANSWERED, OTHER, now=START + KEY_LIFETIME - SECOND)


def test_a_request_that_was_answered_is_answered_the_same() -> None:
    assert claim_key(ANSWERED, AGAIN, now=START + SECOND) is ANSWERED


def test_a_second_attempt_waits_until_the_first_one_ends() -> None:
    with pytest.raises(InProgressError):
        claim_key(REQUEST, AGAIN, now=START + ATTEMPT - SECOND)
    assert claim_key(REQUEST, AGAIN, now=START + ATTEMPT) == replace(REQUEST, attempt=2, until=START + 2 * ATTEMPT)


def test_an_attempt_that_was_released_lets_the_next_one_start_at_once() -> None:
    released = release_attempt(REQUEST, REQUEST)
    assert released == replace(REQUEST, until=None)
    assert claim_key(released, AGAIN, now=START).attempt == 2


@pytest.mark.parametrize(
    ("stored", "attempt"),
    [(None, REQUEST), (ANSWERED, REQUEST), (replace(REQUEST, attempt=2), REQUEST), (REQUEST, AGAIN)],
    ids=["expired", "answered", "another attempt", "another request"],
)
def test_an_attempt_releases_nothing_but_itself(stored: KeyedRequest | None, attempt: KeyedRequest) -> None:
    assert release_attempt(stored, attempt) is None


@pytest.mark.parametrize("stored", [REQUEST, replace(REQUEST, attempt=2), None, ANSWERED])
def test_the_answer_is_stored_once_whichever_attempt_has_it(stored: KeyedRequest | None) -> None:
    completed = complete_request(stored, Completion(request=REQUEST, answer=b"sealed"))
    assert completed == replace(stored or REQUEST, until=None, answer=b"sealed")


def test_an_attempt_that_comes_second_gets_the_first_one_s_answer() -> None:
    with pytest.raises(AnsweredError, match="answered already") as answered:
        complete_request(ANSWERED, Completion(request=REQUEST, answer=b"other"))
    assert answered.value.request is ANSWERED


def test_a_key_that_belongs_to_another_request_since_is_not_answered() -> None:
    with pytest.raises(InProgressError):
        complete_request(replace(AGAIN, answer=None), Completion(request=REQUEST, answer=b"sealed"))
