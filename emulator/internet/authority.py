"""The authority: a local CA, and a TLS context that shows each name a certificate of its own."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from emulator.files import replace

YEARS = timedelta(days=3650)
SKEW = timedelta(days=1)


class Authority:
    """A CA whose key and certificate stay in a folder, so that programs that trust it go on doing so."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self.path = folder / "ca.pem"
        self._key, self._certificate = self._load() or self._create()
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def pem(self) -> str:
        """The CA's certificate."""
        return _pem(self._certificate)

    def context(self, known: Callable[[str], bool]) -> ssl.SSLContext:
        """Return a server's context: a leaf for each name asked for by SNI that is known, an alert for any other."""

        def choose(sock: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
            if name is None or not known(name.lower()):
                return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
            sock.context = self._leaf_context(name.lower())
            return None

        context = self._server_context()
        context.sni_callback = choose
        return context

    def client(self) -> Path:
        """Return a file with a new certificate for clients, followed by its key: who has it may enter."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._leaf("local client", key, ExtendedKeyUsageOID.CLIENT_AUTH).sign(self._key, hashes.SHA256())
        path = self._folder / "client.pem"
        replace(path, _pem(certificate) + _key_pem(key))
        return path

    def issue(self, name: str) -> Path:
        """Return a file with a new certificate for the name, followed by its key and the CA's certificate."""
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = (
            self._leaf(name, key, ExtendedKeyUsageOID.SERVER_AUTH)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        path = self._folder / f"{name}.pem"
        replace(path, _pem(leaf) + _key_pem(key) + self.pem)
        return path

    def _leaf(self, name: str, key: ec.EllipticCurvePrivateKey, usage: x509.ObjectIdentifier) -> x509.CertificateBuilder:
        return (
            _builder(x509.Name([_common(name[:64])]), self._certificate.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )

    def _server_context(self) -> ssl.SSLContext:
        """Return a context that refuses every client without a certificate of ours."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=self.pem)
        return context

    def _leaf_context(self, name: str) -> ssl.SSLContext:
        if name not in self._contexts:
            context = self._server_context()
            context.load_cert_chain(self.issue(name))
            self._contexts[name] = context
        return self._contexts[name]

    def _load(self) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate] | None:
        key_path = self._folder / "ca.key"
        if not (key_path.exists() and self.path.exists()):
            return None
        key = serialization.load_pem_private_key(key_path.read_bytes(), password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return key, x509.load_pem_x509_certificate(self.path.read_bytes())

    def _create(self) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([_common("Local simulated internet")])
        usage = dict.fromkeys(
            ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
        ) | {"key_cert_sign": True, "crl_sign": True, "encipher_only": False, "decipher_only": False}
        certificate = (
            _builder(name, name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**usage), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        replace(self._folder / "ca.key", _key_pem(key))
        # Last and at one stroke: where there is a certificate, there is its whole key.
        replace(self.path, _pem(certificate))
        return key, certificate


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + YEARS)
    )


def _common(text: str) -> x509.NameAttribute[str]:
    return x509.NameAttribute(NameOID.COMMON_NAME, text)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()
