"""Requests: places to put a secret, ways to split it over them, and harmless text that resembles one."""

from __future__ import annotations

import base64
import gzip
import random
from collections.abc import Iterator
from urllib.parse import quote

from tests.egress.leaks.corpus import HOST, KINDS, draw, encode_base64, wrap_lines


def places(written: str) -> dict[str, dict[str, object]]:
    """Return fields of a request that contains `written`, by place."""
    escaped = quote(written, safe="", errors="replace")
    return {
        "body value": {"body": {"note": written}},
        "body value, in a sentence": {"body": {"q": "weather", "note": f"see {written} there", "n": 4}},
        "body, nested": {"body": {"a": [{"b": [1, None, {"c": written}]}]}},
        "body key": {"body": {written: 1}},
        "path": {"url": f"https://{HOST}/v1/{escaped}/x"},
        "query value": {"url": f"https://{HOST}/v1?a=b&q={escaped}"},
        "query name": {"url": f"https://{HOST}/v1?{escaped}"},
        "fragment": {"url": f"https://{HOST}/v1#{escaped}"},
        "query_params": {"query_params": {"q": written}},
        "query_params, in a list": {"query_params": {"q": ["a", written]}},
        "query_params name": {"query_params": {written: "a"}},
        "header value": {"headers": {"x-note": written}},
        "header name": {"headers": {written: "a"}},
        "credential": {"credential": written},
        "method": {"method": written},
        "tool": {"tool": written},
    }


def labels(value: str) -> Iterator[tuple[str, str]]:
    """Yield URLs with `value` in the labels of their host."""
    hexadecimal, base32 = value.encode().hex(), base64.b32encode(value.encode()).decode().rstrip("=").lower()
    bare = "".join(character for character in value if character.isalnum())
    for name, written in (("plain", bare), ("hexadecimal", hexadecimal), ("base32", base32)):
        for width in (60, 10):
            yield f"{name} of {width}", f"https://{wrap_lines(written, width, '.')}.{HOST}/"


