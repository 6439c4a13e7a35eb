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

from ferryman.domain.credential import AuthType, Credential, Label, Secret
from ferryman.domain.http import Method, Outbound
from ferryman.egress.leaks import Scanner
from tests.egress.leaks.hostile import BODIES

SMALL = 50_000
LARGE = 2_000_000
COUNTS = (1, 10, 100)
WORDS = "the quick brown fox jumps over lazy dog weather report title with price and symbol".split()


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
    """A body like those of APIs: records of numbers, identifiers, addresses, times and sentences, of `size` bytes as JSON."""
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
    """A page of HTML of `size` characters."""
    dice = random.Random(6)
    rows = (
        f'<div class="row" id="r{row}"><a href="/x?y={row}&amp;z=1">{" ".join(dice.choices(WORDS, k=8))}</a>&nbsp;<p>&lt;b&gt;</p></div>\n'
        for row in range(size // 80)
    )
    return "".join(rows)[:size]


def best(action: Callable[[], object], turns: int) -> float:
    """The least time of `turns` on the processor, in milliseconds; what else the machine does is left out."""
    times = []
    for _ in range(turns):
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times) * 1_000


def request(body: dict[str, Any]) -> Outbound:
    return Outbound(tool="http_post", method=Method.POST, url="https://api.example.com/v1/items?page=1", body=body)


def line(what: str, size: int, counted: int, took: float, beside: float, what_beside: str) -> None:
    print(
        f"{what:34} {size / 1_000:7,.0f} KB {counted:4} {took:9.2f} ms {took / beside:8.1f} x {what_beside} ({beside:.2f} ms)"
    )


def main() -> None:
    noise = random.Random(7)
    print(f"{'body':34} {'size':>10} {'keys':>4} {'scan':>12} {'ratio':>10}")
    for size, turns in ((SMALL, 9), (LARGE, 2)):
        structure = tree(size)
        text = json.dumps(structure)
        texts = {
            "JSON text": text,
            "HTML": page(size),
            "base64 blob": base64.b64encode(noise.randbytes(size * 3 // 4)).decode(),
        }
        for count in COUNTS if size == SMALL else (10,):
            scanner = Scanner(credentials(count))
            dumping = best(lambda: json.dumps(structure), turns)
            line(
                "request, JSON tree",
                size,
                count,
                best(lambda: scanner.outbound(request(structure)), turns),
                dumping,
                "json.dumps",
            )
            for kind, each in texts.items():
                took = best(lambda: scanner.find(each), turns)
                line(f"decoded in full, {kind}", len(each), count, took, dumping, "json.dumps of the JSON")
        for count in COUNTS:
            scanner = Scanner(credentials(count))
            values = [each.secret.reveal() for each in credentials(count)]
            plainly = best(lambda: [value in text for value in values], turns)
            line(
                "needles only, JSON text",
                size,
                count,
                best(lambda: scanner.spans(text), turns * 2),
                plainly,
                "in, for each value",
            )
            line(
                "response redacted, JSON text",
                size,
                count,
                best(lambda: scanner.redact(text), turns),
                plainly,
                "in, for each value",
            )
    for count in COUNTS:
        held = credentials(count)
        print(f"building the scanner, {count:3} keys {best(lambda: Scanner(held), 9):8.2f} ms")
    scanner = Scanner(credentials(10))
    times = {kind: best(lambda: scanner.find(body), 2) for kind, body in BODIES.items()}
    for kind in sorted(times, key=lambda each: times[each], reverse=True)[:9]:
        print(f"made to be slow: {kind:40} {times[kind]:8.2f} ms")
    print(f"worst of {len(times)} bodies made to be slow: {max(times.values()):.2f} ms")


if __name__ == "__main__":
    main()
