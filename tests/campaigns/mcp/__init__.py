"""The conformance suite of the Model Context Protocol, asked about our engine, our client, and the server of its Python SDK.

Judges and peers (the suite, the SDKs, their everything-servers) are installed into folders of their own by digest, and are no
dependency of the product. Our client is judged as it is shipped, over a gate that admits loopback (`conformant/`).
"""
