"""The database of jobs and their queue: the only place that knows SQLAlchemy and dbos."""

from sqlalchemy.engine import Connection as Transaction
from sqlalchemy.engine import RowMapping as JobRow
from sqlalchemy.exc import IntegrityError as AlreadySubmitted

__all__ = ["AlreadySubmitted", "JobRow", "Transaction"]
