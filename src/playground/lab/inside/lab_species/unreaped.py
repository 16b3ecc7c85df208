"""A living parent that never waits for its dead child: a plain zombie, which holds nothing."""
import os


def become(holder):
    kid = os.fork()
    if kid == 0:
        holder.hold(holder.spec["holds"])
        os._exit(0)
    os.waitid(os.P_PID, kid, os.WEXITED | os.WNOWAIT)
    holder.dress()
    holder.ready(zombie=kid)
    holder.live()
