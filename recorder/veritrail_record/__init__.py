"""Record a process while the program that generates it runs.

Everything here starts without models, servers and drivers; only storing imports those.
"""

from veritrail_graph.api.recorder.linking import RecordedSpan
from veritrail_graph.api.recorder.recording import Recording, current
from veritrail_graph.api.recorder.steps import recorded_step

record = Recording

__all__ = ["RecordedSpan", "Recording", "current", "record", "recorded_step"]
