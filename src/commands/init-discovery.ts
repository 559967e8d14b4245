import { ConnectError, exitCodeOf } from '../errors.ts';
import { asCidr, isIP } from '../inventory/addresses.ts';
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
import { addressesSoFar, familiesFor } from './init-families.ts';
import { clusterLink, type Discovered, freeSubnets, linksOf } from './init-networks.ts';
import { type Answers, skeleton, type SkeletonHost } from './init-skeleton.ts';

/** Hosts that were observed, and why the others were not. By name, in the order of the inventory. */
export interface Discovery {
  readonly found: ReadonlyMap<string, Discovered>;
  readonly failed: ReadonlyMap<string, Error>;
}

/** No host was observed. */
export const NOTHING_FOUND: Discovery = { found: new Map(), failed: new Map() };

/** Loads an inventory from its text. @throws InventoryError */
export async function loadText({ env, cwd }: Context, text: string, file = 'inventory.yaml'): Promise<Inventory> {
  const sources = { ...localSources({ env, cwd, reach: 'local' }), read: () => Promise.resolve(Buffer.from(text)) };
  return (await loadInventory({ file, env, cwd, checks: checkNames, sources })).inventory;
}

/**
 * The hosts as an inventory of both families has them, before the addresses of the cluster are known: where one is
 * missing, it has one that no host has. @throws InventoryError
 */
async function provisional(context: Context, { endpoint: _, virtualAddress: __, ...answers }: Answers) {
  const hosts = answers.hosts.map((host, i): SkeletonHost => {
    // Roles do not matter yet, and several control planes would need an endpoint.
    const role = i === 0 ? 'control-plane' : 'worker';
    return { ...host, role, internalAddress: addressesSoFar(host, i) };
  });
  const used = hosts
    .flatMap(({ address, internalAddress = '' }) => [address, ...internalAddress.split(',')])
    .filter((address) => isIP(address) !== 0);
  return loadText(context, skeleton({ ...answers, hosts, ...freeSubnets(used.map(asCidr), ['IPv4', 'IPv6']) }));
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

/** Prints what was observed of each host, and why the others were not. */
export function showDiscovery({ err }: Pick<Context, 'err'>, { found, failed }: Discovery): void {
  for (const { name, system, links } of found.values())
    err(`✔ ${name}: ${system}, ${links.map(({ device, address }) => `${device} ${address}`).join(', ')}\n`);
  for (const error of failed.values()) {
    const { remedy } = error as { readonly remedy?: string };
    err(`! ${error.message}\n${remedy === undefined ? '' : `  → ${remedy}\n`}`);
  }
}

/**
 * The answers with the addresses of the cluster's networks, one for each family, and with subnets that overlap with no
 * route of a host.
 */
export function withDiscovery(
  answers: Answers,
  { found }: Discovery,
  networks: readonly (string | undefined)[],
): Answers {
  const families = familiesFor(answers);
  const addressesOf = (seen: Discovered): readonly string[] =>
    families.flatMap((family, i) => clusterLink(seen, networks[i], family)?.address ?? []);
  const hosts = answers.hosts.map((host) => {
    const seen = found.get(host.name);
    const addresses = seen === undefined || host.internalAddress !== undefined ? [] : addressesOf(seen);
    const address = addresses.join(',');
    return addresses.length < families.length || address === host.address
      ? host
      : { ...host, internalAddress: address };
  });
  const used = [
    ...[...found.values()].flatMap(({ routes }) => routes),
    ...hosts
      .flatMap(({ address, internalAddress = address }) => [address, ...internalAddress.split(',')])
      .filter((address) => isIP(address) !== 0)
      .map(asCidr),
  ];
  // Where none is free, the check `route-overlap` names the route.
  return { ...answers, hosts, ...(freeSubnets(used, families) ?? freeSubnets([], families)) };
}
