"""Alerts, sent: a key holder reads the alert and its address from the store, opens the secret, and posts what it has signed."""
