"""CUDA IPC: a context of its own, and the memory that another process made. When that one dies, the bill moves here."""
import lab_share


def become(holder):
    holder.hold(holder.spec["holds"])
    shared = lab_share.Shared(holder.spec["share"])
    holder.device_fds += shared.receive()
    holder.dress()
    holder.keep_sharer(shared)
    holder.live()
