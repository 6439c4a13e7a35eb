"""The proof: what can be shown of the deployment without an account."""
