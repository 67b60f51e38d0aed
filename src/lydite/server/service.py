"""One service: everything that its routes ask. Made once, kept in ``app.state.service``."""

from __future__ import annotations

from lydite.server.database.engine import open_engine
from lydite.server.documents import Documents
from lydite.server.events import Bus
from lydite.server.files import Files
from lydite.server.home import Home
from lydite.server.index.following import Progress
from lydite.server.index.index import Index
from lydite.server.jobs.jobs import Jobs
from lydite.server.models.models import Models
from lydite.server.settings import Settings
from lydite.server.tasks import Tasks
from lydite.server.verdicts import Verdicts


class Service:
    """Attributes: ``settings``, ``home``, ``engine``, ``bus``, ``index``, ``jobs``, ``models``, ``documents``,
    ``files``, ``tasks``, ``verdicts``."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.home = Home(settings.home)
        self.engine = open_engine(self.home, settings.database)
        self.bus = Bus(self.engine)
        self.index = Index(self.home, self.engine, self.bus)
        self.jobs = Jobs(self.home, self.engine, self.bus, settings)
        self.models = Models(self.home)
        self.documents = Documents(self.home, self.engine)
        self.files = Files(self.home, self.engine)
        self.tasks = Tasks(self.home)
        self.verdicts = Verdicts()

    def rebuild(self, progress: Progress | None = None) -> dict[str, int]:
        """Make the whole index again from folders; how many of each there are."""
        found = self.index.rebuild(progress)
        found |= {"documents": self.documents.reload(), "files": self.files.reload()}
        return {**found, "jobs": self.jobs.reload()}

    def close(self) -> None:
        """End what is being taken in, probed and judged, let go of the database."""
        self.index.stop()
        self.tasks.close()
        self.verdicts.close()
        self.engine.dispose()
