"""Jobs as the doors know them: submit, follow, cancel, resume."""

from veritrail_graph.api.jobs.event_feed import EventFeeds
from veritrail_graph.api.jobs.events import Event, Kind
from veritrail_graph.api.jobs.figures import Figures
from veritrail_graph.api.jobs.model import OPEN, Job, JobStatus
from veritrail_graph.api.jobs.orders import Busy
from veritrail_graph.api.jobs.reading import JobClaim
from veritrail_graph.api.jobs.service import Jobs
from veritrail_graph.api.jobs.settings import JobSettings
from veritrail_graph.api.jobs.submission import OtherInput

__all__ = [
    "OPEN",
    "Busy",
    "Event",
    "EventFeeds",
    "Figures",
    "Job",
    "JobClaim",
    "JobSettings",
    "JobStatus",
    "Jobs",
    "Kind",
    "OtherInput",
]
