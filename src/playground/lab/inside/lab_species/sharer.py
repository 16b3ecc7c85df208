"""Makes memory and hands it to another process, which keeps it when this one is gone.

gives.kind: "memory" is CUDA IPC (a device file that carries the memory), "handle" is cuMemExportToShareableHandle (a
file of nvidiactl that carries it), "files" are the device files themselves.
"""
import os

import lab_share


def become(holder):
    gives = holder.spec["gives"]
    holder.hold(holder.spec["holds"])
    if gives["kind"] == "files":
        given = list(holder.device_fds)
    elif gives["kind"] == "handle":
        given = [holder.export_handle(one) for one in gives["holds"]]
    else:
        given = [holder.make_memory(one) for one in gives["holds"]]
    holder.dress()
    leash = lab_share.hand_over(holder.spec["share"], given)
    holder.watched[leash.fileno()] = lambda: os._exit(0)
    holder.ready()
    holder.live()
