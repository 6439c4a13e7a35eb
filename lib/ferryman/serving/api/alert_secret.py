"""The secret of a workspace's alerts: made when their address is set, told once, and sealed to the key holders."""

from __future__ import annotations

from ferryman.composition.api import ApiDependencies
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credits.alert_message import AlertSecret, generate_secret, label_secret
from ferryman.domain.workspaces.workspace import Workspace


def issue_secret(deps: ApiDependencies, workspace: Workspace) -> AlertSecret | None:
    """Return a new secret for the address of the workspace's alerts; None where it has none."""
    if workspace.alert_url is None:
        return None
    secret, label = generate_secret(), label_secret(workspace)
    sealed = SealedCredential(
        label=label,
        ciphertext=deps.sealer.seal(secret.reveal().encode(), deps.info(label)),
        key_version=deps.sealer.version,
        created_at=workspace.updated_at,
        updated_at=workspace.updated_at,
    )
    return AlertSecret(secret=secret, sealed=sealed)
