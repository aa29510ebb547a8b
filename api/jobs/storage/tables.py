"""The tables of jobs: what was asked for, its claims, who works, and what may be spent."""

from __future__ import annotations

import sqlalchemy as sa

from veritrail_graph.api.auth.database import metadata

_ID = sa.String(160)
_AT = sa.String(32)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("job_id", _ID, primary_key=True),
    sa.Column("run_id", _ID, nullable=False),
    sa.Column("process_id", sa.String(128), nullable=False, index=True),
    sa.Column("content_hash", sa.String(128), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    # Who asked; "" where no key was asked for, so that one index serves both.
    sa.Column("key_id", sa.String(64), nullable=False),
    sa.Column("name", sa.String(200), nullable=False),
    sa.Column("key_budget", sa.Float),
    sa.Column("idempotency_key", sa.String(255)),
    sa.Column("input_hash", sa.String(64), nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    # The fields that all verifications of the job have in common, as JSON.
    sa.Column("header", sa.Text, nullable=False),
    sa.Column("is_extracted", sa.Boolean, nullable=False),
    # How often the job was taken up; a worker looks for its work anew where this changed.
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    # Whether the process that submitted it carries it out, and no worker.
    sa.Column("is_local", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("is_cancelled", sa.Boolean, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("created_at", _AT, nullable=False, index=True),
    sa.Column("started_at", _AT),
    sa.Column("ended_at", _AT, index=True),
    # What the extraction cost; the cost of the claims is in their rows.
    sa.Column("usage", sa.Text),
    sa.UniqueConstraint("key_id", "idempotency_key"),
)

job_claims = sa.Table(
    "job_claims",
    metadata,
    sa.Column("job_id", _ID, primary_key=True),
    sa.Column("verification_id", _ID, primary_key=True),
    sa.Column("place", sa.Integer, nullable=False),
    sa.Column("key_id", sa.String(64), nullable=False),
    sa.Column("claim_id", sa.String(128), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("reused", sa.Boolean, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("worker_id", _ID),
    sa.Column("begun", sa.Integer, nullable=False, server_default="0"),
    sa.Column("failure", sa.Text),
    sa.Column("calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cached_calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("input_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("cached_input_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("output_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("reasoning_tokens", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("unpriced_calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("batch_calls", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cost_usd", sa.Float),
    sa.Index("job_claims_status", "status", "priority"),
    sa.Index("job_claims_of_key", "key_id", "status"),
    sa.Index("job_claims_of_verification", "verification_id"),
)

batches = sa.Table(
    "job_batches",
    metadata,
    sa.Column("job_id", _ID, primary_key=True),
    # Ours: the name of its file at the endpoint, and part of its metadata.
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("model", sa.String(200), nullable=False),
    sa.Column("lines", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("since", _AT, nullable=False),
    sa.Column("file_id", sa.Text),
    sa.Column("batch_id", sa.Text),
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("failed", sa.Integer, nullable=False),
    sa.Column("is_read", sa.Boolean, nullable=False),
)

batch_lines = sa.Table(
    "job_batch_lines",
    metadata,
    sa.Column("job_id", _ID, primary_key=True),
    sa.Column("line_id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False),
    # What came back, as JSON; removed with the job, or when it has succeeded.
    sa.Column("answer", sa.Text),
    sa.Index("job_batch_lines_of_batch", "job_id", "name"),
)

# Written in the transaction that ends a job, so that no end is sent twice under two ids, or never.
webhook_messages = sa.Table(
    "webhook_messages",
    metadata,
    sa.Column("message_id", sa.String(64), primary_key=True),
    sa.Column("job_id", _ID, nullable=False, index=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    # When it is to be sent next, in seconds since 1970; None: it was delivered or given up.
    sa.Column("due", sa.Float, index=True),
)

workers = sa.Table(
    "job_workers",
    metadata,
    sa.Column("worker_id", _ID, primary_key=True),
    sa.Column("beat", sa.Float, nullable=False),
    sa.Column("started_at", _AT, nullable=False),
    # The worker that gives back what this dead one had begun.
    sa.Column("taken_by", _ID),
)

leases = sa.Table(
    "budget_leases",
    metadata,
    # A job's, or a key's over all of its jobs.
    sa.Column("budget_id", _ID, primary_key=True),
    sa.Column("worker_id", _ID, primary_key=True),
    sa.Column("granted_usd", sa.Float, nullable=False),
    sa.Column("granted_calls", sa.Integer, nullable=False),
    sa.Column("spent_usd", sa.Float, nullable=False),
    sa.Column("made_calls", sa.Integer, nullable=False),
)
