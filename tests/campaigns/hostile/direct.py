"""Direct links of a scenario, and what an attacker makes of one."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx

from tests.campaigns.hostile.filed import LINKS

BUCKET = "bucket"
"""The place of the harness where direct links lead."""

PLACE, VALUE = r"(?<=/workspaces/)[^/]+", r"(?<={}=)[^&]*"
CHANGES = {
    "elsewhere": (PLACE, "{other}"),
    "outside": (PLACE, r"\g<0>/%2e%2e/{other}"),
    "other_bucket": (r"^/[^/]+", "/hostile-other"),
    "longer": (VALUE.format("X-Goog-Expires"), "86400"),
    "later": (VALUE.format("X-Goog-Date"), "20991231T235959Z"),
    "inline": (VALUE.format("response-content-disposition"), "inline"),
    "page": (VALUE.format("response-content-type"), "text%2Fhtml"),
    "version": (VALUE.format("generation"), "1"),
    "signer": (VALUE.format("X-Goog-Credential"), r"operator\g<0>"),
    "hmac": ("GOOG4-RSA-SHA256", "AWS4-HMAC-SHA256"),
    "headers": (VALUE.format("X-Goog-SignedHeaders"), ""),
    "unsigned": ("&X-Goog-Signature=.*", ""),
    "empty": (VALUE.format("X-Goog-Signature"), ""),
    "bare": (r"\?.*", ""),
}
"""Words for a link that was changed: what of it, and into what."""


def take_direct_link(words: dict[str, str], signatures: list[str], answer: httpx.Response) -> None:
    """Note the direct link that an answer has, as the word `direct`, what can be made of it, and its signature."""
    if answer.request.method != "POST" or not answer.request.url.path.startswith(LINKS) or not answer.is_success:
        return
    parts = urlsplit(str(answer.json()["url"]))
    link = f"{parts.path}?{parts.query}"
    words["direct"] = link
    for word, (pattern, new) in CHANGES.items():
        changed = re.sub(pattern, new.replace("{other}", words["other"]), link, count=1)
        assert changed != link, f"{word} changes nothing"
        words[f"direct_{word}"] = changed
    signatures.append(link.rpartition("=")[2])
