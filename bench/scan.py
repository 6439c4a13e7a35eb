"""What searching for credentials costs, beside writing the same body as JSON and a plain search for each value.

    python -m bench.scan [parts]

Measures the row of the table: an answer of 50 KB with ten credentials, scanned and cut by a worker process. With `parts` it
prints milliseconds, the best of several turns, and ratios: bodies of 50 KB and 2 MB with 1, 10 and 100 credentials, building
the scanner, and the worst of the bodies made to be slow.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import statistics
import string
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench import Row, show
from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.egress import checks
from ferryman.egress.checking import CallChecker
from ferryman.egress.leaks import SecretScanner, redact_text
from tests.egress.leaks.hostile import BODIES, filler

SMALL = 50_000
LARGE = 2_000_000
COUNTS = (1, 10, 100)
BAR_MS, ANSWERS = 10.0, 15
WORDS = ("the", "quick", "brown", "fox", "over", "lazy", "dog", "weather", "report", "title", "with", "price", "symbol")


def make_credentials(count: int) -> list[Credential]:
    """Create `count` credentials of the usual kind: a public prefix and 32 letters and digits."""
    dice = random.Random(3)
    generated = []
    for number in range(count):
        label = Label(owner="o", task="t", name=f"K{number}", version=1, service="s", auth_type=AuthType.BEARER, hosts=())
        value = "sk-live-" + "".join(dice.choices(string.ascii_letters + string.digits, k=32))
        generated.append(Credential(label=label, secret=Secret(value)))
    return generated


def build_tree(size: int) -> dict[str, Any]:
    """Return a body like those of APIs: records of numbers, identifiers, addresses, times and sentences, of `size` bytes as
    JSON."""
    dice = random.Random(5)
    items: list[Any] = []
    length = 0
    while length < size:
        hexadecimal = f"{dice.getrandbits(128):032x}"
        item = {
            "id": len(items),
            "uuid": "-".join((hexadecimal[:8], hexadecimal[8:12], hexadecimal[12:16], hexadecimal[16:20], hexadecimal[20:])),
            "title": " ".join(dice.choices(WORDS, k=10)),
            "price": round(dice.random() * 1_000, 2),
            "tags": dice.choices(WORDS, k=3),
            "url": f"https://example.com/a/{len(items)}?q={dice.choice(WORDS)}",
            "active": True,
            "at": "2026-01-02T03:04:05Z",
            "author": {"name": " ".join(dice.choices(WORDS, k=2)).title(), "email": "a@example.com"},
            "note": 'He said "ok" — naïve\n',
        }
        items.append(item)
        length += len(json.dumps(item)) + 2
    return {"items": items}


def build_page(size: int) -> str:
    """Return a page of HTML of `size` characters."""
    dice = random.Random(6)
    rows = (
        f'<div class="row" id="r{row}"><a href="/x?y={row}&amp;z=1">{" ".join(dice.choices(WORDS, k=8))}</a>'
        "&nbsp;<p>&lt;b&gt;</p></div>\n"
        for row in range(size // 80)
    )
    return "".join(rows)[:size]


def measure_best(action: Callable[[], object], turns: int) -> float:
    """Return the least time of `turns` on the processor, in milliseconds; what else the machine does is left out."""
    times = []
    for _ in range(turns):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times) * 1_000


def build_request(body: dict[str, Any]) -> OutboundRequest:
    return OutboundRequest(tool="http_post", method=Method.POST, url="https://api.example.com/v1/items?page=1", body=body)


def print_row(name: str, size: int, keys: int, took_ms: float, baseline_ms: float, baseline: str) -> None:
    beside = f"{took_ms / baseline_ms:8.1f} x {baseline} ({baseline_ms:.2f} ms)"
    print(f"{name:34} {size / 1_000:7,.0f} KB {keys:4} {took_ms:9.2f} ms {beside}")


def measure_decoding(size: int, turns: int, counts: tuple[int, ...]) -> None:
    """Measure bodies that are decoded in full, beside writing the same records as JSON."""
    structure = build_tree(size)
    text = json.dumps(structure)
    blob = base64.b64encode(random.Random(7).randbytes(size * 3 // 4)).decode()
    baseline = measure_best(lambda: json.dumps(structure), turns)
    for count in counts:
        scanner = SecretScanner(make_credentials(count))
        outbound = build_request(structure)
        duration = measure_best(lambda scanner=scanner, outbound=outbound: scanner.find_in_request(outbound), turns)  # type: ignore[misc]  # bound per turn
        print_row("request, JSON tree", size, count, duration, baseline, "json.dumps")
        for kind, body in {"JSON text": text, "HTML": build_page(size), "base64 blob": blob}.items():
            duration = measure_best(lambda scanner=scanner, body=body: scanner.find(body), turns)  # type: ignore[misc]  # bound per turn
            print_row(f"decoded in full, {kind}", len(body), count, duration, baseline, "json.dumps of the records")


def measure_searching(size: int, turns: int) -> None:
    """Measure bodies that are only searched, and as responses, beside a plain search for each value."""
    text = json.dumps(build_tree(size))
    for count in COUNTS:
        keys = make_credentials(count)
        scanner = SecretScanner(keys)
        values = [credential.secret.reveal() for credential in keys]
        baseline = measure_best(lambda values=values: [value in text for value in values], turns)  # type: ignore[misc]  # bound per turn
        duration = measure_best(lambda scanner=scanner: scanner.find_spans(text), turns)  # type: ignore[misc]  # bound per turn
        print_row("secrets only, JSON text", size, count, duration, baseline, "in, for each value")
        duration = measure_best(lambda scanner=scanner: redact_text(text, scanner), turns)  # type: ignore[misc]  # bound per turn
        print_row("response redacted, JSON text", size, count, duration, baseline, "in, for each value")


def measure_building() -> None:
    """Measure what each call pays before it scans anything."""
    for count in COUNTS:
        keys = make_credentials(count)
        print(f"building the scanner, {count:3} keys {measure_best(lambda keys=keys: SecretScanner(keys), 9):8.2f} ms")  # type: ignore[misc]  # bound per turn


def measure_hostile() -> None:
    """Measure the bodies made to be slow, and print the worst."""
    scanner = SecretScanner(make_credentials(10))
    times = {kind: measure_best(lambda text=filler(kind): scanner.find(text), 2) for kind in BODIES}  # type: ignore[misc]  # bound per turn
    for kind in sorted(times, key=times.__getitem__, reverse=True)[:5]:
        print(f"made to be slow: {kind:40} {times[kind]:8.2f} ms")
    print(f"worst of {len(times)} bodies made to be slow: {max(times.values()):.2f} ms")


def rows() -> Iterator[Row]:
    """Measure an answer that a worker reads: its time there, and what it takes of the event loop."""
    yield asyncio.run(_measure_answer())


async def _measure_answer() -> Row:
    text = json.dumps(build_tree(SMALL))
    inbound = InboundResponse(
        status=200, headers=(("content-type", "application/json"),), body=text.encode(), size_bytes=len(text)
    )
    keys = {credential.name: credential for credential in make_credentials(10)}
    policy = ExecutionPolicy(
        owner="o", task="t", plan=PRO, tools=("http_post",), integrations=("s",), domains=("api.example.com",)
    )
    checker = CallChecker(policy=policy, outbound=build_request({}), credentials=keys)
    loop_ms, worker_ms = [], []
    for _ in range(ANSWERS):
        began = time.process_time()
        assert (await checker.build_result(inbound, "0" * 16)).response_status == 200
        loop_ms.append((time.process_time() - began) * 1_000)
        worker_ms.append(measure_best(lambda: checks.build_result(checker.outbound, keys, inbound, "0" * 16), 1))
    spent_ms = statistics.median(worker_ms)
    note = f"{statistics.median(loop_ms):.2f} ms of the event loop"
    return Row(
        "a 50 KB answer with 10 credentials, scanned and cut",
        "<= 10 ms, off the loop",
        f"{spent_ms:.1f} ms",
        spent_ms <= BAR_MS,
        note,
    )


def print_parts() -> None:
    print(f"{'body':34} {'size':>10} {'keys':>4} {'scan':>12} {'ratio':>10}")
    measure_decoding(SMALL, 5, COUNTS)
    measure_decoding(LARGE, 1, (10,))
    measure_searching(SMALL, 5)
    measure_searching(LARGE, 3)
    measure_building()
    measure_hostile()


if __name__ == "__main__":
    if sys.argv[1:] == ["parts"]:
        print_parts()
    else:
        sys.exit(show(rows()))
