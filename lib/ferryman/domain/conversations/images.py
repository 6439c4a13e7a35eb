"""Images in texts that a model reads: each in base64 has a placeholder."""

from __future__ import annotations

import re

IMAGE_PLACEHOLDER = "[image displayed above]"
"""Replaces an image in what the model reads again (S3-64, S3-67): the person has it on the screen."""

_DATA_URL = re.compile(r"data:image/[A-Za-z0-9.+-]{1,64};base64,[A-Za-z0-9+/=_-]+", re.ASCII)
_BARE = re.compile(r"(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR)[A-Za-z0-9+/=]{200,}", re.ASCII)
"""PNG, JPEG, GIF and WebP by how they begin, where they are longer than any word."""


def replace_images(text: str) -> str:
    """Return `text` with the placeholder for each image in base64, a data URL (RFC 2397) or bare, before it is cut (S3-69)."""
    return _BARE.sub(IMAGE_PLACEHOLDER, _DATA_URL.sub(IMAGE_PLACEHOLDER, text))
