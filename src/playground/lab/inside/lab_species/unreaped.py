"""A living parent that never waits for its dead child: a plain zombie, which holds nothing and has only its short name left."""
import os

from lab_holder import set_comm


def become(holder):
    kid = os.fork()
    if kid == 0:
        if holder.spec.get("zombieComm"):
            set_comm(holder.spec["zombieComm"])
        holder.hold(holder.spec["holds"])
        os._exit(0)
    os.waitid(os.P_PID, kid, os.WEXITED | os.WNOWAIT)
    holder.dress()
    holder.ready(zombie=kid)
    holder.live()
