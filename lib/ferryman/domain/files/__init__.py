"""Files of a workspace: keys, objects that hold them, and the quota of their bytes.

`keys` keeps workspaces apart, `writes` has a write happen once, `quota` has each byte count once. `kept` are long results that
become files.
"""
