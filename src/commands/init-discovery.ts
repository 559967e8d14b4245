import { isIPv4 } from 'node:net';
import { ConnectError, exitCodeOf } from '../errors.ts';
import { loadInventory } from '../inventory/file/load.ts';
import { localSources } from '../inventory/file/sources.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { eachLimit } from '../limit.ts';
import type { Context, RunLog } from '../session/context.ts';
import { hostDialler } from '../session/dialler.ts';
import { observerOf } from '../session/observer.ts';
import { DEFAULT_CONCURRENCY, type Flags } from '../session/options.ts';
import type { HostRemote } from '../ssh/windows.ts';
import { checkNames } from './every.checks.ts';
import { type Discovered, freeSubnets, linksOf } from './init-networks.ts';
import { type Answers, skeleton, type SkeletonHost } from './init-skeleton.ts';

/** Hosts that were observed, and why the others were not. By name, in the order of the inventory. */
export interface Discovery {
  readonly found: ReadonlyMap<string, Discovered>;
  readonly failed: ReadonlyMap<string, Error>;
}

/** Loads an inventory from its text. @throws InventoryError */
export async function loadText({ env, cwd }: Context, text: string, file = 'inventory.yaml'): Promise<Inventory> {
  const sources = { ...localSources({ env, cwd, reach: 'local' }), read: () => Promise.resolve(Buffer.from(text)) };
  return (await loadInventory({ file, env, cwd, checks: checkNames, sources })).inventory;
}

/**
 * The hosts as an inventory has them, before the addresses of the cluster are known: where one is missing, it has one
 * of RFC 2544, which no host has. @throws InventoryError
 */
async function provisional(context: Context, { endpoint: _, virtualAddress: __, ...answers }: Answers) {
  const hosts = answers.hosts.map((host, i): SkeletonHost => {
    // Roles do not matter yet, and several control planes would need an endpoint.
    const role = i === 0 ? 'control-plane' : 'worker';
    const internalAddress =
      host.internalAddress ??
      (isIPv4(host.address) ? host.address : `198.18.${String(Math.floor(i / 200))}.${String((i % 200) + 1)}`);
    return { ...host, role, ...(internalAddress === host.address ? {} : { internalAddress }) };
  });
  const used = hosts.flatMap(({ address, internalAddress = address }) => [address, internalAddress]).filter(isIPv4);
  return loadText(context, skeleton({ ...answers, hosts, ...freeSubnets(used.map((ip) => `${ip}/32`)) }));
}

const RUN: Omit<RunLog, 'signal'> = {
  runId: 'init',
  emit: () => undefined,
  log: () => undefined,
  onSecret: () => undefined,
};

/**
 * Connects to these hosts, all at once, and reads their system, addresses and routes. Changes nothing. Asks what it
 * must (host keys, passphrases, sudo) if the context has a terminal. @throws InventoryError for answers that make no
 * inventory, and errors of kbuild itself; never because a host does not answer
 */
export async function discover(
  context: Context,
  answers: Answers,
  flags: Pick<Flags, 'acceptNewHostKeys'>,
  only?: ReadonlySet<string>,
): Promise<Discovery> {
  const inventory = await provisional(context, answers);
  const hosts = inventory.hosts.filter(({ name }) => only?.has(name) !== false);
  const remotes = new Map<string, HostRemote>();
  const dialler = hostDialler(context, flags, { ...RUN, signal: new AbortController().signal });
  const observer = observerOf(inventory, remotes, context.nowMs);
  const observed = async (host: Host): Promise<Discovered> => {
    const remote = await dialler.dial(host);
    remotes.set(host.name, remote);
    const seen = await observer.host(host, ['osRelease', 'arch', 'interfaces', 'routes']);
    if (seen.os === 'windows') throw new ConnectError(host.name, 'is a Windows host', { retryable: false });
    const { osRelease, arch, interfaces, routes } = seen.facts;
    const system = `${osRelease.prettyName}, ${arch}`;
    return { name: host.name, address: remote.host.address, system, ...linksOf(interfaces, routes.table) };
  };
  const found = new Map<string, Discovered>();
  const failed = new Map<string, Error>();
  try {
    const results = await eachLimit(hosts, DEFAULT_CONCURRENCY, observed);
    results.forEach((result, i) => {
      const { name } = hosts[i]!;
      if (result.status === 'fulfilled') found.set(name, result.value);
      else if (exitCodeOf(result.reason as Error) === 1) throw result.reason as Error;
      else failed.set(name, result.reason as Error);
    });
    return { found, failed };
  } finally {
    await Promise.all([...remotes.values()].map((remote) => remote.close()));
    dialler.close();
  }
}
