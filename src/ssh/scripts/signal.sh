#!/bin/sh
# One batch: check, signal, watch, memory, closing probe. Needs frame.sh, probe.sh and the files beside it; the batch's words
# are set before the call. Each line it prints is `@@NONCE e …`, but for the markers and the probe's sections.
# shellcheck disable=SC2034,SC2154 # the other files set and read these

# own_pids: sets OWN_PIDS to this shell and its ancestors, which are never signalled.
own_pids() {
  OWN_PIDS='' own_pid=$$
  while [ "$own_pid" -gt 0 ]; do
    OWN_PIDS="$OWN_PIDS $own_pid"
    read_stat "$own_pid" || break
    own_pid=$PARENT
  done
}

# same_machine: sets MACHINE_DETAIL; false on another boot or in another PID namespace, where every PID is somebody else.
same_machine() {
  MACHINE_DETAIL=boot boot_now=''
  { read -r boot_now </proc/sys/kernel/random/boot_id; } 2>/dev/null
  [ "$boot_now" = "$BOOT_ID" ] || return 1
  MACHINE_DETAIL=pid-namespace
  [ "$(readlink /proc/self/ns/pid 2>/dev/null)" = "pid:[$PID_NAMESPACE]" ]
}

# signal_main PROBE_WORD…: the words are those of the closing probe.
signal_main() {
  # A closed pipe must end us by our own hand, so that a running nvidia-smi is ended too.
  trap '' PIPE
  frame_open signal 1 2>/dev/null || exit 98
  start_clock
  if ! same_machine; then
    refuse_all "$ORDERS" other-machine "$MACHINE_DETAIL"
    [ -z "$STOP_KIND" ] || refuse_stop other-machine "$MACHINE_DETAIL"
    frame_close 0
    return 0
  fi
  own_pids
  SENT=none SEND_RC=0 watch_for=$WATCH_CENTI
  [ -z "$STOP_KIND" ] || stop_owner
  [ -z "$ORDERS" ] || send_orders "$ORDERS"
  [ "$SENT" != no ] || watch_for=0
  if watch_targets "$watch_for"; then
    watch_memory
  elif [ "$FINAL" != yes ]; then
    frame_close "$SEND_RC"
    return "$SEND_RC"
  elif [ "$SENT" != no ]; then
    watch_memory
  fi
  trap - PIPE
  probe "$@"
  frame_close "$SEND_RC"
  return "$SEND_RC"
}
