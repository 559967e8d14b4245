import { describe, expect, test } from 'vitest';
import { hooksHere, hooksOf } from '../../../src/inventory/file/host-settings.ts';
import { hooksMeanHosts } from '../../../src/inventory/file/rules/hosts.ts';
import { localSources } from '../../../src/inventory/file/sources.ts';
import { NO_HOOKS } from '../../../src/inventory/host-settings.ts';
import type { InventoryFile } from '../../../src/inventory/schema/schema.ts';
import { linuxHost, windowsHost } from '../../fakes/inventory.ts';

const here = hooksHere(localSources({ env: { PATH: process.env['PATH'] }, cwd: '/', reach: 'all' }));

describe('hooks of an inventory', () => {
  test('know their hosts by role, group and name; those on the host are for Linux hosts only', () => {
    const hosts = [
      linuxHost('cp1', { role: 'control-plane' }),
      linuxHost('w1', { groups: ['ceph'] }),
      windowsHost('win1'),
    ];
    const entry = { command: 'x', timeout: '90s' };
    const file = {
      hooks: {
        beforeChange: [{ ...entry, on: 'host', hosts: 'all' }],
        beforeDrain: [{ ...entry, on: 'operator', hosts: ['ceph', 'cp1'] }],
        afterUncordon: [{ ...entry, on: 'operator', hosts: 'worker' }],
        afterRun: [{ command: 'y', timeout: '1h' }],
      },
    } as unknown as InventoryFile;
    const { of } = hooksOf(file, hosts, NO_HOOKS.runHere);
    expect(of.beforeChange).toEqual([{ command: 'x', on: 'host', hosts: ['cp1', 'w1'], timeoutMs: 90_000 }]);
    expect(of.beforeDrain[0]!.hosts).toEqual(['cp1', 'w1']);
    expect(of.afterUncordon[0]!.hosts).toEqual(['w1', 'win1']);
    expect(of.afterRun).toEqual([{ command: 'y', on: 'operator', hosts: [], timeoutMs: 3_600_000 }]);
  });
});

test('a hook that means no host is refused, with the nearest name', () => {
  const hosts = [linuxHost('w1', { groups: ['ceph'] })];
  const file = {
    hosts,
    groups: { ceph: {} },
    hooks: { beforeChange: [], beforeDrain: [{ hosts: 'cepf' }, { hosts: ['w1', 'nosuch'] }], afterUncordon: [] },
  } as unknown as InventoryFile;
  const found = hooksMeanHosts(file).map(({ path, message }) => `${path.join('.')}: ${message}`);
  expect(found).toEqual([
    expect.stringMatching(/^hooks\.beforeDrain\.0\.hosts: no host is meant by "cepf".*did you mean "ceph"\?$/),
    expect.stringContaining('hooks.beforeDrain.1.hosts.1: no host is meant by "nosuch"'),
  ]);
});

describe('a command on this machine', () => {
  test('gets the variables, and fails with the last lines that it printed', async () => {
    await here('test "$KBUILD_HOST" = w1', { KBUILD_HOST: 'w1' }, 5000);
    await expect(here('echo one; echo two >&2; exit 3', {}, 5000)).rejects.toThrow(
      /^exit status 3\n(one\ntwo|two\none)$/,
    );
  });

  test('is ended with all that it has started', async () => {
    const from = performance.now();
    await expect(here('sleep 600 & sleep 600; true', {}, 300)).rejects.toThrow('no end within 0.3 s');
    expect(performance.now() - from).toBeLessThan(60_000);
  });

  test('is not run where no command may run', async () => {
    await expect(hooksHere(localSources({ env: {}, cwd: '/', reach: 'local' }))('true', {}, 1000)).rejects.toThrow(
      'no command may be run',
    );
  });
});
