#!/bin/sh
# Stops one owner by its own tool: unit, container or Slurm job. Needs identity.sh, send.sh, watch.sh, memory.sh (its clock and
# stop_call), cgroup.sh and the words STOP_*; STOP_MEMBERS holds PID, start ticks, uid, executable and hold by turns.
#
# Nothing is called unless, in this very command: it is the same run of the owner, every process in its folder is one of
# STOP_MEMBERS and compares as for a signal, no deny file is there and the time is not over. What then acts is the owner's
# daemon, by name: a process that joins between that look and its act ends too. No pidfd reaches so far.
# shellcheck disable=SC2034,SC2154 # the other files set and read these

stop_nl='
'

# stop_owner: sets SENT (yes only where every member has ended) and says one `stop` event.
stop_owner() {
  SENT=no
  may_stop
  # Is anybody still there to hear of it? This write may have had to wait, so the last looks come after it.
  if [ "$VERDICT" = go ]; then
    emit "heartbeat $UPTIME_MS"
    same_processes quick
  fi
  [ "$VERDICT" != go ] || last_look "$STOP_FIRST" "$STOP_FIRST_TICKS"
  if [ "$VERDICT" != go ]; then
    case $VERDICT in gone | replaced) VERDICT=changed ;; esac
    refuse_stop "$VERDICT" "$DETAIL"
    return
  fi
  # As in memory.sh: a tool that hangs is never waited for. It and a clock write into one pipe, and the reader judges both.
  (
    exec 2>/dev/null
    memory_clock &
    call_tool &
  ) | judge_stop
  case $? in
    0) SENT=yes ;;
    98) exit 98 ;;
  esac
}

refuse_stop() {
  read_clock
  emit "stop $1 $UPTIME_MS $2"
}

# may_stop: sets VERDICT (go, or why not) and DETAIL. The slow looks come first.
may_stop() {
  VERDICT=go DETAIL=-
  read_clock
  same_processes whole
  [ "$VERDICT" != go ] || same_run
  [ "$VERDICT" = go ] || return 0
  last_look "$STOP_FIRST" "$STOP_FIRST_TICKS"
  [ "$VERDICT" = go ] || return 0
  timeout 1 logger -t gpu-reclaim -- "run=$RUN_ID stop=$STOP_KIND:$STOP_ID requester=$REQUESTER approver=$APPROVER" \
    </dev/null >/dev/null 2>&1 &
}

# same_processes HOW: whole compares each as for a signal, quick by PID and start ticks. Sets STOP_FIRST to one that lives.
same_processes() {
  stop_how=$1 STOP_FIRST=''
  stop_found=$(cgroup_pids "$STOP_FOLDER") || { refuse changed unreadable && return; }
  # shellcheck disable=SC2086,SC2116 # digits, one a line: joined by blanks
  stop_found=" $(echo $stop_found) " stop_known=' '
  # shellcheck disable=SC2086 # words of digits and fixed names
  set -- $STOP_MEMBERS
  while [ $# -ge 5 ]; do
    case $stop_found in
      *" $1 "*)
        stop_known="$stop_known$1 " VERDICT=go DETAIL=-
        if [ "$stop_how" = whole ]; then
          compare "$1" "$2" "$3" "$4" "$5"
        else
          read_stat "$1" || refuse gone -
          [ "$VERDICT" = gone ] || [ "$TICKS" = "$2" ] || refuse replaced start-ticks
        fi
        case $VERDICT in
          go) STOP_FIRST=$1 STOP_FIRST_TICKS=$2 ;;
          gone) VERDICT=go DETAIL=- ;;
          *) refuse changed "$VERDICT-$1" && return ;;
        esac
        ;;
    esac
    shift 5
  done
  for stop_pid in $stop_found; do
    case $stop_known in *" $stop_pid "*) ;; *) refuse changed "newcomer-$stop_pid" && return ;; esac
  done
  [ -n "$STOP_FIRST" ] || refuse changed empty
}

