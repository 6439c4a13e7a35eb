"""The doctor: examines a running deployment from outside, part by part, and tells what it found; it changes nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ferryman.composition.operator import Operator
from ferryman.domain.counts import say_count
from ferryman.domain.finding import DoctorFinding, Grade
from ferryman.domain.signed_request import IDENTITY_HEADER
from ferryman.gcp.examining import GoogleCloudExaminer
from ferryman.ports.errors import UnavailableError

ANSWERS_S = 20.0
SLOW_S = 2.0
LATE = timedelta(minutes=5)
SKEW_S, SKEW_MAX_S = 5.0, 60.0
"""A clock that is off by more is worth a look; identity tokens are refused when it is off by about a minute."""

STRANGER = "ferryman-stranger"
"""An account that no function knows."""

REFUSED = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
Row = Mapping[str, Any]


async def examine(operator: Operator, rows: Sequence[Row], queues: Sequence[str]) -> list[DoctorFinding]:
    """Return all findings, in the order of a call's way through the functions. What fails is a finding and never raised.

    `rows` are those of the table of functions.
    """
    examiner = GoogleCloudExaminer(operator.clients, operator.project, operator.location)
    async with httpx.AsyncClient(trust_env=False, timeout=ANSWERS_S, follow_redirects=False) as http:
        called = [row for row in rows if "anyone" not in row["callers"]]
        functions = [_api(operator, http), *(_function(operator, row, http) for row in called)]
        parts = [*await asyncio.gather(*map(_collect, functions))]
    parts += [await _collect(checks) for checks in (_queues(examiner, queues), _firestore(examiner), _keys(operator))]
    return [finding for part in parts for finding in part]


async def _collect(checks: AsyncGenerator[DoctorFinding, None]) -> list[DoctorFinding]:
    findings: list[DoctorFinding] = []
    try:
        async for finding in checks:
            findings += [finding]
    except Exception as error:  # noqa: BLE001 - Google's clients raise what they like; a doctor goes on to the next part
        is_known = isinstance(error, UnavailableError | httpx.HTTPError | KeyError | ValueError)
        seen = f"{type(error).__name__}: {error}" if is_known else type(error).__name__
        of = checks.__name__.strip("_")  # type: ignore[attr-defined] # a generator has its function's name
        findings.append(_wrong(of, "answer", seen))
    return findings


async def _api(operator: Operator, http: httpx.AsyncClient) -> AsyncGenerator[DoctorFinding, None]:
    url = operator.functions["api"]
    answer = await _request(http, f"{url}/healthz")
    if isinstance(answer, str):
        yield _wrong("api", "reachable", answer)
        return
    yield _is("api", "reachable", answer.status_code == httpx.codes.OK, f"{url} answers {answer.status_code}")
    skew = _skew(answer)
    if skew is not None:
        grade = Grade.WELL if skew <= SKEW_S else Grade.LOOK if skew <= SKEW_MAX_S else Grade.WRONG
        yield DoctorFinding(of="api", what="clock", grade=grade, seen=f"{skew:.0f} s away from this machine's")
    without = await http.get(f"{url}/v1/me")
    yield _is("api", "without a key", without.status_code in REFUSED, f"answers {without.status_code}")
    signed = {"Authorization": f"Bearer {operator.key}"}
    me = await http.get(f"{url}/v1/me", headers=signed)
    yield _is("api", "with your key", me.status_code == httpx.codes.OK, f"answers {me.status_code}")
    if me.status_code != httpx.codes.OK:
        return
    plans = {plan["name"] for plan in (await http.get(f"{url}/v1/plans", headers=signed)).json()["plans"]}
    mine = me.json()["plan"]
    yield _is("plans", "yours is known", mine in plans, f"{mine}, of {', '.join(sorted(plans))}")
    for name, key_store in (("receipts", operator.receipts), ("decisions", operator.decisions)):
        served = (await http.get(f"{url}/v1/{name[:-1]}-keys", headers=signed)).json()["keys"]
        known = {str(version.number) for version in await key_store.list_versions() if version.enabled}
        missing = ", ".join(sorted(known - set(served)))
        seen = f"versions {', '.join(served)}"
        if missing:
            seen += f"; {missing} is not handed out: run `ferryman keys rotate {name}`"
        yield _is(name, "public keys", bool(known) and not missing, seen)


async def _function(operator: Operator, row: Row, http: httpx.AsyncClient) -> AsyncGenerator[DoctorFinding, None]:
    name, url = row["name"], operator.functions[row["name"]]
    without = await _request(http, url)
    if isinstance(without, str):
        yield _wrong(name, "reachable", without)
        return
    refuses = without.status_code in REFUSED
    seen = f"answers {without.status_code}" + ("" if refuses else ": it is OPEN to anyone")
    yield _is(name, "without a token", refuses, seen)
    for account, what in ((STRANGER, "with a stranger's token"), (row["callers"][0], "with its caller's token")):
        token = await operator.token(account, url)
        if token is None:
            yield DoctorFinding(of=name, what=what, grade=Grade.LOOK, seen=f"not asked: you may not act as {account}")
            continue
        # in both headers that Google takes it from: one function has a token of ours in the first
        bearer = f"Bearer {token}"
        answer = await _request(http, url, {"Authorization": bearer, IDENTITY_HEADER: bearer})
        status = answer if isinstance(answer, str) else answer.status_code
        refused = status in REFUSED
        # only POST does anything, so that a look changes nothing
        fine = refused if account == STRANGER else isinstance(status, int) and not refused and status < 500
        yield _is(name, what, fine, f"answers {status}")


async def _queues(examiner: GoogleCloudExaminer, queues: Sequence[str]) -> AsyncGenerator[DoctorFinding, None]:
    for queue in await examiner.queues(queues):
        yield _is(f"queue {queue.name}", "running", queue.state == "RUNNING", queue.state.lower())
        late = queue.late.total_seconds()
        grade = Grade.WELL if queue.late <= LATE else Grade.LOOK
        seen = f"{queue.waiting} waiting" + (f", the oldest due for {late:.0f} s" if late >= 1 else "")
        yield DoctorFinding(of=f"queue {queue.name}", what="tasks", grade=grade, seen=seen)


async def _firestore(examiner: GoogleCloudExaminer) -> AsyncGenerator[DoctorFinding, None]:
    switch = await examiner.read_switch()
    grade = Grade.WELL if switch.seconds <= SLOW_S else Grade.LOOK
    yield DoctorFinding(of="firestore", what="reachable", grade=grade, seen=f"answers in {switch.seconds * 1000:.0f} ms")
    grade, seen = (Grade.LOOK, "on: no execution starts") if switch.on else (Grade.WELL, "off")
    yield DoctorFinding(of="kill switch", what="everybody's", grade=grade, seen=seen)


async def _keys(operator: Operator) -> AsyncGenerator[DoctorFinding, None]:
    versions = {version.number: version for version in await operator.sealing.list_versions()}
    enabled = sorted(number for number, version in versions.items() if version.enabled)
    seen = f"enabled: {', '.join(map(str, enabled)) or 'none'}"
    if len(enabled) > 1:
        seen += "; a rotation was not finished: run `ferryman keys rotate`"
    grade = Grade.WELL if len(enabled) == 1 else Grade.LOOK if enabled else Grade.WRONG
    yield DoctorFinding(of="sealing key", what="versions", grade=grade, seen=seen)
    counts = Counter(credential.version for credential in await operator.sealed_inventory.list_credentials())
    calls = await operator.sealed_inventory.count_calls()
    for number in sorted(counts.keys() | calls.keys()):
        readable = number in enabled
        seen = f"{say_count(counts[number], 'credentials')}, {say_count(calls.get(number, 0), 'calls')} under way"
        if not readable:
            seen += f"; version {number} cannot be read: run `ferryman keys rotate`, or store them again"
        yield _is("sealing key", f"held by version {number}", readable, seen)


async def _request(http: httpx.AsyncClient, url: str, headers: Mapping[str, str] | None = None) -> httpx.Response | str:
    try:
        return await http.get(url, headers=headers)
    except httpx.HTTPError as error:
        return f"{url} does not answer ({type(error).__name__})"


def _skew(answer: httpx.Response) -> float | None:
    try:
        return abs((parsedate_to_datetime(answer.headers["date"]) - datetime.now(UTC)).total_seconds())
    except (KeyError, ValueError, TypeError):
        return None


def _is(of: str, what: str, fine: bool, seen: str) -> DoctorFinding:
    return DoctorFinding(of=of, what=what, grade=Grade.WELL if fine else Grade.WRONG, seen=seen)


def _wrong(of: str, what: str, seen: str) -> DoctorFinding:
    return _is(of, what, fine=False, seen=seen)
