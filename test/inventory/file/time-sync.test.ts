import { describe, expect, test } from 'vitest';
import { inventoryOf, problemsOf } from '../load.ts';

const text = (more: string, ...hosts: readonly string[]): string => `name: prod
kubernetes: { version: "1.36.3" }
${more}
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
${hosts.map((host) => `  - { ${host} }\n`).join('')}`;

const w1 = (more = ''): string => `name: w1, address: 10.0.0.21, role: worker${more}`;

const ofHosts = async (...args: Parameters<typeof text>) =>
  (await inventoryOf(text(...args))).hosts.map((host) => ('timeSync' in host ? host.timeSync : undefined));

const chrony = (...servers: readonly string[]) => ({ kind: 'chrony', servers });

describe('timeSync', () => {
  test('is left alone if the inventory says nothing', async () =>
    expect(await ofHosts('', w1())).toEqual([undefined, undefined]));

  test('the nearest wins as a whole: host, group, role, all', async () => {
    expect(
      await ofHosts(
        `timeSync: chrony
roles: { worker: { timeSync: { servers: [ntp1.example.com, 10.0.0.5, 10.0.0.5] } } }
groups: { site: { timeSync: { kind: chrony, servers: ["fd00::5"] } } }`,
        w1(),
        'name: w2, address: 10.0.0.22, role: worker, groups: [site]',
        'name: w3, address: 10.0.0.23, role: worker, groups: [site], timeSync: unmanaged',
      ),
    ).toEqual([chrony(), chrony('ntp1.example.com', '10.0.0.5'), chrony('fd00::5'), undefined]);
  });

  test.each([
    [
      'timeSync: { servers: ["ntp1; reboot"] }',
      /timeSync\.servers\[0\]: must be an IP address or a lower-case DNS name/,
    ],
    ['timeSync: ntpd', /timeSync: /],
    ['timeSync: { kind: unmanaged, servers: [10.0.0.5] }', /^3:\d+ timeSync\.servers: needs kind: chrony/],
    [
      'roles: { worker: { timeSync: { kind: unmanaged, servers: [10.0.0.5] } } }',
      /roles\.worker\.timeSync\.servers: needs kind: chrony/,
    ],
  ])('%s is refused at its place', async (setting, expected) => {
    expect((await problemsOf(text(setting, w1()))).join('\n')).toMatch(expected);
  });

  test('is refused for a host to which programs come as binaries, with the way', async () => {
    const [problem, ...more] = await problemsOf(text('timeSync: chrony', w1(', installFrom: binaries')));
    expect(more).toEqual([]);
    expect(problem).toMatch(
      /hosts\[1\]: timeSync: chrony is installed as a package, and "w1" has installFrom: binaries/,
    );
    expect(problem).toMatch(/systemctl enable --now systemd-timesyncd$/);
    expect(await problemsOf(text('timeSync: chrony', w1(', installFrom: binaries, timeSync: unmanaged')))).toEqual([]);
  });

  test('is refused for a Windows host of its own, and does not reach one from above', async () => {
    const win = (more: string) => `name: win1, address: 10.0.0.31, role: worker, os: windows${more}`;
    const flannel = 'network: { plugin: flannel }';
    expect(await problemsOf(text(flannel, win(', timeSync: chrony')))).toEqual([
      expect.stringContaining('hosts[1].timeSync: is of Linux hosts') as string,
    ]);
    expect(await problemsOf(text(`${flannel}\ntimeSync: chrony`, win('')))).toEqual([]);
  });
});
