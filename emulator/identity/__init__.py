"""Identity: who a caller is, in tokens signed by a local key instead of Google's."""

from emulator.identity.metadata import certs_app, metadata_app
from emulator.identity.tokens import IdentityTokens

__all__ = ["IdentityTokens", "certs_app", "metadata_app"]
