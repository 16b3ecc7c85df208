"""The lab's first process: furnishes it, starts holders on request, reaps, and collects what the witness needs.

Speaks one JSON object a line: requests {id, op, …} on standard input, answers {id, value} or {id, error} on standard
output. When standard input ends, the lab ends. It knows nothing of gpu-reclaim and is never asked by it.
"""
import ctypes
import json
import os
import selectors
import signal
import sys
import time

import lab_cgroup
import lab_holder
import lab_launch
import lab_procfs
import lab_ring
import lab_rooms
import lab_services

LAB = lab_launch.LAB
RUN = os.path.join(LAB, "run")
AWAITED_STATE = {"stopped": "T", "zombie-leader": "Z", "stuck": "D"}


class Control:
    def __init__(self, config):
        self.config = config
        self.tokens = {}
        self.species = {}
        self.ready = {}
        self.waiting = []
        self.pending_seen = {}
        self.failed = {}
        self.features = []
        self.sshd = None
        self.buffer = b""
        self.selector = selectors.DefaultSelector()

    def start(self):
        if self.config["kind"] == "flat":
            # PR_SET_CHILD_SUBREAPER: orphans come to us, so that we can end them all.
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            lab_rooms.make_devices(self.config["devices"], len(self.config["gpus"]))
            features = []
        else:
            features = lab_rooms.furnish(self.config)
            features.append("pid-reuse")
            journal = lab_services.open_journal()
            self.selector.register(journal, selectors.EVENT_READ, lambda: lab_services.note_journal(journal))
        lab_services.write_gpus(self.config, "device-numbers" in features)
        if lab_cgroup.can_contain():
            features.append("containers")
        if lab_cgroup.can_freeze():
            features.append("freezer")
        if lab_ring.can_make_ring():
            features.append("rings")
        if self.config["kind"] != "user" and os.geteuid() == 0:
            features.append("uids")
        self.features = features
        os.mkfifo(os.path.join(RUN, "events"))
        os.chmod(os.path.join(RUN, "events"), 0o622)
        self.events = os.open(os.path.join(RUN, "events"), os.O_RDWR | os.O_NONBLOCK)
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        self.selector.register(0, selectors.EVENT_READ, self._read_requests)
        self.selector.register(self.events, selectors.EVENT_READ, self._read_events)
        self.selector.register(reader, selectors.EVENT_READ, lambda: os.read(reader, 4096))
        if self.config.get("sshd"):
            self.sshd = lab_services.start_sshd(self.config["sshd"])
        say({"event": "hello", "features": features, "keys": lab_services.keys_of(self.config)})

    def run(self):
        while True:
            timed = self.waiting or self.pending_seen
            for key, _ in self.selector.select(0.005 if timed else None):
                key.data()
            self.reap()
            self._note_pending()
            self._answer_waiting()

    def end(self):
        lab_cgroup.thaw_all()
        # In a PID namespace the kernel ends everybody with us.
        deadline = time.monotonic() + 5
        while self.config["kind"] == "flat" and time.monotonic() < deadline:
            mine = lab_procfs.descendants(os.getpid())
            if not mine:
                break
            for pid in mine:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            self.reap()
            time.sleep(0.002)
        os._exit(0)

    # Operations, one method each: op_<name>(request) -> value, or LATER when the answer comes afterwards.

    def op_spawn(self, request):
        spec = request["spec"]
        pid = os.fork()
        if pid == 0:
            lab_launch.become(spec)
        self._expect(pid, request)
        return LATER

    def op_reuse(self, request):
        """Ends a holder of its own will (no signal) and starts another with the same PID (needs its own PID namespace)."""
        wanted = request["pid"]
        lab_launch.send_command(wanted, {"do": "exit"})
        self._until(lambda: lab_procfs.stat_fields(wanted) is None, "PID %d to end" % wanted)
        for _ in range(500):
            with open("/proc/sys/kernel/ns_last_pid", "w") as file:
                file.write(str(wanted - 1))
            pid = os.fork()
            if pid == 0:
                if os.getpid() != wanted:
                    os._exit(0)
                lab_launch.become(request["spec"])
            if pid == wanted:
                self._expect(pid, request)
                return LATER
        raise RuntimeError("PID %d could not be had again" % wanted)

    def op_command(self, request):
        lab_launch.send_command(request["pid"], request["command"])
        awaited = request.get("gone", [])
        self._until(lambda: not any(lab_procfs.stat_fields(pid) for pid in awaited), "the end of %s" % awaited)

    def op_exec(self, request):
        """The same PID and start time, another program, the devices still held."""
        token = self.tokens[request["pid"]]
        self.ready.pop(token, None)
        lab_launch.copy_interpreter(request["executable"], False)
        command = {"do": "exec", "executable": request["executable"], "argv": request["argv"], "environment": {}}
        command["environment"] = {"PYTHONPATH": os.path.join(LAB, "inside")}
        lab_launch.send_command(request["pid"], command)
        self.waiting.append({"id": request["id"], "tokens": [token], "pid": request["pid"], "until": time.monotonic() + 10})
        return LATER

    def op_alive(self, request):
        return lab_procfs.is_alive(request["pid"])

    def op_pids(self, _request):
        return lab_procfs.pids()

    def op_facts(self, request):
        return [lab_procfs.facts(pid) for pid in request["pids"]]

    def op_sync(self, _request):
        self.reap()
        self._note_pending()

    def op_deny(self, request):
        lab_rooms.set_deny(request["on"])

    def op_shell(self, request):
        lab_rooms.set_login_shell(request["path"])

    def op_drop(self, _request):
        dropped = lab_procfs.children_of(self.sshd) if self.sshd else []
        for pid in dropped:
            os.kill(pid, signal.SIGKILL)
        return len(dropped)

    def _expect(self, pid, request):
        for spec in every_spec(request["spec"]):
            self.species[spec["token"]] = spec["species"]
        self.tokens[pid] = request["spec"]["token"]
        tokens = [spec["token"] for spec in every_spec(request["spec"])]
        self.waiting.append({"id": request["id"], "tokens": tokens, "pid": pid, "until": time.monotonic() + 20})

    def _answer_waiting(self):
        for wait in list(self.waiting):
            if all(self._is_settled(token) for token in wait["tokens"]):
                self.waiting.remove(wait)
                say({"id": wait["id"], "value": [self.ready[token] for token in wait["tokens"]]})
            elif time.monotonic() > wait["until"] or self.failed.pop(wait["pid"], None):
                self.waiting.remove(wait)
                with open(os.path.join(RUN, "holders.log")) as file:
                    say({"id": wait["id"], "error": "the holder did not get ready: " + file.read()[-2000:]})

    def _is_settled(self, token):
        event = self.ready.get(token)
        if event is None:
            return False
        state = AWAITED_STATE.get(self.species[token])
        if state:
            fields = lab_procfs.stat_fields(event["pid"])
            return fields is not None and fields[0] == state
        if event.get("billed") and not event.get("parentsLive"):
            return not any(lab_procfs.stat_fields(pid) for pid in event["billed"])
        return True

    def _read_events(self):
        for line in os.read(self.events, 65536).splitlines():
            event = json.loads(line)
            token = event["token"]
            self.ready[token] = event
            self.tokens[event["pid"]] = token
            for pid in event.get("billed", []):
                self.tokens.setdefault(pid, token)
            if self.species.get(token) in ("stopped", "stuck"):
                self.pending_seen[event["pid"]] = set()
            if self.species.get(token) == "stuck":
                lab_cgroup.freeze(event["pid"])

    def _read_requests(self):
        data = os.read(0, 65536)
        if not data:
            self.end()
        self.buffer += data
        *lines, self.buffer = self.buffer.split(b"\n")
        for line in lines:
            request = json.loads(line)
            if request["op"] == "stop":
                self.end()
            try:
                value = getattr(self, "op_" + request["op"])(request)
                if value is not LATER:
                    say({"id": request["id"], "value": value})
            except Exception as problem:
                say({"id": request["id"], "error": "%s: %s" % (type(problem).__name__, problem)})

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            token = self.tokens.get(pid)
            if os.WIFSTOPPED(status):
                if token and self.species.get(token) != "stopped":
                    self._record(pid, token, "stop", os.WSTOPSIG(status), None)
                continue
            self.pending_seen.pop(pid, None)
            if token:
                self.tokens.pop(pid)
                number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
                self._record(pid, token, "exit", number, os.WEXITSTATUS(status) if os.WIFEXITED(status) else None)
                if status != 0 and token not in self.ready:
                    self.failed[pid] = True
            try:
                os.unlink(os.path.join(RUN, "cmd.%d" % pid))
            except OSError:
                pass
            if pid == self.sshd:
                say({"event": "sshd-ended", "status": status})

    def _note_pending(self):
        for pid in [pid for pid in self.pending_seen if lab_procfs.stat_fields(pid) is None]:
            # Its server has reaped it.
            self.pending_seen.pop(pid)
        for pid, seen in self.pending_seen.items():
            for number in lab_procfs.pending_signals(pid):
                if number not in seen:
                    seen.add(number)
                    self._record(pid, self.tokens[pid], "pending", number, None)

    def _record(self, pid, token, seen, number, code):
        name = signal.Signals(number).name[3:] if number else None
        at = int(time.time() * 1000)
        lab_holder.write_record({"pid": pid, "token": token, "signal": name, "seen": seen, "exitCode": code, "atMs": at})

    def _until(self, condition, what):
        deadline = time.monotonic() + 10
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError("waited in vain for " + what)
            self.reap()
            time.sleep(0.002)


LATER = object()


def every_spec(spec):
    yield spec
    for worker in spec.get("workers", []):
        yield from every_spec(worker)


def say(message):
    os.write(1, (json.dumps(message) + "\n").encode())


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        control = Control(json.load(file))
    try:
        control.start()
    except Exception as problem:
        say({"event": "refused", "why": "%s: %s" % (type(problem).__name__, problem)})
        os._exit(1)
    control.run()
