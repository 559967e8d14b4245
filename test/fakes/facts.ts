import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readFrames } from '../../src/facts/framed-script.ts';
import { linuxProbes, type LinuxFacts } from '../../src/facts/linux.ts';
import { factsFrom } from '../../src/facts/probe.ts';
import { watchedPaths, watchedUnits } from '../../src/facts/watched.ts';
import type { FileState } from '../../src/facts/linux/files.ts';
import type { ServiceState } from '../../src/facts/linux/services.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../fixtures/linux/${name}.txt`, import.meta.url)), 'utf8');

const FIXTURES = ['debian-12-fresh', 'debian-12-prepared'] as const;

/** Read once: properties build hundreds of hosts. */
const captured = Object.fromEntries(
  FIXTURES.map((name) => [name, readFrames(read(name), '', 'NONCE')] as const),
) as Readonly<Record<(typeof FIXTURES)[number], ReturnType<typeof readFrames>>>;

/** Facts that a test names; the others are as on a fresh host. `files` and `services` name only what is there. */
export type FactOverrides = Partial<LinuxFacts>;

/** The facts of a captured observation (`test/fixtures/linux/<name>.txt`), parsed by the real probes. */
export function factsOf(
  inventory: Inventory,
  host: LinuxHost,
  name: (typeof FIXTURES)[number] = 'debian-12-fresh',
): LinuxFacts {
  const answers = captured[name];
  const capturedMs = Number((answers['clockOffsetMs'] as { readonly stdout: string }).stdout.trim()) * 1000;
  return factsFrom(host.name, linuxProbes(inventory, host), answers, { middleMs: capturedMs - 3 });
}

const noService: ServiceState = {
  load: 'not-found',
  active: 'inactive',
  enabled: '',
  startedMs: 0,
  needsDaemonReload: false,
};

/** The facts of a fresh Debian 12 host of the inventory, all but the named ones. A fact may be given as a throwing getter. */
export function facts(inventory: Inventory, host: LinuxHost, overrides: FactOverrides = {}): LinuxFacts {
  const index = inventory.hosts.findIndex(({ name }) => name === host.name);
  const suffix = String(index + 1).padStart(2, '0');
  const base = factsOf(inventory, host);
  const own: FactOverrides = {
    hostname: host.name,
    staticHostname: host.name,
    bootId: `9a66a661-a51c-45e3-8d55-0000000000${suffix}`,
    machineId: `00000000000000000000000000000a${suffix}`,
    productUuid: `c0a80a15-0000-4000-8000-0000000000${suffix}`,
  };
  const files = new Map<string, FileState>(
    watchedPaths(inventory, host).map((path) => [path, { kind: 'absent' } as const]),
  );
  const services = new Map<string, ServiceState>(watchedUnits.map((unit) => [unit, noService]));
  const result = Object.defineProperties({}, Object.getOwnPropertyDescriptors(base));
  Object.defineProperties(result, Object.getOwnPropertyDescriptors({ ...own, files, services }));
  const named = Object.getOwnPropertyDescriptors(overrides);
  Object.defineProperties(result, named as PropertyDescriptorMap);
  if (named.files?.value !== undefined)
    Object.defineProperty(result, 'files', { value: new Map([...files, ...named.files.value]), enumerable: true });
  if (named.services?.value !== undefined)
    Object.defineProperty(result, 'services', {
      value: new Map([...services, ...named.services.value]),
      enumerable: true,
    });
  return result as LinuxFacts;
}
