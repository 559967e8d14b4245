import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { factsFrom, readFrames } from '../../src/cluster/fleet/framed-script.ts';
import { type LinuxFacts, linuxProbes } from '../../src/cluster/fleet/linux.ts';
import { watchedOn } from '../../src/commands/every.phases.ts';
import { type FileState, watchedFiles } from '../../src/host/files.facts.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { onceForEach } from '../../src/shell/memo.ts';
import { watchedMap } from '../../src/shell/watched.ts';

/** What the probes of an inventory's hosts read by name. */
export const watched = onceForEach(watchedOn);

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../fixtures/linux/${name}.txt`, import.meta.url)), 'utf8');

/** The fixture that the fresh hosts of other distributions are based on. */
const BASE = 'debian-12-fresh';

/** Fresh hosts of the distributions and releases that kbuild supports. */
export const SUPPORTED_FIXTURES = [
  BASE,
  'debian-13-fresh',
  'ubuntu-22.04-fresh',
  'ubuntu-24.04-fresh',
  'ubuntu-26.04-fresh',
] as const;

/** Fresh hosts of supported distributions that come with firewalld and SELinux, about which checks speak. */
export const GUARDED_FIXTURES = ['rocky-9-fresh', 'rocky-10-fresh', 'fedora-44-fresh', 'opensuse-16.0-fresh'] as const;

/** Fresh hosts of distributions that it only knows to observe. */
export const OTHER_FIXTURES = ['opensuse-15.6-fresh'] as const;

const FIXTURES = [...SUPPORTED_FIXTURES, ...GUARDED_FIXTURES, ...OTHER_FIXTURES, 'debian-12-prepared'] as const;

export type Fixture = (typeof FIXTURES)[number];

/** What probes print, by fact. */
export type RawAnswers = Readonly<Record<string, string>>;

/** Read once: properties build hundreds of hosts. */
const captured = Object.fromEntries(
  FIXTURES.map((name) => [name, readFrames(read(name), '', 'NONCE')] as const),
) as Readonly<Record<Fixture, ReturnType<typeof readFrames>>>;

/** The probes of a host: properties look at the hosts of one inventory again and again. */
const probesOf = onceForEach((inventory: Inventory) =>
  onceForEach((host: LinuxHost) => linuxProbes(inventory, host, watched(inventory)(host))),
);

const pathsOfPrinted = new Map<string, ReadonlySet<string>>();

/** The paths that the probe of files printed: the last word of each line. */
function pathsIn(printed: string): ReadonlySet<string> {
  const found =
    pathsOfPrinted.get(printed) ?? new Set(printed.split('\n').map((line) => line.slice(line.lastIndexOf(' ') + 1)));
  pathsOfPrinted.set(printed, found);
  return found;
}

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
  return Object.keys(printed).length === 0
    ? freshFacts(inventory)(host)(captures[name])
    : parsedFacts(inventory, host, name, printed);
}

/** Facts of which nothing differs from the capture: they are parsed once for all tests. */
const freshFacts = onceForEach((inventory: Inventory) =>
  onceForEach((host: LinuxHost) =>
    onceForEach(({ name }: { readonly name: Fixture }) => parsedFacts(inventory, host, name, {})),
  ),
);

const captures = Object.fromEntries(FIXTURES.map((name) => [name, { name }])) as Readonly<
  Record<Fixture, { readonly name: Fixture }>
>;

function parsedFacts(inventory: Inventory, host: LinuxHost, name: Fixture, printed: RawAnswers): LinuxFacts {
  const answers = {
    ...captured[BASE],
    ...captured[name],
    ...Object.fromEntries(Object.entries(printed).map(([fact, stdout]) => [fact, { stdout }])),
  };
  const names = watched(inventory)(host);
  // A path that is watched since the capture was on no fresh host.
  const printedFiles = (answers['files'] as { readonly stdout: string }).stdout;
  const known = pathsIn(printedFiles);
  const later = names.files.filter((path) => !known.has(path));
  const files = { stdout: printedFiles + later.map((path) => `absent ${path}\n`).join('') };
  const capturedMs = Number((answers['clockOffsetMs'] as { readonly stdout: string }).stdout.trim()) * 1000;
  return factsFrom(
    host.name,
    probesOf(inventory)(host),
    { ...answers, files },
    {
      middleMs: capturedMs - 3,
    },
  );
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
  {
    fixture = BASE,
    printed = {},
  }: { readonly fixture?: Fixture | undefined; readonly printed?: RawAnswers | undefined } = {},
): LinuxFacts {
  const nothingNamed = [overrides, printed].every((named) => Reflect.ownKeys(named).length === 0);
  return nothingNamed
    ? freshHost(inventory)(host)(captures[fixture])
    : madeFacts(inventory, host, overrides, { fixture, printed });
}

const freshHost = onceForEach((inventory: Inventory) =>
  onceForEach((host: LinuxHost) =>
    onceForEach(({ name }: { readonly name: Fixture }) =>
      madeFacts(inventory, host, {}, { fixture: name, printed: {} }),
    ),
  ),
);

function madeFacts(
  inventory: Inventory,
  host: LinuxHost,
  overrides: FactOverrides,
  { fixture, printed }: { readonly fixture: Fixture; readonly printed: RawAnswers },
): LinuxFacts {
  const index = inventory.hosts.findIndex(({ name }) => name === host.name);
  const suffix = String(index + 1).padStart(2, '0');
  const base = factsOf(inventory, host, fixture, printed);
  const eth0 = { name: 'eth0', addresses: [host.internalAddress], mac: `02:fc:00:00:00:${suffix}`, mtu: 1500 };
  const own: FactOverrides = {
    hostname: host.name,
    kubeletClient: { node: host.name },
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
  const names = watched(inventory)(host);
  const absent = names.files.map((path): [string, FileState] => [path, { kind: 'absent' }]);
  const files = (found: Iterable<readonly [string, FileState]>) =>
    watchedFiles(names.files, names.trees, [...absent, ...found]);
  const unknown = names.units.map((unit): [string, ServiceState] => [unit, noService]);
  const services = (found: Iterable<readonly [string, ServiceState]>) =>
    watchedMap(names.units, [...unknown, ...found]);
  const result = Object.defineProperties({}, Object.getOwnPropertyDescriptors(base));
  Object.defineProperties(
    result,
    Object.getOwnPropertyDescriptors({ ...derived, files: files([]), services: services([]) }),
  );
  const named = Object.getOwnPropertyDescriptors(overrides);
  Object.defineProperties(result, named as PropertyDescriptorMap);
  // What a test names of these joins what the probes read; asking for another name throws, as it does in a run.
  const join = <K extends 'files' | 'services' | 'packages' | 'keyrings'>(
    fact: K,
    made: (found: NonNullable<FactOverrides[K]>) => LinuxFacts[K],
  ): void => {
    const value = named[fact]?.value as NonNullable<FactOverrides[K]> | undefined;
    if (value !== undefined) Object.defineProperty(result, fact, { value: made(value), enumerable: true });
  };
  join('files', files);
  join('services', services);
  join('packages', (found) => watchedMap(names.packages, found));
  join('keyrings', (found) => watchedMap(names.keyrings, found));
  return result as LinuxFacts;
}
