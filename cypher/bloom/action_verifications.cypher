// purpose: Bloom, action on selected claims: all their verifications.
// param nodes: list - internal ids of what is selected
// column c: any - a selected claim
// column verifies: any - that the verification verifies it
// column v: any - a verification
// source: ours
MATCH (c:Claim)<-[verifies:VERIFIES]-(v:Verification)
WHERE elementId(c) IN $nodes
RETURN c, verifies, v
ORDER BY c.position, v.created_at DESC
LIMIT 1000
