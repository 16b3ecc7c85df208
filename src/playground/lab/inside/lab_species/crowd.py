"""Many processes with many open files and no GPU: the weight a scan must carry."""
import os
import signal


def become(holder):
    for _ in range(holder.spec["files"]):
        os.open("/dev/null", os.O_RDONLY)
    for _ in range(holder.spec["processes"]):
        if os.fork() == 0:
            while True:
                signal.pause()
    holder.dress()
    holder.ready()
    holder.live()
