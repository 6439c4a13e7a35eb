"""Archives: everything of a workspace as one file that holds no secret, and that another deployment can read.

An archive is a tar of JSON lines, compressed with gzip: files of each kind in the order of `KINDS`, and `manifest.json` at the
end, which names every file with its SHA-256. Decided: the manifest is the last entry, since an archive is written while it is
read from the store, and no digest is known before; so an archive that was cut short has none, and is refused.
"""
