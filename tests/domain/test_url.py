"""URLs: one strict grammar on the raw string, used as given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.http.url import CHARACTERS_MAX, InvalidUrlError, NotHttpsError, parse_url

LABEL = "a" * 63
ADMITTED = {
    "https://api.test/": "https://api.test/",
    "https://api.test": "https://api.test/",
    "HTTPS://API.Test/Path": "https://api.test/Path",
    "https://api.test:443/x": "https://api.test/x",
    "https://api.test?q=1": "https://api.test/?q=1",
    "https://api.test/?": "https://api.test/?",
    "https://api.test/a#frag": "https://api.test/a",
    "https://api.test#frag": "https://api.test/",
    "https://api.test/a?b#c?d": "https://api.test/a?b",
    "https://api.test/a/../b/%2e%2e/c//d": "https://api.test/a/../b/%2e%2e/c//d",
    "https://api.test/a@b:c?d=e@f": "https://api.test/a@b:c?d=e@f",
    "https://api.test/{}|^`\"<>'": "https://api.test/{}|^`\"<>'",
    "https://1.2.3.4.test/": "https://1.2.3.4.test/",
    "https://127.0.0.1.nip.test/": "https://127.0.0.1.nip.test/",
    "https://xn--bcher-kva.test/": "https://xn--bcher-kva.test/",
    "https://a-b.c--d.test/": "https://a-b.c--d.test/",
    f"https://{LABEL}.test/": f"https://{LABEL}.test/",
    "https://a.0x/b": None,
    "https://api.0xg/": "https://api.0xg/",
    "https://api.1a/": "https://api.1a/",
}
REFUSED = [
    "",
    "https:",
    "https://",
    "https:///",
    "https:///api.test/",
    "https:/api.test/",
    "https:api.test",
    "//api.test/",
    "api.test",
    "http://api.test/",
    "ftp://api.test/",
    "file:///etc/passwd",
    "javascript://api.test/",
    "gopher://api.test/",
    "https+x://api.test/",
    " https://api.test/",
    "https://api.test/ ",
    "\thttps://api.test/",
    "https://api.test/\n",
    "https://api.test/a b",
    "https://api.test\\@evil.test/",
    "https://api.test/\\",
    "https://api.test/\x00",
    "https://api.test/\x7f",
    "https://api.test/ü",
    "https://аpi.test/",
    "https://api。test/",
    "https://①②⑦.⓪.⓪.①/",
    "https://user@api.test/",
    "https://user:pass@api.test/",
    "https://@api.test/",
    "https://api.test@evil.test/",
    "https://api.test:443@evil.test/",
    "https://api.test:/",
    "https://api.test:80/",
    "https://api.test:8443/",
    "https://api.test:0443/",
    "https://api.test:+443/",
    "https://api.test:4_43/",
    "https://api.test:443:443/",
    "https://api.test:443x/",
    "https://api.test:４４３/",
    "https://api.test./",
    "https://api..test/",
    "https://.api.test/",
    "https://-api.test/",
    "https://api-.test/",
    "https://a_b.test/",
    "https://api.test%2eevil.test/",
    "https://%61pi.test/",
    "https://localhost/",
    "https://metadata/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0x7f000001/",
    "https://017700000001/",
    "https://0/",
    "https://1.2.3.0x4/",
    "https://1.2.3.0X/",
    "https://a.127/",
    "https://169.254.43518/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::1].evil.test/",
    "https://[fe80::1%25eth0]/",
    f"https://{LABEL}a.test/",
    "https://" + ".".join([LABEL] * 4) + "/",
    "https://api.test/" + "a" * CHARACTERS_MAX,
    "https://api.test;evil.test/",
    "https://api.test,evil.test/",
    "https://*.test/",
    "https://a!.test/",
    "https://$(x).test/",
]


@pytest.mark.parametrize(("raw", "canonical"), ADMITTED.items())
def test_a_url_of_the_grammar_is_read_as_given(raw: str, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(InvalidUrlError):
            parse_url(raw)
    else:
        assert str(parse_url(raw)) == canonical


@pytest.mark.parametrize("raw", REFUSED)
def test_anything_else_is_refused(raw: str) -> None:
    with pytest.raises(InvalidUrlError):
        parse_url(raw)


@pytest.mark.parametrize("raw", ["http://api.test/", "api.test", "//api.test/"])
def test_another_scheme_or_none_is_said_so(raw: str) -> None:
    with pytest.raises(NotHttpsError):
        parse_url(raw)


HOST = ".".join([LABEL] * 3) + "." + "a" * 61


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (f"https://api.test/{'a' * (CHARACTERS_MAX - 16)}", "the URL is longer than 2048 characters"),
        ("https://api.test/ü", "the URL has a character outside printable ASCII, a space or a backslash"),
        ("http://api.test/", "only https:// URLs are allowed"),
        ("https://api.test@evil.test/", "the URL has user information before its host"),
        ("https://api.test:80/", "the port is not 443"),
        (f"https://{HOST}a/", "the host is not a plain DNS name"),
        ("https://127.0.0.1/", "the host is an IP address or looks like one"),
    ],
)
def test_the_broken_rule_is_named(raw: str, rule: str) -> None:
    with pytest.raises(InvalidUrlError) as refused:
        parse_url(raw)
    assert str(refused.value) == rule


def test_a_url_has_2048_characters_at_most_and_its_host_253() -> None:
    longest = f"https://{HOST}/" + "a" * (CHARACTERS_MAX - 262)
    assert (len(HOST), len(longest)) == (253, 2_048)
    assert str(parse_url(longest)) == longest


@given(st.text(alphabet=st.characters(exclude_characters="/?#"), max_size=80))
def test_a_refusal_repeats_nothing_of_the_input(text: str) -> None:
    with pytest.raises(InvalidUrlError) as refused:
        parse_url(f"https://{text}_quite_unlikely_{text}")
    assert "quite_unlikely" not in str(refused.value)


@given(st.from_regex(r"https://[ -~]{0,40}", fullmatch=True) | st.text(max_size=60))
def test_what_is_admitted_is_admitted_again_unchanged(raw: str) -> None:
    try:
        url = parse_url(raw)
    except InvalidUrlError:
        return
    assert parse_url(str(url)) == url
    assert url.host == url.host.lower()
    assert url.path.startswith("/")
    assert str(url).isascii()
