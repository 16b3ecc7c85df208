#!/bin/sh
# Is this still the process that was approved, and may it be signalled now? Defines functions only; prints nothing.
# Runs in the script's own shell, and again in a small `sh -c` under the pidfd senders: it must need nothing around it.
# Arithmetic stays inside 31 bits, because mksh has no more: milliseconds of uptime are only ever joined as text.
# shellcheck disable=SC2034 # what these functions set is read by the other files

# read_stat PID: sets STATE PARENT FLAGS TICKS from /proc/PID/stat; false if there is no such process. No fork.
# comm may hold blanks, `)` and newlines (proc(5)), so everything up to the LAST `) ` is dropped.
read_stat() {
  STATE='' PARENT='' FLAGS='' TICKS='' stat_text=''
  { while IFS= read -r stat_line || [ -n "$stat_line" ]; do stat_text="$stat_text$stat_line "; done <"/proc/$1/stat"; } 2>/dev/null
  # shellcheck disable=SC2086 # numbers only are left here, and they are meant to be split
  set -- ${stat_text##*') '}
  # Too few fields: the process went while it was read. Without this line an empty value could reach `kill`.
  [ $# -ge 20 ] || return 1
  STATE=$1 PARENT=$2 FLAGS=$7
  shift 19
  TICKS=$1
}

# read_clock: sets SEC and CENTI (two digits) from /proc/uptime, and UPTIME_MS as text. No fork. The last line counts: what a
# shell had read ahead of another file would come before it.
read_clock() {
  up_last=''
  { while read -r up_text _; do up_last=$up_text; done </proc/uptime; } 2>/dev/null
  up_text=$up_last
  SEC=${up_text%.*} CENTI=${up_text#*.}
  UPTIME_MS="$SEC${CENTI}0"
}

# other_thread PID: sets THREAD to a live thread's id besides the leader's; false if there is none.
other_thread() {
  for THREAD in "/proc/$1/task"/*; do
    THREAD=${THREAD##*/}
    case $THREAD in "$1" | '*') ;; *) return 0 ;; esac
  done
  return 1
}

# executable_of PID: sets EXECUTABLE to device:inode. A zombie leader's own link is empty; its threads still show it.
executable_of() {
  EXECUTABLE=$(timeout 3 stat -L -c %d:%i "/proc/$1/exe" 2>/dev/null) && [ -n "$EXECUTABLE" ] && return 0
  EXECUTABLE=''
  [ "$STATE" = Z ] && other_thread "$1" || return 1
  EXECUTABLE=$(timeout 3 stat -L -c %d:%i "/proc/$1/task/$THREAD/exe" 2>/dev/null) && [ -n "$EXECUTABLE" ]
}

