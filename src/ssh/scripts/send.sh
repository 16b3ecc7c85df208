#!/bin/sh
# Sends the orders, one after the other, each with one event line at once. Needs identity.sh, and its text in
# IDENTITY_TEXT; the senders' texts in PIDFD_PERL and PIDFD_PYTHON; NONCE and the batch's words.
# shellcheck disable=SC2034,SC2154 # the other files set and read these

# emit WORD…: one machine line. `echo` is a builtin everywhere, printf is not (mksh), and no word here has a backslash.
# Nobody listening any more ends everything at once: a lost link must leave nothing behind.
emit() {
  echo "@@$NONCE e $*" 2>/dev/null || leave
}

# leave: ends this shell, and the nvidia-smi that the memory watch may have running, if it is still that one.
leave() {
  stop_call
  exit 98
}

# send_orders ORDERS: sets SENT (yes, no) and SEND_RC (0, or how a sender broke down: then more may have been sent than said).
# perl first, because it starts in 2 ms and python3 in 20; a plain PID only where neither can open a pidfd.
send_orders() {
  SENT=no SEND_RC=0
  for sender in perl python3 sh; do
    case $sender in
      sh) send_by_pid "$1" && return ;;
      *) command -v "$sender" >/dev/null 2>&1 && send_by_pidfd "$sender" "$1" && return ;;
    esac
  done
}

# send_by_pidfd SENDER ORDERS: false if that sender cannot open pidfds here; then it has done nothing.
send_by_pidfd() {
  sender=$1
  # shellcheck disable=SC2086 # words of digits and fixed names
  set -- $2
  set -- "$IDENTITY_TEXT" "$LIMIT_SEC" "$LIMIT_CENTI" "$OWN_PIDS" "$DEVICE_FOLDER" "$RUN_ID" "$REQUESTER" "$APPROVER" "$@"
  case $sender in
    perl) echo "$NONCE" | perl -e "$PIDFD_PERL" -- "$@" ;;
    python3) echo "$NONCE" | python3 -I -S -c "$PIDFD_PYTHON" "$@" ;;
  esac
  case $? in
    0) SENT=yes ;;
    3) ;;
    75 | 126 | 127) return 1 ;;
    98) leave ;;
    *) SENT=yes SEND_RC=70 ;;
  esac
}

# send_by_pid ORDERS: between the last comparison and `kill` there are only builtins.
send_by_pid() {
  # shellcheck disable=SC2086
  set -- $1
  while [ $# -ge 6 ]; do
    check_order "$1" "$2" "$3" "$4" "$5" "$6"
    if [ "$VERDICT" = go ]; then
      # Is anybody still there to hear of it? This write may have had to wait, so the last look comes after it.
      emit "heartbeat $UPTIME_MS"
      last_look "$1" "$2"
    fi
    if [ "$VERDICT" = go ]; then
      if kill -s "${5#SIG}" "$1" 2>/dev/null; then
        VERDICT=sent SENT=yes
      elif read_stat "$1" && [ "$TICKS" = "$2" ]; then
        VERDICT=not-permitted
      else
        VERDICT=gone
      fi
    else
      read_clock
    fi
    emit "order $1 $5 $VERDICT $UPTIME_MS pid $DETAIL"
    shift 6
  done
}

# refuse_all ORDERS VERDICT DETAIL: says the same of every order; nothing is looked at and nothing is sent.
refuse_all() {
  refused=$2 refused_detail=$3
  read_clock
  # shellcheck disable=SC2086
  set -- $1
  while [ $# -ge 6 ]; do
    emit "order $1 $5 $refused $UPTIME_MS pid $refused_detail"
    shift 6
  done
}
