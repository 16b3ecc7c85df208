"""Closes every device file; the mappings, and so the memory, stay."""


def become(holder):
    holder.hold(holder.spec["holds"])
    holder.close_files()
    holder.dress()
    holder.ready()
    holder.live()
