"""Certificates that a server should not be believed with: expired, self-signed, of another name, of another authority."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """What a certificate says. `names` are its alternative names, of DNS; none where it has only a common name."""

    common: str = "api.news.test"
    names: tuple[str, ...] = ("api.news.test",)
    begins: timedelta = -DAY
    ends: timedelta = DAY
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH
    signed_by: str = "the authority"


HONEST = Leaf()
FORGED = {
    "expired": Leaf(begins=-3 * DAY, ends=-DAY),
    "not yet valid": Leaf(begins=DAY, ends=3 * DAY),
    "self-signed": Leaf(signed_by="itself"),
    "of another authority": Leaf(signed_by="another"),
    "of another name": Leaf(common="other.test", names=("other.test",)),
    "of a parent": Leaf(common="news.test", names=("news.test",)),
    "of a child": Leaf(names=("x.api.news.test",)),
    "wild, a label short": Leaf(names=("*.test",)),
    "wild, beside": Leaf(names=("*.api.news.test",)),
    "wild, in the middle": Leaf(names=("api.*.test",)),
    "wild, everything": Leaf(names=("*",)),
    "common name alone": Leaf(names=()),
    "with a dot at the end": Leaf(names=("api.news.test.",)),
    "for clients": Leaf(usage=ExtendedKeyUsageOID.CLIENT_AUTH),
}


class Forger:
    """Writes certificates into a folder: signed by the authority whose key is there, by another one, or by themselves."""

    def __init__(self, authority: Path, folder: Path) -> None:
        self._folder = folder
        key = serialization.load_pem_private_key((authority.parent / "ca.key").read_bytes(), password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        self._key = key
        self._certificate = x509.load_pem_x509_certificate(authority.read_bytes())

    def write(self, leaf: Leaf) -> Path:
        """Return a file with the certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        signer = {"the authority": self._key, "itself": key}.get(leaf.signed_by) or ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, leaf.common)])
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject if leaf.signed_by == "itself" else self._certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + leaf.begins)
            .not_valid_after(now + leaf.ends)
            .add_extension(x509.ExtendedKeyUsage([leaf.usage]), critical=False)
        )
        if leaf.names:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([x509.DNSName(name) for name in leaf.names]), critical=False
            )
        pem = builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        path = self._folder / "leaf.pem"
        path.write_bytes(
            pem + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        return path
