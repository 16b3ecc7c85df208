"""What a holder is after an exec in place: another program, same PID and start time, same device files."""


def become(holder):
    holder.device_fds = holder.spec["adopts"]
    holder.dress()
    holder.ready()
    holder.live()
