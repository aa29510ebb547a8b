"""Simulation: what a walk finds and costs with a judge that errs as often as one says.

Processes are generated, or take the shape of a real one; claims are planted in them, so that it
is known which are supported and where the others went wrong; a judge is drawn with given rates of
error. The walk, its driver, the rules for samples and the verdict prompt are those of a real run.

Needs NumPy.

Source: VeriTrail 3.1, 3.2, 4, D, E.2, E.3; the model of the judge is ours (docs/simulation.md).
"""
