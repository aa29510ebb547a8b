"""The data model of the graph: labels, relationship types, their properties, constraints.

What the statements of `cypher/` write is described here once, in words and types.
"""

from __future__ import annotations

from veritrail_graph.graph.schema.element_types import (
    NodeType,
    Property,
    RelationshipType,
    boolean,
    integer,
    integers,
    kept,
    string,
    strings,
)

_PROCESS_ID = string("process_id", "the process that it belongs to")
_NODE_ID = string("node_id", "the node")
_VERIFICATION_ID = string("verification_id", "the verification that it belongs to")
_CAPTION = string("caption", "a short text to show, on one line, at most 40 characters")

_USAGE = (
    integer("calls", "answers that a model gave"),
    integer("cached_calls", "answers that came from the cache of answers"),
    integer("input_tokens", "tokens of the prompts"),
    integer("cached_input_tokens", "those of them that the endpoint had in its own cache"),
    integer("output_tokens", "tokens of the answers"),
    integer("reasoning_tokens", "those of them that were spent on reasoning"),
    Property("cost_usd", "float", "US dollars; absent where the price of any call is not known"),
    integer("unpriced_calls", "calls whose price is not known"),
    integer("batch_calls", "calls that were made in a batch"),
)

_PROCESS = (
    string("process_id", "its id"),
    string("name", "its display name"),
    string("question", "what the final output answers"),
    string("source_format", "the format that it was read from"),
    kept("content_hash", "string", "SHA-256 over nodes, edges, stages and terminals"),
    integers("stages", "the stages, ascending"),
    kept("stage_counts", "list of integers", "number of nodes in each of `stages`, in its order"),
    string("stage_names", "names of the stages as JSON text"),
    strings("terminals", "node_ids of the final outputs"),
    integer("nodes", "number of nodes"),
    integer("edges", "number of edges"),
    kept("warnings", "list of strings", "gaps of the input and how they were handled"),
    string("run_of_record", "the run whose verdicts count, where one is pinned"),
    string("project", "the pipeline that it is a run of"),
    strings("tags", "its tags"),
    string("created_at", "when it was stored"),
    kept(
        "fetched_from",
        "list of strings",
        "tools whose trace this is: name, server and project, without a key",
    ),
    kept("first_stored_at", "string", "when the first version was stored, where it replaced one"),
    string("status", "`loading`, `ready`, `replacing` or `deleting`"),
    kept("owner", "string", "the program that writes it; absent when it is ready"),
    kept("beat", "string", "last sign of life of the writer; absent when it is ready"),
    kept("replaces", "string", "the process that it will replace"),
    kept("plan", "string", "hash of the batches in which it is loaded; absent when it is ready"),
)

_SPAN = (
    _PROCESS_ID,
    string("node_id", "its id in the process"),
    _CAPTION,
    string("text", "the text"),
    integer("stage", "its place in the generative process"),
    kept("position", "integer", "its place in the input, counted from 0"),
    string("role", "`root`, `intermediate`, `terminal` or `unsourced`"),
    string("origin", "`source` (text that counts as true), `generated` or `given`"),
    string("question", "the question that it answers, where it has one of its own"),
    string("kind", "what sort of text it is, such as `chunk`"),
    string("step", "the step that produced it, such as `summarise`"),
    string("model", "the model that wrote it"),
    string("prompt", "the prompt that it was written with"),
    string("metadata", "the rest of its metadata, as JSON text"),
)

