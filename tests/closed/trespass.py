"""A neighbour: a program of another user that knocks at every port without the token, and tells in JSON what it was told.

    python -m tests.closed.trespass UID '{"ports": [...], "files": [...], "pids": [...]}'

It takes that user's id once its libraries are loaded, for they may lie where that user cannot read.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - which sockets load at their first use, when it can no longer be read
import http.client
import json
import os
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

WAITS_S = 10
IDENTITY = "/computeMetadata/v1/instance/service-accounts/default/identity?audience=http://f"
PATHS = ("/", IDENTITY, "/certs", "/certs/certs", "/functions/api", "/scripts", "/v1/messages", "/v1/tasks", "/robots.txt")
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
NAMES = ("api.coingecko.com", "calendar.example.com", "localhost")
CALLS = (
    "/google.cloud.secretmanager.v1.SecretManagerService/AccessSecretVersion",
    "/google.firestore.v1.Firestore/RunQuery",
    "/google.firestore.v1.Firestore/Commit",
    "/google.firestore.v1.Firestore/Listen",
    "/google.cloud.tasks.v2.CloudTasks/CreateTask",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/nobody.Knows/This",
)
TOKENS = ({}, {"authorization": "Bearer owner"}, {"authorization": "Bearer "})
SECRET = b"\n;projects/ferryman-local/secrets/ferryman-sealing-key/versions/1"


def requests(port: int) -> Iterator[tuple[str, int | str]]:
    """Return what a port answers over HTTP, to a client that says nothing wrong but for its missing token."""
    for verb in VERBS:
        for path in PATHS:
            for token in TOKENS:
                sent = {"Metadata-Flavor": "Google", "Content-Type": "application/json", **token}
                yield f"{verb} {path}", request(port, verb, path, sent)


def request(port: int, verb: str, path: str, headers: Mapping[str, str]) -> int | str:
    """Return the status, or how the connection ended."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAITS_S)
    try:
        connection.request(verb, path, body=b"{}" if verb in ("POST", "PUT", "PATCH") else None, headers=dict(headers))
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def calls(port: int) -> Iterator[tuple[str, str]]:
    """Return how a port ends gRPC calls."""
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:
        try:
            grpc.channel_ready_future(channel).result(2)
        except grpc.FutureTimeoutError:
            yield "gRPC", "speaks no gRPC"
            return
        for method in CALLS:
            for token in TOKENS:
                call = channel.stream_stream(method)(iter([SECRET]), metadata=tuple(token.items()), timeout=WAITS_S)
                try:
                    yield method, f"answered {len(next(call))} bytes"
                except grpc.RpcError as error:
                    yield method, error.code().name
                except StopIteration:
                    yield method, "OK"


def handshakes(port: int) -> Iterator[tuple[str, str]]:
    """Return what a port answers over TLS, to a client that trusts whatever it is shown and has no certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for name in NAMES:
        try:
            with (
                socket.create_connection(("127.0.0.1", port), WAITS_S) as plain,
                context.wrap_socket(plain, server_hostname=name) as secured,
            ):
                secured.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
                text = secured.recv(100)
                yield f"TLS to {name}", f"answered {text!r}" if text else "closed"
        except OSError as error:
            yield f"TLS to {name}", type(error).__name__


def pages(port: int) -> Iterator[tuple[str, int | str]]:
    """Return what a port answers to a web page: under a name rebound to it, from another origin, and before such a request."""
    own_name = f"127.0.0.1:{port}"
    for path in ("/", "/healthz", "/openapi.json", "/v1/me"):
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"[::1]:{port}", f"127.0.0.1.evil.example:{port}"):
            yield f"Host {host} {path}", request(port, "GET", path, {"Host": host})
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", f"https://{own_name}"):
            yield f"Origin {origin} {path}", request(port, "POST", path, {"Host": own_name, "Origin": origin})
            asks = {"Host": own_name, "Origin": origin, "Access-Control-Request-Method": "PATCH"}
            yield f"preflight {origin} {path}", request(port, "OPTIONS", path, asks)


def readable(paths: list[str]) -> list[str]:
    """Return the files that can be read."""
    files = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                file.read(1)
            files.append(path)
        except OSError:
            continue
    return files


def command_line(pid: int) -> str:
    """Return what a process was started with; nothing of one that has ended since."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def try_port(port: int) -> Mapping[str, Any]:
    """Return what a port answers to every kind of attempt."""
    kinds = {"requests": requests, "calls": calls, "handshakes": handshakes, "pages": pages}
    return {kind: list(knock(port)) for kind, knock in kinds.items()}


def main() -> None:
    """Try every port."""
    uid, arguments = int(sys.argv[1]), json.loads(sys.argv[2])
    list(calls(arguments["ports"][0])), list(handshakes(arguments["ports"][0]))  # all that is loaded at its first use is loaded
    if uid != os.geteuid():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    text: dict[str, Any] = {"uid": os.geteuid(), "readable": readable(arguments["files"])}
    text["command lines"] = {pid: command_line(pid) for pid in arguments["pids"]}
    text["environments"] = readable([f"/proc/{pid}/environ" for pid in arguments["pids"]])
    with ThreadPoolExecutor(len(arguments["ports"])) as threads:  # most of the time is spent waiting for what never comes
        text["ports"] = dict(zip(arguments["ports"], threads.map(try_port, arguments["ports"]), strict=True))
    sys.stdout.write(json.dumps(text))


if __name__ == "__main__":
    main()