def splits(value: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield fields of requests over whose parts `value` is spread."""
    middle = len(value) // 2
    head, tail = value[:middle], value[middle:]
    thirds = wrap_lines(value, -(-len(value) // 3), "\0").split("\0")
    eights = wrap_lines(value, 8, "\0").split("\0")
    yield "path segments", {"url": f"https://{HOST}/{quote(head, safe='')}/{quote(tail, safe='')}"}
    yield "path segments of eight", {"url": f"https://{HOST}/" + "/".join(quote(eight, safe="") for eight in eights)}
    yield "query parameters", {"url": f"https://{HOST}/?a={quote(head, safe='')}&b={quote(tail, safe='')}"}
    yield (
        "query parameters of eight",
        {"url": f"https://{HOST}/?" + "&".join(f"p{place}={quote(eight, safe='')}" for place, eight in enumerate(eights))},
    )
    yield "query_params", {"query_params": {f"k{place}": eight for place, eight in enumerate(eights)}}
    yield "path and query", {"url": f"https://{HOST}/{quote(head, safe='')}?x={quote(tail, safe='')}"}
    yield "headers", {"headers": {"x-a": head, "x-b": tail}}
    yield "three headers", {"headers": {f"x-{place}": third for place, third in enumerate(thirds)}}
    yield "header and body", {"headers": {"x-a": head}, "body": {"a": tail}}
    yield "path and body", {"url": f"https://{HOST}/{quote(head, safe='')}", "body": {"a": tail}}
    yield "body leaves", {"body": {"a": head, "b": tail}}
    yield "body leaves, deep", {"body": {"a": {"b": [head]}, "c": {"d": {"e": tail}}}}
    yield "a list of parts", {"body": {"parts": eights}}
    yield "a list of characters", {"body": {"parts": list(value)}}
    yield "a list of codes", {"body": {"parts": list(value.encode())}}
    yield "numbered parts", {"body": {"parts": [{"n": place, "part": eight} for place, eight in enumerate(eights)]}}
    yield "keys", {"body": {third: place for place, third in enumerate(thirds)}}
    yield "lists of two", {"body": {"parts": [[place, third] for place, third in enumerate(thirds)]}}
    yield "each part in base64", {"body": {"a": encode_base64(head.encode()), "b": encode_base64(tail.encode())}}
    yield "each part in hexadecimal", {"body": {"a": head.encode().hex(), "b": tail.encode().hex()}}
    yield "each part reversed", {"body": {"a": tail[::-1], "b": head[::-1]}}
    coded = encode_base64(value.encode())
    yield "base64 over leaves", {"body": {"a": coded[:10], "b": coded[10:31], "c": coded[31:]}}
    coded = value.encode().hex()
    yield "hexadecimal over leaves", {"body": {"a": coded[:15], "b": coded[15:33], "c": coded[33:]}}
    yield "hexadecimal over segments", {"url": f"https://{HOST}/{coded[:15]}/{coded[15:33]}/{coded[33:]}"}


def fragments(secret: str) -> Iterator[str]:
    """Yield every other contiguous 16 letters and digits of `secret`."""
    bare = "".join(character for character in secret if character.isalnum())
    yield from (bare[start : start + 16] for start in range(0, len(bare) - 15, 2))


def crumbs(secret: str) -> Iterator[str]:
    """Yield eight letters and digits of `secret`: too few to matter."""
    bare = "".join(character for character in secret if character.isalnum())
    yield from (bare[start : start + 8] for start in range(0, len(bare) - 7, 4))


def harmless() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield fields of ordinary requests, each with its class."""
    dice = random.Random(77)
    for _ in range(8):
        yield (
            "hashes",
            {
                "body": {
                    "sha256": dice.randbytes(32).hex(),
                    "md5": dice.randbytes(16).hex(),
                    "etag": f'"{dice.randbytes(10).hex()}"',
                }
            },
        )
        yield "UUIDs", {"body": {"ids": ["-".join(dice.randbytes(size).hex() for size in (4, 2, 2, 2, 6)) for _ in range(20)]}}
        yield (
            "base64",
            {"body": {"image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg" + encode_base64(dice.randbytes(3_000))}},
        )
        yield (
            "compressed",
            {"body": {"blob": encode_base64(gzip.compress(("An ordinary log line. " * dice.randrange(5, 90)).encode()))}},
        )
        yield (
            "numbers",
            {"body": {"series": [dice.randrange(256) for _ in range(300)], "prices": [dice.random() for _ in range(60)]}},
        )
        yield (
            "other tokens",
            {"body": {"jwt": f"{KINDS['JWT'].rpartition('.')[0]}.{draw(dice.randrange(10**6), 43)}"}},
        )
        yield (
            "other tokens",
            {
                "body": {
                    "key": f"sk-ant-api03-{draw(dice.randrange(10**6), 60)}",
                    "user": f"reporter:{draw(dice.randrange(10**6), 22)}",
                }
            },
        )
    for prefix in (
        "sk-ant-api03-",
        "sk-ant-",
        "sk-proj-",
        "ghp_",
        "github_pat_",
        "AKIA",
        "xoxb-",
        "AIza",
        "glpat-",
        "Bearer ",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    ):
        yield "public prefixes", {"body": {"help": f"Keys of this service begin with {prefix} and are secret."}}
        yield "public prefixes", {"headers": {"x-kind": prefix}}
    yield "public parts", {"body": {"head": KINDS["JWT"].rpartition(".")[0]}}
    yield "public parts", {"body": {"head": KINDS["JWT"].split(".")[1]}}
    yield "public parts", {"body": {"user": "reporter"}}
    for name in (
        "NEWS_KEY",
        "{{NEWS_KEY}}",
        "${NEWS_KEY}",
        "<YOUR_API_KEY>",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "[redacted:NEWS_KEY]",
        "********",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "0" * 64,
        "a" * 500,
    ):
        yield "names and placeholders", {"body": {"key": name}}
        yield "names and placeholders", {"headers": {"x-key": name}}
    for text in (
        "Ein ganz gewöhnlicher Satz über das Wetter in Köln, mit Umlauten und ß. " * 30,
        "これは普通の日本語の文章です。秘密は何もありません。" * 40,
        "Обычный русский текст о погоде и ничего больше. " * 40,
        "مرحبا بالعالم هذا نص عادي " * 40,
        "👍🏽 👩‍👩‍👧‍👦 ＦＵＬＬ ｗｉｄｔｈ 𝐛𝐨𝐥𝐝 " * 40,
    ):
        yield "other scripts", {"body": {"text": text}}
        yield "other scripts", {"url": f"https://{HOST}/s?q={quote(text)[:1_500]}"}
    for code in (
        "for (let i = 0; i < 10; i++) { console.log(`${i}: ${'x'.repeat(i)}`); } // \\u0041 &amp; %20\n" * 30,
        "def f(x):\n    return base64.b64encode(x.encode()).decode()  # noqa\n" * 30,
        '<div class="a-b_c"><a href="/x?y=1&amp;z=%2F">caf&eacute;</a></div>\n' * 40,
        "SELECT id, name FROM users WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 65, 66, 67) -- 0x41 0x42\n" * 20,
        "-----BEGIN CERTIFICATE-----\n"
        + wrap_lines(encode_base64(random.Random(5).randbytes(900)), 64)
        + "\n-----END CERTIFICATE-----",
    ):
        yield "code and documents", {"body": {"source": code}}
    yield (
        "ordinary calls",
        {"url": f"https://{HOST}/v1/forecast?latitude=52.52&longitude=13.41&hourly=temperature_2m&timezone=Europe%2FBerlin"},
    )
    yield (
        "ordinary calls",
        {
            "headers": {
                "accept": "application/json",
                "if-none-match": 'W/"0815-abc"',
                "x-request-id": "b5c1e2a0-5a6e-4f6e-9d6b-0f6f0a0c1a11",
            }
        },
    )
    yield (
        "ordinary calls",
        {
            "body": {
                "rows": [{"id": row, "name": f"Row {row}", "at": f"2026-01-{row % 28 + 1:02}T00:00:00Z"} for row in range(200)]
            }
        },
    )
