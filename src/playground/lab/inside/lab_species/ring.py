"""Device files registered with an io_uring: no descriptor and no mapping of a device is left."""
import lab_ring


def become(holder):
    holder.hold(holder.spec["holds"], mapped=False)
    ring = lab_ring.make_ring()
    if ring is None:
        raise RuntimeError("no io_uring can be made here")
    lab_ring.register(ring, holder.device_fds)
    holder.close_files()
    holder.dress()
    holder.ready()
    holder.live()