_CLAIM = (
    _PROCESS_ID,
    string("claim_id", "its id in the process"),
    _CAPTION,
    string("text", "the statement"),
    string("node_id", "the node whose content it states"),
    integer("start", "offset of its place in the node's text, in code points"),
    integer("end", "offset just behind its place"),
    integers("also", "further places of the same claim: start and end of each, in turn"),
    strings("sub_claims", "the simpler statements that make it up"),
    string("label", "a person's verdict, for evaluation"),
    string("origin", "`asked`: a question, which nothing counts; absent: a claim of the answer"),
    kept(
        "said",
        "boolean",
        "of a question: true: the node says it in the same words; false: no "
        "sentence has half of its words; absent: words cannot tell",
    ),
    string("category", "of a claim of a turn: `VERIFIED`, `CONTRADICTED`, …, where one counts"),
    string("turn_status", "of a claim of a turn: `undecided` where that counts; else absent"),
    kept("position", "integer", "its place among the claims of the process"),
)

_EXTRACTION = (
    _PROCESS_ID,
    string("node_id", "the node that holds the sentence"),
    kept("position", "integer", "its place among the sentences of the node, counted from 0"),
    _CAPTION,
    integer("start", "offset of its first character in the node's text, in code points"),
    integer("end", "offset just behind its last character"),
    string("text", "the sentence"),
    string("outcome", "result of the extraction, such as `claims` or `no_verifiable_claims`"),
    string("reason", "why there is no claim"),
    strings("claim_ids", "the claims that it states"),
)

_PART_VERDICTS = (
    "of each part of the claim `supported`, `contradicted`, `not_addressed` or `contested`; "
    "absent: no judge gave it; where nothing was found each is `not_addressed`"
)

_VERIFICATION = (
    string("verification_id", "its id"),
    _CAPTION,
    _PROCESS_ID,
    string("claim_id", "the claim"),
    string("claim", "the claim's text as it was verified"),
    strings("sub_claims", "its sub-claims as they were used"),
    string("node_id", "the node that was verified against its sources"),
    string("method", "`veritrail`, or `vista` where it checks a claim of a turn"),
    integer("q", "Not Fully Supported verdicts in a row that end the walk"),
    string("engine", "the engine of judgement"),
    string("model", "the model that judged"),
    Property("indicative", "boolean", "whether no model judged"),
    string("created_at", "when it was made"),
    string(
        "status",
        "`queued`, `running`, `succeeded`, `undecided`, `failed`, `over_budget`, `cancelled`",
    ),
    string("verdict", "the final verdict; absent unless it succeeded"),
    string("reasoning", "the reasons for it"),
    strings("part_verdicts", _PART_VERDICTS),
    strings("part_reasons", "the reason for each of them"),
    Property(
        "score",
        "float",
        "probability of Fully Supported in the last iteration: the share of samples, or a model's "
        "own; 0 where no root bore evidence",
    ),
    string("termination", "why the walk stopped"),
    integers("error_stages", "the stages at which unsupported content entered"),
    string("located_by", "how its place was found: `verdicts` (of the walk), `value` or `sides`"),
    kept("value_place", "string", "where a value came in, with the two sentences, as JSON text"),
    kept("appeals", "string", "cited sentences that speak to their reader, as JSON text"),
    string("correction", "the claim as its evidence supports it, judged again; absent: none"),
    integer("appeals_read", "sentences that were read and speak to their reader; absent: none"),
    string("category", "of a claim of a turn: `VERIFIED`, or why it is not"),
    strings(
        "contradicts_knowledge",
        "nodes of initial knowledge, or earlier turns, that a claim of a turn denies",
    ),
    string("error", "why there is no verdict"),
    kept("content_hash", "string", "hash of the content that was verified"),
    kept("run_id", "string", "the run that it was made in"),
    kept("place", "integer", "its place in that run"),
    kept("settings", "string", "all that decides the outcome, as JSON text with sorted keys"),
    kept("run_options", "string", "what its run may spend, as JSON text"),
    kept("share", "integer", "claims that a prompt asked about at most; absent: one"),
    string("reused_from", "the earlier verification whose verdict was kept"),
    kept("compared_with", "string", "the verification of the claim in the earlier version"),
    string("reuse_reason", "why the earlier verdict was kept, or why it was not"),
    kept("saved_calls", "integer", "answers of models that a kept verdict rests on"),
    *_USAGE,
)

