// @module-tag linux
/** What the probes of tuned and of locked releases make of a system's files. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tunedSettings } from '../../src/host/kernel.facts.ts';
import { releaseLocks } from '../../src/host/packages/dnf.value.ts';
import type { Probe } from '../../src/shell/probe.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kbuild-rhel-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** What a probe says of a system with these files. */
function observed<T>({ command, parse }: Probe<T>, files: Readonly<Record<string, string>>): T {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  expect(command.script).toContain("ROOT=''\n");
  const text = command.script.replace("ROOT=''\n", `ROOT='${root}'\n`);
  const { stdout, stderr, status } = spawnSync('sh', ['-eu', '-c', text], { encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return parse(stdout, { beganMs: 0, endedMs: 0 } as never);
}

// As tuned ships them, in short.
const PROFILES = {
  'etc/tuned/active_profile': 'virtual-guest\n',
  'usr/lib/tuned/virtual-guest/tuned.conf':
    '[main]\nsummary=Virtual\ninclude=throughput-performance\n\n[sysctl]\n# said above\nvm.dirty_ratio = 30 # in percent\nvm.swappiness = 30\n',
  'usr/lib/tuned/throughput-performance/tuned.conf': [
    '[main]\nsummary=Fast\n[cpu]\ngovernor=performance\n[sysctl]\nvm.swappiness=10\n#kernel.pid_max = 65536\nnet.core.somaxconn=>2048',
    '[sysctl.thunderx]\ntype=sysctl\nuname_regex=aarch64\nkernel.numa_balancing=0\n[vm]\ntransparent_hugepages=never\n',
  ].join('\n'),
};
const GUEST = '/usr/lib/tuned/virtual-guest/tuned.conf';
const FAST = '/usr/lib/tuned/throughput-performance/tuned.conf';

describe('tuned', () => {
  test('writes only /etc/sysctl.conf last, unless its configuration says otherwise', () => {
    const files = { ...PROFILES, 'etc/sysctl.conf': '# mine\n; too\nnet.ipv4.ip_forward = 0\nvm.swappiness=1\n' };
    const expected = [
      { file: '/etc/sysctl.conf', name: 'net.ipv4.ip_forward', value: '0' },
      { file: '/etc/sysctl.conf', name: 'vm.swappiness', value: '1' },
    ];
    expect(observed(tunedSettings, files)).toEqual(expected);
    expect(observed(tunedSettings, { 'etc/tuned/tuned-main.conf': 'daemon = 1\nreapply_sysctl = 1\n' })).toEqual(
      expected,
    );
  });

  test.each(['reapply_sysctl = 0', 'reapply_sysctl=False'])(
    'wins by its profile with %s, and a profile wins over those that it includes',
    (line) => {
      const files = { ...PROFILES, 'etc/sysctl.conf': 'a.b=1\n', 'etc/tuned/tuned-main.conf': `# main\n${line}\n` };
      expect(observed(tunedSettings, files)).toEqual([
        { file: GUEST, name: 'vm.swappiness', value: '30' },
        { file: FAST, name: 'net.core.somaxconn', value: '>2048' },
        { file: FAST, name: 'kernel.numa_balancing', value: '0' },
        { file: GUEST, name: 'vm.dirty_ratio', value: '30' },
      ]);
    },
  );

  test('says nothing on a host without it', () =>
    expect(observed(tunedSettings, { 'etc/sysctl.conf': 'net.ipv4.ip_forward=0\n' })).toEqual([]));

  test('ends at profiles that include each other', () => {
    const profile = (other: string): string => `[main]\ninclude=${other}\n[sysctl]\nvm.swappiness=1\n`;
    expect(
      observed(tunedSettings, {
        'etc/tuned/tuned-main.conf': 'reapply_sysctl = 0\n',
        'etc/tuned/active_profile': 'one\n',
        'etc/tuned/one/tuned.conf': profile('two'),
        'etc/tuned/profiles/two/tuned.conf': profile('one'),
      }),
    ).toEqual([expect.objectContaining({ name: 'vm.swappiness', value: '1' })]);
  });
});

describe('a release to which repositories are held', () => {
  test('is that of a file or of the subscription manager', () =>
    expect(
      observed(releaseLocks, {
        'etc/dnf/vars/releasever': '9.4\n',
        'etc/yum/vars/releasever': '9.2',
        'var/lib/rhsm/cache/releasever.json': '{"releaseVer": "9.6"}',
      }),
    ).toEqual([
      { release: '9.4', by: '/etc/dnf/vars/releasever' },
      { release: '9.2', by: '/etc/yum/vars/releasever' },
      { release: '9.6', by: 'subscription-manager release --set' },
    ]));

  test('is none where nothing says one', () => {
    expect(observed(releaseLocks, {})).toEqual([]);
    expect(
      observed(releaseLocks, {
        'etc/dnf/vars/releasever': '\n',
        'var/lib/rhsm/cache/releasever.json': '{"releaseVer": null}',
      }),
    ).toEqual([]);
  });
});
