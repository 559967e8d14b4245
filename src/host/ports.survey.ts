import { familyOf, hostPort } from '../inventory/addresses.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import type { Held } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyor.survey.ts';

function how(status: string, output: string): string {
  if (status === '124') return 'no answer within 10 s';
  if (/refused/i.test(output)) return 'refused';
  if (/no route|unreachable/i.test(output)) return 'no route';
  return output.trim() === '' ? `status ${status}` : output.trim();
}

/** Reads the results of a client's connections by `ADDRESS PORT`, from lines `ADDRESS PORT STATUS OUTPUT`. */
export function readConnects(out: string): ReadonlyMap<string, string> {
  return new Map(
    out.split('\n').flatMap((line) => {
      const [, address, port, status, output] = /^(\S+) (\d+) (\d+)(?: (.*))?/.exec(line) ?? [];
      return address === undefined
        ? []
        : [[`${address} ${port!}`, status === '0' ? 'open' : how(status!, output ?? '')] as const];
    }),
  );
}

/** Reads the packet sizes that a client measured, by address, from lines `mtu ADDRESS MTU [REPORTED]`. */
export function readMtus(out: string): ReadonlyMap<string, { readonly mtu: number; readonly reported?: number }> {
  return new Map(
    [...out.matchAll(/^mtu (\S+) (\d+) (\d*)$/gm)].map(([, address, mtu, reported]) => [
      address!,
      { mtu: Number(mtu), ...(reported === '' || reported === mtu ? {} : { reported: Number(reported) }) },
    ]),
  );
}

/** A port of a host that other hosts must reach. */
export interface Way {
  readonly to: LinuxHost;
  /** Where the host is reached; missing: at its internalAddress. */
  readonly address?: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  readonly program: string;
  readonly from: readonly LinuxHost[];
  /** True if no process listens yet: the survey listens there. */
  readonly free: boolean;
}

/** A connection that failed. */
export interface Blocked {
  readonly way: Way;
  readonly from: LinuxHost;
  /** e.g. `no answer within 10 s` */
  readonly how: string;
}

/** A path on which small packets arrive, and packets as large as the MTU of the sender's interface do not. */
interface Narrow {
  readonly from: LinuxHost;
  readonly to: LinuxHost;
  /** Of the way: see there. */
  readonly address?: string;
  /** Of the sender's interface. */
  readonly mtu: number;
  /** The size that a router on the way reported. */
  readonly reported?: number;
}

/** The results of the survey of ports. */
export interface PortMatrix {
  readonly tried: number;
  readonly blocked: readonly Blocked[];
  readonly narrow: readonly Narrow[];
  /** UDP ports where a process listens already, which does not report what arrives. */
  readonly unverified: readonly Way[];
  /** Hosts that could not listen or connect, each with the reason. */
  readonly failed: readonly { readonly host: LinuxHost; readonly reason: string }[];
}

/** The address at which the host of a way is reached. */
const addressOf = ({ to, address }: Pick<Way, 'to' | 'address'>): string => address ?? to.internalAddress;

const at = (way: Way): string => hostPort(addressOf(way), way.port);

/**
 * The ways of UDP at the second address of a host too, where the cluster has two families: overlays carry packets of
 * each family between addresses of that family. Other programs of the cluster meet at the first one.
 */
export function inBothFamilies(way: Way): readonly Way[] {
  const address = way.to.secondAddress;
  const from = way.from.filter((host) => host.secondAddress !== undefined);
  if (way.protocol === 'tcp' || address === undefined || from.length === 0) return [way];
  return [way, { ...way, address, from, program: `${way.program}, ${familyOf(address)}` }];
}

function foundOn<T>(all: readonly Surveyed<T>[], host: LinuxHost): T | undefined {
  const surveyed = all.find((candidate) => candidate.host.name === host.name);
  return surveyed !== undefined && 'found' in surveyed ? surveyed.found : undefined;
}

/** The tried ways, and the results of two rounds. */
interface Trial {
  readonly tried: readonly Way[];
  readonly connected: Results<'connect'>;
  readonly received: Results<'receive'>;
  readonly connectedAgain: Results<'connect'>;
  readonly receivedAgain: Results<'receive'>;
  readonly nameOf: (host: LinuxHost, way: Way) => string;
}

type Results<K extends 'connect' | 'receive'> = Awaited<ReturnType<ReturnType<typeof surveyors>[K]>>;

/** Starts a listener on each host, on its free needed ports; `held` gets the listeners. */
const listenOn = (on: Surveyor, hosts: readonly LinuxHost[], ways: readonly Way[], held: Held[]) =>
  onEach(hosts, async (host) => {
    const mine = (protocol: Way['protocol']) =>
      ways.filter((way) => way.to.name === host.name && way.free && way.protocol === protocol);
    const lists = { TCP: mine('tcp').map(at).join('\n'), UDP: mine('udp').map(at).join('\n') };
    const listener = await on(host).hold(script('host/survey-listen.sh', lists));
    held.push(listener);
    return listener.first;
  });

