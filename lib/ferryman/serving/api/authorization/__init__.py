"""Authorization of /mcp: API keys and access tokens (OAuth 2.1, this server as the resource server), and what either may.

Nothing here gives the right to approve, and no access token is accepted anywhere else. A token is read here and goes no
further: it is stored nowhere and sent to nobody.
"""

from ferryman.serving.api.authorization.bearer import Bearer, read_bearer
from ferryman.serving.api.authorization.challenges import OWN_CATEGORY, check_execution, check_scope, require_right

__all__ = ["OWN_CATEGORY", "Bearer", "check_execution", "check_scope", "read_bearer", "require_right"]
