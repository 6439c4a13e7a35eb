"""Buckets behind `ports.Objects`: Google Cloud Storage by its JSON API, and any service that speaks S3, both over httpx.

`google` and `s3` are the two services. What both need is in `sending` and `slices`; `signing` and `presigning` have the
signatures.
"""
