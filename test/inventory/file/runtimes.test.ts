import { describe, expect, test } from 'vitest';
import { hasOwnRuntimes, runtimeFileOf } from '../../../src/inventory/file/levels.ts';
import { runtimeVersion } from '../../../src/inventory/file/rules/settings.ts';
import { inventoryOn } from '../../../src/inventory/hosts.ts';
import { type InventoryFile, inventorySchema } from '../../../src/inventory/schema/schema.ts';
import { runtimesInUse } from '../../../src/runtime/runtimes.value.ts';
import { inventory, linuxHost } from '../../fakes/inventory.ts';

const fileOf = (settings: object, worker: object = {}): InventoryFile =>
  inventorySchema.parse({
    name: 'demo',
    kubernetes: { version: '1.36.3' },
    hosts: [
      { name: 'cp1', address: '10.0.0.11', role: 'control-plane' },
      { name: 'w1', address: '10.0.0.21', role: 'worker', ...worker },
    ],
    ...settings,
  });

const runtimeOf = (file: InventoryFile, at: number) => runtimeFileOf(file, file.hosts[at]!);

describe('the runtime of a host', () => {
  test('is the nearest: its own, of its groups, of its role, of the inventory', () => {
    const groups = { edge: { runtime: { name: 'crio', version: '1.36.1' } } };
    const file = fileOf({ groups }, { groups: ['edge'], runtime: { version: '1.36.2' } });
    expect(runtimeOf(file, 0)).toMatchObject({ name: 'containerd' });
    expect(runtimeOf(file, 1)).toMatchObject({ name: 'crio', version: '1.36.2' });
    const byRole = fileOf({ roles: { worker: { runtime: { name: 'crio' } } } });
    expect([0, 1].map((at) => runtimeOf(byRole, at).name)).toEqual(['containerd', 'crio']);
  });

  test('of another name keeps what is said of SELinux, which is about the system', () => {
    const file = fileOf({ runtime: { selinux: true } }, { runtime: { name: 'crio' } });
    expect([0, 1].map((at) => runtimeOf(file, at).selinux)).toEqual([true, true]);
    const one = fileOf({ runtime: { selinux: true } }, { runtime: { selinux: false } });
    expect([0, 1].map((at) => runtimeOf(one, at).selinux)).toEqual([true, false]);
  });

  test('of another name takes only the cgroup driver and the registries of the others', () => {
    const registries = [{ host: 'registry.k8s.io', mirrors: ['http://10.0.0.1:5000'] }];
    const file = fileOf(
      { runtime: { version: '2.2.9', package: 'containerd', config: { a: 1 }, cgroupDriver: 'cgroupfs', registries } },
      { runtime: { name: 'crio' } },
    );
    expect(runtimeOf(file, 1)).toEqual({
      ...{ name: 'crio', cgroupDriver: 'cgroupfs', config: {}, handlers: {}, repository: { rpm: {} } },
      registries: [{ ...registries[0], mirrors: ['http://10.0.0.1:5000'] }],
    });
  });

  test('of the same name is merged with the farther ones', () => {
    const file = fileOf({ runtime: { version: '2.2.9', config: { a: 1, b: 1 } } }, { runtime: { config: { b: 2 } } });
    expect(runtimeOf(file, 1)).toMatchObject({ name: 'containerd', version: '2.2.9', config: { a: 1, b: 2 } });
  });

  test('is asked for only where some level says something', () => {
    expect(hasOwnRuntimes(fileOf({}))).toBe(false);
    expect(hasOwnRuntimes(fileOf({ groups: { unused: { runtime: { name: 'crio' } } } }))).toBe(false);
    expect(hasOwnRuntimes(fileOf({}, { runtime: { name: 'crio' } }))).toBe(true);
  });
});

test('a version that does not fit is reported where it stands', () => {
  const groups = { edge: { runtime: { name: 'crio', version: '1.35.1' } } };
  expect(runtimeVersion(fileOf({ groups }, { groups: ['edge'] }))).toMatchObject([
    { path: ['groups', 'edge', 'runtime', 'version'] },
  ]);
  const own = { runtime: { name: 'crio', version: '1.35.1' } };
  expect(runtimeVersion(fileOf({}, own))).toMatchObject([{ path: ['hosts', 1, 'runtime', 'version'] }]);
  expect(runtimeVersion(fileOf({ roles: { worker: own } }))).toMatchObject([
    { path: ['roles', 'worker', 'runtime', 'version'] },
  ]);
});

describe('the inventory on a host', () => {
  const { runtime } = inventory();
  const crio = { ...runtime, name: 'crio' } as const;
  const hosts = [linuxHost('cp1', { role: 'control-plane', runtime }), linuxHost('w1', { runtime: crio })];
  const mixed = inventory({ hosts });

  test('has the runtime of the host, and is one object for all that have it', () => {
    const [cp1, w1] = hosts as [(typeof hosts)[0], (typeof hosts)[0]];
    expect(inventoryOn(mixed, w1).runtime).toBe(crio);
    expect(inventoryOn(mixed, w1)).toBe(inventoryOn(mixed, { ...w1, name: 'w2' }));
    expect(inventoryOn(inventoryOn(mixed, w1), cp1).runtime).toBe(runtime);
    expect(runtimesInUse(mixed)).toEqual(['containerd', 'crio']);
  });

  test('is the inventory where no level names a runtime', () => {
    const plain = inventory();
    expect(inventoryOn(plain, plain.hosts[0]!)).toBe(plain);
  });
});
