"""Serving: how requests reach the functions. Functions-framework and Starlette are used here alone; callers are checked here.

Settings are read when a function is loaded, so that one with a forbidden switch does not start; clients are made at the first
request, in the worker that serves, since a gRPC channel does not survive the fork.
"""
