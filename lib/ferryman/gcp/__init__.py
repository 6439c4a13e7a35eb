"""The ports on Google Cloud: Firestore for what is remembered, Secret Manager for the keys, Cloud Tasks for what comes later.

Clients are made on first use, in the worker that serves, because a gRPC channel does not survive the server's fork.
"""
