"""Claims: taking them out of an answer, and taking one apart into sub-claims.

Source: VeriTrail 3.1, 3.1.1; Claimify.
"""
