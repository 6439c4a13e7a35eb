"""Whom the client trusts: the certificate authorities that certifi lists, read once in a process."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def create_context() -> ssl.SSLContext:
    """Return the TLS context of every client of this process, which reads nothing from the environment.

    To read the authorities takes about 15 ms of the processor, most of the time of making a client.
    """
    return httpx.create_ssl_context(trust_env=False)
