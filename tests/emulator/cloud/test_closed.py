"""A local cloud is closed: the attacks that others on the machine tried on it, through each of its doors."""

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from google.api_core.exceptions import GoogleAPICallError, PermissionDenied, Unauthenticated
from google.cloud.firestore import AsyncClient

from emulator.access import PortToken, find_token, is_allowed, new_token
from emulator.channels import KINDS, open_aio_channel, open_channel
from emulator.clients import build_clients
from emulator.cloud import CloudPlan, EmulatedCloud
from emulator.files import FolderPermissionError, private_folder
from emulator.files import replace as write
from emulator.reading import InvalidRequestError
from emulator.table import read_table
from emulator.web import behind_path

SECRET = "projects/a-project/secrets/ferryman-sealing-key"
AUTOMATIC: dict[str, Any] = {"replication": {"automatic": {}}}
METADATA = "/computeMetadata/v1/instance/service-accounts/default/identity?audience=http://a"


@pytest.fixture
async def stranger() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        yield client


def bearer(token: PortToken) -> dict[str, str]:
    return {"Authorization": f"Bearer {token.value}"}


def metadata(cloud: EmulatedCloud, name: str) -> str:
    ports: Any = cloud.status()["ports"]
    return f"http://127.0.0.1:{ports['metadata'][name]}"


async def test_a_functions_environment_cannot_be_changed_without_the_token(
    cloud: EmulatedCloud, stranger: httpx.AsyncClient
) -> None:
    await cloud.run("echo", {})
    body = {"env": {"PYTHONPATH": "/tmp/evil"}}
    for headers in ({}, {"Authorization": "Bearer owner"}, bearer(cloud._callers.token("echo"))):
        answer = await stranger.patch(f"{cloud.admin}/functions/echo", json=body, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize(
    "name",
    [
        "PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PATH BASH_ENV ENV GCONV_PATH",
        "GLIBC_TUNABLES MALLOC_CHECK_ SSLKEYLOGFILE SSL_CERT_FILE SSL_CERT_DIR OPENSSL_CONF HTTPS_PROXY ALL_PROXY GRPC_TRACE",
        "grpc_proxy NODE_OPTIONS GUNICORN_CMD_ARGS HOME XDG_RUNTIME_DIR LOCAL_CLOUD_TOKEN GCE_METADATA_HOST GIVENS given",
    ],
)
async def test_no_variable_that_the_table_does_not_name_is_set(
    cloud: EmulatedCloud, stranger: httpx.AsyncClient, name: str
) -> None:
    await cloud.run("echo", {"GIVEN": "1"})
    for part in name.split():
        for verb in ("PUT", "PATCH"):
            body = {"env": {"GIVEN": "2", part: "x"}}
            answer = await stranger.request(verb, f"{cloud.admin}/functions/echo", json=body, headers=bearer(cloud.token))
            assert (answer.status_code, f"body.env.{part} may not be set" in answer.json()["error"]) == (400, True)
    assert (await stranger.get(cloud.functions.url("echo"))).json()["env"]["GIVEN"] == "1"


async def test_no_identity_token_is_fetched_without_the_token(cloud: EmulatedCloud, stranger: httpx.AsyncClient) -> None:
    body = {"email": "anybody@a-project.iam.gserviceaccount.com", "audience": "http://a"}
    assert (await stranger.post(f"{cloud.admin}/tokens", json=body)).status_code == 401
    wrong = [cloud.token, cloud._callers.token("echo"), cloud._metadata_token("seen")]
    for path in ("", "/", *(f"/{token.value}" for token in wrong)):
        answer = await stranger.get(metadata(cloud, "echo") + path + METADATA, headers={"Metadata-Flavor": "Google"})
        assert answer.status_code == 401
    good = f"{metadata(cloud, 'echo')}/{cloud._metadata_token('echo').value}{METADATA}"
    assert (await stranger.get(good, headers={"Metadata-Flavor": "Google"})).status_code == 200
    assert (await stranger.get(good)).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Host": "metadata.google.internal"}, 421), ({"Origin": "http://evil.example"}, 403)],
)
async def test_the_metadata_server_answers_under_no_other_name(
    cloud: EmulatedCloud, stranger: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    url = f"{metadata(cloud, 'echo')}/{cloud._metadata_token('echo').value}{METADATA}"
    assert (await stranger.get(url, headers={"Metadata-Flavor": "Google", **headers})).status_code == status


async def sealing_key(cloud: EmulatedCloud) -> None:
    clients = build_clients(cloud.env)
    await clients.secrets_async.create_secret(parent="projects/a-project", secret_id="ferryman-sealing-key", secret=AUTOMATIC)
    await clients.secrets_async.add_secret_version(parent=SECRET, payload={"data": b"sealing"})
    await clients.aclose()


async def read(cloud: EmulatedCloud, address: str, token: PortToken | None) -> bytes:
    env = {"SECRET_MANAGER_EMULATOR_HOST": address, **({} if token is None else {"LOCAL_CLOUD_TOKEN": token.value})}
    clients = build_clients(env, project="a-project")
    try:
        answer = await clients.secrets_async.access_secret_version(name=f"{SECRET}/versions/1")
        return bytes(answer.payload.data)
    finally:
        await clients.aclose()


async def test_the_sealing_key_is_not_read_without_the_token(cloud: EmulatedCloud) -> None:
    await sealing_key(cloud)
    operator = cloud.env["SECRET_MANAGER_EMULATOR_HOST"]
    assert await read(cloud, operator, cloud.token) == b"sealing"
    wrong = [
        None,
        PortToken("owner"),
        PortToken(""),
        cloud.token.derive("x"),
        cloud._callers.token("echo"),
        cloud._metadata_token("echo"),
    ]
    for token in wrong:
        with pytest.raises(Unauthenticated):
            await read(cloud, operator, token)


async def test_the_token_of_a_function_is_good_at_its_own_port_alone(cloud: EmulatedCloud) -> None:
    await sealing_key(cloud)
    token = cloud._callers.token("echo")
    with pytest.raises(PermissionDenied):  # it is known there, and may nothing
        await read(cloud, cloud._callers.address("echo"), token)
    for other in ("seen", "broken"):
        with pytest.raises(Unauthenticated):
            await read(cloud, cloud._callers.address(other), token)
    with pytest.raises(Unauthenticated):
        await read(cloud, cloud._callers.address("echo"), cloud.token)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "method", ["/google.firestore.v1.Firestore/Commit", "/grpc.reflection.v1.ServerReflection/X", "/no.Such/X"]
)
async def test_a_call_of_any_kind_and_name_is_refused_before_it_is_read(cloud: EmulatedCloud, kind: str, method: str) -> None:
    address, shape = cloud.env["CLOUD_TASKS_EMULATOR_HOST"], kind.removeprefix("intercept_")
    for token in (None, "wrong"):
        assert await asyncio.to_thread(status_of, address, token, shape, method) is grpc.StatusCode.UNAUTHENTICATED


