/** How long a Service is away from hosts: tried ten times a second by a new connection, which the kernel of the API's host accepts itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inside } from './ssh.ts';

/** A time in which no connection was made, in ms since the epoch. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

const END = '/run/service-watch.end';

/** Perl, because every Debian has it: one process, so that a busy machine is not asked for a new one each time. */
const PROGRAM = String.raw`
use strict;
use IO::Socket::INET;
use Time::HiRes qw(time sleep);
my ($address, $port, $end) = @ARGV;
my $since;
sub gap { printf qq({"from":%d,"to":%d}\n), 1000 * $since, 1000 * $_[0]; undef $since }
until (-e $end) {
  my $at = time;
  my $made = IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port, Proto => 'tcp', Timeout => 0.25);
  if ($made) { close $made; gap($at) if defined $since }
  else { $since //= $at }
  sleep 0.1;
}
gap(time) if defined $since;
`;

/** Watches a Service from these hosts until `stop`, which tells the gaps of each of them. */
export function watchService(hosts: readonly string[], address: string, port: number) {
  const watching = hosts.map(async (host): Promise<readonly [string, readonly Gap[]]> => {
    const { code, stdout, stderr } = await inside(
      host,
      `rm -f ${END}; perl - ${address} ${String(port)} ${END}`,
      PROGRAM,
    );
    if (code !== 0) throw new Error(`${host}: ${stderr}`);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return [host, lines.map((line) => JSON.parse(line) as Gap)];
  });
  return {
    stop: async (): Promise<Readonly<Record<string, readonly Gap[]>>> => {
      const state = { isOver: false };
      const ended = Promise.all(watching).finally(() => void (state.isOver = true));
      while (!state.isOver) {
        await Promise.all(hosts.map((host) => inside(host, `touch ${END}`)));
        await Promise.race([ended, sleep(1000)]);
      }
      return Object.fromEntries(await ended);
    },
  };
}

/** The longest of these gaps in ms; 0 without any. */
export const longestMs = (gaps: readonly Gap[]): number => Math.max(0, ...gaps.map(({ from, to }) => to - from));

/** True where some gap of one host and some of another one were at the same time. */
export const areBothAway = (one: readonly Gap[], other: readonly Gap[]): boolean =>
  one.some(({ from, to }) => other.some((second) => from < second.to && second.from < to));