# holds_device PID FOLDER: 0 it holds a device under FOLDER by an open file, a mapping or a thread; 1 no; 2 cannot see.
# Links are read, never followed: a stat of an open file on a dead network share could hang.
holds_device() {
  hold_where="/proc/$1/fd"
  [ "$STATE" = Z ] && hold_where="/proc/$1/task/*/fd"
  # shellcheck disable=SC2086 # the glob over a zombie leader's threads must expand
  [ -z "$(timeout 3 find $hold_where -maxdepth 1 -lname "$2/nvidia*" 2>/dev/null | head -n 1)" ] || return 0
  # The find of busybox knows no -lname.
  if ! find /proc/self -maxdepth 0 -lname x >/dev/null 2>&1; then
    # shellcheck disable=SC2231
    for hold_fd in $hold_where/*; do
      case $(readlink "$hold_fd" 2>/dev/null) in "$2"/nvidia*) return 0 ;; esac
    done
  fi
  # Last, because reading maps can hang on a stuck process.
  timeout 3 grep -q -F " $2/nvidia" "/proc/$1/maps" 2>/dev/null
  hold_rc=$?
  [ "$hold_rc" -ne 0 ] || return 0
  [ "$hold_rc" -eq 1 ] || [ "$STATE" = Z ] || return 2
  # shellcheck disable=SC2086
  ls $hold_where >/dev/null 2>&1 || return 2
  return 1
}

# far_mounts MOUNTINFO…: mount points of network file systems as patterns, one a line. A stat below may hang for ever, and what
# lies there is no device. A root is left out: it would hide all.
far_mounts() {
  grep -ahs -E ' - (nfs|nfs4|cifs|smb3|smbfs|9p|afs|autofs|beegfs|ceph|coda|glusterfs|gpfs|lustre|orangefs|panfs|pvfs2|wekafs|fuse[^ ]*) ' "$@" |
    cut -d' ' -f5 | sed -e 's/\\[0-7][0-7][0-7]/?/g' -e 's/[][*?\\]/?/g' | grep -vx / | sort -u | head -n 500
}

# holds_number PID: 0 it holds a character device of a major that NVIDIA's drivers have on this host, by an open file, a thread
# or a mapping, whatever its name; 1 no; 2 cannot see.
holds_number() {
  hold_majors=' ' hold_read=no
  { while read -r hold_major hold_driver; do
    hold_read=yes
    case $hold_driver in nvidia*) hold_majors="$hold_majors$(printf %x "$hold_major") " ;; esac
  done </proc/devices; } 2>/dev/null
  [ "$hold_read" = yes ] || return 2
  [ "$hold_majors" != ' ' ] || return 1
  hold_far=$(far_mounts "/proc/$1/mountinfo" 2>/dev/null)
  hold_where="/proc/$1/fd"
  [ "$STATE" = Z ] && hold_where="/proc/$1/task/*/fd"
  number_among "$hold_where/*"
  hold_rc=$?
  [ "$hold_rc" -eq 1 ] || return "$hold_rc"
  # shellcheck disable=SC2086 # the glob over a zombie leader's threads must expand
  ls $hold_where >/dev/null 2>&1 || return 2
  [ "$STATE" != Z ] || return 1
  # Shared mappings of files, each inode once. A name in maps says no number, but the link in map_files can be followed; it
  # is spelled without the zeros that maps puts in front. Reading maps can hang on a stuck process.
  hold_maps=$(timeout 3 grep -o '^[0-9a-f-]* ...s [0-9a-f]* [^ ]* [1-9][0-9]*' "/proc/$1/maps" 2>/dev/null)
  [ $? -le 1 ] || return 2
  [ -n "$hold_maps" ] || return 1
  hold_maps=$(echo "$hold_maps" | sort -u -k4,5 | sed "s,^0*\([0-9a-f][0-9a-f]*\)-0*\([0-9a-f][0-9a-f]*\) .*,/proc/$1/map_files/\1-\2,")
  number_among "$hold_maps"
  hold_rc=$?
  [ "$hold_rc" -eq 1 ] || return "$hold_rc"
  # Those links are for the mighty only (CAP_CHECKPOINT_RESTORE): whoever can't read one can't read any.
  readlink "${hold_maps%%[!-0-9a-z_/]*}" >/dev/null 2>&1 || return 2
  return 1
}

# number_among LINKS: 0 one of these links (words, or a glob) leads to a character device of hold_majors; 1 none; 2 not all
# could be asked in time. A link's text is read first: only a path that is not below hold_far is followed. (No -xtype: find
# would move it in front of -lname.)
number_among() {
  hold_links=$1
  set -f
  IFS='
'
  set --
  for hold_mount in $hold_far; do set -- "$@" ! -lname "$hold_mount" ! -lname "$hold_mount/*"; done
  unset IFS
  set +f
  if find /proc/self -maxdepth 0 -lname x >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    hold_found=$(timeout 3 find $hold_links -maxdepth 0 -lname '/*' "$@" -exec stat -L -c %f:%t {} + 2>/dev/null)
    hold_rc=$?
  else
    # The find of busybox knows no -lname.
    # shellcheck disable=SC2086
    hold_found=$(for hold_link in $hold_links; do number_of "$hold_link"; done)
    hold_rc=$?
  fi
  for hold_node in $hold_found; do
    # 2…: S_IFCHR. A block device may have the same number.
    case $hold_node in 2???:*) ;; *) continue ;; esac
    case $hold_majors in *" ${hold_node#*:} "*) return 0 ;; esac
  done
  case "$hold_rc $hold_found" in 124* | *late*) return 2 ;; esac
  return 1
}

# number_of LINK: prints MODE:MAJOR of what it leads to, in hexadecimal. In a subshell: patterns must stay patterns.
number_of() (
  set -f
  IFS='
'
  hold_target=$(readlink "$1" 2>/dev/null)
  case $hold_target in /*) ;; *) return ;; esac
  for hold_mount in $hold_far; do
    # shellcheck disable=SC2254
    case $hold_target in $hold_mount | $hold_mount/*) return ;; esac
  done
  timeout 1 stat -L -c %f:%t "$1" 2>/dev/null || [ $? -ne 124 ] || echo late
)

# holds_queue PID: 0 descriptors wait unreceived in one of its unix sockets, or an io_uring of it keeps files; 1 no; 2 cannot
# see. What kind of files they are, the kernel does not say (net/unix/af_unix.c, io_uring/fdinfo.c).
holds_queue() {
  hold_where="/proc/$1/fdinfo"
  [ "$STATE" = Z ] && hold_where="/proc/$1/task/*/fdinfo"
  # Twice, since a file that is closed meanwhile can't be read.
  for hold_try in 1 2; do
    # shellcheck disable=SC2086
    timeout 3 grep -rqs -e '^scm_fds:[[:space:]]*[1-9]' -e '^UserFiles:[[:space:]]*[1-9]' $hold_where
    case $? in
      0) return 0 ;;
      1) return 1 ;;
      124) return 2 ;;
    esac
  done
  return 2
}

