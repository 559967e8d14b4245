import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readFrames } from '../../src/facts/framed-script.ts';
import { linuxProbes, type LinuxFacts } from '../../src/facts/linux.ts';
import { factsFrom } from '../../src/facts/probe.ts';
import { watchedPaths, watchedUnits } from '../../src/facts/watched.ts';
import type { FileState } from '../../src/facts/linux/files.ts';
import type { ServiceState } from '../../src/facts/linux/services.ts';
import type { Inventory, LinuxHost } from '../../src/model/inventory.ts';

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../fixtures/linux/${name}.txt`, import.meta.url)), 'utf8');

/** The fixture that the fresh hosts of other distributions are based on. */
const BASE = 'debian-12-fresh';

/** Fresh hosts of the distributions and releases that kbuild supports. */
export const SUPPORTED_FIXTURES = [BASE, 'debian-13-fresh', 'ubuntu-22.04-fresh', 'ubuntu-24.04-fresh'] as const;

/** Fresh hosts of distributions that it only knows to observe. */
export const OTHER_FIXTURES = ['rocky-9-fresh', 'rocky-10-fresh', 'opensuse-15.6-fresh'] as const;

const FIXTURES = [...SUPPORTED_FIXTURES, ...OTHER_FIXTURES, 'debian-12-prepared'] as const;

export type Fixture = (typeof FIXTURES)[number];

/** What probes print, by fact. */
export type RawAnswers = Readonly<Record<string, string>>;

/** Read once: properties build hundreds of hosts. */
const captured = Object.fromEntries(
  FIXTURES.map((name) => [name, readFrames(read(name), '', 'NONCE')] as const),
) as Readonly<Record<Fixture, ReturnType<typeof readFrames>>>;

/** Facts that a test names; the others are as on a fresh host. `files` and `services` name only what is there. */
export type FactOverrides = Partial<LinuxFacts>;

/**
 * The facts of an observation (`test/fixtures/linux/<name>.txt`, what is not in there as in debian-12-fresh), parsed by
 * the real probes. `printed`: what some probes print instead.
 */
export function factsOf(
  inventory: Inventory,
  host: LinuxHost,
  name: Fixture = BASE,
  printed: RawAnswers = {},
): LinuxFacts {
  const answers = {
    ...captured[BASE],
    ...captured[name],
    ...Object.fromEntries(Object.entries(printed).map(([fact, stdout]) => [fact, { stdout }])),
  };
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
export function facts(
  inventory: Inventory,
  host: LinuxHost,
  overrides: FactOverrides = {},
  { fixture, printed = {} }: { readonly fixture?: Fixture | undefined; readonly printed?: RawAnswers | undefined } = {},
): LinuxFacts {
  const index = inventory.hosts.findIndex(({ name }) => name === host.name);
  const suffix = String(index + 1).padStart(2, '0');
  const base = factsOf(inventory, host, fixture, printed);
  const eth0 = { name: 'eth0', addresses: [host.internalAddress], mac: `02:fc:00:00:00:${suffix}`, mtu: 1500 };
  const own: FactOverrides = {
    hostname: host.name,
    staticHostname: host.name,
    bootId: `9a66a661-a51c-45e3-8d55-0000000000${suffix}`,
    machineId: `00000000000000000000000000000a${suffix}`,
    productUuid: `c0a80a15-0000-4000-8000-0000000000${suffix}`,
    interfaces: [{ name: 'lo', addresses: ['127.0.0.1', '::1'], mac: '', mtu: 65_536 }, eth0],
    routes: {
      table: [
        { destination: 'default', device: 'eth0' },
        { destination: '10.0.0.0/24', device: 'eth0' },
      ],
      to: new Map(
        inventory.hosts.map(({ internalAddress }) => [
          internalAddress,
          { device: internalAddress === host.internalAddress ? 'lo' : 'eth0', source: host.internalAddress },
        ]),
      ),
    },
  };
  // What a test lets a probe print is what it prints.
  const derived = Object.fromEntries(Object.entries(own).filter(([name]) => !(name in printed)));
  const files = new Map<string, FileState>(
    watchedPaths(inventory, host).map((path) => [path, { kind: 'absent' } as const]),
  );
  const services = new Map<string, ServiceState>(watchedUnits.map((unit) => [unit, noService]));
  const result = Object.defineProperties({}, Object.getOwnPropertyDescriptors(base));
  Object.defineProperties(result, Object.getOwnPropertyDescriptors({ ...derived, files, services }));
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
