"""Small reads of /proc that the control process needs."""
import os


def stat_fields(pid):
    """Fields of /proc/PID/stat after the name: [0] state, [1] parent, [17] threads. None if there is no such process."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return file.read().rsplit(b")", 1)[1].decode().split()
    except (OSError, IndexError):
        return None


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(parent):
    found = []
    for pid in pids():
        fields = stat_fields(pid)
        if fields and int(fields[1]) == parent:
            found.append(pid)
    return found


def is_alive(pid):
    """A zombie leader with live threads is alive; a plain zombie is not."""
    fields = stat_fields(pid)
    return fields is not None and (fields[0] not in "ZX" or int(fields[17]) > 1)


def facts(pid):
    """What a person would see of it in ps: its state letter and its title. None if there is no such process."""
    fields = stat_fields(pid)
    if fields is None:
        return None
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            title = file.read(400).replace(b"\0", b" ").strip().decode("utf-8", "replace")
    except OSError:
        title = ""
    return {"state": fields[0], "title": title, "alive": is_alive(pid)}


def pending_signals(pid):
    """Numbers of the signals that wait for this process (ShdPnd and SigPnd of /proc/PID/status)."""
    mask = 0
    try:
        with open("/proc/%d/status" % pid) as file:
            for line in file:
                if line.startswith(("ShdPnd:", "SigPnd:")):
                    mask |= int(line.split()[1], 16)
    except OSError:
        pass
    return [number for number in range(1, 65) if mask >> (number - 1) & 1]


def lock_key(start):
    """`major:minor:inode` under which /proc/locks shows the lock that starts at this byte; differs from stat on some filesystems."""
    with open("/proc/locks") as file:
        for line in file:
            words = line.split()
            if words[1] == "OFDLCK" and words[6] == str(start):
                return words[5]
    raise RuntimeError("/proc/locks does not list open-file-description locks here")


def descendants(pid):
    found = []
    for child in lab_procfs.children_of(pid):
        found += [child] + descendants(child)
    return found
