"""Anyone can try their own API: a server of the user's own, under its own name and authority, is called by a task."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests import planted

FERRYMAN = Path(sys.executable).with_name("ferryman")
HOST = "api.mine.example"
ID = "api_mine_example"
VALUE = planted.key("own host", 22, before="mine-")
ENDS_S = 40


def certify(folder: Path) -> tuple[Path, Path]:
    """An authority's certificate, and a file with a key and a certificate of it for HOST."""
    now = datetime.now(UTC)
    keys = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mine")])
    identifier = x509.SubjectKeyIdentifier.from_public_key(keys[0].public_key())

    def begin(subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))

    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    authority = begin(issuer, keys[0]).add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    authority = authority.add_extension(usage, critical=True).add_extension(identifier, critical=False)
    leaf = begin(x509.Name([]), keys[1]).add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=True)
    aki = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)
    leaf = leaf.add_extension(aki, critical=False)
    ca, own = folder / "ca.pem", folder / "own.pem"
    ca.write_bytes(authority.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    own.write_bytes(keys[1].private_bytes(*form) + leaf.sign(keys[0], hashes.SHA256()).public_bytes(form[0]))
    return ca, own


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[tuple[int, Path, list[str | None]]]:
    """Its port, its authority's certificate, and the Authorization headers it was sent."""
    ca, own = certify(tmp_path)
    seen: list[str | None] = []

    class Mine(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            body = b'{"mine": 42}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Stays quiet."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    with HTTPServer(("127.0.0.1", 0), Mine) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield server.server_address[1], ca, seen
        server.shutdown()
        serving.join()


def test_a_task_calls_a_server_of_the_users_own(tmp_path: Path, own_server: tuple[int, Path, list[str | None]]) -> None:
    port, ca, seen = own_server
    data, script = tmp_path / "data", tmp_path / "script.json"
    arguments = {"method": "GET", "url": f"https://{HOST}/answer", "credential": "MY_KEY"}
    ask = {"text": "Asking.", "tool_calls": [{"name": "api_call", "input": arguments}]}
    script.write_text(json.dumps({"steps": [ask, {"text": "It is 42.", "expect": {"last_contains": ["42"]}}]}))
    command = [FERRYMAN, "up", "--data", data, "--json", "--host", f"{HOST}=127.0.0.1:{port}", "--ca", ca]
    stack = subprocess.Popen([*command, "--script", f"mine={script}"], stdout=subprocess.PIPE, text=True)
    assert stack.stdout is not None

    def ferryman(*words: str, stdin: str = "") -> str:
        env = {**os.environ, "FERRYMAN_DATA": str(data)}
        ran = subprocess.run([FERRYMAN, *words], env=env, input=stdin, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    try:
        assert stack.stdout.readline()
        fields = ("--name", "mine", "--model", "scripted/mine", "--prompt", "Ask.", "--tool", "api_call", "--integration", ID)
        task = ferryman("task", "create", *fields).strip()
        ferryman("credential", "set", task, "MY_KEY", "--service", ID, stdin=VALUE)
        assert "It is 42." in ferryman("run", task)
    finally:
        stack.send_signal(signal.SIGINT)
        stack.communicate(timeout=ENDS_S)
    assert seen == [f"Bearer {VALUE}"]
