"""Archives as files: a tar of JSON lines in gzip, written piece by piece and read without trust, both in bounded memory.

Both are written here on zlib and on the header of `tarfile.TarInfo`. Python's own `tarfile` reads links, devices, sparse files
and extended headers of any length, of which an archive has none: every one of them is refused by its header alone.
"""
