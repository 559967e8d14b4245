import { describe, expect, test } from 'vitest';
import { networkManager } from '../../src/host/network-manager.step.ts';
import { prepare, prepareBalancer } from '../../src/host/prepare.phases.ts';
import type { ServiceState } from '../../src/host/services.facts.ts';
import { paths } from '../../src/paths.ts';
import { sha256Of } from '../../src/shell/secret.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { fileWith } from '../fakes/files.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const FLANNEL = `# Written by kbuild: NetworkManager leaves the network interfaces of pods alone.
[keyfile]
unmanaged-devices+=interface-name:cni0;interface-name:flannel*;interface-name:veth*;interface-name:kube-ipvs0;interface-name:nodelocaldns
`;

const STARTED = Date.parse('2026-11-01T00:00:00Z');
const running: ServiceState = {
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs: STARTED,
  needsDaemonReload: false,
};
const inv = inventory({ hosts: [linuxHost('w1')] });
const with_ = (state: Partial<ServiceState>, facts: FactOverrides = {}) =>
  target({ services: new Map([['NetworkManager', { ...running, ...state }]]), ...facts }, { inventory: inv });
const summaries = (...args: Parameters<typeof with_>) =>
  networkManager.diff(with_(...args)).map(({ summary }) => summary);
const settings = (content: string, mtimeMs: number) => ({
  files: new Map([[paths.networkManager, { ...fileWith(content), mtimeMs }]]),
});

describe('a host on which NetworkManager runs', () => {
  test('gets settings by which it leaves the interfaces of pods alone, and NetworkManager reads them', async () => {
    const changes = networkManager.diff(with_({}));
    expect(changes.map(({ summary }) => summary)).toEqual([
      `write ${paths.networkManager} (found none)`,
      'reload NetworkManager (what it uses changes)',
    ]);
    const { on, sent } = recordingOn();
    for (const { apply } of changes) await apply!(on);
    expect(sent[0]).toMatchObject({ content: FLANNEL });
    expect(JSON.stringify(sent[1])).toContain('ACTION=reload');
  });

  test('is never restarted: that would take its own connections down', () =>
    expect(networkManager.diff(with_({})).filter(({ disrupts }) => disrupts === true)).toEqual([]));

  test('is left alone once it has read them', () => expect(summaries({}, settings(FLANNEL, STARTED - 1))).toEqual([]));

  test('reads settings that a run wrote before it was interrupted', () => {
    const facts = settings(FLANNEL, STARTED + 1);
    expect(summaries({}, facts)).toEqual([`reload NetworkManager (${paths.networkManager} is newer)`]);
    const applied = new Map([['NetworkManager', sha256Of(`${sha256Of(FLANNEL)}\n`)]]);
    expect(summaries({}, { ...facts, applied })).toEqual([]);
  });
});

test.each([
  ['not installed', { load: 'not-found', active: 'inactive', enabled: '' }],
  ['installed and off', { active: 'inactive', enabled: 'disabled' }],
  ['started by hand, which kbuild does not make permanent', { enabled: 'disabled' }],
])('a host where NetworkManager is %s gets nothing', (_, state) => expect(summaries(state)).toEqual([]));

test('it is done before the network plugin makes an interface, and not on load balancers', () => {
  expect(prepare).toContain(networkManager);
  expect(prepareBalancer).not.toContain(networkManager);
});
