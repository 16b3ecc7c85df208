"""One holder of stand-in GPU memory: device files, locks, traps, commands. A species module says what becomes of it.

A lab allocation is an open-file-description lock on DEV/nvidiaN: start = pid << 20, length = MiB. The kernel keeps it
as long as the open file lives, which is as long as a driver keeps memory: past fork, past close while mapped. Exported
memory is one on DEV/nvidiactl, since its file is all that is left of it: there the start is gpu << 44 | pid << 20.
"""
import ctypes
import fcntl
import importlib
import json
import os
import select
import signal
import struct
import time

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WITNESS = os.path.join(LAB, "run", "witness")
EVENTS = os.path.join(LAB, "run", "events")
TRAPPED = ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "CONT")

MADV_DONTFORK = 10

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def main(text):
    holder = Holder(json.loads(text))
    species = importlib.import_module("lab_species." + holder.spec["species"].replace("-", "_"))
    try:
        species.become(holder)
    except BaseException:
        import traceback

        traceback.print_exc()
    os._exit(70)


class Holder:
    def __init__(self, spec):
        self.spec = spec
        self.device_fds = []
        self.commands = None
        self.kids = {}
        # Descriptor -> what to do when it can be read.
        self.watched = {}

    def hold(self, allocations, mapped=True):
        """Opens the devices as a CUDA process does and takes the memory. A figure of 0 MiB only opens and maps."""
        if not self.device_fds:
            self._open("nvidiactl", mapped)
            self._open("nvidia-uvm", mapped)
        for allocation in allocations:
            fd = self._open("nvidia%d" % allocation["gpu"], mapped)
            if allocation["MiB"] > 0:
                lock(fd, os.getpid() << 20, allocation["MiB"])

    def fill_up(self, allocations):
        """As many descriptors of each GPU as a context has on an H200, 20: by fewer nobody takes it for one's keeper."""
        for allocation in allocations:
            for _ in range(19):
                self._open("nvidia%d" % allocation["gpu"], False)

    def make_memory(self, allocation):
        """Memory in a device file of its own, apart from the context's: it can be handed over, and outlives the context."""
        fd = self._open("nvidia%d" % allocation["gpu"], False)
        lock(fd, os.getpid() << 20, allocation["MiB"])
        return fd

    def export_handle(self, allocation):
        """Memory that a file of nvidiactl carries, as an exported handle does."""
        fd = self._open("nvidiactl", False)
        lock(fd, allocation["gpu"] << 44 | os.getpid() << 20, allocation["MiB"])
        return fd

    def open_devices(self, gpus):
        """Open, not mapped, and no nvidia-uvm: what NVML's users do."""
        for name in ["nvidiactl"] + ["nvidia%d" % gpu for gpu in gpus]:
            self._open(name, False)

    def hold_by_number(self, allocations):
        """By the lab's second set of nodes, real character devices whose names say nothing; those cannot be mapped."""
        for allocation in allocations:
            # Without O_NOCTTY the leader of a session would get it as its terminal.
            fd = os.open("/dev/gpu/%d" % allocation["gpu"], os.O_RDWR | os.O_NOCTTY)
            self.device_fds.append(fd)
            lock(fd, os.getpid() << 20, allocation["MiB"])

    def _open(self, name, mapped=True):
        fd = os.open(os.path.join(self.spec["devices"], name), os.O_RDWR)
        self.device_fds.append(fd)
        if not mapped:
            return fd
        # ctypes, because Python's own mmap keeps a second descriptor of the file.
        at = libc.mmap(None, 4096, 3, 1, fd, 0)
        if at in (None, 2**64 - 1):
            raise OSError(ctypes.get_errno(), "mmap of " + name)
        if name == "nvidia-uvm":
            # Seen on an H200: a forked child has the file, and not its mapping.
            libc.madvise(ctypes.c_void_p(at), 4096, MADV_DONTFORK)
        return fd

    def close_files(self):
        for fd in self.device_fds:
            os.close(fd)
        self.device_fds = []

    def dress(self):
        """Traps, or deafness, and the name; the same for every species."""
        for name in TRAPPED:
            signal.signal(getattr(signal, "SIG" + name), self._trapped)
        if self.spec.get("nohup"):
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self.spec.get("deaf") == "ignores":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.spec.get("deaf") == "blocks":
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        if self.spec.get("comm"):
            set_comm(self.spec["comm"])

    def ready(self, **more):
        path = os.path.join(LAB, "run", "cmd.%d" % os.getpid())
        try:
            os.unlink(path)
        except OSError:
            pass
        os.mkfifo(path, 0o622)
        # Read and write, so that it never reads as ended.
        self.commands = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        announce(dict(more, event="ready", token=self.spec["token"], pid=os.getpid()))

    def keep_sharer(self, shared):
        """Ready, with the process that made what we keep; unless it is asked to live, it ends now, of its own will."""
        lives = bool(self.spec.get("parentsLive"))
        self.orphan = shared.let_go
        if not lives:
            shared.let_go()
        self.ready(billed=[shared.pid], parentsLive=lives)

    def live(self):
        """Waits for commands of the lab, and for what a deaf holder does not hear."""
        blocked = signal_fd(signal.SIGTERM) if self.spec.get("deaf") == "blocks" else None
        waiting = [fd for fd in (self.commands, blocked, *self.watched) if fd is not None]
        while True:
            for fd in select.select(waiting, [], [])[0]:
                if fd in self.watched:
                    self.watched[fd]()
                elif fd == blocked:
                    info = os.read(fd, 128)
                    self.witness("trap", struct.unpack_from("I", info)[0])
                else:
                    for line in os.read(fd, 4096).decode().splitlines():
                        self.obey(json.loads(line))

    def obey(self, command):
        word = command["do"]
        if word == "exit":
            os._exit(0)
        elif word == "take":
            self.hold(command["holds"])
        elif word == "rename":
            set_comm(command["comm"])
            set_words(command["words"])
        elif word == "exec":
            for fd in self.device_fds:
                os.set_inheritable(fd, True)
            environment = dict(os.environ, **command["environment"])
            environment["LAB_HOLDER"] = json.dumps(dict(self.spec, species="adopted", adopts=self.device_fds))
            os.execve(command["executable"], command["argv"], environment)
        elif word == "orphan":
            self.orphan()

    def orphan(self):
        raise RuntimeError("this species has no parents to end")

    def _trapped(self, number, _frame):
        self.witness("trap", number)
        if number == signal.SIGCONT:
            return
        if number == signal.SIGTERM:
            time.sleep(self.spec.get("termDelayMs", 0) / 1000)
            self.before_term()
        # Dies of the very signal, as an untrapped process would.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def before_term(self):
        """A server may close its workers here, a writer its file."""

    def witness(self, seen, number=None, pid=None, code=None, token=None):
        record = {
            "pid": pid or os.getpid(),
            "token": token or self.spec["token"],
            "signal": signal.Signals(number).name[3:] if number else None,
            "seen": seen,
            "exitCode": code,
            "atMs": int(time.time() * 1000),
        }
        write_record(record)


def write_record(record):
    fd = os.open(WITNESS, os.O_WRONLY | os.O_APPEND)
    os.write(fd, (json.dumps(record) + "\n").encode())
    os.close(fd)


def announce(event):
    fd = os.open(EVENTS, os.O_WRONLY)
    os.write(fd, (json.dumps(event) + "\n").encode())
    os.close(fd)


def lock(fd, start, length):
    """F_OFD_SETLK, shared: a new owner of a dead process's PID must be able to lock the same range beside it."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, start, length, 0))


def set_comm(name):
    libc.prctl(15, name.encode()[:15], 0, 0, 0)


def set_words(words):
    """Writes other words over the process's own command line, as setproctitle does; the rest of the room becomes NUL."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rsplit(b")", 1)[1].split()
    start, end = int(fields[45]), int(fields[46])
    text = b"\0".join(word.encode() for word in words)[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


def signal_fd(number):
    mask = ctypes.create_string_buffer(128)
    mask[(number - 1) // 8] = 1 << ((number - 1) % 8)
    return libc.signalfd(-1, mask, os.O_CLOEXEC)
