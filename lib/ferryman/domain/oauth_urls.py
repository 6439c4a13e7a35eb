"""The URLs of OAuth: the issuer of access tokens and where its metadata is, and this server as the resource they are for."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

ISSUER_ABOUT = "must be an https URL without query and fragment, exactly as the server names itself"
RESOURCE_ABOUT = "must be the URL of this API's /mcp, as https://ferryman.example.com/mcp"
PUBLIC_URL_ABOUT = "must be an https URL of the API without a slash at its end, as https://ferryman.example.com"
CLIENT_DOCUMENT = "/oauth/client.json"
"""The path of our client ID metadata document, below the URL of the API."""

_PATH = r"(/[A-Za-z0-9._~-]{1,255}){0,8}"
_ISSUER = re.compile(rf"https://[a-z0-9.-]{{1,253}}{_PATH}/?", re.ASCII)
_PUBLIC_URL = re.compile(rf"https://[a-z0-9.-]{{1,253}}{_PATH}", re.ASCII)
_RESOURCE = re.compile(rf"https?://[a-z0-9.-]{{1,253}}(:\d{{1,5}})?{_PATH}/mcp", re.ASCII)


def parse_public_url(text: str) -> str:
    """Return the URL of the API, or "" for none. Raise ValueError for what `PUBLIC_URL_ABOUT` does not describe."""
    return _parse(_PUBLIC_URL, text)


def locate_client_document(public_url: str, resource: str) -> str:
    """Return the URL of our client ID metadata document: below `public_url`, else beside the /mcp of `resource`.

    "" where neither is an https URL: an authorization server has to be able to read it.
    """
    base = public_url or resource.removesuffix("/mcp")
    return f"{base}{CLIENT_DOCUMENT}" if base.startswith("https://") else ""


def parse_issuer(text: str) -> str:
    """Return the issuer, or "" for none. Raise ValueError for what `ISSUER_ABOUT` does not describe."""
    return _parse(_ISSUER, text)


def parse_resource(text: str) -> str:
    """Return the URL of /mcp, or "" for none. Raise ValueError for what `RESOURCE_ABOUT` does not describe."""
    return _parse(_RESOURCE, text)


def find_oauth_problem(issuer: str, resource: str, *, local: bool) -> str | None:
    """Return what is wrong with the two together, None for nothing; in clear they are for the `local` stack alone."""
    if bool(issuer) != bool(resource):
        return "FERRYMAN_OAUTH_ISSUER and FERRYMAN_OAUTH_RESOURCE are needed together, or neither"
    if resource.startswith("http://") and not local:
        return "FERRYMAN_OAUTH_RESOURCE must be https where deployed: access tokens go there"
    return None


def list_metadata_urls(issuer: str) -> tuple[str, ...]:
    """Return where the metadata of `issuer` may be (RFC 8414, OpenID Connect), in the order in which clients of MCP try it."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = [f"{root}/.well-known/oauth-authorization-server{path}", f"{root}/.well-known/openid-configuration{path}"]
    return tuple(dict.fromkeys([*urls, f"{root}{path}/.well-known/openid-configuration"]))


def _parse(pattern: re.Pattern[str], text: str) -> str:
    if text and pattern.fullmatch(text) is None:
        raise ValueError
    return text
