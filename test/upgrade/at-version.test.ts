import { describe, expect, test } from 'vitest';
import type { Gathered } from '../../src/inventory/file/gather.ts';
import { resolved } from '../../src/inventory/file/resolve.ts';
import { inventoryOn } from '../../src/inventory/hosts.ts';
import { inventorySchema } from '../../src/inventory/schema/schema.ts';
import { atVersion } from '../../src/upgrade/at-version.value.ts';

const keys = { deb: { content: 'a' }, rpm: { content: 'b' } };
const inventoryWith = (runtime: object) =>
  resolved(
    inventorySchema.parse({
      name: 'demo',
      kubernetes: { version: '1.37.1' },
      hosts: [
        { name: 'cp1', address: '10.0.0.11', role: 'control-plane' },
        { name: 'w1', address: '10.0.0.21', role: 'worker', runtime: { name: 'crio', ...runtime } },
        { name: 'w2', address: '10.0.0.22', role: 'worker', runtime: { name: 'crio', ...runtime } },
      ],
    }),
    {
      ...{ ssh: [{}, {}, {}], registryCas: [], registryPasswords: [], files: [], kubernetesKey: keys },
      ...{ runtimeKeys: new Map() },
    } as unknown as Gathered,
    '/inventory.yaml',
    (path) => path,
  );
const at = (inventory: ReturnType<typeof inventoryWith>, host: number) =>
  inventoryOn(inventory, inventory.hosts[host]!).runtime;

describe('an inventory at another version', () => {
  test('has that minor’s repositories of Kubernetes, for packages of both formats', () => {
    const { repository } = atVersion(inventoryWith({}), '1.36.3').kubernetes;
    expect([repository.url, repository.rpm.url].every((url) => url.includes('v1.36'))).toBe(true);
  });

  test('has the repositories and the default version of a host’s own runtime at that minor', () => {
    const inventory = inventoryWith({});
    expect(at(inventory, 1)).toMatchObject({ name: 'crio', version: expect.stringMatching(/^1\.37\./) as string });
    const older = atVersion(inventory, '1.36.3');
    const { version, repository } = at(older, 1);
    expect(version).toMatch(/^1\.36\./);
    expect([repository.url, repository.rpm.url].every((url) => url.includes('v1.36'))).toBe(true);
    expect(at(older, 2)).toBe(at(older, 1));
    expect(at(older, 0)).toEqual(older.runtime);
  });

  test('keeps a version of the runtime that the inventory names', () => {
    expect(at(atVersion(inventoryWith({ version: '1.37.0' }), '1.36.3'), 1).version).toBe('1.37.0');
  });
});