_TURN_VERIFICATION = (
    _PROCESS_ID,
    string("node_id", "the turn"),
    string("run_id", "the run"),
    _CAPTION,
    string("turn_id", "the turn's id in the dialogue"),
    string("status", "`succeeded`, `undecided`, `failed`, `over_budget`, `cancelled`"),
    string("label", "`VERIFIED` or `UNVERIFIABLE`; absent without claims, and if undecided"),
    Property("score", "float", "share of verified claims among the verifiable ones"),
    string("error", "why it did not succeed"),
    Property("in_force", "boolean", "whether it is what counts for the turn"),
    Property("check_contradiction", "boolean", "whether the turn contradicts an earlier one"),
    strings("check_quotes", "what the turn says, and what the earlier one said"),
    string("check_turn_id", "the earlier turn"),
    string("check_reason", "the reason for it"),
    string("check_model", "the model that checked the turn"),
    kept("history_left_out", "integer", "earlier turns that did not fit into a prompt"),
    kept("background_left_out", "integer", "remembered facts that did not fit into a prompt"),
    kept("background_lacks", "integer", "earlier turns of which not all is remembered"),
    string("engine", "the engine"),
    string("model", "the model that verified"),
    Property("indicative", "boolean", "whether no model was asked"),
    Property("ablated", "boolean", "whether a part of the method was left out"),
    string("created_at", "when the run began"),
    kept("content_hash", "string", "hash of the content that was verified"),
    kept("settings", "string", "all that decides the outcome, as JSON text with sorted keys"),
    *_USAGE,
)

_REVIEW = (
    string("review_id", "its id"),
    _CAPTION,
    _PROCESS_ID,
    string("claim_id", "the claim"),
    string("claim", "the claim's text as it was reviewed"),
    string("kind", "effect on the verdict: `confirmed`, `overridden` or `unclear`"),
    string("verdict", "the reviewer's verdict, or `UNCLEAR`"),
    string("model_verdict", "the verdict that was reviewed; absent where there was none"),
    string("reason", "the reviewer's reason; empty where none was given"),
    string("reviewer", "the reviewer's name"),
    string("recorded_by", "name of the key that it was sent with; absent where no key was needed"),
    string("verification_id", "the verification whose verdict was reviewed"),
    boolean("blind", "whether the model's verdict was hidden from the reviewer"),
    boolean("adjudicates", "true where it decides between reviewers"),
    string("created_at", "when it was stored"),
)

_ITERATION = (
    _VERIFICATION_ID,
    integer("number", "counted from 1"),
    _CAPTION,
    string("verdict", "the interim verdict, as it was given; absent where there is none"),
    string("reasoning", "the reasons for it"),
    kept(
        "score", "float", "probability of Fully Supported: the share of samples, or a model's own"
    ),
    integer("checked_count", "nodes that were read"),
    integer("evidence_count", "sentences that were selected"),
    strings("carried_roots", "roots with evidence from earlier iterations"),
    kept("carried_places", "list of integers", "stage and position of each of them, in turn"),
    kept("frontier_hash", "string", "hash of the nodes that were read, in their order"),
    kept("dropped_ids", "integer", "sentence ids given that were not in their prompt"),
    kept("reruns", "integer", "times that evidence was selected again because the prompt was full"),
    kept("judged", "string", "after reruns, the evidence that the verdict saw, as JSON text"),
    kept("left_out", "integer", "sentences of the first selection that the verdict did not see"),
    kept("left_out_roots", "list of strings", "roots that fell out of the verdict prompt"),
    string("judged_by", "in a cascade of two judges, the model whose verdict counts"),
    string("first_verdict", "in a cascade, the verdict of the first judge"),
    kept("first_reasoning", "string", "its reasons, or why it had no verdict"),
    strings("part_verdicts", _PART_VERDICTS),
    strings("part_reasons", "the reason for each of them"),
    string("looked_for", "what was missing and was looked for once more in the same nodes"),
)

