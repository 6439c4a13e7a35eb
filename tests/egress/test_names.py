"""Names by class: whatever a hostile name server answers, a name with anything but public addresses is not called."""

from __future__ import annotations

import pytest

from ferryman.domain.http.address import ANSWERS_MAX
from ferryman.operations import check
from ferryman.ports.gate import CallPolicy
from tests.egress.addresses import ADMITTED, REFUSED, list_embeddings
from tests.egress.conftest import GateHarness
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.figures import Tally

HOST = "api.news.test"
GOOD = ["8.8.8.8", "2606:4700::1111"]
INSIDE = ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fd20:ce::254", "100.64.0.1", "0.0.0.0"]
ANSWERS: dict[str, list[list[str] | None]] = {
    "inside": [*([address] for address in INSIDE), *([address] for address in REFUSED["IPv4 reserved"][::7])],
    "mixed": [
        [*pair] for address in INSIDE for pair in ((GOOD[0], address), (address, GOOD[0]), (*GOOD, address), (address, *GOOD))
    ],
    "containing IPv4": [[embedding] for bad in ("169.254.169.254", "8.8.8.8") for embedding in list_embeddings(bad)],
    "containing IPv4, mixed": [[GOOD[0], embedding] for embedding in list_embeddings("127.0.0.1")],
    "too many": [[f"8.8.{last // 256}.{last % 256}" for last in range(count)] for count in (ANSWERS_MAX + 1, 50, 300)],
    "none": [[], None],
    "no addresses": [
        ["localhost"],
        ["8.8.8.8", "x"],
        [""],
        ["0x7f.1"],
        ["2130706433"],
        ["8.8.8.8/32"],
        ["[::1]"],
        ["fe80::1%eth0"],
    ],
}
WEBHOOKS: list[tuple[str, list[str], str, str | None]] = [
    # match, registered, called, refused as
    ("host", ["https://hooks.test/a"], "https://hooks.test/a", None),
    ("host", ["https://hooks.test/a"], "https://hooks.test/other?x=1", None),
    ("host", ["https://hooks.test/a"], "https://HOOKS.test:443/a", None),
    ("host", ["https://hooks.test/a"], "https://evil.test/a", "webhook_not_registered"),
    ("host", ["https://hooks.test/a"], "https://a.hooks.test/a", "webhook_not_registered"),
    ("host", ["https://hooks.test/a"], "https://hooks.test.evil.test/a", "webhook_not_registered"),
    ("host", ["https://hooks.test/a"], "https://hooks.test@evil.test/a", "url_blocked"),
    ("host", ["https://hooks.test/a"], "http://hooks.test/a", "url_blocked"),
    ("host", ["https://hooks.test/a"], "https://hooks.test:8443/a", "url_blocked"),
    ("host", ["https://hooks.test/a"], "https://hooks.test./a", "url_blocked"),
    ("host", ["https://hooks.test/a"], f"https://{HOST}/", "webhook_not_registered"),
    ("host", ["https://*.hooks.test/a"], "https://a.hooks.test/a", "webhook_not_registered"),
    ("host", ["http://hooks.test/a"], "https://hooks.test/a", "webhook_not_registered"),
    ("host", ["https://user@hooks.test/a"], "https://hooks.test/a", "webhook_not_registered"),
    ("host", [], "https://hooks.test/a", "webhook_not_enabled"),
    ("url", ["https://hooks.test/a"], "https://hooks.test/a", None),
    ("url", ["https://hooks.test/a?k=1"], "https://hooks.test/a?k=1", None),
    ("url", ["https://hooks.test/a"], "HTTPS://Hooks.Test:443/a#x", None),
    ("url", ["https://hooks.test/a", "https://hooks.test/b"], "https://hooks.test/b", None),
    ("url", ["https://hooks.test"], "https://hooks.test/", None),
    *(
        ("url", ["https://hooks.test/a"], f"https://hooks.test/{tail}", "webhook_not_registered")
        for tail in (
            *(
                "",
                "A",
                "a/",
                "a/b",
                "b",
                "%61",
                "a%2f",
                "a?",
                "a?x",
                "a?k=1",
                "a;x",
                "./a",
                "b/../a",
                "%2e/a",
                "b/%2E%2e/a",
                "/a",
                "a/..",
            ),
            *("a%00", "a%20", "aa", "a//", "..;/a", ".%2e/a"),
        )
    ),
    *(
        ("url", ["https://hooks.test/a?k=1&l=2"], f"https://hooks.test/a?{query}", "webhook_not_registered")
        for query in ("k=1", "l=2&k=1", "k=1&l=2&", "K=1&l=2", "")
    ),
    ("url", ["https://hooks.test/b/../a"], "https://hooks.test/b/../a", "webhook_not_registered"),
    ("url", ["https://hooks.test/a"], "https://other.test/a", "webhook_not_registered"),
]


@pytest.mark.parametrize("klass", ANSWERS)
async def test_a_name_that_does_not_lead_to_the_public_internet_alone_is_refused(
    klass: str, harness: GateHarness, tally: Tally
) -> None:
    missed = []
    for answers in ANSWERS[klass]:
        dns = {} if answers is None else {HOST: answers}
        answer = await check.check_url({"url": f"https://{HOST}/", "task": {"allow_domains": [HOST]}, "dns": dns})
        harness.names.table = dns
        keys = {"NEWS_KEY": credential(VALUES["prefixed"])}
        result = await harness.gate().send(outbound(url=f"https://{HOST}/"), CallPolicy(execution=policy(), credentials=keys))
        reasons = (answer["reason"], result.block_reason)
        refused = (
            reasons == ("dns_validation_failed",) * 2 and harness.dialer.dialled == [] and result.content == answer["message"]
        )
        tally("names refused", klass, refused)
        if not refused:
            missed.append(answers)
    assert missed == []


@pytest.mark.parametrize("klass", ADMITTED)
async def test_a_name_of_the_public_internet_is_allowed(klass: str, tally: Tally) -> None:
    texts = ADMITTED[klass]
    for answers in (*([text] for text in texts), texts[:ANSWERS_MAX]):
        answer = await check.check_url({"url": f"https://{HOST}/", "task": {"allow_domains": [HOST]}, "dns": {HOST: answers}})
        tally("names allowed", klass, answer["verdict"] == "allowed")
        assert answer["verdict"] == "allowed"


@pytest.mark.parametrize("match", ["host", "url"])
async def test_a_webhook_answers_to_what_was_registered(match: str, tally: Tally) -> None:
    missed = []
    for _, registered, url, reason in (case for case in WEBHOOKS if case[0] == match):
        task = {"allow_domains": [HOST], "webhook_urls": registered, "webhook_match": match}
        dns = {
            host: ["8.8.8.8"]
            for host in ("hooks.test", "a.hooks.test", "evil.test", HOST, "other.test", "hooks.test.evil.test")
        }
        answer = await check.check_url({"tool": "webhook", "url": url, "task": task, "dns": dns})
        tally("webhooks", f"by {match}", answer["reason"] == reason)
        if answer["reason"] != reason:
            missed.append((url, answer))
    assert missed == []
