"""The methods that are compared: VeriTrail, and the baselines of the paper, on the same ports."""
