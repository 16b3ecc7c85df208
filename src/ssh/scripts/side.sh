# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# Running things side by side without files, and without ever waiting for what can't be killed.
#
# A side is a shell on the left of a pipe; its reader, on the right, takes what it printed up to a deadline. The pipe waits
# for both, so a side that hangs must be ended by its reader. Its child may be unkillable; the shell that waits for it is not.

p_nl='
'

# p_start FD SIDE FD SIDE … -- WORD…: starts each p_side_SIDE, its output on FD, then runs the words with all of them open.
p_start() {
  if [ "$1" = -- ]; then
    shift
    "$@"
    return
  fi
  { p_begin_side "$2" 2>/dev/null; } | {
    eval "exec $1<&0 </dev/null"
    shift 2
    p_start "$@"
  }
}

# The first line of a side names its shell and that one's parent: /proc/self is whoever opens it, here the shell itself.
p_begin_side() {
  read -r p_self _ _ p_self_parent _ </proc/self/stat
  echo "$p_self $p_self_parent"
  "p_side_$1"
}

# p_read FD SECONDS BYTES: copies what the side prints, to its end or the limits; then ends a side that has not ended.
# SECONDS count from the probe's start; there is always one left.
p_read() {
  read -r p_side p_side_parent <&"$1"
  p_seconds_left "$2"
  p_copy "$1" "$3"
  p_end_side
}

# cat, not head alone: what head has read and not yet written is lost when its time is over.
p_copy() { timeout "$p_left" cat <&"$1" | head -c "$2"; }

p_end_side() {
  p_read_status "$p_side"
  [ "$p_parent" != "$p_side_parent" ] || kill -9 "$p_side" 2>/dev/null
}

p_seconds_left() {
  while read -r p_word _; do p_now=$p_word; done </proc/uptime
  p_left=$((p_began + $1 - ${p_now%%.*}))
  [ "$p_left" -ge 1 ] || p_left=1
}

# Sets p_child and p_waiter from the first line "@pid CHILD WAITER" of a text that begins with a newline.
p_who_in() {
  case $1 in *"$p_nl@pid "*) ;; *) return 1 ;; esac
  p_who=${1#*"$p_nl@pid "}
  p_who=${p_who%%"$p_nl"*}
  p_child=${p_who%% *} p_waiter=${p_who##* }
  case $p_child$p_waiter in '' | *[!0-9]*) return 1 ;; esac
}

# Ends a hung child of ours and the shell that waits for it, as far as they can be ended; nobody else's process, whatever
# the text said: the child must still be the waiter's.
p_end_child() {
  p_read_status "$p_child"
  [ "$p_parent" = "$p_waiter" ] && kill -9 "$p_child" "$p_waiter" 2>/dev/null
}

# p_put NAME TEXT: a section whose exit code is the last "@rc" of its text; 124 without one.
p_put() {
  p_rc=124
  case $p_nl$2 in *"$p_nl@rc "*) p_rc=${2##*"@rc "} ;; esac
  frame_begin "$1"
  say "$2"
  frame_end "$1" "${p_rc%%"$p_nl"*}"
}
