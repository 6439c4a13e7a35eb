"""Scan: what looking for credentials costs, beside what writing the same body as JSON and a plain search for each value cost.

    python -m bench.scan

Prints milliseconds, best of several turns, and ratios: bodies of 50 KB and 2 MB with 1, 10 and 100 credentials, what it
takes to build the scanner, and the worst of the bodies made to be slow.
"""

from __future__ import annotations

import base64
import json
import random
import string
import time
from collections.abc import Callable
from typing import Any

from ferryman.domain.credentials.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.egress.leaks import SecretScanner, redact_text
from tests.egress.leaks.hostile import BODIES, filler

SMALL = 50_000
LARGE = 2_000_000
COUNTS = (1, 10, 100)
WORDS = ("the", "quick", "brown", "fox", "over", "lazy", "dog", "weather", "report", "title", "with", "price", "symbol")


def credentials(count: int) -> list[Credential]:
    """So many of the usual kind: a public prefix and 32 letters and digits."""
    dice = random.Random(3)
    made = []
    for number in range(count):
        label = Label(owner="o", task="t", name=f"K{number}", version=1, service="s", auth_type=AuthType.BEARER, hosts=())
        value = "sk-live-" + "".join(dice.choices(string.ascii_letters + string.digits, k=32))
        made.append(Credential(label=label, secret=Secret(value)))
    return made


def tree(size: int) -> dict[str, Any]:
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


def page(size: int) -> str:
    """Return a page of HTML of `size` characters."""
    dice = random.Random(6)
    rows = (
        f'<div class="row" id="r{row}"><a href="/x?y={row}&amp;z=1">{" ".join(dice.choices(WORDS, k=8))}</a>'
        "&nbsp;<p>&lt;b&gt;</p></div>\n"
        for row in range(size // 80)
    )
    return "".join(rows)[:size]


def best(action: Callable[[], object], turns: int) -> float:
    """Return the least time of `turns` on the processor, in milliseconds; what else the machine does is left out."""
    times = []
    for _ in range(turns):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times) * 1_000


def request(body: dict[str, Any]) -> OutboundRequest:
    return OutboundRequest(tool="http_post", method=Method.POST, url="https://api.example.com/v1/items?page=1", body=body)


def line(what: str, size: int, counted: int, took: float, beside: float, what_beside: str) -> None:
    print(
        f"{what:34} {size / 1_000:7,.0f} KB {counted:4} {took:9.2f} ms {took / beside:8.1f} x {what_beside} ({beside:.2f} ms)"
    )


def decoding(size: int, turns: int, counts: tuple[int, ...]) -> None:
    """Bodies that are decoded in full, beside writing the same records as JSON."""
    structure = tree(size)
    text = json.dumps(structure)
    blob = base64.b64encode(random.Random(7).randbytes(size * 3 // 4)).decode()
    beside = best(lambda: json.dumps(structure), turns)
    for count in counts:
        scanner = SecretScanner(credentials(count))
        outbound = request(structure)
        took = best(lambda scanner=scanner, outbound=outbound: scanner.find_in_request(outbound), turns)  # type: ignore[misc]  # bound per turn
        line("request, JSON tree", size, count, took, beside, "json.dumps")
        for kind, body in {"JSON text": text, "HTML": page(size), "base64 blob": blob}.items():
            took = best(lambda scanner=scanner, body=body: scanner.find(body), turns)  # type: ignore[misc]  # bound per turn
            line(f"decoded in full, {kind}", len(body), count, took, beside, "json.dumps of the records")


def searching(size: int, turns: int) -> None:
    """Bodies that are looked through, and as responses, beside a plain search for each value."""
    text = json.dumps(tree(size))
    for count in COUNTS:
        held = credentials(count)
        scanner = SecretScanner(held)
        values = [each.secret.reveal() for each in held]
        beside = best(lambda values=values: [value in text for value in values], turns)  # type: ignore[misc]  # bound per turn
        took = best(lambda scanner=scanner: scanner.find_spans(text), turns)  # type: ignore[misc]  # bound per turn
        line("needles only, JSON text", size, count, took, beside, "in, for each value")
        took = best(lambda scanner=scanner: redact_text(text, scanner), turns)  # type: ignore[misc]  # bound per turn
        line("response redacted, JSON text", size, count, took, beside, "in, for each value")


def building() -> None:
    """What each call pays before it scans anything."""
    for count in COUNTS:
        held = credentials(count)
        print(f"building the scanner, {count:3} keys {best(lambda held=held: SecretScanner(held), 9):8.2f} ms")  # type: ignore[misc]  # bound per turn


def hostile() -> None:
    """The worst of the bodies made to be slow."""
    scanner = SecretScanner(credentials(10))
    times = {kind: best(lambda text=filler(kind): scanner.find(text), 2) for kind in BODIES}  # type: ignore[misc]  # bound per turn
    for kind in sorted(times, key=lambda each: times[each], reverse=True)[:5]:
        print(f"made to be slow: {kind:40} {times[kind]:8.2f} ms")
    print(f"worst of {len(times)} bodies made to be slow: {max(times.values()):.2f} ms")


def main() -> None:
    print(f"{'body':34} {'size':>10} {'keys':>4} {'scan':>12} {'ratio':>10}")
    decoding(SMALL, 5, COUNTS)
    decoding(LARGE, 1, (10,))
    searching(SMALL, 5)
    searching(LARGE, 3)
    building()
    hostile()


if __name__ == "__main__":
    main()