# refuse VERDICT DETAIL
refuse() {
  VERDICT=$1 DETAIL=$2
}

# last_look PID TICKS: what must hold in the very moment before the signal. Shell builtins only: no fork, no wait.
last_look() {
  VERDICT=go DETAIL=-
  read_stat "$1" || { refuse gone - && return; }
  [ "$TICKS" = "$2" ] || { refuse replaced start-ticks && return; }
  if [ -e /etc/gpu-reclaim/deny ] || [ -L /etc/gpu-reclaim/deny ]; then refuse denied-by-host - && return; fi
  read_clock
  case $SEC in '' | *[!0-9]*) refuse failed uptime-unreadable && return ;; esac
  [ "$SEC" -lt "$LIMIT_SEC" ] || { [ "$SEC" -eq "$LIMIT_SEC" ] && [ "$CENTI" -lt "$LIMIT_CENTI" ]; } || refuse late -
}

# compare PID TICKS UID EXECUTABLE HOLD: sets VERDICT (go, or why not) and DETAIL. HOLD says how it must hold a device: hold (by
# a path under DEVICE_FOLDER), number, queue, or any (it need not).
compare() {
  VERDICT=go DETAIL=-
  case $1 in '' | 0* | *[!0-9]*) refuse failed bad-pid && return ;; esac
  # kthreadd is known as a kernel thread below; inside of a namespace PID 2 is anybody.
  [ "$1" -gt 1 ] || { refuse failed system-pid && return; }
  case " $OWN_PIDS " in *" $1 "*) refuse failed own-process && return ;; esac
  read_stat "$1" || { refuse gone - && return; }
  [ "$TICKS" = "$2" ] || { refuse replaced start-ticks && return; }
  [ $((FLAGS & 2097152)) -eq 0 ] || { refuse failed kernel-thread && return; }
  case $STATE in
    X) refuse gone - && return ;;
    Z) other_thread "$1" || { refuse gone zombie && return; } ;;
  esac
  found_uid='' found_leader=''
  { while read -r key first second _; do
    case $key in Tgid:) found_leader=$first ;; Uid:) found_uid=$second && break ;; esac
  done <"/proc/$1/status"; } 2>/dev/null
  # What bash had read ahead it hands to the next file that is read, if the process died meanwhile: to this one, then.
  while read -r key; do :; done </dev/null
  [ -n "$found_uid" ] || { refuse unreadable status && return; }
  [ "$found_leader" = "$1" ] || { refuse replaced thread && return; }
  [ "$found_uid" = "$3" ] || { refuse replaced uid && return; }
  executable_of "$1" || { refuse unreadable executable && return; }
  [ "$EXECUTABLE" = "$4" ] || { refuse replaced executable && return; }
  case $5 in
    hold) holds_device "$1" "$DEVICE_FOLDER" ;;
    number) holds_number "$1" ;;
    queue) holds_queue "$1" ;;
    any) return 0 ;;
    *) refuse failed unknown-hold && return ;;
  esac
  case $? in
    1) refuse not-holding - ;;
    2) refuse unreadable open-files ;;
  esac
}

# journal PID SIGNAL: one line to the host's own journal, in the background: it must never hold up a signal.
journal() {
  timeout 1 logger -t gpu-reclaim -- "run=$RUN_ID pid=$1 signal=$2 requester=$REQUESTER approver=$APPROVER" \
    </dev/null >/dev/null 2>&1 &
}

# check_order PID TICKS UID EXECUTABLE SIGNAL HOLD: sets VERDICT and DETAIL. `go` means: send it now.
check_order() {
  compare "$1" "$2" "$3" "$4" "$6"
  if [ "$VERDICT" = unreadable ] && ! read_stat "$1"; then refuse gone -; fi
  [ "$VERDICT" = go ] || return 0
  last_look "$1" "$2"
  [ "$VERDICT" = go ] || return 0
  journal "$1" "$5"
  last_look "$1" "$2"
}

# check_and_say: the same for a sender that is no shell. 7 words that are common to all orders, then one order.
check_and_say() {
  LIMIT_SEC=$1 LIMIT_CENTI=$2 OWN_PIDS=$3 DEVICE_FOLDER=$4 RUN_ID=$5 REQUESTER=$6 APPROVER=$7
  shift 7
  check_order "$@"
  echo "$VERDICT $DETAIL"
}
