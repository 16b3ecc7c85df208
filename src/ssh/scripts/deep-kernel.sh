# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What the kernel says of those who should be gone, what its log says of the GPUs, and what MPS says of its clients.

p_side_kernel() {
  p_put_kernel
  p_put_network
} 2>/dev/null

# Of every thread the state and what is pending; where they stand of leaders and of those that are running or in state D.
# The stack comes last: it waits for a process that is stuck in exec.
p_put_kernel() {
  set --
  for p_pid in $p_wanted; do set -- "$@" "/proc/$p_pid/task/"[0-9]*/status; done
  p_text=''
  [ $# -eq 0 ] || p_text=$(grep -asH -e '^State:' -e '^SigPnd:' -e '^ShdPnd:' "$@" | head -c 80000)
  p_put kernel "$p_text$p_nl@rc 0"
  p_wchans='' p_stacks='' p_count=0
  set -f
  IFS=$p_nl
  for p_line in $p_text; do
    p_folder=${p_line%%/status:*}
    p_pid=${p_folder#/proc/}
    case $p_line in
    *:State:?[DR]*) ;;
    *:State:*) [ "${p_pid%%/*}" = "${p_folder##*/}" ] || continue ;;
    *) continue ;;
    esac
    [ "$p_count" -lt 100 ] || break
    p_count=$((p_count + 1)) p_wchans="$p_wchans $p_folder/wchan" p_stacks="$p_stacks $p_folder/stack"
  done
  unset IFS
  set +f
  frame_begin wchan
  # shellcheck disable=SC2086
  [ "$p_count" -eq 0 ] || grep -asH '' $p_wchans | head -c 20000
  frame_end wchan 0
  frame_begin stack
  # shellcheck disable=SC2086
  [ "$p_count" -eq 0 ] || timeout 3 grep -asH '' $p_stacks | head -c 50000
  frame_end stack 0
}

# The first log that can be read: "@from LINE" is its oldest line, then the last Xids. "@unread NAME RC" for each before it.
p_side_log() {
  frame_begin xids
  echo "@since $p_since"
  p_rc=1
  for p_log in dmesg kmsg journal; do
    p_text=$(p_read_log 2>/dev/null)
    case $p_text in
    '@from @'* | '@from ') ;;
    *"$p_nl@rc 0" | *"$p_nl@rc 124")
      echo "@read $p_log ${p_text##*"@rc "}"
      say "$p_text"
      p_rc=0
      break
      ;;
    esac
    echo "@unread $p_log ${p_text##*"@rc "}"
  done
  frame_end xids "$p_rc"
}

p_read_log() {
  {
    case $p_log in
    dmesg) timeout 1 dmesg ;;
    # Ends with "try again" at the end of the log: that is no failure.
    kmsg) timeout 1 dd if=/dev/kmsg iflag=nonblock bs=8192 || [ $? -eq 1 ] ;;
    journal) timeout 1 journalctl -k -b -q --no-pager -o short-monotonic -n 20000 ;;
    esac
    echo "@rc $?"
  } | {
    IFS= read -r p_line
    say "@from $p_line" | cut -c1-80
    {
      say "$p_line"
      cat
    } | grep -a -e 'NVRM: Xid' -e '^@rc ' | tail -n 200 | cut -c1-300
  }
}

# "control PID", "server PID", "client SERVER CLIENT" a line. Control and server share a comm, cut to 15 bytes.
p_side_mps() {
  frame_begin mps
  p_control='' p_rc=0
  # shellcheck disable=SC2013
  for p_file in $(grep -lxs nvidia-cuda-mps /proc/[0-9]*/comm); do
    p_pid=${p_file#/proc/} p_pid=${p_pid%/comm}
    case $(readlink "/proc/$p_pid/exe") in
    */nvidia-cuda-mps-control*) p_control=$p_pid && echo "control $p_pid" ;;
    */nvidia-cuda-mps-server*) echo "server $p_pid" ;;
    '') p_rc=1 ;;
    esac
  done
  [ -z "$p_control" ] || p_ask_control
  frame_end mps "$p_rc"
} 2>/dev/null

# Only a control that root installed and that runs as we do is talked to: the folder of the pipe that our words go into is named
# by its own environment. Anybody may start root's program with a folder of their own, and put a link to any file there.
p_ask_control() {
  p_rc=1
  p_read_status "$p_control"
  [ "$p_uid" = "$p_euid" ] || return
  [ "$(timeout 1 stat -L -c %u "/proc/$p_control/exe")" = 0 ] || return
  p_pipe=$(timeout 1 cat "/proc/$p_control/environ" | tr '\0' '\n' | grep -am1 '^CUDA_MPS_PIPE_DIRECTORY=')
  p_servers=$(p_tell_control get_server_list)
  p_rc=$?
  p_count=0
  set -f
  for p_server in $p_servers; do
    case $p_rc$p_server in 0*[!0-9]*) continue ;; 0*) ;; *) break ;; esac
    [ "$p_count" -lt 16 ] || break
    p_count=$((p_count + 1))
    echo "server $p_server"
    p_clients=$(p_tell_control "get_client_list $p_server")
    p_rc=$?
    for p_client in $p_clients; do
      case $p_client in *[!0-9]*) ;; *) echo "client $p_server $p_client" ;; esac
    done
  done
  set +f
}

p_tell_control() { echo "$1" | env ${p_pipe:+"$p_pipe"} timeout 1 nvidia-cuda-mps-control; }
