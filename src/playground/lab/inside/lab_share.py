"""How one holder hands open files to another: a unix socket of a name, descriptors in SCM_RIGHTS, and a leash.

The taker listens; the sharer connects twice: once with the descriptors, once more, after they were queued, with a line
that it watches. When the taker lets go of that leash, the sharer ends by itself, without a signal.
"""
import array
import os
import socket
import struct
import time

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Shared:
    """What a taker got: the sharer's PID, the connection that carries the descriptors, and the leash."""

    def __init__(self, name):
        path = _path(name)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.listen()
        self.carrier, _ = listener.accept()
        self.leash, _ = listener.accept()
        listener.close()
        os.unlink(path)
        credentials = self.leash.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        self.pid = struct.unpack("iii", credentials)[0]

    def receive(self):
        """The descriptors themselves; the carrier is closed."""
        files = array.array("i")
        _, ancillary, _, _ = self.carrier.recvmsg(1, socket.CMSG_SPACE(64 * files.itemsize))
        for _, _, data in ancillary:
            files.frombytes(data[: len(data) // files.itemsize * files.itemsize])
        self.carrier.close()
        return list(files)

    def queued(self):
        """scm_fds of the carrier: descriptors that were sent and not received."""
        with open("/proc/self/fdinfo/%d" % self.carrier.fileno()) as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("scm_fds:"))

    def let_go(self):
        self.leash.close()


def hand_over(name, files):
    """Queues the descriptors with whoever listens under this name. Returns the leash."""
    carrier = _connect(name)
    carrier.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])
    leash = _connect(name)
    # Open for as long as this process lives; it is closed by its end.
    os.dup(carrier.detach())
    return leash


def _connect(name):
    deadline = time.monotonic() + 10
    while True:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(_path(name))
            return link
        except OSError:
            link.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _path(name):
    return os.path.join(LAB, "run", "share." + name)
