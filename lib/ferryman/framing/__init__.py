"""The frame around external data, and what is done to a text before it is put in one (defence against prompt injection).

Pure, and without any credential: key holders frame what they have redacted, and the orchestrator what a key holder has scanned.
"""
