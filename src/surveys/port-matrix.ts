import type { LinuxHost } from '../model/inventory.ts';
import type { Held } from '../remote/remote.ts';
import { script } from '../templates.ts';
import { readConnects, readMtus } from './connects.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyed.ts';

/** One needed way: a port of a host, and who connects to it. */
export interface Way {
  readonly to: LinuxHost;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  readonly program: string;
  readonly from: readonly LinuxHost[];
  /** True where no process listens yet: the survey listens there. */
  readonly free: boolean;
}

/** A way that does not lead there. */
export interface Blocked {
  readonly way: Way;
  readonly from: LinuxHost;
  /** e.g. `no answer within 10 s` */
  readonly how: string;
}

/** A way that a small packet takes and a packet as large as the sender's interface allows does not. */
export interface Narrow {
  readonly from: LinuxHost;
  readonly to: LinuxHost;
  /** Of the sender's interface. */
  readonly mtu: number;
  /** The size that a router on the way reported. */
  readonly told?: number;
}

/** The port matrix: every needed way was tried once. */
export interface PortMatrix {
  readonly tried: number;
  readonly blocked: readonly Blocked[];
  readonly narrow: readonly Narrow[];
  /** Ways by UDP to a port where a process listens already: it does not report what arrives. */
  readonly untold: readonly Way[];
  /** Hosts that could not listen or connect, each with the reason. */
  readonly failed: readonly { readonly host: LinuxHost; readonly reason: string }[];
}

const at = ({ to, port }: Way): string => `${to.internalAddress}:${String(port)}`;

function foundOn<T>(all: readonly Surveyed<T>[], host: LinuxHost): T | undefined {
  const one = all.find((some) => some.host.name === host.name);
  return one !== undefined && 'found' in one ? one.found : undefined;
}

/** The tried ways, and the results of two rounds. */
interface Trial {
  readonly tried: readonly Way[];
  readonly asked: Results<'ask'>;
  readonly heard: Results<'hear'>;
  readonly askedAgain: Results<'ask'>;
  readonly heardAgain: Results<'hear'>;
  readonly nameOf: (host: LinuxHost) => string;
}

type Results<K extends 'ask' | 'hear'> = Awaited<ReturnType<ReturnType<typeof questions>[K]>>;

/** Starts a listener on each host, on its free needed ports; `held` gets the listeners. */
const listenOn = (on: Surveyor, hosts: readonly LinuxHost[], ways: readonly Way[], held: Held[]) =>
  onEach(hosts, async (host) => {
    const mine = (protocol: Way['protocol']) =>
      ways.filter((way) => way.to.name === host.name && way.free && way.protocol === protocol);
    const lists = { TCP: mine('tcp').map(at).join('\n'), UDP: mine('udp').map(at).join('\n') };
    const listener = await on(host).hold(script('linux/survey-listen.sh', lists));
    held.push(listener);
    return listener.first;
  });

/** How hosts connect, and how they are asked what their listeners heard. */
const questions = (on: Surveyor, hosts: readonly LinuxHost[], nameOf: (host: LinuxHost) => string) => ({
  ask: (ways: readonly Way[]) =>
    onEach(hosts, async (host) => {
      const targets = ways.filter(({ from }) => from.some(({ name }) => name === host.name));
      if (targets.length === 0) return { connects: readConnects(''), mtus: readMtus('') };
      const lines = targets.map(({ to, port, protocol }) => `${protocol} ${to.internalAddress} ${String(port)}`);
      const parameters = { TARGETS: lines.join('\n'), NAME: nameOf(host) };
      const out = await on(host).run(script('linux/survey-connect.sh', parameters));
      return { connects: readConnects(out), mtus: readMtus(out) };
    }),
  hear: (ways: readonly Way[]) =>
    onEach(hosts, async (host) => {
      const senders = ways.filter(({ to, protocol, free }) => to.name === host.name && protocol === 'udp' && free);
      const names = [...new Set(senders.flatMap(({ from }) => from.map(nameOf)))];
      if (names.length === 0) return new Set<string>();
      return new Set((await on(host).run(script('linux/survey-heard.sh', { NAMES: names }))).split('\n'));
    }),
});

