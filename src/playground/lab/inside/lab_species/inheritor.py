"""A forked child keeps its dead parents' device files: the driver bills the dead, the child is the holder.

Each of spec["parents"] takes its own memory and forks the next; the last child is the holder that stays.
"""
import os

from lab_holder import set_comm, set_words


def become(holder):
    billed = []
    end_read, end_write = os.pipe()
    for parent in holder.spec["parents"]:
        holder.hold(parent["holds"])
        holder.fill_up(parent["holds"])
        if parent.get("title"):
            set_comm(parent["title"])
            set_words([parent["title"]])
        billed.append(os.getpid())
        if os.fork() != 0:
            os.close(end_write)
            os.read(end_read, 1)
            os._exit(0)
    os.close(end_read)
    if holder.spec.get("title"):
        set_comm(holder.spec["title"][0].rsplit("/", 1)[-1])
        set_words(holder.spec["title"])
    holder.dress()
    holder.orphan = lambda: os.close(end_write)
    if not holder.spec.get("parentsLive"):
        holder.orphan()
    holder.ready(billed=billed, parentsLive=bool(holder.spec.get("parentsLive")))
    holder.live()