_STEP = (
    _VERIFICATION_ID,
    kept("position", "integer", "its place among the steps of the verification"),
    _CAPTION,
    integer("iteration", "the iteration; 0: before the first"),
    string("step", "its name in the model protocol, such as `evidence_selection`"),
    string("prompt", "name and version of the prompt"),
    kept("prompt_hash", "string", "SHA-256 of the prompt's file"),
    string("model", "the model that was asked"),
    Property("temperature", "float", "the temperature that was sent; absent: none was"),
    string("effort", "the effort of reasoning that was sent; absent: none was"),
    *_USAGE,
)

_TRAIL_NODE = (
    _VERIFICATION_ID,
    string("node_id", "the span"),
    _PROCESS_ID,
    string("claim_id", "the claim"),
    _CAPTION,
    integer("stage", "stage of the span"),
    string("role", "role of the span: `root` where the trail begins in a source"),
    kept("position", "integer", "place of the span in the input"),
    integer("iteration", "the iteration that found evidence in the span"),
)

_EVIDENCE = (
    string("evidence_id", "its id"),
    _CAPTION,
    kept("position", "integer", "its place among the evidence of the iteration"),
    string("summary", "a summary of the selected sentences"),
    string("missing", "what the sentences leave open"),
)

_SENTENCE = (
    _PROCESS_ID,
    _NODE_ID,
    integer("index", "its number in the node, counted from 0"),
    integer("start", "offset of its first character in the node's text, in code points"),
    integer("end", "offset just behind its last character"),
    _CAPTION,
    string("text", "the sentence"),
    string("attributed_in", "the run whose attribution of it counts; absent: it has none"),
    string("attributed_at", "when that run stored it, in UTC"),
    string("attributed_against", "`inputs` or `roots`: what it was attributed to"),
    string("attribution_engine", "the engine of that run"),
    string("attribution_model", "its model; absent: the engine has none"),
    kept("attribution_indicative", "boolean", "whether no model was asked for that attribution"),
    string("implied_label", "`FAITHFUL` or `UNFAITHFUL`, as its attribution implies"),
    string("judged_label", "the same as a judge said; absent where none was asked"),
    string("judged_reason", "the judge's reason"),
    string("correction", "a faithful wording that a model proposed; the text stays as it was"),
    string("corrected_label", "what the judge said of the correction"),
    integer("dropped_ids", "ids that the model named and was not shown; absent: none"),
    strings("propositions", "its propositions, where it was split; `…` marks a gap"),
    strings("proposition_spans", "where each is in the node's text: `START-END`, or several"),
    strings("proposition_labels", "`FAITHFUL` or `UNFAITHFUL`, as each one's attribution implies"),
)

_REVISION = (
    string("revision_id", "its id"),
    _CAPTION,
    _PROCESS_ID,
    _NODE_ID,
    integer("index", "number of the sentence in the node, counted from 0"),
    integer("start", "offset of its first character in the node's text, in code points"),
    integer("end", "offset just behind its last character"),
    string("text", "the proposed wording; the sentence stays as it was"),
    string("run", "the run that proposed it"),
    string("engine", "the engine that proposed it"),
    string("mode", "what the model saw: `plain`, `highlighted` or `attribution`"),
    integer("edits", "words that differ from the sentence"),
    string("outcome", "`fixed`, `partly` or `not`; absent: it was not verified again"),
    string("rechecked_by", "`judge` or `walk`; absent: it was not verified again"),
    integer("claims", "of the walk: claims of the wording"),
    integer("supported", "of the walk: those of them that are fully supported"),
    integer("rank", "among the wordings of several modes, 1 is best; absent: there is one mode"),
)

