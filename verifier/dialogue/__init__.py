"""VISTA: dialogues verified turn by turn, claim by claim.

Source: VISTA 3, A.1.
"""
