"""Malformed URLs: what a hostile model may write for an approved host, by class, outside the grammar."""

from __future__ import annotations

from itertools import product

from tests.egress.urls import EVIL, HOST, LABEL, at, notations

PORTS = [
    *("", "0", "1", "22", "80", "442", "444", "4430", "8080", "8443", "65535", "65536", "65979", "99999999999", "-443", "+443"),
    *("0443", "00443", "443.", "443.0", "4_43", "0x1bb", "0o673", "443e0", "４４３", "٤٤٣", "443x", "x", "443:443", ":443"),
    *("443%20", "%34%34%33", " 443", "443 ", "443\t", "4\n43", "443\\", "443@", "https", "-1", "1e3", "443;", "443,80", "443'"),
]
SPACES = [
    *map(chr, (*range(0x21), *range(0x7F, 0xA1))),
    *"\u1680\u2002\u2003\u2009\u200b\u2028\u2029\u202f\u205f\u3000\ufeff\xad",
]
SIX = [
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "fe80::1", "fe80::1%25eth0"),
    *("fe80::1%eth0", "fd00:ec2::254", "fd20:ce::254", "2002:7f00:1::", "2606:4700::1111", "0:0:0:0:0:ffff:a9fe:a9fe"),
    *("::1%25", "::1%25%31", "v1.a", "vF.::1", "::ffff:0x7f.1", "1", "", "::1.", "ff02::1", "[::1]"),
]
WORDS = "①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "api．news.test", "api。news.test", "ａｐｉ.news.test", "аpi.news.test"