_SCHEMA = (
    kept("name", "string", "`veritrail`"),
    kept("version", "integer", "version of the schema"),
    kept("owner", "string", "the program that changes the schema now; absent otherwise"),
    kept("beat", "string", "its last sign of life; absent otherwise"),
    kept("asked", "string", "when a program last tried to; absent otherwise"),
)

_LOCATED = (
    string("located_by", "how it was found: `verdicts`, `value` or `sides`; absent: `verdicts`"),
    string("source", "the value that the source has, where a value leads here"),
    string("wrote", "the one that was written in its place"),
)

_LEADS = "a step of the evidence trail, towards the answer"
_ENDS = "the last step: the verified node was made from the span"
_VIA = (strings("via", "nodes without evidence between the two, upstream first"),)

_SAYS = "`for` or `against` the claim, or `both`; absent: no judge said it"

_PLACE = ("process_id", "node_id")

NODES: tuple[NodeType, ...] = (
    NodeType("Process", ("process_id",), "a finished generative process", _PROCESS, "name"),
    NodeType("Span", _PLACE, "a node of the process: a text", _SPAN, "caption"),
    NodeType("Claim", ("process_id", "claim_id"), "a statement of a node", _CLAIM, "caption"),
    NodeType(
        "Extraction",
        (*_PLACE, "position"),
        "a sentence from which claims were extracted",
        _EXTRACTION,
        "caption",
    ),
    NodeType(
        "Verification",
        ("verification_id",),
        "one check of a claim, with its final verdict",
        _VERIFICATION,
        "caption",
    ),
    NodeType(
        "TurnVerification",
        (*_PLACE, "run_id"),
        "what a run found of a turn of a dialogue",
        _TURN_VERIFICATION,
        "caption",
    ),
    NodeType("Review", ("review_id",), "a person's verdict on a claim", _REVIEW, "caption"),
    NodeType(
        "Iteration",
        ("verification_id", "number"),
        "one round of a verification, with its interim verdict",
        _ITERATION,
        "caption",
    ),
    NodeType("Step", (), "the calls of one step to a model, and their cost", _STEP, "caption"),
    NodeType(
        "Evidence", ("evidence_id",), "sentences that one prompt selected", _EVIDENCE, "caption"
    ),
    NodeType(
        "TrailNode",
        ("verification_id", "node_id"),
        "a span in the evidence trail of one verification",
        _TRAIL_NODE,
        "caption",
    ),
    NodeType(
        "Sentence",
        (*_PLACE, "index", "start", "end"),
        "a sentence that became evidence, or that was attributed",
        _SENTENCE,
        "caption",
    ),
    NodeType(
        "Revision",
        ("revision_id",),
        "a proposed wording of a sentence; it never takes its place",
        _REVISION,
        "caption",
    ),
    NodeType("VeriTrailSchema", ("name",), "version of the schema", _SCHEMA, "name", True),
)


