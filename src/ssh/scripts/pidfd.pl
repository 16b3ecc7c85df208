# Sends the orders through pidfds: a handle opened before the comparison can't reach a later process with the same PID.
# ARGV: the text of identity.sh; 7 words common to all orders (see check_and_say); then 6 words for each order.
# STDIN: the marker nonce, which must not stand in argv. Exit: 0 something was sent, 3 nothing was, 75 no pidfd here,
# 98 nobody listens any more. 434 is pidfd_open and 424 pidfd_send_signal on every architecture with unified numbers;
# each argument is made a number first, for perl would pass a pointer to a string.
my ($checks, @words) = @ARGV;
my @common = splice @words, 0, 7;
my ($limit_sec, $limit_centi) = @common;
my $nonce = <STDIN>;
chomp $nonce;
my $own = syscall(434, $$ + 0, 0);
exit 75 if $own < 0;
my %number = (SIGTERM => 15, SIGKILL => 9);
my $sent = 0;
while (my ($pid, $ticks, $uid, $executable, $signal, $hold) = splice @words, 0, 6) {
  my $handle = syscall(434, $pid + 0, 0);
  my $errno = $handle < 0 ? $! + 0 : 0;
  my ($verdict, $detail) = ('failed', 'check-did-not-run');
  my @order = ($pid, $ticks, $uid, $executable, $signal, $hold);
  if (open my $check, '-|', 'sh', '-c', "$checks\ncheck_and_say \"\$@\"", 'sh', @common, @order) {
    my $said = <$check>;
    ($verdict, $detail) = ($1, $2) if defined $said && $said =~ /^([a-z-]+) (\S+)$/;
    close $check;
  }
  my ($sec, $centi) = uptime();
  if ($verdict eq 'go') {
    # Is anybody still there to hear of it? The limit is looked at after this write, which may have had to wait.
    say_line("heartbeat $sec${centi}0");
    ($sec, $centi) = uptime();
    if ($sec > $limit_sec || ($sec == $limit_sec && $centi >= $limit_centi)) { $verdict = 'late' }
    elsif ($handle < 0) { ($verdict, $detail) = refusal($errno) }
    elsif (syscall(424, $handle + 0, $number{$signal} + 0, 0, 0) == 0) { $verdict = 'sent'; $sent++ }
    else { ($verdict, $detail) = refusal($! + 0) }
  }
  say_line("order $pid $signal $verdict $sec${centi}0 pidfd $detail");
  if ($handle >= 0 && open my $file, "<&=$handle") { close $file }
}
exit($sent ? 0 : 3);

sub say_line {
  syswrite(STDOUT, "\@\@$nonce e $_[0]\n") or exit 98;
}

sub uptime {
  open my $file, '<', '/proc/uptime' or exit 1;
  return <$file> =~ /^(\d+)\.(\d\d)/ ? ($1, $2) : exit 1;
}

sub refusal {
  my ($errno) = @_;
  return $errno == 3 ? ('gone', '-') : $errno == 1 ? ('not-permitted', '-') : ('failed', "errno-$errno");
}
