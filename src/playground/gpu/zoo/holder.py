"""One process of the zoo: takes GPU memory, waits on its line to the keeper, and turns into its species when told.

Everything here runs before any program of the interpreter's own (sitecustomize.py). Told to turn, a process does what
its species is known for; where a species begins with a death, the keeper ends the one that has to die.
"""
import array
import ctypes
import importlib
import json
import os
import signal
import socket
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_NAME = 15
SYS_EXIT = 60  # x86-64: ends the calling thread alone
MOST_FILES = 200  # SCM_MAX_FD is 253


def main(text):
    try:
        Part(json.loads(text)).play()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    os._exit(70)


class Part:
    def __init__(self, spec):
        self.spec = spec
        self.gpus = None
        self.line = None

    def play(self):
        spec = self.spec
        if spec.get("comm"):
            libc.prctl(PR_SET_NAME, spec["comm"].encode()[:15], 0, 0, 0)
        getattr(self, "be_" + spec["part"].replace("-", "_"))()

    # Innocents and the server

    def be_holder(self):
        self.hold()
        self.live()

    def be_daemon(self):
        """As the persistence daemon: nodes open, no context, no memory."""
        self.kept = [os.open(os.path.join(self.spec["devices"], "nvidiactl"), os.O_RDWR)]
        for gpu in self.spec["gpus"]:
            self.kept.append(os.open(os.path.join(self.spec["devices"], "nvidia%d" % gpu), os.O_RDWR))
        self.live()

    def be_server(self):
        """Holds no GPU. Its workers are its children, in its session."""
        for worker in self.spec["workers"]:
            if os.fork() == 0:
                launch(worker)
        # Dead workers are reaped, as a server with a watch on its workers does.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.live()

    # Species

    def be_deaf(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.be_holder()

    def be_stopped(self):
        self.hold()
        self.live(lambda: os.kill(os.getpid(), signal.SIGSTOP))

    def be_forker(self):
        """A worker with a child that it forked after it had opened the GPU and never exec'd: a data loader, say."""
        self.hold()
        if os.fork() == 0:
            self.spec = dict(self.spec, name=self.spec["child"])
            libc.prctl(PR_SET_NAME, b"pt_data_worker", 0, 0, 0)
        self.live()

    def be_leaderless(self):
        self.hold()
        threading.Thread(target=forever, daemon=True).start()
        self.live(lambda: libc.syscall(SYS_EXIT, 0))

    def be_unmapped(self):
        """Every file closed; the mappings stay."""
        self.hold()
        self.live(lambda: [os.close(file) for file in self.files()])

    def be_ipc_exporter(self):
        text, files = self.backend().offer(self.hold())
        self.give(text, files)
        self.live()

    def be_importer(self):
        gpus = self.backend()
        text, files = self.receive()
        gpus.take(self.spec["gpus"][0], text, files)
        self.live(gpus.inherit)

    def be_vmm_exporter(self):
        spec = self.spec
        files = [self.backend().export(gpu, spec["MiB"]) for gpu in spec["gpus"]]
        self.give(b"x", files)
        self.live()

    def be_receiver(self):
        """Never touched CUDA; what it received is one file of nvidiactl."""
        self.kept = self.receive()[1]
        self.live()

    def be_sender(self):
        self.hold()
        self.give(b"x", self.files())
        self.live()

    def be_unreading(self):
        """Accepts the connection and never reads it: what was sent waits in the socket."""
        self.kept = self.accept()
        self.live()

    # What they are made of

    def backend(self):
        if self.gpus is None:
            self.gpus = importlib.import_module(self.spec["backend"]).Gpus(self.spec["devices"])
        return self.gpus

    def hold(self):
        last = None
        for gpu in self.spec["gpus"]:
            last = self.backend().hold(gpu, self.spec["MiB"])
        return last

    def files(self):
        """Open files that are NVIDIA's nodes."""
        found = []
        for name in os.listdir("/proc/self/fd"):
            try:
                target = os.readlink("/proc/self/fd/" + name)
            except OSError:
                continue
            if target.startswith(os.path.join(self.spec["devices"], "nvidia")):
                found.append(int(name))
        return found

    def give(self, text, files):
        link = socket.socket(socket.AF_UNIX)
        while link.connect_ex(self.spec["meets"]) != 0:
            time.sleep(0.01)
        for at in range(0, max(len(files), 1), MOST_FILES):
            part = array.array("i", files[at : at + MOST_FILES])
            link.sendmsg([text], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, part)] if part else [])
        self.link = link

    def accept(self):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.spec["meets"])
        listener.listen()
        link, _ = listener.accept()
        listener.close()
        return link

    def receive(self):
        link = self.accept()
        files = array.array("i")
        text, ancillary, _, _ = link.recvmsg(4096, socket.CMSG_SPACE(MOST_FILES * files.itemsize))
        for _, _, data in ancillary:
            files.frombytes(data[: len(data) // files.itemsize * files.itemsize])
        link.close()
        return text, list(files)

    def live(self, turn=None):
        """Tells the keeper that it is ready; then waits for the word to turn. The end of the line is the end of the part."""
        self.line = socket.socket(socket.AF_UNIX)
        self.line.connect(self.spec["keeper"])
        self.line.sendall((json.dumps({"name": self.spec["name"], "pid": os.getpid()}) + "\n").encode())
        while True:
            heard = self.line.recv(1)
            if heard == b"":
                os._exit(0)
            if turn is not None:
                turn()
            self.line.sendall(b"turned\n")


def forever():
    while True:
        time.sleep(3600)


def launch(spec):
    """Becomes that part; the caller has forked. Never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if spec.get("uid"):
            os.setgroups([])
            os.setgid(spec["uid"])
            os.setuid(spec["uid"])
        environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH") if name in os.environ}
        environment.update(PYTHONDONTWRITEBYTECODE="1", PYTHONNOUSERSITE="1", HOME="/", ZOO_PART=json.dumps(spec))
        os.execve(spec.get("executable") or os.environ["ZOO_PYTHON"], spec["argv"], dict(environment, ZOO_PYTHON=os.environ["ZOO_PYTHON"]))
    except BaseException as problem:
        os.write(2, ("zoo: %s: %s\n" % (spec["name"], problem)).encode())
    os._exit(71)
