"""Furnishes the lab's own mount namespace: /proc, /dev, /etc, /usr/bin as a GPU host has them. Nothing of it is seen outside."""
import ctypes
import fcntl
import os
import struct
import sys

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MS_BIND, MS_REC = 4096, 16384
TIOCSPTLCK = 0x40045431
PTS_MAJOR = 136
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, data=None):
    def text(value):
        return None if value is None else value.encode()

    if libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(data)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, "mount on %s: %s" % (target, os.strerror(code)))


def furnish(config):
    """Returns the features that this lab has; raises where one that no lab can do without is refused."""
    mount("proc", "/proc", "proc")
    furnish_dev(len(config["gpus"]))
    work = os.path.join(LAB, "upper")
    os.mkdir(work)
    mount("lab", work, "tmpfs", 0, "mode=755")
    # Of its own: /dev and /proc are.
    features = ["shm", "own-proc"]
    attempts = (
        ("etc", lambda: furnish_etc(work, config)),
        ("daemons", lambda: overlay(work, "/usr/bin")),
        ("driver-folder", lambda: furnish_driver(config["gpus"])),
        ("boot-id", furnish_boot_id),
        ("device-numbers", lambda: furnish_numbers(len(config["gpus"]))),
        ("run-sshd", furnish_run),
    )
    for name, attempt in attempts:
        try:
            attempt()
            features.append(name)
        except OSError as problem:
            print("lab: %s: %s" % (name, problem), file=sys.stderr)
    return features


def furnish_dev(gpus):
    new = os.path.join(LAB, "newdev")
    os.mkdir(new)
    mount("dev", new, "tmpfs", 0, "mode=755")
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        if os.path.exists("/dev/" + name):
            touch(os.path.join(new, name))
            mount("/dev/" + name, os.path.join(new, name), None, MS_BIND)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + target, os.path.join(new, name))
    os.mkdir(os.path.join(new, "shm"))
    os.chmod(os.path.join(new, "shm"), 0o1777)
    if os.path.isdir("/dev/pts"):
        os.mkdir(os.path.join(new, "pts"))
        mount("/dev/pts", os.path.join(new, "pts"), None, MS_BIND)
    make_devices(new, gpus)
    # Bound, not moved: a user namespace may not move it over the machine's own.
    mount(new, "/dev", None, MS_BIND | MS_REC)


def make_devices(folder, gpus):
    for name in ["nvidiactl", "nvidia-uvm"] + ["nvidia%d" % index for index in range(gpus)]:
        touch(os.path.join(folder, name))
        os.truncate(os.path.join(folder, name), 4096)
        os.chmod(os.path.join(folder, name), 0o666)


def furnish_etc(work, config):
    overlay(work, "/etc")
    os.makedirs("/etc/gpu-reclaim", exist_ok=True)
    set_deny(False)
    if config["kind"] != "root":
        return
    own = [account["name"] for account in config["accounts"]]
    rewrite("/etc/passwd", own, ["%(name)s:x:%(uid)d:%(uid)d::/:/bin/sh" % a for a in config["accounts"]])
    # '*': no password matches, yet sshd does not call the account locked, as it does with '!'.
    rewrite("/etc/shadow", own, ["%s:*:19000:0:99999:7:::" % name for name in own])
    rewrite("/etc/group", own, ["%(name)s:x:%(uid)d:" % a for a in config["accounts"]])


def rewrite(path, names, lines):
    with open(path) as file:
        kept = [line.rstrip("\n") for line in file if line.split(":", 1)[0] not in names]
    with open(path, "w") as file:
        file.write("\n".join(lines + kept) + "\n")


def set_deny(on):
    """The host's own veto: the signalling command refuses while this file is there."""
    if on:
        touch("/etc/gpu-reclaim/deny")
    elif os.path.exists("/etc/gpu-reclaim/deny"):
        os.unlink("/etc/gpu-reclaim/deny")


def set_login_shell(shell):
    """Another login shell for root: what a careless host does to a remote command."""
    with open("/etc/passwd") as file:
        lines = file.read().splitlines()
    lines = [line.rsplit(":", 1)[0] + ":" + shell if line.startswith("root:") else line for line in lines]
    with open("/etc/passwd", "w") as file:
        file.write("\n".join(lines) + "\n")


def furnish_driver(gpus):
    mount("driver", "/proc/driver", "tmpfs", 0, "mode=755")
    os.makedirs("/proc/driver/nvidia/gpus")
    with open("/proc/driver/nvidia/version", "w") as file:
        file.write("NVRM version: lab stand-in, no NVIDIA module is loaded\n")
    for gpu in gpus:
        folder = "/proc/driver/nvidia/gpus/" + gpu["busId"].lower().replace("00000000", "0000", 1)
        os.mkdir(folder)
        with open(folder + "/information", "w") as file:
            file.write("Model: \t\t %s\nGPU UUID: \t %s\n" % (gpu["name"], gpu["uuid"]))
            file.write("Bus Location: \t %s\nDevice Minor: \t %d\n" % (os.path.basename(folder), gpu["index"]))


def furnish_boot_id():
    path = os.path.join(LAB, "run", "boot_id")
    mount(path, "/proc/sys/kernel/random/boot_id", None, MS_BIND)


def furnish_numbers(gpus):
    """A second node for each GPU, /dev/gpu/N: a real character device whose minor is N, since a driver's numbers cannot be had.

    They are pseudo terminals of a devpts of the lab's own (pts(4)), and /proc/devices calls their major nvidia. They live
    as long as their other ends, which stay open in this process.
    """
    os.mkdir("/dev/gpu")
    mount("lab", "/dev/gpu", "devpts", 0, "newinstance,ptmxmode=0666,mode=0666")
    for index in range(gpus):
        other_end = os.open("/dev/gpu/ptmx", os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(other_end, TIOCSPTLCK, struct.pack("i", 0))
        os.chmod("/dev/gpu/%d" % index, 0o666)
    path = os.path.join(LAB, "run", "devices")
    with open("/proc/devices") as file:
        lines = file.read().splitlines()
    numbers = [line for line in lines if line.split()[:1] == [str(PTS_MAJOR)]]
    with open(path, "w") as file:
        for line in lines:
            file.write(("%3d nvidia" % PTS_MAJOR if line in numbers else line) + "\n")
    mount(path, "/proc/devices", None, MS_BIND)


def furnish_run():
    if not os.path.isdir("/run/sshd"):
        if LAB.startswith("/run/"):
            raise OSError("the lab's own folder is under /run")
        mount("run", "/run", "tmpfs", 0, "mode=755")
        os.mkdir("/run/sshd", 0o755)


def overlay(work, path):
    name = path.strip("/").replace("/", "-")
    upper, inner = os.path.join(work, name), os.path.join(work, name + ".work")
    os.mkdir(upper)
    os.mkdir(inner)
    mount("lab", path, "overlay", 0, "lowerdir=%s,upperdir=%s,workdir=%s" % (path, upper, inner))


def touch(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
