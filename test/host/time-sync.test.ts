import { describe, expect, test } from 'vitest';
import { Refused } from '../../src/errors.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import { noTimeServers, timeSync } from '../../src/host/time.step.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { filesWith, fileWith, WRITTEN_MS } from '../fakes/files.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const FILE = '/etc/chrony/sources.d/kbuild.sources';
const HEAD = '# Written by kbuild: time servers of the inventory.\n';
const TWO = ['ntp1.example.com', '10.0.0.5'];
const CONTENT = `${HEAD}server ntp1.example.com iburst\nserver 10.0.0.5 iburst\n`;

const running: ServiceState = {
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs: WRITTEN_MS + 1000,
  needsDaemonReload: false,
};
const installed = new Map([['chrony', { state: 'installed', version: '4.3-2+deb12u3', held: false } as const]]);
const up: FactOverrides = { packages: installed, services: new Map([['chrony', running]]) };

const wants = (servers: readonly string[] | undefined) => ({
  inventory: inventory({
    hosts: [linuxHost('w1', servers === undefined ? {} : { timeSync: { kind: 'chrony', servers } })],
  }),
});

const changes = (facts: FactOverrides, servers: readonly string[] | undefined, step = timeSync) =>
  step.diff(target(facts, wants(servers)));
const summaries = (...args: Parameters<typeof changes>) => changes(...args).map(({ summary }) => summary);

async function applied(...args: Parameters<typeof changes>) {
  const { on, sent } = recordingOn();
  for (const change of changes(...args)) await change.apply?.(on);
  return sent;
}

describe('chrony on a Debian host', () => {
  test('is nothing to kbuild if the inventory does not ask for it', () => {
    expect(summaries({}, undefined)).toEqual([]);
    expect(summaries({ services: new Map() }, undefined)).toEqual([]);
  });

  test('is installed, reads the servers of the inventory, and takes the place of systemd-timesyncd', async () => {
    const services = new Map([['systemd-timesyncd', running]]);
    expect(summaries({ services }, TWO)).toEqual([
      'install chrony (found none)',
      `write ${FILE} (found none)`,
      'switch systemd-timesyncd off: chrony takes its place (found enabled, active)',
      'enable and start chrony (found none)',
    ]);
    const sent = await applied({ services }, TWO);
    expect(sent).toMatchObject([
      { kind: 'job', name: 'packages' },
      { kind: 'write', path: FILE, content: CONTENT },
      { kind: 'run', title: 'host/time-servers.sh' },
      { kind: 'run' },
      { kind: 'run', title: 'host/apply-service.sh' },
    ]);
    expect(sent[2]).toMatchObject({
      script: expect.stringContaining("PROOF='sourcedir /etc/chrony/sources.d'") as string,
    });
  });

  test('is left as it is when it runs with these servers', () => {
    expect(summaries({ ...up, files: filesWith({ [FILE]: CONTENT }) }, TWO)).toEqual([]);
    expect(summaries(up, [])).toEqual([]);
  });

  test('is restarted when a run that was cut off wrote the file and did not have it read', () => {
    const files = new Map([[FILE, fileWith(CONTENT, 0o644, running.startedMs + 1)]]);
    expect(summaries({ ...up, files }, TWO)).toEqual([`restart chrony (${FILE} is newer)`]);
  });

  test('is enabled and not restarted if it only runs by hand', async () => {
    const services = new Map([['chrony', { ...running, enabled: 'disabled' }]]);
    expect(summaries({ ...up, services }, [])).toEqual(['enable chrony (found disabled, active)']);
    expect((await applied({ ...up, services }, []))[0]).toMatchObject({
      script: expect.stringContaining('ACTION=none') as string,
    });
  });

  test('stays without the servers when they or the setting leave the inventory, and at a reset', () => {
    const facts = { ...up, files: filesWith({ [FILE]: CONTENT }) };
    const expected = [`take kbuild's time servers out of chrony (found ${FILE})`];
    expect(summaries(facts, [])).toEqual(expected);
    expect(summaries({ files: facts.files }, undefined)).toEqual(expected);
    expect(summaries({ files: facts.files }, undefined, noTimeServers)).toEqual(expected);
    expect(summaries({}, undefined, noTimeServers)).toEqual([]);
  });

  test('does not take the place of a time service that an operator has chosen', async () => {
    const [change, ...more] = changes({ timeServices: ['ntpsec'] }, TWO);
    expect(more).toEqual([]);
    expect(change?.summary).toBe('run chrony (found ntpsec)');
    const error: unknown = await change?.apply?.(recordingOn().on).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Refused);
    expect((error as Refused).message).toMatch(/ntpsec keeps the clock/);
  });
});

test('is refused on a system without packages, with the way', async () => {
  const osRelease = { id: 'flatcar', idLike: [], versionId: '4459', codename: '', prettyName: 'Flatcar 4459' };
  const [change, ...more] = changes({ osRelease }, []);
  expect(more).toEqual([]);
  await expect(change?.apply?.(recordingOn().on)).rejects.toThrow(/Flatcar 4459 has no packages/);
});

describe('the time servers of the inventory', () => {
  const osRelease = (id: string, versionId: string) => ({ id, idLike: [], versionId, codename: '', prettyName: id });

  test.each([
    ['ubuntu', '26.04', FILE, CONTENT, 'sourcedir /etc/chrony/sources.d'],
    ['amzn', '2023', '/etc/chrony.d/kbuild.sources', CONTENT, 'sourcedir /etc/chrony.d'],
    ['sles', '15.7', '/etc/chrony.d/kbuild.conf', CONTENT, 'include /etc/chrony.d/*.conf'],
    [
      'rocky',
      '9.6',
      '/etc/tmpfiles.d/kbuild-chrony.conf',
      `${HEAD}f+ /run/chrony-dhcp/kbuild.sources 0644 root root - server ntp1.example.com iburst\\nserver 10.0.0.5 iburst\\n\n`,
      'sourcedir /run/chrony-dhcp',
    ],
  ])('%s %s: are in a file that the configuration of its package reads', async (id, version, file, content, line) => {
    const facts = { osRelease: osRelease(id, version), packages: installed };
    const sent = await applied(facts, TWO);
    expect(sent[0]).toMatchObject({ kind: 'write', path: file, content });
    expect(sent[1]).toMatchObject({ script: expect.stringContaining(`DIRECTIVE='${line}'`) as string });
    expect(sent.at(-1)).toMatchObject({
      script: expect.stringContaining(`UNIT=${id === 'ubuntu' ? 'chrony' : 'chronyd'}\n`) as string,
    });
  });
});
