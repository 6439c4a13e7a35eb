"""People while instances of the API die: each change to who may do what, asked for again until it is answered.

An instance that dies stops at that line, by an exception that nothing catches, and whatever it had still to do is not done; the
store and the queue remember what they took. Who asked has no answer, and asks again, as the client and the command line do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, ClassVar

import httpx

from ferryman.composition.api import ApiDependencies
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from ferryman.inmemory.clock import CountingIds, ManualClock
from ferryman.inmemory.jobs import MemoryJobQueue
from ferryman.inmemory.queue import MemoryQueue
from ferryman.ports.errors import UnavailableError
from ferryman.serving import keys
from tests.campaigns.crash.jobs import JobRun, Killed
from tests.campaigns.crash.points import Counting, Point, instrument
from tests.campaigns.crash.stories import STORIES, find_half
from tests.contracts.conftest import Stores
from tests.contracts.values import EXECUTION, LEASE, NOW, OWNER, TASK
from tests.serving.conftest import Stage, create_app

API = "api"
ATTEMPTS_MAX = 4
HERE = derive_default_workspace("ann")
STORED = (
    *("owners", "keys", "members", "invitations", "audit", "workspaces", "jobs", "agents", "tasks", "credentials"),
    *("console_sessions", "executions", "keyed"),
)
EXECUTIONS = ("queued", "running")


@dataclass(kw_only=True)
class PeopleRun:
    """One run. `target` is where the instance dies, or is answered by nobody (`lost`), once; `passed` are all points.

    `together` is how often each delivery of a job comes at once. `begins` is called before the first request, `ends` after the
    last delivery.
    """

    stores: Stores
    story: str
    target: Point | None = None
    lost: bool = False
    together: int = 1
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    job_queue: MemoryJobQueue = field(default_factory=MemoryJobQueue)
    ids: CountingIds = field(default_factory=CountingIds)
    passed: list[Point] = field(default_factory=list)
    hit: bool = False
    tokens: dict[str, str] = field(default_factory=dict)
    """The API keys of the owner, of boss, who is an admin, and of eve, an operator with two executions; and of who is invited,
    the token."""

    answers: list[httpx.Response] = field(default_factory=list)
    begins: Callable[[], None] = lambda: None
    ends: Callable[[], None] = lambda: None
    stored: ClassVar[tuple[str, ...]] = STORED
    _meet: Counting = field(init=False)
    _is_dead: bool = False

    def __post_init__(self) -> None:
        self._meet = Counting(API, self._see)

    async def perform(self) -> list[str]:
        """Have everybody there, ask until there is an answer, deliver all jobs, and return what is not as it has to be."""
        story = STORIES[self.story]
        await self._fill()
        if story.before is not None:
            await story.before(self)
        self.begins()
        await story.tell(self)
        work = {"clock": self.clock, "queue": self.queue, "job_queue": self.job_queue}
        await JobRun(stores=self.stores, together=self.together, **work).deliver_all()
        self.ends()
        return [*await find_half(self), *await story.find(self)]

    async def ask(self, method: str, path: str, *, who: str = "boss", **options: Any) -> httpx.Response:
        """Ask instance after instance until one answers; after the last attempt, return what it answered."""
        for _ in range(ATTEMPTS_MAX):
            self._is_dead = False
            try:
                answer = await self.ask_once(method, path, who=who, meet=self._meet, **options)
            except Killed:
                self.clock.turn(LEASE + timedelta(seconds=1))
                continue
            if answer.status_code < 500 and "retry-after" not in answer.headers:
                break
            self.clock.turn(LEASE)
        self.answers.append(answer)
        return answer

    async def ask_once(
        self, method: str, path: str, *, who: str = "boss", meet: Counting | None = None, **options: Any
    ) -> httpx.Response:
        """Ask an instance that has just started."""
        deps = self._build_deps()
        app = create_app(deps if meet is None else instrument(deps, meet))
        headers = {**({"Authorization": f"Bearer {self.tokens[who]}"} if who else {}), **options.pop("headers", {})}
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
            return await client.request(method, path, headers=headers, **options)

    def _build_deps(self) -> ApiDependencies:
        stage = Stage(clock=self.clock, queue=self.queue, job_queue=self.job_queue, ids=self.ids)
        return replace(stage.deps(), **{name: getattr(self.stores, name) for name in self.stored})

    async def _fill(self) -> None:
        await self.stores.owners.put(OWNER)
        self.tokens["owner"] = keys.generate_key()
        await self.stores.keys.create(keys.digest_key(self.tokens["owner"]), ApiKey(owner="ann", created_at=NOW))
        await self.stores.keys.note_use(keys.digest_key(self.tokens["owner"]), NOW + timedelta(days=1))
        for person, role in (("boss", Role.ADMIN), ("eve", Role.OPERATOR)):
            self.tokens[person] = await self._let_in(person, role)
        self.tokens["invited"] = await self._invite("dora", Role.VIEWER)
        await self.stores.tasks.create(replace(TASK, workspace=HERE))
        for name in EXECUTIONS:
            await self.stores.executions.start(replace(EXECUTION, id=name, person="eve"), most=10)
        claimed, _ = await self.stores.executions.claim("running", slice=0, holder="h", now=NOW, lease=LEASE)
        await self.stores.executions.hand_over(claimed, now=NOW)

    async def _invite(self, name: str, role: Role) -> str:
        token, until = keys.generate_token(), NOW + INVITATION_LIFETIME
        place = {"owner": "ann", "workspace": HERE, "invited_by": ""}
        invitation = Invitation(id=f"inv_{name}", name=name, role=role, created_at=NOW, expires_at=until, **place)
        await self.stores.invitations.create(keys.digest_key(token), invitation, now=NOW)
        return token

    async def _let_in(self, person: str, role: Role) -> str:
        token, key = await self._invite(person, role), keys.generate_key()
        terms = {"key": f"key_{person}", "key_digest": keys.digest_key(key)}
        await self.stores.invitations.take(keys.digest_key(token), person=person, is_new=True, now=NOW, **terms)
        # its use is not noted beside the requests of this run
        await self.stores.keys.note_use(terms["key_digest"], NOW + timedelta(days=1))
        stored = await self.stores.keys.find(terms["key_digest"])
        assert stored is not None
        signed_in = build_session(f"session_{person}", stored, terms["key_digest"], browser="", now=NOW)
        await self.stores.console_sessions.create(signed_in)
        return key

    async def _see(self, point: Point) -> None:
        if self._is_dead:
            raise Killed  # what a dead instance had still to do is not done
        self.passed.append(point)
        if point == self.target and not self.hit:
            self.hit = True
            if self.lost:
                raise UnavailableError("the answer was lost", lost=True)
            self._is_dead = True
            raise Killed