# same_run: the pin, as its own tool says it now; and for a unit that no other stops with it.
same_run() {
  case $STOP_KIND in
    unit)
      stop_said=$stop_nl$(timeout -s KILL 2 systemctl show -p InvocationID,ControlGroup,RefuseManualStop,RequiredBy,RequisiteOf,BoundBy,ConsistsOf,PropagatesStopTo -- "$STOP_ID" 2>/dev/null)$stop_nl
      stop_says "InvocationID=$STOP_RUN" || { refuse changed run && return; }
      stop_says "ControlGroup=$STOP_FOLDER" || { refuse changed folder && return; }
      ! stop_says RefuseManualStop=yes || { refuse changed refuses && return; }
      for stop_field in RequiredBy RequisiteOf BoundBy ConsistsOf PropagatesStopTo; do
        case $stop_said in
          *"$stop_nl$stop_field=$stop_nl"*) ;;
          *"$stop_nl$stop_field="*) refuse changed dependents && return ;;
        esac
      done
      ;;
    docker | podman)
      stop_said=$stop_nl$(timeout -s KILL 2 "$STOP_KIND" inspect --type container --format '{{println "Id" .Id}}{{println "StartedAt" .State.StartedAt}}{{println "Pid" .State.Pid}}' -- "$STOP_ID" 2>/dev/null)$stop_nl
      stop_says "Id $STOP_ID" || { refuse changed run && return; }
      stop_says "StartedAt $STOP_RUN" || { refuse changed run && return; }
      stop_main=${stop_said#*"${stop_nl}Pid "}
      case $stop_known in *" ${stop_main%%"$stop_nl"*} "*) ;; *) refuse changed main-process && return ;; esac
      ;;
    slurm-job)
      # Names and paths are its user's to choose.
      stop_said=" $(timeout -s KILL 2 scontrol show job "$STOP_ID" 2>/dev/null | sed -e '1s/ JobName=.*//' -e '/^   [A-Za-z]*\(Command\|Comment\|WorkDir\)=/d' | tr '\n' ' ') "
      for stop_field in "JobId=$STOP_ID" JobState=RUNNING NumNodes=1 "StartTime=$STOP_RUN"; do
        case $stop_said in *" $stop_field "*) ;; *) refuse changed "${stop_field%%=*}" && return ;; esac
      done
      ;;
    *) refuse failed unknown-kind ;;
  esac
}

stop_says() {
  case $stop_said in *"$stop_nl$1$stop_nl"*) return 0 ;; esac
  return 1
}

# call_tool: what it says on standard error may tell why it refuses.
call_tool() {
  stop_limit=$((STOP_CENTI / 100 + 5))
  # shellcheck disable=SC2069 # standard error into the pipe, and nothing else
  case $STOP_KIND in
    unit) timeout -k 1 "$stop_limit" systemctl --no-ask-password stop --no-block -- "$STOP_ID" 2>&1 >/dev/null & ;;
    docker | podman) timeout -k 1 "$stop_limit" "$STOP_KIND" stop -t "$STOP_SECONDS" -- "$STOP_ID" 2>&1 >/dev/null & ;;
    slurm-job) timeout -k 1 "$stop_limit" scancel "$STOP_ID" 2>&1 >/dev/null & ;;
  esac
  echo "call $!" || exit
  wait $!
  echo "done $?"
}

# members_left: true while one of STOP_MEMBERS still lives. No fork.
members_left() {
  # shellcheck disable=SC2086
  set -- $STOP_MEMBERS
  while [ $# -ge 5 ]; do
    look_at "$1" "$2"
    case $SEEN in alive | stuck) return 0 ;; esac
    shift 5
  done
  return 1
}

# judge_stop: until nobody approved is left, the tool has said no, or the time is over. Exit 0: stopped.
judge_stop() {
  CALL='' D_RUNS=' ' stop_denied=no HOW=''
  tick
  stop_until=$((NOW + STOP_CENTI))
  while read -r word rest; do
    tick
    beat
    case $word in
      call)
        CALL=$rest
        if read_stat "$CALL"; then CALL_TICKS=$TICKS; else CALL=''; fi
        ;;
      done) CALL='' && take_end "$rest" ;;
      tick) ;;
      *) case "$word $rest" in *denied* | *authentication* | *"not permitted"* | *"not authorized"*) stop_denied=yes ;; esac ;;
    esac
    if ! members_left; then
      HOW=stopped
    elif [ -z "$HOW" ] && [ "$NOW" -ge "$stop_until" ]; then
      HOW=timed-out
    fi
    [ -z "$HOW" ] || break
  done
  stop_call
  tell "stop ${HOW:-timed-out} $UPTIME_MS -"
  [ "$HOW" = stopped ]
}

# take_end STATUS: a tool that ended well goes on being waited for, by what it was to end.
take_end() {
  case $1 in
    0) ;;
    124 | 137) HOW=timed-out ;;
    125 | 126 | 127) HOW=failed ;;
    *) if [ "$stop_denied" = yes ]; then HOW=not-permitted; else HOW=refused-by-owner; fi ;;
  esac
}
