"""Entailment models: does a premise say that a hypothesis holds?

`port` is what the engine and the baselines see of any model. `local`, `onnx` and `transformers`
run a folder on this machine, `endpoint` asks a server, `opening` finds out which of them a setting
names, and `adapters` ask a model in the way that published checkers do.

Source: VeriTrail 4.2 (NLI baselines), F, G (any verifier may give the verdicts).
"""
