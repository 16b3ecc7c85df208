"""Turning a spec into a process, and talking to it afterwards."""
import json
import os
import shutil
import sys

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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
