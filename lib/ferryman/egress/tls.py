"""TLS: the one context of a process, with the certificate authorities that ship with the house."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path

import certifi


@cache
def context(ca: Path | None = None) -> ssl.SSLContext:
    """A context that verifies certificates and host names; `ca` replaces the authorities, for the local stack only.

    Made by hand: the ready-made one lets SSLKEYLOGFILE write session keys to a file, and SSL_CERT_FILE choose whom to trust.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.hostname_checks_common_name = False
    made.set_alpn_protocols(["http/1.1"])
    made.load_verify_locations(cafile=str(ca) if ca else certifi.where())
    return made