const has = (
  { nameOf }: Trial,
  all: Results<'hear'>,
  size: 'small' | 'large',
  from: LinuxHost,
  to: LinuxHost,
): boolean => foundOn(all, to)?.has(`${size} ${nameOf(from)}`) === true;

/** True when a datagram came through. Where a large one did, a small one that got lost says nothing. */
const arrived = (trial: Trial, size: 'small' | 'large', from: LinuxHost, to: LinuxHost): boolean =>
  [trial.heard, trial.heardAgain].some((all) => has(trial, all, size, from, to) || has(trial, all, 'large', from, to));

const blockedWays = (trial: Trial): readonly Blocked[] =>
  trial.tried.flatMap((way) =>
    way.from.flatMap((from): readonly Blocked[] => {
      const connects = foundOn(trial.asked, from)?.connects;
      if (connects === undefined) return [];
      if (way.protocol === 'udp') {
        // A process that listens there already does not report what arrives.
        return !way.free || foundOn(trial.heard, way.to) === undefined || arrived(trial, 'small', from, way.to)
          ? []
          : [{ way, from, how: 'nothing came through' }];
      }
      const answer = connects.get(`${way.to.internalAddress} ${String(way.port)}`) ?? 'not tried';
      // The survey does not listen on a port that is taken: refused says that the way is free.
      return answer === 'open' || (!way.free && answer === 'refused') ? [] : [{ way, from, how: answer }];
    }),
  );

const narrowWays = (trial: Trial): readonly Narrow[] =>
  trial.tried.flatMap((way) =>
    way.from.flatMap((from): readonly Narrow[] => {
      const address = way.to.internalAddress;
      const size = foundOn(trial.askedAgain, from)?.mtus.get(address) ?? foundOn(trial.asked, from)?.mtus.get(address);
      if (way.protocol === 'tcp' || !way.free || size === undefined || !arrived(trial, 'small', from, way.to))
        return [];
      const whole = arrived(trial, 'large', from, way.to) && size.told === undefined;
      return whole ? [] : [{ from, to: way.to, ...size }];
    }),
  );

/**
 * Listens on every free needed port of every host, and connects to it from every host that needs it: three commands a
 * host, and two more where UDP did not come through at once. A listener ends with its channel, and after ten minutes at the latest.
 */
export async function portMatrix(on: Surveyor, hosts: readonly LinuxHost[], ways: readonly Way[]): Promise<PortMatrix> {
  const held: Held[] = [];
  try {
    const listening = await listenOn(on, hosts, ways, held);
    // Datagrams of an earlier survey may still lie there: a sender's name holds where its own host listens.
    const nameOf = (host: LinuxHost): string => `${host.name}${foundOn(listening, host)?.split('.').at(-1) ?? ''}`;
    const deaf = new Set(listening.flatMap((one) => ('failed' in one ? [one.host.name] : [])));
    const tried = ways
      .filter(({ to, free }) => !free || !deaf.has(to.name))
      .map((way) => ({ ...way, from: way.from.filter((host) => hosts.some(({ name }) => name === host.name)) }));
    const { ask, hear } = questions(on, hosts, nameOf);
    const asked = await ask(tried);
    const heard = await hear(tried);
    const first: Trial = { tried, asked, heard, askedAgain: [], heardAgain: [], nameOf };
    // A datagram may get lost, or another survey of the same port may have taken it: it is tried twice.
    const again = tried.flatMap((way) => {
      const from = way.from.filter((one) => !has(first, heard, 'large', one, way.to));
      return way.protocol === 'udp' && way.free && from.length > 0 ? [{ ...way, from }] : [];
    });
    const askedAgain = await ask(again);
    const heardAgain = await hear(again);
    const trial: Trial = { ...first, askedAgain, heardAgain };
    const failed = [...listening, ...asked, ...heard, ...askedAgain, ...heardAgain].flatMap((one) =>
      'failed' in one ? [{ host: one.host as LinuxHost, reason: one.failed }] : [],
    );
    return {
      tried: tried.reduce((sum, { from }) => sum + from.length, 0),
      blocked: blockedWays(trial),
      narrow: narrowWays(trial),
      untold: tried.filter(({ protocol, free }) => protocol === 'udp' && !free),
      failed,
    };
  } finally {
    await Promise.all(held.map((listener) => listener.release()));
  }
}
