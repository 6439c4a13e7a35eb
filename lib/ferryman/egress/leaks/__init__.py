"""Leaks: no secret leaves, and none comes back, in any form that can be decoded."""

from ferryman.egress.leaks.scanner import Finding, Scanner

__all__ = ["Finding", "Scanner"]
