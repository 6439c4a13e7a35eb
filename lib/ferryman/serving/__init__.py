"""Serving: how a request reaches the house. Functions-framework and Starlette stay in here, and so does who may call.

Settings are read when a function is loaded, so that one with a forbidden switch does not start; clients are made at the first
request, in the worker that serves, since a gRPC channel does not survive the fork.
"""
