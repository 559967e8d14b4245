import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { distributions } from '../../../src/host/packages/distributions.value.ts';
import { GUARDED_FIXTURES, SUPPORTED_FIXTURES, factsOf } from '../../fakes/facts.ts';
import { inventory, linuxHost } from '../../fakes/inventory.ts';
import { DRESSED, isUbuntu, SYSTEMS } from '../../lab/systems.ts';

const lab = new URL('../../lab/', import.meta.url);

const supported = distributions.filter(({ support }) => support === 'supported').map(({ id }) => id);

/**
 * What no test saw yet of the distributions before this rule, and the distribution that stands for each. docs/hosts.md tells users. A new
 * distribution does not belong here: capture a fixture, and dress a host of the lab as it (docs/lab.md).
 */
const FORMER: Readonly<Record<'fixture' | 'installation', Readonly<Record<string, string>>>> = {
  fixture: {
    rhel: 'rocky',
    almalinux: 'rocky',
    ol: 'rocky',
    centos: 'rocky',
    amzn: 'rocky',
    'opensuse-tumbleweed': 'opensuse-leap',
    sles: 'opensuse-leap',
    flatcar: 'debian',
  },
  installation: {
    rhel: 'rocky',
    almalinux: 'rocky',
    ol: 'rocky',
    centos: 'rocky',
    amzn: 'rocky',
    fedora: 'rocky',
    'opensuse-tumbleweed': 'opensuse-leap',
    sles: 'opensuse-leap',
  },
};

const fixtures = new Set(
  [...SUPPORTED_FIXTURES, ...GUARDED_FIXTURES].map(
    (fixture) => factsOf(inventory(), linuxHost('cp1'), fixture).osRelease.id,
  ),
);

/** The tests of the lab, as text. */
const scenarios = ['core', 'long', 'scenarios']
  .flatMap((folder) => readdirSync(new URL(`${folder}/`, lab)).map((name) => new URL(`${folder}/${name}`, lab)))
  .filter(({ pathname }) => pathname.endsWith('.test.ts'))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** `ID` of the trees in which some test of the lab has a host. */
const installed = new Set(
  SYSTEMS.flatMap((system) => {
    if (!(system in DRESSED) && !isUbuntu(system)) return ['debian'];
    const recipe = isUbuntu(system) ? 'base-ubuntu' : `base-${system}`;
    const build = readFileSync(new URL(`build/${recipe}/build.sh`, lab), 'utf8');
    return scenarios.includes(`os: '${system}'`) ? [/^ID="?([\w-]+)"?$/m.exec(build)![1]!] : [];
  }),
);

test.each([
  ['fixture', fixtures],
  ['installation', installed],
] as const)('a distribution without one %s fails, unless an older one of its kind stands for it', (kind, seen) => {
  const former = FORMER[kind];
  expect(supported.filter((id) => !seen.has(id)).toSorted()).toEqual(Object.keys(former).toSorted());
  expect(Object.values(former).filter((id) => !seen.has(id))).toEqual([]);
});
