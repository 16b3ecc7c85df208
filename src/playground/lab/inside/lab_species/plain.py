"""workload, renamed, deaf, bystander, protected: holds and waits. Name, uid, deafness and executable come with the spec."""


def become(holder):
    holder.hold(holder.spec["holds"])
    holder.dress()
    holder.ready()
    holder.live()
