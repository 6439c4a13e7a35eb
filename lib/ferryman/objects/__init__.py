"""Buckets behind `ports.Objects`: Google Cloud Storage by its JSON API, and any service that speaks S3, both over httpx."""
