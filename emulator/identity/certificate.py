"""The key pair that signs identity tokens: made once, kept in a file, shown as a certificate and as a JWK."""

import base64
import hashlib
import json
import os
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from emulator.storage import make_folder

BITS = 2048
VALID = timedelta(days=3650)


def load_or_make(path: Path | None) -> rsa.RSAPrivateKey:
    """Return the key in the folder `path`, made on the first call; a new one each time for None."""
    if path is None:
        return rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    file = make_folder(path) / "identity.pem"
    if file.exists():
        key = serialization.load_pem_private_key(file.read_bytes(), password=None)
        assert isinstance(key, rsa.RSAPrivateKey), f"{file} holds another kind of key"
        return key
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as out:
        out.write(to_pem(key))
    unfinished.replace(file)
    return key


def to_pem(key: rsa.RSAPrivateKey) -> bytes:
    """Return the private key in PKCS #8 PEM."""
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def sign_certificate(key: rsa.RSAPrivateKey, now: datetime) -> str:
    """Return an X.509 certificate of the public key in PEM, the form in which Google publishes its keys."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "local identity")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + VALID)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def build_jwk(key: rsa.RSAPrivateKey) -> dict[str, str]:
    """Return the public key as a JSON Web Key, named by its RFC 7638 thumbprint."""
    numbers = key.public_key().public_numbers()
    required = {"e": _base64(numbers.e), "kty": "RSA", "n": _base64(numbers.n)}
    canonical = json.dumps(required, separators=(",", ":"), sort_keys=True).encode()
    thumbprint = int.from_bytes(hashlib.sha256(canonical).digest(), "big")
    return {**required, "use": "sig", "alg": "RS256", "kid": _base64(thumbprint, length=32)}


def _base64(number: int, *, length: int | None = None) -> str:
    octets = number.to_bytes(length or (number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