RELATIONSHIPS: tuple[RelationshipType, ...] = (
    RelationshipType("HAS_FINAL_OUTPUT", "Process", "Span", "what it produced in the end"),
    RelationshipType(
        "INPUT_TO",
        "Span",
        "Span",
        "the first was an input to the step that produced the second",
        (
            Property("cited", "boolean", "whether the second names the first as a source"),
            string("inferred", "how a reader found it (`exact`, …); absent: the input names it"),
            Property("score", "float", "how sure that is, from 0 to 1"),
        ),
    ),
    RelationshipType("EXTRACTED_FROM", "Claim", "Span", "the node that states the claim"),
    RelationshipType("EXTRACTION_OF", "Extraction", "Span", "the node that holds the sentence"),
    RelationshipType("VERIFIES", "Verification", "Claim", "a claim can be verified many times"),
    RelationshipType(
        "IN_FORCE", "Claim", "Verification", "the verification of the claim that counts"
    ),
    RelationshipType("OF_TURN", "TurnVerification", "Span", "the turn that was verified"),
    RelationshipType(
        "PART_OF", "Verification", "TurnVerification", "a claim of the turn, as the run found it"
    ),
    RelationshipType(
        "COMPARED_WITH",
        "Verification",
        "Claim",
        "a claim of an earlier turn that was shown as background",
        (kept("position", "integer", "its place in the background, oldest first"),),
    ),
    RelationshipType(
        "CONTRADICTS",
        "Claim",
        "Claim",
        "the first cannot be true together with the second, of an earlier turn",
        (
            string("run_id", "the run that found it"),
            kept("position", "integer", "its place among those of the claim"),
            strings("quotes", "what each of them says"),
        ),
    ),
    RelationshipType("REVIEWS", "Review", "Claim", "the claim that a person reviewed"),
    RelationshipType(
        "CONSIDERS", "Review", "Verification", "the verification whose verdict was reviewed"
    ),
    RelationshipType(
        "REUSED_FROM",
        "Verification",
        "Verification",
        "the earlier verification whose verdict it keeps, of an earlier version of the process",
    ),
    RelationshipType("HAS_ITERATION", "Verification", "Iteration", "the rounds"),
    RelationshipType("TOOK", "Verification", "Step", "the calls to models"),
    RelationshipType("CHECKED", "Iteration", "Span", "the nodes that were read in the iteration"),
    RelationshipType("FOUND", "Iteration", "Evidence", "what was selected"),
    RelationshipType(
        "CITES",
        "Evidence",
        "Sentence",
        "a selected sentence",
        (
            string("role", "`evidence` or `context`"),
            kept("position", "integer", "its place in the prompt"),
            string("says", _SAYS),
            integer("part", "the sub-claim that it is about, counted from 1; absent: none given"),
            strings("sides", "of several parts what it says about each: `1 for`, `2 against`"),
        ),
    ),
    RelationshipType(
        "CITES",
        "TrailNode",
        "Sentence",
        "a sentence of its span that is evidence",
        (string("says", _SAYS),),
    ),
    RelationshipType("AT", "TrailNode", "Span", "the span that stands here in the trail"),
    RelationshipType("LEADS_TO", "TrailNode", "TrailNode", _LEADS, _VIA),
    RelationshipType("LEADS_TO", "TrailNode", "Verification", _ENDS, _VIA),
    RelationshipType("SENTENCE_OF", "Sentence", "Span", "the node that holds the sentence"),
    RelationshipType(
        "ATTRIBUTED_TO",
        "Sentence",
        "Sentence",
        "the second decides whether the first is faithful to its sources",
        (
            string("run", "the run that found it; the one of `attributed_in` counts"),
            strings(
                "categories", "`EVIDENCE`, `CONTRADICTION`, `NEAR_MATCH`, `EXPECTED_SPAN`; any of"
            ),
            string("engine", "the engine that found it"),
            strings(
                "propositions",
                "for which propositions it counts, and as what, such as `0 EVIDENCE`; absent: the "
                "sentence was not split",
            ),
        ),
    ),
    RelationshipType("REVISES", "Revision", "Sentence", "the sentence that it is a wording for"),
    RelationshipType(
        "ERROR_INTRODUCED_AT",
        "Verification",
        "Span",
        "where unsupported content entered; of several, in one of them",
        (
            integer("stage", "the error stage"),
            kept("position", "integer", "its place: 0 has most of the claim in its evidence"),
            *_LOCATED,
        ),
    ),
    RelationshipType(
        "ERROR_OFFERED_AT",
        "Verification",
        "Span",
        "where a value of the claim says that it entered, and a model's verdicts tell no place; "
        "nothing counts it",
        (
            integer("stage", "the stage of the node"),
            kept("position", "integer", "its place among those of the verification"),
            *_LOCATED,
        ),
    ),
    RelationshipType(
        "ERROR_PROPAGATED_THROUGH",
        "Verification",
        "Span",
        "a later node that only passed it on; the verified node too",
    ),
)
