"""Files of a workspace: read, written, listed, edited and searched by tools, in the function that may use the bucket."""
