"""Files of a workspace: keys, objects that hold them, and the quota of their bytes."""
