#!/bin/sh
# Watches GPU memory until it is what the remaining holders explain, or has stopped falling. Needs watch.sh.
# An nvidia-smi that is stuck in the driver can't be killed, so nothing here waits for one: it writes into a pipe, a clock
# writes into the same pipe, and the reader judges both. No file, and nothing but that one call can be left behind.
# shellcheck disable=SC2034,SC2154 # the other files set and read these

# watch_memory: ends with one `settled` event; leaves the script if nobody listens any more.
watch_memory() {
  CALL=''
  if ! command -v nvidia-smi >/dev/null 2>&1 || stuck_call; then
    tick
    tell "settled unreadable $UPTIME_MS"
    return
  fi
  # `exec`, because a redirection of the group would keep a copy of the old stderr open in both (dash): a stuck nvidia-smi
  # would then hold up the whole channel.
  (
    exec 2>/dev/null
    memory_clock &
    memory_calls &
  ) | judge_memory
  [ $? -ne 98 ] || exit 98
}

# stuck_call: true if an nvidia-smi of anybody has stood in state D for 10 s: another one would only join it.
# /proc counts 100 ticks a second wherever NVIDIA has a driver (USER_HZ).
stuck_call() {
  # shellcheck disable=SC2013 # paths of digits
  for stuck_file in $(grep -lxs nvidia-smi /proc/[0-9]*/comm); do
    stuck_file=${stuck_file%/comm}
    read_stat "${stuck_file#/proc/}" || continue
    [ "$STATE" = D ] || continue
    read_clock
    [ $((SEC - ${TICKS%??})) -lt 10 ] || return 0
  done
  return 1
}

memory_clock() {
  while echo tick; do pause 0.05; done
}

# As fast as nvidia-smi answers, with 20 ms between two calls for the first seconds: the truth is never more than one call old.
memory_calls() {
  call_count=0
  while :; do
    timeout -k 1 60 nvidia-smi --query-gpu=uuid,memory.used --format=csv,noheader,nounits &
    echo "call $!" || exit
    wait $!
    echo "done $?" || exit
    call_count=$((call_count + 1))
    if [ "$call_count" -lt 100 ]; then pause 0.02; else pause 0.2; fi
  done
}

# stop_call: ends the nvidia-smi call in progress, by PID and start ticks.
stop_call() {
  [ -n "${CALL:-}" ] || return 0
  if read_stat "$CALL" && [ "$TICKS" = "$CALL_TICKS" ]; then kill "$CALL" 2>/dev/null; fi
  CALL=''
}

judge_memory() {
  tick
  memory_from=$NOW answer_at=$NOW fell_at=$NOW
  answered=no rows=' ' shown='' LOWEST=' ' HOW=''
  while read -r word rest; do
    tick
    beat
    case $word in
      call)
        CALL=$rest
        if read_stat "$CALL"; then CALL_TICKS=$TICKS; else CALL=''; fi
        ;;
      done) CALL='' && take_answer ;;
      *,) take_row "${word%,}" "$rest" ;;
    esac
    [ -n "$HOW" ] || judge_time
    [ -z "$HOW" ] || break
  done
  stop_call
  tell "settled ${HOW:-unreadable} $UPTIME_MS"
}

# take_row UUID FIGURE: a figure that is no number is no figure ([N/A], [GPU requires reset], …).
take_row() {
  case $1 in *[!A-Za-z0-9-]*) return ;; esac
  case $2 in '' | *[!0-9]*) ;; *) rows="$rows$1=$2 " ;; esac
}

# take_answer: one call has ended. Its exit code doesn't condemn the good rows.
take_answer() {
  sample=$rows rows=' '
  [ "$sample" != ' ' ] || return 0
  answered=yes answer_at=$NOW
  [ "$sample" = "$shown" ] || tell "memory $UPTIME_MS$sample"
  shown=$sample
  compare_memory
}

# compare_memory: every GPU at or under its level is `expected`. A GPU without a level must have stopped falling.
compare_memory() {
  reached=yes open=no known=no unread=no fell=no lowest_now=' '
  for pair in $EXPECTED; do
    uuid=${pair%:*} level=${pair##*:}
    case $sample in
      *" $uuid="*) used=${sample##*" $uuid="} used=${used%% *} ;;
      *) unread=yes reached=no && continue ;;
    esac
    case $LOWEST in
      *" $uuid="*) lowest=${LOWEST##*" $uuid="} lowest=${lowest%% *} ;;
      *) lowest=$((used + 1)) ;;
    esac
    if [ "$level" = - ]; then
      open=yes
    else
      known=yes
      [ "$used" -gt "$level" ] && reached=no
    fi
    # Only what is still above its level counts as falling: other GPUs may go up and down as they like.
    if [ "$used" -lt "$lowest" ]; then
      lowest=$used
      if [ "$level" = - ] || [ "$used" -gt "$level" ]; then fell=yes; fi
    fi
    lowest_now="$lowest_now$uuid=$lowest "
  done
  LOWEST=$lowest_now
  [ "$fell" = no ] || fell_at=$NOW
  if [ "$reached" = yes ] && [ "$open" = no ]; then
    HOW=expected
  elif [ $((NOW - fell_at)) -ge "$STALLED_CENTI" ]; then
    if [ "$unread" = yes ]; then HOW=unreadable; elif [ "$reached" = yes ] && [ "$known" = yes ]; then HOW=expected; else HOW=stalled; fi
  fi
}

# judge_time: no answer for as long as "stalled" means no sight; the limit ends it in any case.
judge_time() {
  if [ $((NOW - answer_at)) -ge "$STALLED_CENTI" ]; then
    HOW=unreadable
  elif [ $((NOW - memory_from)) -ge "$VERIFY_CENTI" ]; then
    if [ "$answered" = yes ]; then HOW=timed-out; else HOW=unreadable; fi
  fi
}
