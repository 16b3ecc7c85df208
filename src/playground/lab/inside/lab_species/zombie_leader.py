"""The main thread ends alone; another thread keeps the files. No trap: Python runs traps in the main thread only."""
import os
import threading
import time

from lab_holder import libc

SYS_EXIT = {"x86_64": 60, "aarch64": 93, "riscv64": 93, "ppc64le": 1, "s390x": 1}


def become(holder):
    holder.hold(holder.spec["holds"])
    threading.Thread(target=forever, daemon=True).start()
    holder.ready()
    libc.syscall(SYS_EXIT[os.uname().machine], 0)


def forever():
    while True:
        time.sleep(3600)