def status_of(address: str, token: str | None, shape: str, method: str) -> grpc.StatusCode:
    """Send what is no message, and return the status.

    By the client that blocks: grpc.aio says INTERNAL where a refusal comes while it still sends its request.
    """
    request: Any = iter([b"not a message"]) if shape.startswith("stream") else b"not a message"
    with open_channel(address, token) as opened, pytest.raises(grpc.RpcError) as refused:
        list(getattr(opened, shape)(method)(request, timeout=30))
    status: grpc.StatusCode = refused.value.code()
    return status


@pytest.mark.parametrize("kind", KINDS)
async def test_a_channel_bears_the_token_in_calls_of_every_kind(kind: str) -> None:
    seen: list[tuple[str, Any]] = []

    class Seeing(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
        def service(self, details: Any) -> Any:
            seen.extend((name, value) for name, value in details.invocation_metadata if name in ("authorization", "own"))
            return grpc.stream_stream_rpc_method_handler(answer)

    async def answer(requests: Any, _: Any) -> AsyncIterator[bytes]:
        async for request in requests:
            yield request

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Seeing(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    shape = kind.removeprefix("intercept_")
    async with open_aio_channel(address, "t") as opened:
        request: Any = iter([b"x"]) if shape.startswith("stream") else b"x"
        call = getattr(opened, shape)("/a.B/C")(request, metadata=(("own", "1"),), timeout=30)
        assert (await call if shape.endswith("unary") else [item async for item in call]) in (b"x", [b"x"])
    assert sorted(seen) == [("authorization", "Bearer t"), ("own", "1")]
    await server.stop(0)


async def test_a_channel_without_a_loop_bears_it_too(cloud: EmulatedCloud) -> None:
    def calls() -> list[grpc.StatusCode]:
        answers = []
        for token in (cloud.token.value, None):
            with open_channel(cloud.env["CLOUD_TASKS_EMULATOR_HOST"], token) as opened:
                try:
                    next(opened.stream_stream("/no.Such/X")(iter([b""]), timeout=30))
                except grpc.RpcError as error:
                    answers.append(error.code())
        return answers

    assert await asyncio.to_thread(calls) == [grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNAUTHENTICATED]


async def test_the_scripted_model_answers_nobody_without_the_token(cloud: EmulatedCloud, stranger: httpx.AsyncClient) -> None:
    url = f"{cloud.env['ANTHROPIC_BASE_URL']}/v1/messages"
    for headers in ({}, {"x-api-key": "any"}, {"x-api-key": cloud._metadata_token("echo").value}):
        assert (await stranger.post(url, json={}, headers=headers)).status_code == 401
    for token in (cloud.token, cloud._callers.token("echo")):
        assert (await stranger.post(url, json={}, headers={"x-api-key": token.value})).status_code == 400


async def test_what_it_says_of_itself_holds_no_token(cloud: EmulatedCloud) -> None:
    await cloud.run("echo", {})
    secrets = [cloud.token, cloud._callers.token("echo"), cloud._metadata_token("echo")]
    output = json.dumps(cloud.status()) + repr(cloud.token) + repr(vars(cloud))
    assert [token for token in secrets if token.value in output] == []


def mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


async def test_the_token_is_new_at_each_start_private_and_gone_at_the_end(plan: CloudPlan) -> None:
    values = []
    for _ in range(2):
        async with EmulatedCloud(plan) as cloud:
            file = cloud.env["LOCAL_CLOUD_TOKEN_FILE"]
            assert (mode(file), mode(os.path.dirname(file))) == (0o600, 0o700)
            assert find_token(cloud.env) == cloud.token.value
            values.append(cloud.token.value)
        assert "token" not in os.listdir(plan.folder)
    assert len(set(values)) == 2
    assert min(map(len, values)) >= 43


async def test_opened_firestore_serves_a_client_that_knows_no_token_and_nothing_else_does(
    plan: CloudPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with EmulatedCloud(replace(plan, open=True)) as cloud:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", cloud.env["FIRESTORE_EMULATOR_HOST"])
        plain = AsyncClient(project="a-project")
        await plain.document("c/one").set({"a": 1})
        assert (await plain.document("c/one").get()).to_dict() == {"a": 1}
        assert [item.id async for item in plain.collection("c").stream()] == ["one"]
        await sealing_key(cloud)
        with pytest.raises(Unauthenticated):
            await read(cloud, cloud.env["SECRET_MANAGER_EMULATOR_HOST"], None)
        for name in ("echo", "seen"):
            monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", cloud._callers.address(name))
            with pytest.raises(GoogleAPICallError):
                await AsyncClient(project="a-project").document("c/one").get(timeout=5)
        assert "answers every user of this machine" in str(cloud.warning())


async def test_closed_firestore_serves_no_client_that_knows_no_token(
    cloud: EmulatedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", cloud.env["FIRESTORE_EMULATOR_HOST"])
    with pytest.raises(Unauthenticated):
        await AsyncClient(project="a-project").document("c/one").get()
    assert cloud.warning() is None


async def test_a_firestore_of_others_is_not_shown_the_token(cloud: EmulatedCloud) -> None:
    seen: list[Any] = []

    class Other(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
        def service(self, details: Any) -> Any:
            seen.extend(value for name, value in details.invocation_metadata if name == "authorization")

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Other(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    clients = build_clients({**cloud.env, "FIRESTORE_EMULATOR_HOST": address})
    with pytest.raises(GoogleAPICallError):
        await clients.firestore_async.document("c/one").get(retry=None)
    assert seen == []
    await clients.aclose()
    await server.stop(0)


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o707, 0o777])
async def test_a_folder_that_others_may_enter_is_refused_with_the_command_that_closes_it(plan: CloudPlan, mode: int) -> None:
    plan.folder.mkdir()
    plan.folder.chmod(mode)
    with pytest.raises(FolderPermissionError, match=f"chmod 700 {plan.folder}"):
        await EmulatedCloud(plan).__aenter__()
    assert list(plan.folder.iterdir()) == []


def test_a_file_is_private_from_its_first_byte_on_and_follows_no_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "file.new").symlink_to(victim)
    write(tmp_path / "file", "new")
    assert (victim.read_text(), (tmp_path / "file").read_text()) == ("mine", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_a_derived_token_opens_nothing_else(tmp_path: Path) -> None:
    with new_token(private_folder(tmp_path)) as (token, path):
        assert token.is_borne(f"Bearer {path.read_text().strip()}")
        assert len({token.value, token.derive("a").value, token.derive("b").value}) == 3
        for wrong in (
            "",
            "Bearer",
            f"Basic {token.value}",
            f"Bearer {token.value} ",
            f"Bearer {token.value[:-1]}",
            "Bearer \udcff",
        ):
            assert not token.is_borne(wrong)


@pytest.mark.parametrize("name", ["PATH", "STORE", "STOREX", "XSTORE_A", "store_a"])
def test_only_what_a_table_names_is_allowed(name: str) -> None:
    assert not is_allowed(name, ("STORE_*", "GIVEN"))


@pytest.mark.parametrize("name", ["*", "PYTHON*", "lower", "", "A B", "A=B", "_*"])
def test_a_table_allows_variables_by_name_or_by_a_whole_first_word(tmp_path: Path, name: str) -> None:
    file = tmp_path / "functions.json"
    file.write_text(json.dumps({"environment": [name], "functions": []}))
    with pytest.raises(InvalidRequestError, match=r"table\.environment must name variables"):
        read_table(file)


async def test_a_path_is_served_below_its_token_alone() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    transport = httpx.ASGITransport(behind_path(app, PortToken("t")))
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        assert [(await client.get(path)).text for path in ("/t", "/t/", "/t/a/b")] == ["/", "/", "/a/b"]
        for path in ("/", "/a", "/tt/a", "//t/a", "/a/t"):
            assert (await client.get(path)).status_code == 401
