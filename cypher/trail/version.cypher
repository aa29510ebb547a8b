// purpose: What tells the version of the process of a verification from another under the same id.
// param verification_id: string - the verification
// column process_id: string - its process, which is ready
// column content_hash: string - hash of its content
// column created_at: string - when this version was stored
// column first_stored_at: string - when the first version was stored that this one goes back to
// source: ours
MATCH (v:Verification {verification_id: $verification_id})
MATCH (p:Process {process_id: v.process_id})
WHERE p.status = 'ready'
RETURN p.process_id AS process_id, p.content_hash AS content_hash, p.created_at AS created_at,
       coalesce(p.first_stored_at, p.created_at) AS first_stored_at
