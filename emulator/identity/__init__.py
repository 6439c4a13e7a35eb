"""Identity: who a caller is, in tokens signed by a local key instead of Google's."""

from emulator.identity.metadata import metadata_app
from emulator.identity.tokens import Tokens

__all__ = ["Tokens", "metadata_app"]
