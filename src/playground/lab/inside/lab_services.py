"""What runs in the lab beside its holders: the journal's socket, sshd, and the list of GPUs for the stand-in."""
import os
import socket

import lab_holder
import lab_launch
import lab_procfs

LAB = lab_launch.LAB
RUN = os.path.join(LAB, "run")


def write_gpus(config, numbered):
    """What the stand-in nvidia-smi may know without asking the kernel, with each device's name in /proc/locks.

    A GPU has one name there, or two where it has a second node; nvidiactl, which exported memory hangs on, has its own.
    """
    with open(os.path.join(RUN, "gpus.tsv"), "w") as file:
        for gpu in config["gpus"]:
            gpu["device"] = os.path.join(config["devices"], "nvidia%d" % gpu["index"])
            nodes = [gpu["device"]] + (["/dev/gpu/%d" % gpu["index"]] if numbered else [])
            gpu["key"] = ",".join(key_of(node) for node in nodes)
            words = [gpu[name] for name in ("index", "uuid", "busId", "name", "totalMiB", "key", "device")]
            file.write("\t".join(str(word) for word in words) + "\n")
    config["controlKey"] = key_of(os.path.join(config["devices"], "nvidiactl"))
    with open(os.path.join(RUN, "control-key"), "w") as file:
        file.write(config["controlKey"])


def keys_of(config):
    return {"gpus": [gpu["key"].split(",") for gpu in config["gpus"]], "control": config["controlKey"]}


def key_of(node):
    fd = os.open(node, os.O_RDWR | os.O_NOCTTY)
    # No PID is that high, and no other lab draws the same number.
    start = (1 << 61) + int.from_bytes(os.urandom(6), "big")
    lab_holder.lock(fd, start, 1)
    key = lab_procfs.lock_key(start)
    os.close(fd)
    return key


def open_journal():
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind("/dev/log")
    os.chmod("/dev/log", 0o666)
    return log


def note_journal(log):
    with open(os.path.join(RUN, "journal"), "ab") as file:
        file.write(log.recv(8192).rstrip(b"\n\0") + b"\n")


def start_sshd(path):
    """Returns its PID. It must be started by its absolute path, and listens on 127.0.0.1 only."""
    pid = os.fork()
    if pid == 0:
        try:
            log = os.open(os.path.join(RUN, "sshd.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            lab_launch.stand_alone(log)
            words = [path, "-D", "-e", "-f", os.path.join(LAB, "ssh", "sshd_config")]
            os.execve(path, words, {"PATH": "/usr/bin:/bin"})
        finally:
            os._exit(71)
    return pid
