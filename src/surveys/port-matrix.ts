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
  /** True where nobody listens yet, so that the survey does. */
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
  /** What a router on the way said that fits. */
  readonly told?: number;
}

/** The port matrix: every needed way was tried once. */
export interface PortMatrix {
  readonly tried: number;
  readonly blocked: readonly Blocked[];
  readonly narrow: readonly Narrow[];
  /** Ways by UDP to a port that somebody listens at, who would not tell what came. */
  readonly untold: readonly Way[];
  /** Hosts that could not listen or connect, and why. */
  readonly failed: readonly { readonly host: LinuxHost; readonly reason: string }[];
}

const at = ({ to, port }: Way): string => `${to.internalAddress}:${String(port)}`;

function foundOn<T>(all: readonly Surveyed<T>[], host: LinuxHost): T | undefined {
  const one = all.find((some) => some.host.name === host.name);
  return one !== undefined && 'found' in one ? one.found : undefined;
}

/**
 * Listens on every free needed port of every host, and connects to it from every host that needs it: three commands a
 * host, and two more where UDP did not come through at once. What listens goes with its channel, and after ten minutes whatever happens.
 */
export async function portMatrix(on: Surveyor, hosts: readonly LinuxHost[], ways: readonly Way[]): Promise<PortMatrix> {
  const mine = (host: LinuxHost, protocol: Way['protocol']) =>
    ways.filter((way) => way.to.name === host.name && way.free && way.protocol === protocol);
  const held: Held[] = [];
  try {
    const listening = await onEach(hosts, async (host) => {
      const lists = { TCP: mine(host, 'tcp').map(at).join('\n'), UDP: mine(host, 'udp').map(at).join('\n') };
      const listener = await on(host).hold(script('linux/survey-listen.sh', lists));
      held.push(listener);
      return listener.first;
    });
    // What a survey before this one heard may still lie there: a sender's name holds where its own host listens.
    const nameOf = (host: LinuxHost): string => `${host.name}${foundOn(listening, host)?.split('.').at(-1) ?? ''}`;
    const deaf = new Set(listening.flatMap((one) => ('failed' in one ? [one.host.name] : [])));
    const tried = ways
      .filter(({ to, free }) => !free || !deaf.has(to.name))
      .map((way) => ({ ...way, from: way.from.filter((host) => hosts.some(({ name }) => name === host.name)) }));
    const ask = (some: readonly Way[]) =>
      onEach(hosts, async (host) => {
        const targets = some.filter(({ from }) => from.some(({ name }) => name === host.name));
        if (targets.length === 0) return { connects: readConnects(''), mtus: readMtus('') };
        const lines = targets.map(({ to, port, protocol }) => `${protocol} ${to.internalAddress} ${String(port)}`);
        const out = await on(host).run(
          script('linux/survey-connect.sh', { TARGETS: lines.join('\n'), NAME: nameOf(host) }),
        );
        return { connects: readConnects(out), mtus: readMtus(out) };
      });
    const hear = (some: readonly Way[]) =>
      onEach(hosts, async (host) => {
        const senders = some.filter(({ to, protocol, free }) => to.name === host.name && protocol === 'udp' && free);
        const names = [...new Set(senders.flatMap(({ from }) => from.map(nameOf)))];
        if (names.length === 0) return new Set<string>();
        return new Set((await on(host).run(script('linux/survey-heard.sh', { NAMES: names }))).split('\n'));
      });
    const asked = await ask(tried);
    const heard = await hear(tried);
    const has = (all: typeof heard, size: 'small' | 'large', from: LinuxHost, to: LinuxHost): boolean =>
      foundOn(all, to)?.has(`${size} ${nameOf(from)}`) === true;
    // A datagram may get lost, or somebody else's survey of the same port may have taken it: once more before it is said.
    const again = tried.flatMap((way) => {
      const from = way.from.filter((one) => !has(heard, 'large', one, way.to));
      return way.protocol === 'udp' && way.free && from.length > 0 ? [{ ...way, from }] : [];
    });
    const askedAgain = await ask(again);
    const heardAgain = await hear(again);
    // Where a large one came through, a small one that got lost says nothing.
    const arrived = (size: 'small' | 'large', from: LinuxHost, to: LinuxHost): boolean =>
      [heard, heardAgain].some((all) => has(all, size, from, to) || has(all, 'large', from, to));
    const blocked = tried.flatMap((way) =>
      way.from.flatMap((from): readonly Blocked[] => {
        const connects = foundOn(asked, from)?.connects;
        if (connects === undefined) return [];
        if (way.protocol === 'udp') {
          // What listens there already tells nobody what it heard.
          return !way.free || foundOn(heard, way.to) === undefined || arrived('small', from, way.to)
            ? []
            : [{ way, from, how: 'nothing came through' }];
        }
        const answer = connects.get(`${way.to.internalAddress} ${String(way.port)}`) ?? 'not tried';
        // Nobody listens on a port that is not ours to listen on: refused says that the way is free.
        return answer === 'open' || (!way.free && answer === 'refused') ? [] : [{ way, from, how: answer }];
      }),
    );
    const narrow = tried.flatMap((way) =>
      way.from.flatMap((from): readonly Narrow[] => {
        const address = way.to.internalAddress;
        const size = foundOn(askedAgain, from)?.mtus.get(address) ?? foundOn(asked, from)?.mtus.get(address);
        if (way.protocol === 'tcp' || !way.free || size === undefined || !arrived('small', from, way.to)) return [];
        const whole = arrived('large', from, way.to) && size.told === undefined;
        return whole ? [] : [{ from, to: way.to, ...size }];
      }),
    );
    const untold = tried.filter(({ protocol, free }) => protocol === 'udp' && !free);
    const failed = [...listening, ...asked, ...heard, ...askedAgain, ...heardAgain].flatMap((one) =>
      'failed' in one ? [{ host: one.host as LinuxHost, reason: one.failed }] : [],
    );
    return { tried: tried.reduce((sum, { from }) => sum + from.length, 0), blocked, narrow, untold, failed };
  } finally {
    await Promise.all(held.map((one) => one.release()));
  }
}
