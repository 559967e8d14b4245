/**
 * The lab's API, for scenario tests and the demo. Real hosts on this machine: systemd, sshd, apt, own network and cgroups.
 *
 * Several processes may use the lab at once with different host names. All of it is idempotent, and safe to repeat after a
 * crash. Everything throws LabError with what to do about it.
 *
 * ```ts
 * await up(['scp1', 'sw1']);                       // boots what does not run; 2 s, or 20 min where nothing is built yet
 * const lab = await inventory(['scp1', 'sw1']);    // an object to change and to write as YAML
 * await ssh('scp1', 'kubectl get nodes');          // over sshd; `inside` does it without
 * await down(['scp1', 'sw1']);
 * ```
 */
import { buildAll, servedVersions } from './build-all.ts';
import { withLock } from './flock.ts';
import { removeHost, wipeDisk } from './host-disk.ts';
import { answering, cutPower, powerOn } from './host-power.ts';
import { initOf, supervisorOf } from './host-processes.ts';
import { claimHost, hostNames, hostSettings, saveSettings } from './host-settings.ts';
import { writeKnownHosts } from './known-hosts.ts';
import { networkDown, networkUp } from './network.ts';
import { applyPartitions, type Cut, isolate, rejoin } from './partition.ts';
import { raiseLimits, restoreSysctls, saveSysctls } from './sysctls.ts';
import { progress } from './progress.ts';
import { installPackages, requireDiskForHosts } from './requirements.ts';
import { servicesDown, servicesUp } from './services.ts';
import { inside, ssh } from './ssh.ts';
import { sweep } from './sweep.ts';
import { type System, SYSTEMS } from './systems.ts';
import type { KubernetesVersion } from './versions.ts';
import { machineOf, VIRTUAL_MACHINE, VIRTUAL_MACHINE_BOOT_MS, VIRTUAL_MACHINE_PACKAGES } from './virtual-machine.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

export { inventory, roleOf, type InventoryHost, type LabInventory, type Role } from './inventory.ts';
export { hostNames, hostSettings, type HostSettings } from './host-settings.ts';
export { PACKAGES_URL, PRIVATE_REGISTRY, REGISTRY_URL } from './network-plan.ts';
export { labDir, paths } from './paths.ts';
export { tls } from './tls.ts';
export { inside, ssh, sshArguments } from './ssh.ts';
export type { Result } from './run.ts';
export type { System } from './systems.ts';

/** How hosts are made. */
export interface UpOptions {
  /** Interfaces of a new host. 2: SSH on eth0, the cluster on eth1. Default 1, or what an existing one has. */
  readonly nics?: 1 | 2;
  /** The system of a new host, which it keeps. Default bookworm, or what an existing one is. */
  readonly os?: System;
  /** Kubernetes versions that are needed. Default all of the lab. */
  readonly versions?: readonly KubernetesVersion[];
  /** The folder of the disk that a new host lies over (`preparedDisk`). Default none: it is bare. */
  readonly prepared?: string;
}

/** Builds what is missing, starts bridges and servers, and boots these hosts where they do not run. Returns when their sshd answers. */
export async function up(names: readonly string[], { nics, os, versions, prepared }: UpOptions = {}): Promise<void> {
  const existing = new Set(hostNames());
  if (os === VIRTUAL_MACHINE) await installPackages(VIRTUAL_MACHINE_PACKAGES);
  await requireDiskForHosts(names.filter((name) => !existing.has(name)).length);
  const { base, tools } = await buildAll({
    systems: [os ?? SYSTEMS[0]],
    ...(versions === undefined ? {} : { versions }),
  });
  await saveSysctls();
  await raiseLimits();
  await networkUp();
  await servicesUp(tools);
  for (const name of names) await claimHost(name, { nics, os, base, prepared });
  await each(names, boot);
}

