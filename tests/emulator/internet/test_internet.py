"""The simulated internet: names, certificates, canned answers, and the requests it received."""

import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.names import host_name
from emulator.internet.routes import read_route
from emulator.reading import InvalidRequestError

HOST = "api.example.com"


@pytest.fixture
async def internet(tmp_path: Path) -> AsyncIterator[Internet]:
    served = Internet(tmp_path, clock=EmulatorClock())
    await served.start()
    yield served
    await served.close()


def table(internet: Internet) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(internet.table.read_text())
    return read


async def ask(internet: Internet, host: str, method: str, path: str, *, sni: str | None = None, **more: Any) -> httpx.Response:
    """Send one request as a function's dialer makes it: to the loopback port, under the host's own name."""
    trust = ssl.create_default_context(cafile=internet.bundle)
    trust.load_cert_chain(table(internet)["client"])
    async with httpx.AsyncClient(verify=trust, base_url=f"https://127.0.0.1:{internet.port}", trust_env=False) as client:
        headers = {"host": host, **more.pop("headers", {})}
        return await client.request(method, path, headers=headers, extensions={"sni_hostname": sni or host}, **more)


def routes(*rows: dict[str, Any]) -> list[Any]:
    return [read_route(route, "route") for route in rows]


async def test_a_canned_host_answers_under_its_own_certificate(internet: Internet) -> None:
    internet.can(HOST, routes({"path": "/v1/quotes", "json": {"price": 7}, "headers": {"x-rate": "9"}}))
    answer = await ask(internet, HOST, "GET", "/v1/quotes")
    assert (answer.status_code, answer.json(), answer.headers["x-rate"]) == (200, {"price": 7}, "9")


async def test_a_certificate_is_for_one_name_only(internet: Internet) -> None:
    internet.can(HOST, routes())
    internet.can("other.example.com", routes())
    for host in (HOST, "other.example.com"):
        answer = await ask(internet, host, "GET", "/")
        certificate = answer.extensions["network_stream"].get_extra_info("ssl_object").getpeercert()
        assert certificate["subjectAltName"] == (("DNS", host),)


async def test_an_unknown_name_gets_no_certificate(internet: Internet) -> None:
    internet.can(HOST, routes())
    with pytest.raises(httpx.ConnectError):
        await ask(internet, HOST, "GET", "/", sni="evil.example.net")


async def test_no_route_is_404(internet: Internet) -> None:
    internet.can(HOST, routes({"path": "/a"}))
    assert (await ask(internet, HOST, "POST", "/a")).status_code == 404
    assert (await ask(internet, HOST, "GET", "/b")).status_code == 404


async def test_a_route_for_any_path_answers_what_those_before_it_do_not(internet: Internet) -> None:
    internet.can(HOST, routes({"path": "/a", "status": 201}, {"path": "*", "method": "*", "status": 202}))
    answers = [await ask(internet, HOST, method, path) for method, path in (("GET", "/a"), ("POST", "/a"), ("PUT", "/b/c?d"))]
    assert [answer.status_code for answer in answers] == [201, 202, 202]


async def test_every_request_is_recorded(internet: Internet) -> None:
    internet.can(HOST, routes({"method": "POST", "path": "/a%20b", "status": 201}))
    await ask(internet, HOST, "POST", "/a%20b?q=1&q=2", content=b"hello", headers={"x-key": "k"})
    await ask(internet, HOST, "GET", "/none", content=b"\xff\x00")
    first, second = (request.as_json() for request in internet.requests(HOST))
    assert (first["method"], first["path"], first["query"], first["body"]) == ("POST", "/a%20b", "q=1&q=2", "hello")
    assert ["x-key", "k"] in first["headers"]  # type: ignore[operator]  # pairs, in JSON
    assert second["body_base64"] == "/wA="
    assert internet.requests("other.example.com") == []
    internet.forget()
    assert internet.requests() == []


async def test_an_echo_shows_the_request(internet: Internet) -> None:
    internet.can(HOST, routes({"method": "*", "path": "/e", "echo": True}))
    seen = (await ask(internet, HOST, "PUT", "/e?a=b", content=b"x", headers={"x-key": "k"})).json()
    assert (seen["method"], seen["path"], seen["query"], seen["body"]) == ("PUT", "/e", "a=b", "x")
    assert seen["headers"]["x-key"] == "k"


async def test_a_body_in_base64_is_sent_as_bytes(internet: Internet) -> None:
    internet.can(HOST, routes({"path": "/", "body_base64": "/wA="}))
    assert (await ask(internet, HOST, "GET", "/")).content == b"\xff\x00"


