"""Turning a spec into a process, and talking to it afterwards."""
import json
import os
import shutil
import signal
import sys

import lab_cgroup

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def become(spec):
    """In a forked child of the control process: turns it into the holder, never returns, whatever goes wrong."""
    try:
        stand_alone(os.open(os.path.join(LAB, "run", "holders.log"), os.O_WRONLY | os.O_APPEND))
        take_place(spec)
        run_holder(spec)
    except BaseException as problem:
        os.write(2, ("lab: %s: %s\n" % (type(problem).__name__, problem)).encode())
    os._exit(71)


def stand_alone(log):
    """A session of its own, nothing on standard input, the rest to `log`, signals as a fresh process has them."""
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    os.chdir("/")
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def take_place(spec):
    """Control group, program and user as asked. A server's worker stays in its session."""
    if spec.get("container"):
        lab_cgroup.enter(spec["container"])
    if spec.get("executable"):
        copy_interpreter(spec["executable"], spec["ownBin"])
    if spec.get("uid"):
        os.setgroups([])
        os.setgid(spec["uid"])
        os.setuid(spec["uid"])


def run_holder(spec):
    """Becomes the holder; never returns. The caller has forked and set session, uid and files."""
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/",
        "PYTHONPATH": os.path.join(LAB, "inside"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        # A copied interpreter must still find its library.
        "PYTHONHOME": sys.base_prefix,
        "LAB_HOLDER": json.dumps(spec),
    }
    os.execve(spec.get("executable") or spec["python"], spec["argv"], environment)


def send_command(pid, command):
    fd = os.open(os.path.join(LAB, "run", "cmd.%d" % pid), os.O_WRONLY | os.O_NONBLOCK)
    os.write(fd, (json.dumps(command) + "\n").encode())
    os.close(fd)


def copy_interpreter(path, has_own_bin):
    """A stand-in daemon is a copied binary, so that its /proc/PID/exe is its own. Never put into the machine's own folders."""
    if not has_own_bin and not path.startswith(LAB + "/"):
        raise OSError("this lab has no /usr/bin of its own for " + path)
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(os.path.realpath(sys.executable), path)
    os.chmod(path, 0o755)