/** Ends these hosts and removes all that they were. The shared servers stay. Hosts that do not exist are left out. */
export async function down(names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map((name) =>
      withLock(`host-${name}`, async () => {
        if (!hostNames().includes(name)) return;
        await cutPower(name);
        await removeHost(name);
        progress(`${name}: gone`);
      }),
    ),
  );
  await writeKnownHosts();
}

/** Ends every host of this machine's lab, the servers and the bridges. Only the caches and keys stay. */
export async function downAll(): Promise<void> {
  await down(hostNames());
  await servicesDown();
  await networkDown();
  await sweep();
  await restoreSysctls();
}

/**
 * Makes hosts fresh: a new disk, a boot, the same address and host keys. Partitions are healed. `prepared`: the folder of a disk
 * (`preparedDisk`) that the new one lies over; without it the hosts are bare.
 */
export async function reset(
  names: readonly string[],
  { prepared }: { readonly prepared?: string } = {},
): Promise<void> {
  const { base } = await buildAll({
    systems: names.map((name) => hostSettings(name).os),
    versions: servedVersions(),
  });
  await each(names, async (name) => {
    const settings = hostSettings(name);
    await cutPower(name);
    await wipeDisk(name);
    await saveSettings({ ...settings, base: base(settings.os), prepared });
    await rejoin([name]);
    await boot(name);
  });
}

/** Reboots hosts from inside, as their administrator would. Returns when sshd of the next boot answers. */
export async function reboot(names: readonly string[]): Promise<void> {
  await each(names, async (name) => {
    const before = initOf(name);
    if (hostSettings(name).os === VIRTUAL_MACHINE) {
      await rebootMachine(name);
      return;
    }
    await inside(name, 'systemctl reboot');
    await waitUntil(`${name}: reboot`, PATIENCE_MS, () => {
      const now = initOf(name);
      return now !== undefined && now.pid !== before?.pid;
    });
    await answering(name);
    progress(`${name}: rebooted`);
  });
}

/** Its QEMU goes on over a reboot, so what tells one boot from the next is the kernel's own number. */
async function rebootMachine(name: string): Promise<void> {
  const bootOf = async (): Promise<string> => (await ssh(name, 'cat /proc/sys/kernel/random/boot_id')).stdout.trim();
  const before = await bootOf();
  await ssh(name, 'systemctl reboot');
  await waitUntil(`${name}: reboot`, VIRTUAL_MACHINE_BOOT_MS, async () => {
    const now = await bootOf();
    return now !== '' && now !== before;
  });
  progress(`${name}: rebooted`);
}

/** Takes hosts' power away. They stay off until `start`, `reset` or `up`. */
export async function kill(names: readonly string[]): Promise<void> {
  await each(names, async (name) => {
    hostSettings(name);
    await cutPower(name);
    progress(`${name}: off`);
  });
}

/** Switches hosts on that are off. Returns when their sshd answers. */
export async function start(names: readonly string[]): Promise<void> {
  await each(names, boot);
}

/** Cuts each of these hosts off from all others and, unless `cut` is `hosts`, from this machine. Lasts over a reboot. */
export async function partition(names: readonly string[], cut: Cut = 'all'): Promise<void> {
  await isolate(names, cut);
}

/** Takes partitions back: of these hosts, or of all. */
export async function heal(names?: readonly string[]): Promise<void> {
  await rejoin(names);
}

/** Whether the host has power, as far as its processes tell. */
export const isOn = (name: string): boolean =>
  supervisorOf(name) !== undefined && (initOf(name) ?? machineOf(name)) !== undefined;

async function boot(name: string): Promise<void> {
  hostSettings(name);
  const wasOn = isOn(name);
  await powerOn(name);
  // A virtual machine's disk is made first, which takes a minute on a busy machine.
  await waitUntil(`${name}: host keys`, PATIENCE_MS, () => isOn(name) || supervisorOf(name) === undefined);
  await writeKnownHosts();
  await answering(name);
  await applyPartitions();
  progress(wasOn ? `${name}: runs` : `${name}: booted`);
}

async function each(names: readonly string[], action: (name: string) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(names.map((name) => withLock(`host-${name}`, () => action(name))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
