"""The nouns of the project as frozen values.

Everything here is plain data: no I/O, no engine, no language model. Names are the
paper's: a process is a directed acyclic graph of text spans; an edge says that its
source was an input to the step that produced its target.

Source: VeriTrail 2 (the conceptual framework) and 3.2 (what a verification returns).
"""

from veritrail_graph.graph.model.appeal import Appeal, AppealKind
from veritrail_graph.graph.model.cited import CitedSentence, Evidence, EvidenceRole, Sentence
from veritrail_graph.graph.model.located import (
    ErrorLocation,
    LocatedBy,
    MarkedSentence,
    ValueDifference,
    ValuePlace,
    stages_of,
)
from veritrail_graph.graph.model.node_ref import (
    NodeRef,
    Origin,
    Role,
    frontier_order,
    in_order,
)
from veritrail_graph.graph.model.noun import Noun
from veritrail_graph.graph.model.part import JudgedPart, PartVerdict, Says, Side, verdict_on
from veritrail_graph.graph.model.process import (
    NO_FACTS,
    Claim,
    ClaimOrigin,
    Edge,
    EdgeFacts,
    Inference,
    Process,
    SourcesLeft,
    SourcesRead,
    Span,
    Verdict,
    spellings,
)
from veritrail_graph.graph.model.review import Review, Reviewed, ReviewKind, ReviewVerdict
from veritrail_graph.graph.model.run_usage import RunUsage, share_of_nodes, total_usage
from veritrail_graph.graph.model.trail import (
    EvidencePath,
    Iteration,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verification,
    VerificationHeader,
)
from veritrail_graph.graph.model.verdict_in_force import in_force, of_text

__all__ = [
    "NO_FACTS",
    "Appeal",
    "AppealKind",
    "CitedSentence",
    "Claim",
    "ClaimOrigin",
    "Edge",
    "EdgeFacts",
    "ErrorLocation",
    "Evidence",
    "EvidencePath",
    "EvidenceRole",
    "Inference",
    "Iteration",
    "JudgedPart",
    "LocatedBy",
    "MarkedSentence",
    "NodeRef",
    "Noun",
    "Origin",
    "PartVerdict",
    "Process",
    "Review",
    "ReviewKind",
    "ReviewVerdict",
    "Reviewed",
    "Role",
    "RunUsage",
    "Says",
    "Sentence",
    "Side",
    "SourcesLeft",
    "SourcesRead",
    "Span",
    "Status",
    "StepRecord",
    "Termination",
    "Usage",
    "ValueDifference",
    "ValuePlace",
    "Verdict",
    "Verification",
    "VerificationHeader",
    "frontier_order",
    "in_force",
    "in_order",
    "of_text",
    "share_of_nodes",
    "spellings",
    "stages_of",
    "total_usage",
    "verdict_on",
]
