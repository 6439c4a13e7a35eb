"""Styles and scripts, under a folder that is named by their content: a browser keeps them, and never uses old ones."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

FOLDER = Path(__file__).parent / "assets"
TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file, and its gzipped form."""

    content: bytes
    gzipped: bytes
    type: str


@cache
def load_assets() -> tuple[str, dict[str, Asset]]:
    """Return the digest of all files, and each by its name."""
    digest, assets = hashlib.sha256(), {}
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in TYPES:
            content = file.read_bytes()
            digest.update(f"{file.name}\n{len(content)}\n".encode() + content)
            assets[file.name] = Asset(content=content, gzipped=gzip.compress(content, mtime=0), type=TYPES[file.suffix])
    return digest.hexdigest()[:16], assets


def answer_asset(request: Request) -> Response:
    """Answer one of the files, which a browser asks for once. Raise 404 where there is none of this name and digest."""
    digest, assets = load_assets()
    asset = assets.get(request.path_params["name"])
    if asset is None or request.path_params["digest"] != digest:
        raise HTTPException(404, "there is no such file")
    is_gzipped = "gzip" in request.headers.get("accept-encoding", "")
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "Content-Type": asset.type,
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Security-Policy": "default-src 'none'",
        "Vary": "Accept-Encoding",
        **({"Content-Encoding": "gzip"} if is_gzipped else {}),
    }
    return Response(asset.gzipped if is_gzipped else asset.content, headers=headers)
