"""URLs by class: the strict grammar, the approved hosts, and what every other parser makes of what passes."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.network import NetworkPolicy
from ferryman.domain.http.url import URL, InvalidUrlError, parse_url
from ferryman.operations import check
from tests.egress.malformed_urls import GRAMMAR
from tests.egress.plants import policy
from tests.egress.urls import ALLOWED, DOMAINS, HOST, POLICY
from tests.figures import Tally

DNS = {HOST: ["8.8.8.8"], "xn--bcher-kva.test": ["8.8.8.8"]}
URL_POLICY = policy(domains=DOMAINS)
PRINTABLE = st.characters(min_codepoint=0x21, max_codepoint=0x7E)
LABELS = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9-]{0,8}[A-Za-z0-9])?", fullmatch=True)


async def verdict(url: str, **task: object) -> tuple[str, str | None]:
    """Return verdict and message of `check`, once they agree with those of the gate."""
    name = url.lower().partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0].removesuffix(":443")
    dns = {**DNS, **({name: ["8.8.8.8"]} if name.endswith(".wild.test") else {})}
    answer = await check.check_url({"url": url, "task": {"allow_domains": DOMAINS, **task}, "dns": dns})
    refusal_ = refusal_of(url)
    if refusal_ is None:
        assert answer["reason"] != "url_blocked"
    else:
        assert (answer["reason"], answer["message"]) == (refusal_.reason, refusal_.message)
    return answer["verdict"], answer["message"]


def refusal_of(url: str) -> Refusal | None:
    """Return the reason of the gate's own check of a URL."""
    try:
        check_url(NetworkPolicy.REGISTRY, url, URL_POLICY)
    except CallRefusedError as refused:
        return refused.refusal
    return None


@pytest.mark.parametrize("klass", GRAMMAR)
async def test_what_is_not_of_the_grammar_is_refused_by_it(klass: str, tally: Tally) -> None:
    missed = []
    for url in GRAMMAR[klass]:
        try:
            parse_url(url)
        except InvalidUrlError as error:
            refused = (await verdict(url))[0] == "refused"
            # nothing of what was written is repeated
            refused = refused and "evil" not in str(error) and HOST not in str(error)
        else:
            refused = False
        tally("URLs refused", klass, refused)
        if not refused:
            missed.append(url)
    assert missed == []


@pytest.mark.parametrize("klass", POLICY)
async def test_what_nobody_approved_is_refused(klass: str, tally: Tally) -> None:
    missed = []
    for url in POLICY[klass]:
        parse_url(url)
        refused = await verdict(url)
        tally("URLs refused", klass, refused[0] == "refused")
        if refused[0] != "refused" or "not in any approved integration" not in str(refused[1]):
            missed.append(url)
    assert missed == []


@pytest.mark.parametrize("klass", ALLOWED)
async def test_what_is_honest_is_allowed_and_used_as_given(klass: str, tally: Tally) -> None:
    missed = []
    for url in ALLOWED[klass]:
        passed = (await verdict(url))[0] == "allowed" and as_given(url, parse_url(url))
        tally("URLs allowed", klass, passed)
        if not passed:
            missed.append(url)
    assert missed == []


def as_given(raw: str, url: URL) -> bool:
    """Tell whether nothing was repaired: only the scheme's and the host's case, a port of 443 and a fragment may be gone."""
    rest = raw.partition("#")[0][len("https://") + len(url.host) :].removeprefix(":443")
    return url.target in (rest, f"/{rest}")


@given(
    st.builds(
        "https://{}{}{}".format,
        st.lists(LABELS, min_size=2, max_size=4).map(".".join) | st.text(PRINTABLE, max_size=20),
        st.sampled_from(["", ":443", "/", "?"]),
        st.text(PRINTABLE, max_size=30),
    )
)
@example("https://xn--a.xn--b.test/")
@example("https://a.0x7g/")
@settings(max_examples=600, deadline=None)
def test_every_parser_reads_the_host_that_was_judged(raw: str) -> None:
    try:
        url = parse_url(raw)
    except InvalidUrlError:
        return
    assert as_given(raw, url)
    assert urlsplit(raw).hostname == url.host
    assert urlsplit(raw).port in (None, 443)
    assert urlsplit(raw).username is None
    sent = httpx.URL(str(url))
    assert (sent.raw_host.decode(), sent.port, sent.userinfo) == (url.host, None, b"")


@given(st.text(max_size=40) | st.builds("https://api.news.test{}".format, st.text(max_size=20)))
@settings(max_examples=300, deadline=None)
def test_nothing_but_a_refusal_comes_of_any_text(raw: str) -> None:
    refusal_ = refusal_of(raw)
    if refusal_ is None:
        assert is_covered(DOMAINS, parse_url(raw).host)
    else:
        assert (refusal_.reason, refusal_.message.isascii()) == ("url_blocked", True)