GRAMMAR: dict[str, list[str]] = {
    "userinfo": [
        *(
            at(f"{user}@{HOST}")
            for user in ("", "a", "a:b", ":", "a:", ":b", "%41", "a%40b", EVIL, f"{EVIL}:443", "@", "a@b", "[")
        ),
        *(at(f"{HOST}@{evil}") for evil in (EVIL, "127.0.0.1", "[::1]", f"{EVIL}:443", "2130706433", HOST, f"{HOST}:443")),
        *(at(f"{HOST}:443@{EVIL}"), at(f"{HOST}&@{EVIL}#@x"), f"https://@{HOST}", f"https://a@{HOST}?x", f"https://a@{HOST}#x"),
        *(f"https://{HOST}@/v1", "https://@/", "https://:@/", f"https://a:b:c@{HOST}/", f"https://a;b@{HOST}/"),
    ],
    "backslash": [
        *(f"https:\\\\{HOST}/", f"https:/\\{HOST}/", f"https:\\/{HOST}/", f"https://{HOST}\\", f"https://{HOST}\\@{EVIL}/"),
        *(f"https://{EVIL}\\@{HOST}/", f"https://{HOST}/\\", f"https://{HOST}\\.{EVIL}/", f"https://{HOST}/a\\..\\b"),
        *(
            f"https://{HOST}/?\\",
            f"https://{HOST}/#\\",
            f"\\https://{HOST}/",
            f"https://{HOST}:443\\@{EVIL}/",
            f"\\\\{HOST}\\v1",
        ),
    ],
    "characters": [
        *(form for space in SPACES for form in (at(f"{HOST}{space}"), at(f"api{space}.news.test"), at(HOST, f"/a{space}b"))),
        *(form for space in SPACES[:34] for form in (f"{space}{at(HOST)}", f"{at(HOST)}{space}", f"ht{space}tps://{HOST}/")),
        *(at(HOST, f"/?q={character}") for character in "üñ日😀\u202e\ud800\U000e0041"),
        *(at(HOST, f"/#{character}") for character in "ü\x00\n \u200d"),
    ],
    "unicode hosts": [
        *map(at, WORDS),
        *(at(f"api{dot}news{dot}test") for dot in "。．｡․‥…·﹒"),
        *(at(f"api.new{letter}.test") for letter in "ѕｓꜱſ𝐬ⓢˢ"),
        *(at(HOST.replace(".", f"{character}.", 1)) for character in "\u200b\u200c\u200d\u2060\xad\ufeff\u180e\u034f"),
        *(at(f"{HOST}{slash}x") for slash in "⁄∕／⧸＼﹨"),
        *(at(f"{EVIL}{character}{HOST}") for character in "＠﹫？﹖＃﹟：﹕"),
        *(
            "https://bücher.test/",
            "https://api.news.tést/",
            "https://ß.wild.test/",
            "https://ẞ.wild.test/",
            "https://ﬀ.wild.test/",
        ),
        *("ｈttps://api.news.test/", "https：//api.news.test/", "https:／／api.news.test/", "httpſ://api.news.test/"),
    ],
    "percent in the host": [
        *map(at, ("%61pi.news.test", "api%2enews.test", "api.news.test%2f", "api.news.test%23", "api.news.test%40evil.test")),
        *map(
            at,
            (
                "api.news.test%00",
                "api.news.test%0a",
                "%00api.news.test",
                "127%2e0%2e0%2e1",
                "api.news.test%",
                "%",
                "a%2",
                "%25",
            ),
        ),
        *map(at, ("api.news.test%3a443", "api.news.test%5c", "%5b::1%5d", "api.news.test%20", "%E3%80%82.test", "a%zz.test")),
    ],
    "ports": [*(at(f"{HOST}:{port}") for port in PORTS), *(f"https://{HOST}:{port}" for port in ("", "80", "443x", "@"))],
    "IPv4 literals": [
        *map(
            at,
            dict.fromkeys(
                name for character in ("169.254.169.254", "127.0.0.1", "10.0.0.1", "8.8.8.8") for name in notations(character)
            ),
        ),
        *map(
            at,
            (
                "0",
                "127.1",
                "127.0.1",
                "0x7f.1",
                "0x7f.0x1",
                "0177.1",
                "1.1.1.1",
                "255.255.255.255",
                "0.0.0.0",
                "256.256.256.256",
            ),
        ),
        *(f"https://{character}:443/" for character in ("127.0.0.1", "2130706433", "0x7f000001")),
    ],
    "IPv6 literals": [
        *(at(f"[{character}]") for character in SIX),
        *(at(f"[{character}]:443") for character in SIX[:6]),
        *map(
            at, ("::1", "fe80::1", "[::1].evil.test", "[::1]evil.test", f"[{HOST}]", "[::1", "::1]", f"{HOST}[::1]", "[]", "][")
        ),
    ],
    "trailing dots": [
        *map(at, (f"{HOST}.", f"{HOST}..", f"{HOST}.:443", "api..news.test", f".{HOST}", ".", "..", ".test", "api.", "a..b"))
    ],
    "single labels": [
        *map(at, ("localhost", "metadata", "kubernetes", "test", "a", "x1", "router", "intranet", "com", "LOCALHOST", "a-b")),
        *(f"https://{name}:443/" for name in ("localhost", "metadata", "wpad")),
    ],
    "numeric last labels": [
        *(
            at(f"{head}.{last}")
            for head, last in product((HOST, "a"), ("0", "1", "127", "00", "443", "4294967295", "09", "9" * 20))
        ),
        *(at(f"{head}.{last}") for head, last in product((HOST, "a"), ("0x", "0X", "0x0", "0x7f", "0X7F", "0xdeadBEEF"))),
    ],
    "schemes": [
        *(
            f"{scheme}://{HOST}/"
            for scheme in ("http", "HTTP", "ftp", "ws", "wss", "file", "gopher", "dict", "ldap", "data", "blob")
        ),
        *(
            f"{scheme}://{HOST}/"
            for scheme in ("httpss", "https+x", "https.", "xhttps", "shttp", "https-", "h", "view-source:https")
        ),
        *(
            f"{scheme}://{HOST}/"
            for scheme in ("", "0https", "https:https", "url:https", "jar:https", "javascript", "unix", "https%3a")
        ),
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "about:blank",
            "mailto:a@b.test",
            f"blob:https://{HOST}/",
        ),
    ],
    "slashes": [
        *(
            f"https:{HOST}/",
            f"https:/{HOST}/",
            f"https:///{HOST}/",
            f"https:////{HOST}/",
            f"//{HOST}/",
            f"/{HOST}/",
            HOST,
            f"{HOST}/v1",
        ),
        *(
            "https:",
            "https:/",
            "https://",
            "https:///",
            "https://?",
            "https://#",
            "https://:443/",
            "",
            "/",
            "?",
            "#",
            "://",
            "https",
        ),
        *(
            f"https//{HOST}/",
            f"https;//{HOST}/",
            f"https:://{HOST}/",
            f"https:/ /{HOST}/",
            f"https:/./{HOST}/",
            f"<https://{HOST}/>",
        ),
        *(
            f'"https://{HOST}/"',
            f"(https://{HOST}/)",
            f"[x](https://{HOST}/)",
            f"URL:https://{HOST}/",
            f"{HOST}:443",
            f"@https://{HOST}/",
        ),
    ],
    "labels": [
        *map(
            at,
            (
                f"{LABEL}a.test",
                f"a.{LABEL}a",
                ".".join([LABEL] * 4),
                f"{'a.' * 126}ab",
                "-a.test",
                "a-.test",
                "a.-test",
                "a.test-",
            ),
        ),
        *map(
            at,
            (
                "a_b.test",
                "_dmarc.test",
                "a b.test",
                "*.wild.test",
                "*",
                "$(x).test",
                "a!.test",
                "a,b.test",
                "a;b.test",
                "a'b.test",
            ),
        ),
        *(at(f"api{character}news.test") for character in "!\"$&'()*+,;<=>^`{|}~_"),
        *(at(f"{HOST}{character}") for character in "!\"$&'()*+,;<=>^`{|}~_"),
    ],
    "length": [
        at(HOST, "/" + "a" * 2_048),
        at(HOST, "/?" + "a" * 2_048),
        at(HOST, "/#" + "a" * 2_048),
        at(HOST, "/" + "a" * 2_027),
        "h" * 99_999,
    ],
}
"""Refused by the grammar alone, whatever the task was approved for."""
