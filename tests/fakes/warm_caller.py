"""What stands for the script `veritrail` where a test runs a shell: it calls the warm process.

It lends the fork its streams, passes signals on to it, and ends as it ends. It imports little, as
that is all of its time. `python warm_caller.py SOCKET ARGUMENT...`
"""

import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def send(line, arguments, environment, streams):
    """Ask the warm process for a fork: a length, the streams, and what it needs to know."""
    folder = os.getcwd()  # noqa: PTH109  # pathlib takes long to import
    parts = [folder, str(len(arguments)), *arguments]
    parts += [f"{name}={value}" for name, value in environment.items()]
    content = os.fsencode("\0".join(parts))
    socket.send_fds(line, [len(content).to_bytes(4, "big")], streams)
    line.sendall(content)


def main() -> None:
    """Call it, and wait for its end."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(sys.argv[1])
    send(line, sys.argv[2:], os.environ, [0, 1, 2])
    heard = line.makefile("rb")
    pid = int(heard.readline())
    for number in PASSED_ON:
        signal.signal(number, lambda sent, _: os.kill(pid, sent))
    status = int(heard.readline())
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main()
