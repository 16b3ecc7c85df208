"""Holds the GPU by a node of another name, as a container's own /dev has it: no path says nvidia, only the number does."""


def become(holder):
    holder.hold_by_number(holder.spec["holds"])
    holder.dress()
    holder.ready()
    holder.live()
