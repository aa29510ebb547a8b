"""Embedding models: texts as vectors, so that similar texts are near each other.

`port` is what retrieval sees of any model. `local` runs a folder on this machine, and `endpoint`
asks a server.

Source: VeriTrail 4.2 (retrieval by embeddings), E.1.
"""
