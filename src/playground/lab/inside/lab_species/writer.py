"""Writes a trace from inside, at a known rate, for as long as it lives. With "closes" it ends the file properly on SIGTERM."""
import os
import threading
import time

from lab_holder import LAB

STEP_S = 0.02
END = b"\n]}\n"


def become(holder):
    writes = holder.spec["writes"]
    folder = os.path.join(LAB, "run", "traces")
    os.makedirs(folder, exist_ok=True)
    file = os.open(os.path.join(folder, writes["file"]), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    over = threading.Event()

    def write():
        begun, written = time.monotonic(), 0
        while not over.wait(STEP_S):
            due = int((time.monotonic() - begun) * writes["KiBPerS"] * 1024)
            os.write(file, b"x" * (due - written))
            written = due

    def close():
        over.set()
        thread.join()
        os.write(file, END)

    holder.hold(holder.spec["holds"])
    holder.dress()
    if writes.get("closes"):
        holder.before_term = close
    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    holder.ready()
    holder.live()
