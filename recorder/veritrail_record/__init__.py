"""Record a process while the program that generates it runs.

It imports the standard library alone. `store=` and `verify=` find veritrail-graph where it is
installed. Recorders of libraries are modules beside this one: `veritrail_record.langchain`,
`llamaindex`, `haystack`, `openai`, `opentelemetry`, `graphrag`.
"""

from veritrail_record.linking import RecordedSpan
from veritrail_record.recording import Recording, current
from veritrail_record.steps import recorded_step

record = Recording

__all__ = ["RecordedSpan", "Recording", "current", "record", "recorded_step"]
