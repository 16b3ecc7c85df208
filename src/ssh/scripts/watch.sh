#!/bin/sh
# Watches the targets until they are gone, and says what changed. Builtins only, but for the pause between two passes.
# Needs identity.sh and send.sh.
# shellcheck disable=SC2034,SC2154 # the other files set and read these

# start_clock: NOW counts hundredths of a second from here. mksh has 31 bits, which is 248 days of them.
start_clock() {
  read_clock
  SEC_ZERO=$SEC
  tick
  BEAT_AT=$NOW
}

# tick: sets NOW and UPTIME_MS. The leading 1 keeps `08` from being read as octal.
tick() {
  read_clock
  NOW=$(((SEC - SEC_ZERO) * 100 + 1$CENTI - 100))
}

# beat: a sign of life at most every 200 ms; its failing write is how a lost link is noticed.
beat() {
  [ $((NOW - BEAT_AT)) -lt 20 ] || tell "heartbeat $UPTIME_MS"
}

# tell WORD…: an event, which is a sign of life too.
tell() {
  emit "$*"
  BEAT_AT=$NOW
}

# pause SECONDS: where sleep takes no fractions (an old busybox), a whole second.
pause() {
  sleep "$1" 2>/dev/null || sleep 1
}

# look_at PID TICKS: sets SEEN. One look in state D is no proof of being stuck: only the fifth in a row says so.
look_at() {
  in_d=no
  if ! read_stat "$1" || [ "$STATE" = X ]; then
    SEEN=gone
  elif [ "$TICKS" != "$2" ]; then
    SEEN=replaced
  elif [ "$STATE" = Z ]; then
    if other_thread "$1"; then SEEN=stuck; else SEEN=zombie; fi
  elif [ "$STATE" = D ]; then
    in_d=yes SEEN=alive
    d_run=0
    case $D_RUNS in *" $1="*) d_run=${D_RUNS##*" $1="} d_run=${d_run%% *} ;; esac
    if [ "$d_run" -ge 4 ]; then SEEN=stuck; else d_run=$((d_run + 1)); fi
  else
    SEEN=alive
  fi
}

# watch_targets HUNDREDTHS: looks at WATCHED (PID and start ticks by turns) until each is gone, replaced or a plain zombie:
# then true; false at the limit. 0 means one look: with nothing sent there is nothing to wait for.
watch_targets() {
  tick
  watch_until=$((NOW + $1)) watch_pass=0 D_RUNS=' ' LAST_SEEN=' '
  while :; do
    tick
    watch_left=no seen_now=' ' d_now=' '
    # shellcheck disable=SC2086 # words of digits
    set -- $WATCHED
    while [ $# -ge 2 ]; do
      look_at "$1" "$2"
      [ "$in_d" = no ] || d_now="$d_now$1=$d_run "
      case $LAST_SEEN in *" $1:$SEEN "*) ;; *) tell "seen $1 $SEEN $UPTIME_MS" ;; esac
      case $SEEN in alive | stuck) watch_left=yes ;; esac
      seen_now="$seen_now$1:$SEEN "
      shift 2
    done
    D_RUNS=$d_now LAST_SEEN=$seen_now
    beat
    [ "$watch_left" = yes ] || return 0
    [ "$NOW" -lt "$watch_until" ] || return 1
    watch_pass=$((watch_pass + 1))
    if [ "$watch_pass" -lt 100 ]; then pause 0.02; else pause 0.05; fi
  done
}
