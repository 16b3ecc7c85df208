"""A `nohup` job whose shell is gone: parent is init, the session's leader is dead, SIGHUP is ignored."""
import os


def become(holder):
    if os.fork() != 0:
        os._exit(0)
    holder.spec["nohup"] = True
    holder.hold(holder.spec["holds"])
    holder.dress()
    holder.ready()
    holder.live()
