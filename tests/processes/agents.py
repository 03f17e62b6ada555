"""Programs that do what agents should not. Each process enters itself into `ledger` as it begins.

    python -I -S agents.py NAME [ARGUMENT …]

They end by themselves after a minute, whatever becomes of the test.
"""

import os
import signal
import sys
import time

LIFE_S = 60


def enter() -> None:
    """Write this process into the ledger: its id, and when it began, by which it is known."""
    with open("/proc/self/stat") as file:
        began = file.read().rpartition(")")[2].split()[19]
    line = f"{os.getpid()} {began}\n".encode()
    ledger = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, line)
    os.close(ledger)


def live() -> None:
    enter()
    time.sleep(LIFE_S)


def apart(*, sessions: bool = True, ignore: bool = True) -> None:
    """Leave a process behind that no parent knows, in a session of its own."""
    if os.fork() == 0:
        if sessions:
            os.setsid()
        if os.fork() == 0:
            if sessions:
                os.setsid()
            if ignore:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            live()
        os._exit(0)
    os.wait()


def sleeps() -> None:
    """Do nothing, and end when told to."""
    print("begun", flush=True)
    live()


def ignores_term() -> None:
    """Ignore what asks it to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    print("ignoring", flush=True)
    live()


def forks_away() -> None:
    """Leave a daemon behind and exit well."""
    apart()
    wait_for_entries(1)
    print("done", flush=True)


def holds_the_pipe() -> None:
    """Exit well, with a grandchild that keeps stdout open."""
    apart(ignore=False)
    wait_for_entries(1)
    print("done", flush=True)


def storms(most: str) -> None:
    """Have every process start more, up to a number in all, each of which ignores TERM.

    Every third of them, whoever starts it, leaves its session.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tickets, more = os.pipe()
    os.write(more, bytes(n % 3 for n in range(int(most))))
    os.set_blocking(tickets, False)
    depth = 0
    while depth < 12:
        try:
            (ticket,) = os.read(tickets, 1)
        except BlockingIOError:
            break
        if os.fork() == 0:
            depth += 1
            if ticket == 2:
                os.setsid()
    live()


def endless_storm(most: str) -> None:
    """Fork, and let the parent exit: a chain that runs away from whoever looks."""
    enter()
    for _ in range(int(most)):
        if os.fork():
            os._exit(0)
    live()


def rolling_storm(width: str) -> None:
    """Fork and exit for ever, in so many chains, each process in a session of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    ends = time.monotonic() + LIFE_S
    for _ in range(int(width)):
        if os.fork() == 0:
            break
    else:
        live()
    while time.monotonic() < ends:
        if os.fork():
            os._exit(0)
        os.setsid()


def prints(count: str, *streams: str) -> None:
    """Print so many bytes to each of the streams, then say so in the ledger."""
    rest = int(count)
    block = bytes(range(256)) * 256
    while rest > 0:
        for stream in streams or ("1",):
            os.write(int(stream), block[: min(rest, len(block))])
        rest -= len(block)
    enter()


def prints_without_end() -> None:
    """Print for ever to both streams, and ignore TERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    enter()
    while True:
        os.write(1, b"o" * 4096)
        os.write(2, b"e" * 4096)


def closes_stdout() -> None:
    """Close both streams at once and go on."""
    os.close(1)
    os.close(2)
    live()


def takes_memory(count: str) -> None:
    """Take so many bytes and stay."""
    taken = bytearray(int(count))
    taken[::4096] = b"x" * len(taken[::4096])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    live()


def burns() -> None:
    """Use the processor."""
    enter()
    while True:
        pass


def writes(count: str) -> None:
    """Write so many bytes into the working folder and stay."""
    with open("large", "wb") as file:
        file.write(bytes(int(count)))
    live()


def reads_stdin() -> None:
    """Print what stdin holds."""
    sys.stdout.write(sys.stdin.read())


def crashes() -> None:
    """End by a signal."""
    os.kill(os.getpid(), signal.SIGSEGV)


def wait_for_entries(count: int) -> None:
    """Wait until so many have entered themselves."""
    while True:
        try:
            with open(os.environ["LEDGER"]) as file:
                if len(file.readlines()) >= count:
                    return
        except FileNotFoundError:
            pass
        time.sleep(0.005)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
