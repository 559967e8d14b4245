import { inside } from './ssh.ts';

/** A packet between two pods, as it passed a host's network interface. */
export interface Captured {
  /** In a VXLAN tunnel, or as it is. */
  readonly by: 'vxlan' | 'route';
  /** Of the tunnel: UDP port it was sent to, and network identifier. */
  readonly port?: number;
  readonly vni?: number;
  /** Addresses of the hosts for a tunnel, of the pods otherwise. */
  readonly from: string;
  readonly to: string;
}

/** Perl, because every Debian has it: frames as they pass an interface, until one is between the two addresses. */
const PROGRAM = String.raw`
use strict;
my ($interface, $seconds, $one, $other) = @ARGV;
my ($PACKET, $RAW, $ALL) = (17, 3, 3);
my ($index) = qx(ip -o link show $interface) =~ /^(\d+)/ or die "no $interface\n";
socket my $link, $PACKET, $RAW, unpack('n', pack('S', $ALL)) or die "socket: $!\n";
bind $link, pack('S n l S C C a8', $PACKET, $ALL, $index, 0, 0, 0, '') or die "bind: $!\n";
$SIG{ALRM} = sub { die "none within $seconds s\n" };
alarm $seconds;
sub between { my @ends = sort map { join '.', unpack 'C4', substr $_[0], $_, 4 } 12, 16; "@ends" eq join ' ', sort $one, $other }
sub ends { map { join '.', unpack 'C4', substr $_[0], $_, 4 } 12, 16 }
while (defined recv $link, my $frame, 65535, 0) {
  next unless length $frame > 34 && unpack('n', substr $frame, 12, 2) == 0x0800;
  my $packet = substr $frame, 14;
  my ($from, $to) = ends($packet);
  if (between($packet)) { print qq({"by":"route","from":"$from","to":"$to"}\n); exit 0 }
  my $segment = substr $packet, 4 * (unpack('C', $packet) & 15);
  # RFC 7348: after UDP's header flags with the I bit, then 24 bits of VNI, then an Ethernet frame.
  next unless unpack('C', substr $packet, 9, 1) == 17 && length $segment >= 50 && unpack('C', substr $segment, 8, 1) == 8;
  next unless between(substr $segment, 30);
  my $port = unpack 'n', substr $segment, 2, 2;
  my $vni = unpack('N', substr $segment, 12, 4) >> 8;
  print qq({"by":"vxlan","port":$port,"vni":$vni,"from":"$from","to":"$to"}\n);
  exit 0;
}
`;

/** The first packet between two pods that passes eth0 of a host. Throws when none comes within 60 s. */
export async function captured(host: string, one: string, other: string): Promise<Captured> {
  const { code, stdout, stderr } = await inside(host, `perl - eth0 60 ${one} ${other}`, PROGRAM);
  if (code !== 0) throw new Error(`${host}: no packet between ${one} and ${other}: ${stderr}`);
  return JSON.parse(stdout) as Captured;
}
