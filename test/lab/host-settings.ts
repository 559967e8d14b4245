import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError, Unmet } from './errors.ts';
import { withLock } from './flock.ts';
import { addressOf, FIRST_OCTET, GATEWAY, internalAddressOf, LAST_OCTET } from './network-plan.ts';
import { hostDir, paths } from './paths.ts';
import { noteRun } from './test-run.ts';
import { type System, SYSTEMS } from './systems.ts';

/** What a host is, from `up` to `down`. */
export interface HostSettings {
  readonly name: string;
  /** Last octet of its addresses. */
  readonly octet: number;
  /** Where SSH reaches it, on eth0. */
  readonly address: string;
  /** On eth1, of a host with two interfaces. */
  readonly internalAddress?: string;
  /** Debian's, for its life. */
  readonly os: System;
  /** Folder of the base tree that it lies over. */
  readonly base: string;
  /** Folder of the disk that lies between its own and the base tree (prepared-disk.ts). */
  readonly prepared?: string | undefined;
}

/** Names of all hosts that exist, running or not, sorted. */
export function hostNames(): readonly string[] {
  if (!existsSync(paths.hosts)) return [];
  return readdirSync(paths.hosts)
    .filter((name) => !name.startsWith('.'))
    .sort();
}

/** The settings of a host. Throws LabError when there is no such host. */
export function hostSettings(name: string): HostSettings {
  const file = join(hostDir(name), 'host.env');
  if (!existsSync(file)) throw new LabError(`there is no host ${name}: make it with \`up ${name}\``);
  const env = Object.fromEntries(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as Readonly<Record<string, string>>;
  return {
    name,
    octet: Number(env['OCTET']),
    address: env['ADDRESS']!,
    ...(env['INTERNAL'] ? { internalAddress: env['INTERNAL'] } : {}),
    os: SYSTEMS.find((os) => os === env['OS']) ?? SYSTEMS[0],
    base: env['BASE']!,
    ...(env['PREPARED'] ? { prepared: env['PREPARED'] } : {}),
  };
}

/** Writes a host's settings where its scripts read them; whole or not at all. */
export async function saveSettings(settings: HostSettings, dir = hostDir(settings.name)): Promise<void> {
  const env = {
    NAME: settings.name,
    OCTET: settings.octet,
    ADDRESS: settings.address,
    INTERNAL: settings.internalAddress ?? '',
    GATEWAY,
    OS: settings.os,
    BASE: settings.base,
    PREPARED: settings.prepared ?? '',
  };
  const text = Object.entries(env).map(([key, value]) => `${key}=${value}\n`);
  await writeFile(join(dir, 'host.env.new'), text.join(''));
  await rename(join(dir, 'host.env.new'), join(dir, 'host.env'));
}

/** What is decided about a host when it is made. */
export interface Claim {
  /** Of a new host, undefined: 1. Of an existing one, undefined: as many as it has. */
  readonly nics: 1 | 2 | undefined;
  /** Of a new host, undefined: the default. Of an existing one, undefined: whichever it is. */
  readonly os: System | undefined;
  /** The tree of a system. */
  readonly base: (os: System) => string;
  /** Of a new host: the disk that it lies over besides. */
  readonly prepared?: string | undefined;
}

/**
 * Makes sure that a host of that name exists with that many interfaces and of that system, and gives it an address for its
 * life. Throws Unmet for a bad name, or when it exists with another number of interfaces or of another system.
 */
export async function claimHost(name: string, { nics, os, base, prepared }: Claim): Promise<HostSettings> {
  if (!/^[a-z]([a-z0-9-]{0,29}[a-z0-9])?$/.test(name))
    throw new Unmet(`${name}: not a host name (a-z, 0-9 and -, at most 31 characters)`);
  return withLock('addresses', async () => {
    const existing = hostNames();
    if (existing.includes(name)) {
      const settings = hostSettings(name);
      if (nics !== undefined && (settings.internalAddress === undefined) !== (nics === 1))
        throw new Unmet(`${name} exists with ${nics === 1 ? 2 : 1} interface(s): \`down ${name}\` first`);
      if (os !== undefined && settings.os !== os)
        throw new Unmet(`${name} exists as ${settings.os}: \`down ${name}\` first`);
      return settings;
    }
    const taken = new Set(existing.map((other) => hostSettings(other).octet));
    let octet = FIRST_OCTET;
    while (taken.has(octet)) octet += 1;
    if (octet > LAST_OCTET) throw new LabError('no address is left: end some hosts with `down`');
    const settings: HostSettings = {
      name,
      octet,
      address: addressOf(octet),
      ...(nics === 2 ? { internalAddress: internalAddressOf(octet) } : {}),
      os: os ?? SYSTEMS[0],
      base: base(os ?? SYSTEMS[0]),
      ...(prepared === undefined ? {} : { prepared }),
    };
    const fresh = join(paths.hosts, `.new-${name}`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    await saveSettings(settings, fresh);
    await noteRun(fresh);
    await rename(fresh, hostDir(name));
    return settings;
  });
}
