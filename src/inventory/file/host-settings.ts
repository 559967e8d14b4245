import { UNCONFINED } from '../../host/kernel.value.ts';
import type { Hook, HookName, Hooks, RunHere, TimeSync } from '../host-settings.ts';
import type { Host } from '../inventory.ts';
import type { HostEntry, InventoryFile } from '../schema/schema.ts';
import { timeSyncOf } from '../schema/system.ts';
import { asList, levelsOf, runtimeFileOf, selected } from './levels.ts';
import type { Sources } from './sources.ts';

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `90s`, `5m` in ms. */
const timeoutMs = (value: string): number =>
  Number(value.slice(0, -1)) * UNITS_MS[value.slice(-1) as keyof typeof UNITS_MS];

type Entry = InventoryFile['hooks'][Exclude<HookName, 'afterRun'>][number];

const aboutHosts =
  (hosts: readonly Host[]) =>
  ({ command, on, hosts: selectors, timeout }: Entry): Hook => ({
    command,
    on,
    hosts: hosts
      .filter((host) => on === 'operator' || host.os === 'linux')
      .filter((host) => asList(selectors).some((selector) => selected([host], selector).length > 0))
      .map(({ name }) => name),
    timeoutMs: timeoutMs(timeout),
  });

/** Runs hooks on this machine. Where no command may run (`validate`), no hook is called. */
export const hooksHere =
  ({ hook }: Sources): RunHere =>
  async (command, variables, timeout) => {
    if (hook === undefined) throw new Error('no command may be run');
    await hook(command, variables, timeout);
  };

/** The hooks of an inventory, with the hosts for which each of them runs. */
export function hooksOf({ hooks }: InventoryFile, hosts: readonly Host[], runHere: RunHere): Hooks {
  const of = aboutHosts(hosts);
  return {
    of: {
      beforeChange: hooks.beforeChange.map(of),
      beforeDrain: hooks.beforeDrain.map(of),
      afterUncordon: hooks.afterUncordon.map(of),
      afterRun: hooks.afterRun.map(({ command, timeout }) => ({
        command,
        on: 'operator',
        hosts: [],
        timeoutMs: timeoutMs(timeout),
      })),
    },
    runHere,
    action: '',
  };
}

/** kubeadm's static pods read keys and write etcd's data on the host, which SELinux forbids to ordinary containers. */
const STATIC_PODS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Sorts after the patch files of the inventory, so that none of them takes the type away by chance. */
const nameOf = (pod: (typeof STATIC_PODS)[number]): string => `${pod}zz-kbuild+merge.json`;

/**
 * Patch files for kubeadm (name → content) by which its static pods run unconfined, if SELinux confines containers on a
 * host with such pods. Where it does not, the type has no effect.
 */
export function selinuxPatches(file: InventoryFile): Readonly<Record<string, string>> {
  const hasSelinux = file.hosts.some(
    (host) => (host.role === 'control-plane' || host.role === 'etcd') && runtimeFileOf(file, host).selinux === true,
  );
  if (!hasSelinux) return {};
  const content = `${JSON.stringify({ spec: { securityContext: UNCONFINED } }, null, 2)}\n`;
  return Object.fromEntries(STATIC_PODS.map((pod) => [nameOf(pod), content]));
}

/** The nearest `installFrom` of a host: its own, its groups', its role's, the inventory's. */
export const installFromOf = (file: InventoryFile, host: HostEntry): InventoryFile['installFrom'] =>
  levelsOf(file, host).findLast((level) => level.installFrom !== undefined)?.installFrom ?? file.installFrom;

/** The nearest `timeSync` of a host as a value; undefined if kbuild leaves its time service alone. */
export const timeSyncOfHost = (file: InventoryFile, host: HostEntry): TimeSync | undefined =>
  timeSyncOf([file, ...levelsOf(file, host)].findLast((level) => level.timeSync !== undefined)?.timeSync);
