// @module-tag linux
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sysctls as probe, sysctlSettings } from '../../src/host/kernel.facts.ts';
import { sysctls } from '../../src/host/kernel.step.ts';
import { REQUIRED_SYSCTLS, sysctlFile } from '../../src/host/kernel.value.ts';
import { prepareBalancer } from '../../src/host/prepare.phases.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { fileWith } from '../fakes/files.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const REQUIRED = `# Written by kbuild.
net.bridge.bridge-nf-call-iptables = 1
net.bridge.bridge-nf-call-ip6tables = 1
net.ipv4.ip_forward = 1
`;

const on = (overrides: Partial<LinuxHost>, facts: FactOverrides) =>
  target({ sysctls: REQUIRED_SYSCTLS, ...facts }, { inventory: inventory({ hosts: [linuxHost('w1', overrides)] }) });
const written = (content: string) => ({ files: new Map([[paths.sysctl, fileWith(content)]]) });
const summaries = (...args: Parameters<typeof on>) => sysctls.diff(on(...args)).map(({ summary }) => summary);

const MAPS = { 'vm.max_map_count': '262144' };

describe('kernel settings of the inventory', () => {
  test('stand in the file after the required ones, and are set', async () => {
    const changes = sysctls.diff(
      on({ sysctls: MAPS }, { ...written(REQUIRED), sysctls: { ...REQUIRED_SYSCTLS, 'vm.max_map_count': '65530' } }),
    );
    expect(changes.map(({ summary }) => summary)).toEqual([
      `write ${paths.sysctl} (content differs)`,
      'set vm.max_map_count=262144 (found 65530)',
    ]);
    const { on: recording, sent } = recordingOn();
    for (const { apply } of changes) await apply!(recording);
    expect(sent[0]).toMatchObject({ content: `${REQUIRED}vm.max_map_count = 262144\n` });
  });

  test('hold where the file and the kernel have them', () =>
    expect(
      summaries(
        { sysctls: MAPS },
        {
          ...written(`${REQUIRED}vm.max_map_count = 262144\n`),
          sysctls: { ...REQUIRED_SYSCTLS, ...MAPS },
        },
      ),
    ).toEqual([]));

  test('that were changed on the host are set again', () =>
    expect(
      summaries(
        { sysctls: MAPS },
        {
          ...written(`${REQUIRED}vm.max_map_count = 262144\n`),
          sysctls: { ...REQUIRED_SYSCTLS, 'vm.max_map_count': '1' },
        },
      ),
    ).toEqual(['set vm.max_map_count=262144 (found 1)']));

  test('that the inventory no longer has leave the file; the summary says what the kernel keeps', () =>
    expect(
      summaries(
        {},
        {
          ...written(`${REQUIRED}vm.max_map_count = 262144\n`),
          sysctlSettings: [
            { file: paths.sysctl, name: 'net.ipv4.ip_forward', value: '1' },
            { file: paths.sysctl, name: 'vm.max_map_count', value: '262144' },
          ],
        },
      ),
    ).toEqual([`write ${paths.sysctl} (content differs); the kernel keeps vm.max_map_count until the next boot`]));

  test.each(['absent', 'unreadable'])(
    'that are %s in the kernel are written and not tried again by every run',
    (found) =>
      expect(
        summaries(
          { sysctls: MAPS },
          {
            ...written(`${REQUIRED}vm.max_map_count = 262144\n`),
            sysctls: { ...REQUIRED_SYSCTLS, 'vm.max_map_count': found },
          },
        ),
      ).toEqual([]),
  );

  test('reach a host that is only a load balancer, without those of Services', () => {
    expect(prepareBalancer).toContain(sysctls);
    const balancer = { role: 'load-balancer' } as const;
    expect(summaries(balancer, { sysctls: {} })).toEqual([]);
    expect(summaries({ ...balancer, sysctls: MAPS }, { sysctls: { 'vm.max_map_count': '1' } })).toEqual([
      `write ${paths.sysctl} (found none)`,
      'set vm.max_map_count=262144 (found 1)',
    ]);
    expect(summaries(balancer, { ...written('old'), sysctls: {} })).toEqual([`remove ${paths.sysctl}`]);
  });
});

describe('the probe of kernel settings', () => {
  test('reads this kernel: several numbers, a missing setting, a folder', () => {
    const host = linuxHost('w1', {
      role: 'load-balancer',
      sysctls: {
        'kernel.ostype': 'Linux',
        'net.ipv4.ip_local_port_range': '1 2',
        'vm.none': '1',
        'net.ipv4.conf': '1',
      },
    });
    const { command, parse } = probe(host);
    const out = execFileSync('sh', ['-euc', command.script], { encoding: 'utf8' });
    expect(parse(out, { middleMs: 0 })).toEqual({
      'kernel.ostype': 'Linux',
      'net.ipv4.ip_local_port_range': readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8')
        .trim()
        .replaceAll('\t', ' '),
      'vm.none': 'absent',
      'net.ipv4.conf': 'unreadable',
    });
  });

  test('fails when a setting is missing in its output: unknown is not absent', () => {
    const { parse } = probe(linuxHost('w1', { sysctls: MAPS }));
    expect(() => parse('net.ipv4.ip_forward 1\n', { middleMs: 0 })).toThrow('was not read');
  });

  test('finds the file of a setting of an interface with a dot', () =>
    expect(sysctlFile('net.ipv4.conf.eth0/5.rp_filter')).toBe('/proc/sys/net/ipv4/conf/eth0.5/rp_filter'));
});

describe('the probe of files with kernel settings', () => {
  const { parse, command } = sysctlSettings(
    linuxHost('w1', { sysctls: { ...MAPS, 'net.ipv4.conf.eth0/5.rp_filter': '0', 'net.ipv4.tcp_rmem': '1 2 3' } }),
  );
  const settings = (out: string) => parse(out, { middleMs: 0 });

  test('reads every way to write a name, values of several words, and all of kbuild’s file', () =>
    expect(
      settings(`/etc/sysctl.d/a.conf:vm/max_map_count=1
/etc/sysctl.d/a.conf:net/ipv4/conf/eth0.5/rp_filter = 1
/etc/sysctl.d/a.conf:-net.ipv4.tcp_rmem =  4096\t131072 6291456
/etc/sysctl.d/a.conf:vm.swappiness = 1
/etc/sysctl.d/a.conf:# vm.max_map_count = 2
${paths.sysctl}:vm.swappiness = 1
`),
    ).toEqual([
      { file: '/etc/sysctl.d/a.conf', name: 'vm.max_map_count', value: '1' },
      { file: '/etc/sysctl.d/a.conf', name: 'net.ipv4.conf.eth0/5.rp_filter', value: '1' },
      { file: '/etc/sysctl.d/a.conf', name: 'net.ipv4.tcp_rmem', value: '4096 131072 6291456' },
      { file: paths.sysctl, name: 'vm.swappiness', value: '1' },
    ]));

  test('ends well where there are no such files', () =>
    expect(() => execFileSync('sh', ['-euc', command.script.replaceAll('/sysctl.d/', '/none.d/')])).not.toThrow());
});
