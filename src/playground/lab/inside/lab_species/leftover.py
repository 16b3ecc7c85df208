"""Holds, and keeps a file below /dev/shm which it will not remove: when it is gone, the file is nobody's."""
import os


def become(holder):
    for left in holder.spec["leaves"]:
        file = os.open("/dev/shm/" + left["name"], os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.posix_fallocate(file, 0, left["MiB"] << 20)
        os.close(file)
    if holder.spec["holds"]:
        holder.hold(holder.spec["holds"])
    holder.dress()
    holder.ready()
    holder.live()
