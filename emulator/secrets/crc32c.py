"""CRC-32C, the checksum that travels beside a secret's payload."""

POLYNOMIAL = 0x82F63B78
"""Castagnoli's, reflected."""


def _entry(octet: int) -> int:
    for _ in range(8):
        octet = (octet >> 1) ^ (POLYNOMIAL if octet & 1 else 0)
    return octet


TABLE = tuple(_entry(octet) for octet in range(256))


def crc32c(payload: bytes) -> int:
    """Return the checksum of up to 64 KiB or so: a few milliseconds for each 64 KiB."""
    crc = 0xFFFFFFFF
    for octet in payload:
        crc = (crc >> 8) ^ TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF
