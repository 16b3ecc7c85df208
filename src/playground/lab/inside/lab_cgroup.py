"""Control groups where this machine lets us make some: one that looks like a container's, and one that freezes."""
import os

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def can_contain():
    return next(_writable_roots(), None) is not None


def enter(scope):
    """Moves the calling process into …/<scope>, e.g. docker-<64 hex>.scope. Folders are listed for removal at the end."""
    for root in _writable_roots():
        slice_folder = os.path.join(root, "lab-%s.slice" % os.path.basename(LAB))
        folder = os.path.join(slice_folder, scope)
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(LAB, "run", "cgroups"), "a") as file:
                file.write(folder + "\n" + slice_folder + "\n")
            with open(os.path.join(folder, "cgroup.procs"), "w") as file:
                file.write("0")
            return
        except OSError:
            continue
    raise OSError("no control group can be made here")


def can_freeze():
    return _freezer() is not None


def freeze(pid):
    """Into a v1 freezer: state D, and SIGKILL stays pending until it is thawed (cgroup-v1/freezer-subsystem.txt)."""
    folder = os.path.join(_freezer(), "lab-%s-%d" % (os.path.basename(LAB), pid))
    os.mkdir(folder)
    for name in ("cgroups", "frozen"):
        with open(os.path.join(LAB, "run", name), "a") as file:
            file.write(folder + "\n")
    _write(os.path.join(folder, "cgroup.procs"), str(pid))
    _write(os.path.join(folder, "freezer.state"), "FROZEN")


def thaw_all():
    """Before the lab ends: nothing can end what is frozen, not even the end of its PID namespace."""
    try:
        with open(os.path.join(LAB, "run", "frozen")) as file:
            folders = file.read().split()
    except OSError:
        return
    for folder in folders:
        try:
            _write(os.path.join(folder, "freezer.state"), "THAWED")
        except OSError:
            pass


def _write(path, text):
    with open(path, "w") as file:
        file.write(text)


def _freezer():
    roots = [m[1] for m in _mounts() if m[2] == "cgroup" and "freezer" in m[3].split(",")]
    return next(_writable(roots), None)


def _writable_roots():
    """Mount points of cgroup v2 first, then the v1 hierarchies that need no setup."""
    mounts = _mounts()
    wanted = [m[1] for m in mounts if m[2] == "cgroup2"]
    wanted += [m[1] for m in mounts if m[2] == "cgroup" and {"pids", "freezer", "name=systemd"} & set(m[3].split(","))]
    return _writable(wanted)


def _mounts():
    with open("/proc/self/mounts") as file:
        return [line.split() for line in file]


def _writable(roots):
    for root in roots:
        probe = os.path.join(root, "lab-try-%d" % os.getpid())
        try:
            os.mkdir(probe)
            os.rmdir(probe)
            yield root
        except OSError:
            continue
