"""Programs run for a trial: nothing outlives its trial, and nothing that a program did is lost.

::

    engine ── Processes ──starts──> zygote ──forks──> warden ──forks──> the program
       │      (asyncio)          (one an engine)  (one a program)   and what it starts
       └──────────── a socket for each program ────────┘

**Engine's side.** `supervisor.Processes` starts the zygote at the first program. For each
`program.Program` it makes a socket pair; the zygote gets one end and forks a warden for it; what is
to run, its keys included, goes through that socket and never through the zygote. `start` gives a
`running.RunningProgram` (samples as they come, `cancel`, `ended`) or, as a value, `NotStarted`.
A `ProgramEnding` says how it ended, by which limit, what it took and where what it printed is.

**The zygote** (`zygote`) is a small Python process without the engine's modules: forking it costs
a millisecond and its pages are shared by all wardens. It is the subreaper above the wardens: when
one is killed, or gives up, what that one watched becomes the zygote's and is ended. Its exit code
(`WardenExit`) says whether the ending is its own. A warden that somebody stops is continued, by the
zygote, as the zygote is by the engine: a limit is held by nobody else.

**A warden** (`warden`) has a session of its own, is the subreaper of whatever the program starts,
and does four things in one poll loop: it moves what is printed into bounded files (`capture`),
looks twice a second what the tree takes (`process_tree`, `sampler`, `disk_meter`), holds the
limits, and listens to the engine (`engine_link`). It is over when `waitpid` knows no child any
more; it waits for no pipe.

**The end** of a tree, always the same: TERM to all, a grace, then STOP and KILL to all descendants
in whatever group or session, again until none is left. Limits that endanger the machine (`memory`,
`processes`) have no grace. It begins when the program has exited and left children, at a limit, by
`cancel`, and, unless `orphans` is `finish`, when the engine's socket closes or the zygote has gone.

**The trial's folder** holds `out` and `err`, `ending.json` (written beside and renamed; synced to
the disk where no engine listens), and, once its engine has gone, the warden's socket `control`.
That is how a later engine takes over: `Processes.adopt` reads the ending, or else connects to the
socket and has the same `RunningProgram` as if it had started it. Whether a warden works there, the
lock on `out` says, which the kernel takes back from a process that ends: no process id can be
mistaken for another's. The program's own processes are refused.

**Zygote and wardens** (`wardens/`) run beside the engine; what they share with it stands here.
**Isolation** (`isolation/`) is one function a level: a program becomes what is really executed.
**Workspaces** (`workspace/`) are made from a folder or a git tree, listed before and after, and
their changes kept by digest.

Where a system has no subreapers (macOS), only the program's process group can be ended, and no
figures but its processor time are known.
"""
