"""Keeps one zoo: makes its processes, tells them to turn, watches how each ends, and ends them all when its input does.

Talks in JSON lines: commands on standard input, answers and deaths on standard output. Every process of the zoo is
PID 1's child, or its server's, never the keeper's; so each is watched through a pidfd (pidfd_open(2)).
Times are CLOCK_BOOTTIME ms, which is what /proc/uptime counts.
"""
import ctypes
import fcntl
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import time

import holder

GRACE_S = 20
PIDFD_GET_INFO = 0xC000FF0B | (80 << 16)  # _IOWR(0xFF, 11, struct pidfd_info), Linux 6.13; 80 bytes since 6.15
PIDFD_INFO_EXIT = 1 << 3


def main():
    config = json.loads(sys.argv[1])
    os.environ["ZOO_PYTHON"] = os.path.realpath(sys.executable)
    os.environ["PYTHONHOME"] = sys.base_prefix
    os.environ["PYTHONPATH"] = os.path.dirname(os.path.abspath(__file__))
    Keeper(config["folder"]).serve()


def now_ms():
    return round(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000, 1)


class Keeper:
    def __init__(self, folder):
        self.folder = folder
        self.path = os.path.join(folder, "keeper")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o777)
        self.listener.listen(64)
        self.members = {}
        self.made = []
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.welcome)
        self.selector.register(0, selectors.EVENT_READ, self.command)
        self.heard = b""

    def serve(self):
        try:
            while True:
                self.pump(None)
        finally:
            self.end()

    def pump(self, seconds):
        for key, _ in self.selector.select(seconds):
            key.data(key.fileobj)

    def until(self, what, done):
        deadline = time.monotonic() + GRACE_S
        while not done():
            if time.monotonic() > deadline:
                raise TimeoutError("not within %d s: %s" % (GRACE_S, what))
            self.pump(0.005)
            self.complain()

    def complain(self):
        """A part that failed to become what it should writes why, and never gets ready: no need to wait for it."""
        try:
            with open(os.path.join(self.folder, "zoo.log")) as file:
                text = file.read()
        except OSError:
            return
        if "Traceback" in text or "\nzoo: " in "\n" + text:
            raise RuntimeError("a part failed")

    # The line to the driver

    def command(self, _file):
        chunk = os.read(0, 65536)
        if chunk == b"":
            sys.exit(0)
        self.heard += chunk
        while b"\n" in self.heard:
            line, self.heard = self.heard.split(b"\n", 1)
            order = json.loads(line)
            try:
                self.say(dict(re=order["id"], ok=True, value=getattr(self, "do_" + order["do"])(order)))
            except Exception as problem:
                self.say(dict(re=order["id"], ok=False, why="%s: %s" % (type(problem).__name__, problem)))

    def say(self, record):
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()

    # Its verbs

    def do_make(self, order):
        """Starts every part, each by itself unless a server makes it, and waits until all have said that they are ready."""
        parts = order["parts"]
        for part in parts:
            self.prepare(part)
        for part in parts:
            self.detach(part)
        names = [name for part in parts for name in names_of(part)]
        self.until("ready: " + ", ".join(names), lambda: all(name in self.members for name in names))
        return {name: self.members[name].pid for name in names}

    def do_turn(self, order):
        """`turns`: told to become their species. `die`: ended first, as by a crash. Waits for the state itself."""
        for name in order["die"]:
            member = self.members[name]
            member.kill(signal.SIGKILL)
            self.until("dead: " + name, lambda: not member.alive())
        for name in order["turns"]:
            member = self.members[name]
            member.line.send(b"t")
            self.until("turned: " + name, lambda: member.turned or member.state() in "TtZ")
        return None

    def do_state(self, _order):
        return {name: member.facts() for name, member in self.members.items()}

    def do_end(self, _order):
        self.end()
        return None

    def end(self):
        """SIGKILL to each, all at once. Only processes that this keeper made, each by its pidfd."""
        members = list(self.members.values())
        for member in members:
            member.kill(signal.SIGKILL)
        deadline = time.monotonic() + 10
        while any(member.alive() for member in members) and time.monotonic() < deadline:
            time.sleep(0.01)
        for path in self.made:
            try:
                os.unlink(path)
            except OSError:
                pass
        self.made = []

    # Making

    def prepare(self, part):
        part["keeper"] = self.path
        for worker in part.get("workers", ()):
            self.prepare(worker)
        executable = part.get("executable")
        if executable:
            # Never over a file that is there: then this machine has such a daemon of its own.
            file = os.open(executable, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
            os.close(file)
            self.made.append(executable)
            shutil.copyfile(os.environ["ZOO_PYTHON"], executable)
            os.chmod(executable, 0o755)

    def detach(self, part):
        """A session of its own, PID 1 as parent: as after nohup from a shell that is gone."""
        kid = os.fork()
        if kid > 0:
            os.waitpid(kid, 0)
            return
        if os.fork() > 0:
            os._exit(0)
        os.setsid()
        os.chdir("/")
        null = os.open("/dev/null", os.O_RDWR)
        log = os.open(os.path.join(self.folder, "zoo.log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.closerange(3, 1024)
        holder.launch(part)

    def welcome(self, listener):
        line, _ = listener.accept()
        self.selector.register(line, selectors.EVENT_READ, self.listen)

    def listen(self, line):
        text = line.recv(4096)
        if text == b"":
            self.selector.unregister(line)
            line.close()
            return
        for word in text.decode().splitlines():
            if word == "turned":
                next(member for member in self.members.values() if member.line is line).turned = True
            else:
                said = json.loads(word)
                member = Member(said["name"], said["pid"], line)
                self.members[member.name] = member
                self.selector.register(member.pidfd, selectors.EVENT_READ, lambda _fd, one=member: self.mourn(one))

    def mourn(self, member):
        self.selector.unregister(member.pidfd)
        self.say({"death": member.name, "pid": member.pid, "uptimeMs": now_ms(), "signal": member.end_signal()})


class Member:
    def __init__(self, name, pid, line):
        self.name, self.pid, self.line = name, pid, line
        self.turned = False
        self.pidfd = os.pidfd_open(pid)
        self.start = self.stat()[19]

    def stat(self):
        """The fields after the name: state first, start ticks at 19 (proc_pid_stat(5)); None once it is gone."""
        try:
            with open("/proc/%d/stat" % self.pid, "rb") as file:
                return file.read().rsplit(b")", 1)[1].decode().split()
        except OSError:
            return None

    def state(self):
        fields = self.stat()
        return "X" if fields is None or fields[19] != self.start else fields[0]

    def alive(self):
        """A dead leader with living threads lives; a plain zombie does not."""
        fields = self.stat()
        if fields is None or fields[19] != self.start:
            return False
        return not (fields[0] in "ZX" and int(fields[17]) <= 1)

    def kill(self, number):
        try:
            signal.pidfd_send_signal(self.pidfd, number)
        except OSError:
            pass

    def end_signal(self):
        """Which signal ended it; None where the kernel does not tell: before Linux 6.15, or while nobody has reaped it."""
        info = bytearray(struct.pack("=Q", PIDFD_INFO_EXIT) + bytes(72))
        try:
            fcntl.ioctl(self.pidfd, PIDFD_GET_INFO, info)
        except OSError:
            return None
        told = struct.unpack_from("=Q", info)[0] & PIDFD_INFO_EXIT
        return struct.unpack_from("=i", info, 60)[0] & 0x7F if told else None

    def facts(self):
        fields = self.stat()
        ppid = None if fields is None else int(fields[1])
        ended_by = None if self.alive() else self.end_signal()
        return {"pid": self.pid, "alive": self.alive(), "state": self.state(), "ppid": ppid, "endedBy": ended_by}


def names_of(part):
    children = [part["child"]] if part.get("child") else []
    return [part["name"]] + children + [name for worker in part.get("workers", ()) for name in names_of(worker)]


if __name__ == "__main__":
    main()
