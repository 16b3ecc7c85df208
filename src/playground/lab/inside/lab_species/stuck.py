"""A plain holder; the control process puts it into a v1 freezer, where it is in state D and no signal ends it."""


def become(holder):
    holder.hold(holder.spec["holds"])
    holder.dress()
    holder.ready()
    holder.live()
