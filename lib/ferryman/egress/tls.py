"""The TLS contexts of a process: which authorities it trusts, whatever the environment says."""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path

import certifi


@cache
def create_context(ca: Path | None = None, client: Path | None = None) -> ssl.SSLContext:
    """Return a context that verifies certificates and host names.

    For the local stack only, `ca` replaces the authorities, and `client` is a file with the client certificate and its key.
    `ssl.create_default_context` lets SSLKEYLOGFILE write session keys to a file, and SSL_CERT_FILE choose the authorities.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(cafile=str(ca) if ca else certifi.where())
    if client is not None:
        context.load_cert_chain(client)
    return context