/** Functions that connect from all hosts (`connect`), and that read what their UDP listeners received (`receive`). */
const surveyors = (on: Surveyor, hosts: readonly LinuxHost[], nameOf: Trial['nameOf']) => ({
  connect: (ways: readonly Way[]) =>
    onEach(hosts, async (host) => {
      const targets = ways.filter(({ from }) => from.some(({ name }) => name === host.name));
      if (targets.length === 0) return { connects: readConnects(''), mtus: readMtus('') };
      const lines = targets.map((way) => [way.protocol, addressOf(way), way.port, nameOf(host, way)].join(' '));
      const out = await on(host).run(script('host/survey-connect.sh', { TARGETS: lines.join('\n') }));
      return { connects: readConnects(out), mtus: readMtus(out) };
    }),
  receive: (ways: readonly Way[]) =>
    onEach(hosts, async (host) => {
      const senders = ways.filter(({ to, protocol, free }) => to.name === host.name && protocol === 'udp' && free);
      const names = [...new Set(senders.flatMap((way) => way.from.map((sender) => nameOf(sender, way))))];
      if (names.length === 0) return new Set<string>();
      return new Set((await on(host).run(script('host/survey-heard.sh', { NAMES: names }))).split('\n'));
    }),
});

/** True if a datagram arrived. If a large one arrived, a lost small one does not matter. */
const arrived = ({ received, receivedAgain, nameOf }: Trial, size: 'small' | 'large', from: LinuxHost, way: Way) =>
  [received, receivedAgain].some((all) =>
    [size, 'large'].some((sent) => foundOn(all, way.to)?.has(`${sent} ${nameOf(from, way)}`) === true),
  );

const blockedWays = (trial: Trial): readonly Blocked[] =>
  trial.tried.flatMap((way) =>
    way.from.flatMap((from): readonly Blocked[] => {
      const connects = foundOn(trial.connected, from)?.connects;
      if (connects === undefined) return [];
      if (way.protocol === 'udp') {
        return !way.free || foundOn(trial.received, way.to) === undefined || arrived(trial, 'small', from, way)
          ? []
          : [{ way, from, how: 'nothing came through' }];
      }
      const answer = connects.get(`${addressOf(way)} ${String(way.port)}`) ?? 'not tried';
      // The survey does not listen on a port that is in use. There, `refused` proves that packets arrive.
      return answer === 'open' || (!way.free && answer === 'refused') ? [] : [{ way, from, how: answer }];
    }),
  );

const narrowWays = (trial: Trial): readonly Narrow[] =>
  trial.tried.flatMap((way) =>
    way.from.flatMap((from): readonly Narrow[] => {
      const address = addressOf(way);
      const size =
        foundOn(trial.connectedAgain, from)?.mtus.get(address) ?? foundOn(trial.connected, from)?.mtus.get(address);
      if (way.protocol === 'tcp' || !way.free || size === undefined || !arrived(trial, 'small', from, way)) return [];
      const whole = arrived(trial, 'large', from, way) && size.reported === undefined;
      const second = way.address === undefined ? {} : { address };
      return whole ? [] : [{ from, to: way.to, ...second, ...size }];
    }),
  );

/**
 * Listens on every free port that other hosts need, and connects to it from those hosts: three commands a host, and two
 * more if a UDP datagram was lost. A listener ends with its channel, and after ten minutes at the latest.
 */
export async function portMatrix(on: Surveyor, hosts: readonly LinuxHost[], ways: readonly Way[]): Promise<PortMatrix> {
  const held: Held[] = [];
  try {
    const listening = await listenOn(on, hosts, ways, held);
    // The file may have datagrams of an earlier survey, so a sender's name ends with the name of its own listener.
    // Of each port and address, for each has a listener of its own.
    const nameOf: Trial['nameOf'] = (host, { port, address }) =>
      [host.name + (foundOn(listening, host)?.split('.').at(-1) ?? ''), port, address === undefined ? 1 : 2].join('/');
    const notListening = new Set(listening.flatMap((result) => ('failed' in result ? [result.host.name] : [])));
    const tried = ways
      .filter(({ to, free }) => !free || !notListening.has(to.name))
      .map((way) => ({ ...way, from: way.from.filter((host) => hosts.some(({ name }) => name === host.name)) }));
    const { connect, receive } = surveyors(on, hosts, nameOf);
    const connected = await connect(tried);
    const received = await receive(tried);
    // A datagram may get lost, or another survey of the same port may have received it: kbuild sends it again.
    const again = tried.flatMap((way) => {
      const from = way.from.filter((sender) => foundOn(received, way.to)?.has(`large ${nameOf(sender, way)}`) !== true);
      return way.protocol === 'udp' && way.free && from.length > 0 ? [{ ...way, from }] : [];
    });
    const connectedAgain = await connect(again);
    const receivedAgain = await receive(again);
    const trial: Trial = { tried, connected, received, connectedAgain, receivedAgain, nameOf };
    const failed = [...listening, ...connected, ...received, ...connectedAgain, ...receivedAgain].flatMap((result) =>
      'failed' in result ? [{ host: result.host as LinuxHost, reason: result.failed }] : [],
    );
    return {
      tried: tried.reduce((sum, { from }) => sum + from.length, 0),
      blocked: blockedWays(trial),
      narrow: narrowWays(trial),
      unverified: tried.filter(({ protocol, free }) => protocol === 'udp' && !free),
      failed,
    };
  } finally {
    await Promise.all(held.map((listener) => listener.release()));
  }
}
