// purpose: Write the evidence that the iterations found.
// param verification_id: string - the verification
// param rows: list - {number, evidence_id, position, summary, missing}
// source: VeriTrail 3.1.2, C.1 Algorithm 1 line 12
UNWIND $rows AS row
MATCH (i:Iteration {verification_id: $verification_id, number: row.number})
CREATE (i)-[:FOUND]->(:Evidence {
  evidence_id: row.evidence_id, position: row.position, summary: row.summary, missing: row.missing
})
