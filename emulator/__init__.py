"""The local cloud: services of Google Cloud that run on this machine, spoken to by the real client libraries.

Nothing here imports the product and the product imports nothing from here; environment variables are all that ties them.
Each service is a package that hands out a gRPC handler, so that one process and one port can serve them all.
Data is kept in SQLite files, or in memory only when no path is given.
"""