async def test_each_name_has_a_public_address_of_its_own(internet: Internet) -> None:
    internet.can(HOST, routes())
    internet.map("own.example.com", 4443)
    assert table(internet)["names"] == {HOST: ["25.0.0.1"], "own.example.com": ["25.0.0.2"]}
    assert table(internet)["dial"] == {"25.0.0.1": internet.port, "25.0.0.2": 4443}


async def test_an_address_stays_with_its_name(internet: Internet, tmp_path: Path) -> None:
    internet.can("first.example.com", routes())
    internet.can(HOST, routes())
    assert internet.remove("first.example.com")
    again = Internet(tmp_path, clock=EmulatorClock())
    again.can(HOST, routes())
    assert table(again)["names"] == {HOST: ["25.0.0.2"]}
    await again.close()


async def test_given_addresses_lead_nowhere_unless_told(internet: Internet) -> None:
    internet.can(HOST, routes(), addresses=["10.0.0.5", "::1"])
    assert table(internet)["names"] == {HOST: ["10.0.0.5", "::1"]}
    assert table(internet)["dial"] == {}
    internet.can(HOST, routes(), addresses=["10.0.0.5"], dial={"10.0.0.5": 4000})
    assert table(internet)["dial"] == {"10.0.0.5": 4000}


async def test_one_address_cannot_lead_to_two_ports(internet: Internet) -> None:
    internet.map(HOST, 4000, addresses=["25.1.1.1"], dial={"25.1.1.1": 4000})
    with pytest.raises(InvalidRequestError, match="already stands for port 4000"):
        internet.map("b.example.com", 4001, addresses=["25.1.1.1"], dial={"25.1.1.1": 4001})


async def test_the_authority_stays_and_its_key_is_private(internet: Internet, tmp_path: Path) -> None:
    again = Internet(tmp_path, clock=EmulatorClock())
    assert again.bundle.read_text() == internet.bundle.read_text()
    assert (tmp_path / "internet" / "ca.key").stat().st_mode & 0o077 == 0
    await again.close()


async def test_a_users_own_ca_joins_the_bundle(internet: Internet, tmp_path: Path) -> None:
    other = Internet(tmp_path / "other", clock=EmulatorClock())
    internet.trust(other.bundle)
    assert len(ssl.create_default_context(cafile=internet.bundle).get_ca_certs()) == 2
    assert table(internet)["ca"] == str(internet.bundle)
    await other.close()
    (tmp_path / "no.pem").write_text("nothing")
    for path in (tmp_path / "no.pem", tmp_path / "absent.pem"):
        with pytest.raises(InvalidRequestError, match="cannot be read"):
            internet.trust(path)


@pytest.mark.parametrize(
    ("route", "says"),
    [
        ({}, "path is missing"),
        ({"path": "a"}, "must start with /"),
        ({"path": "/", "status": 99}, "status must be"),
        ({"path": "/", "body": "a", "json": {}}, "more than one body"),
        ({"path": "/", "body_base64": "!"}, "not base64"),
        ({"path": "/", "headers": {"a": "b\r\nc: d"}}, "cannot be sent"),
        ({"path": "/", "delay_s": -1}, "delay_s"),
        ({"path": "/", "reply": "a"}, "unknown members: reply"),
    ],
)
def test_a_route_that_cannot_be_served_is_refused(route: object, says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says):
        read_route(route, "route")


@pytest.mark.parametrize("name", ["", "a b", "-a.com", "1.2.3.4", "a/../b", "x" * 64, "a..b", "::1"])
def test_what_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequestError):
        host_name(name)


@given(st.text())
def test_a_host_name_never_leaves_its_folder(text: str) -> None:
    try:
        name = host_name(text)
    except InvalidRequestError:
        return
    assert "/" not in name
    assert ".." not in name


async def test_a_slow_name_is_listed_until_it_is_put_again(internet: Internet) -> None:
    internet.can(HOST, [])
    internet.slow(HOST, 4)
    assert table(internet)["slow"] == {HOST: 4}
    internet.can(HOST, [])
    assert table(internet)["slow"] == {}
    with pytest.raises(InvalidRequestError, match="lookup_s"):
        internet.slow(HOST, 61)


@pytest.mark.parametrize(("host", "status"), [(HOST, 200), (HOST.upper(), 200), (f"{HOST}:1", 421), ("other.example.com", 421)])
async def test_in_clear_a_bare_name_that_is_served_is_answered(internet: Internet, host: str, status: int) -> None:
    entry = internet.can(HOST, routes({"path": "/x", "body": "plain"}))
    port = table(internet)["clear"][entry.addresses[0]]
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(f"http://127.0.0.1:{port}/x", headers={"host": host})
    assert answer.status_code == status
