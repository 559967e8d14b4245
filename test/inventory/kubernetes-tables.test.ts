import { beforeEach, expect, test, vi } from 'vitest';
import { mismatches, unknownField } from '../../src/kubeadm/typed.value.ts';
import { knownVersion } from '../../src/kubeadm/tables.value.ts';
import * as templates from '../../src/templates.ts';

vi.mock('../../src/templates.ts', async (original) => {
  const real = await original<typeof templates>();
  return { ...real, table: vi.fn(real.table) };
});

const HOSTS = `name: prod
kubernetes: { version: "1.36.3" }
hosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]
`;

beforeEach(() => {
  vi.resetModules();
  vi.mocked(templates.table).mockClear();
});

test('the tables are read for an inventory that overrides something, and for no other', async () => {
  const { load } = await import('./load.ts');
  const fresh = await import('../../src/templates.ts');
  vi.mocked(fresh.table).mockClear();
  await load(HOSTS);
  expect(fresh.table).not.toHaveBeenCalled();
  await load(`${HOSTS}kubelet: { config: { maxPods: 100 } }\n`);
  expect(fresh.table).toHaveBeenCalledTimes(1);
});

test('a minor that is newer than the tables is compared with the newest of them, and not for sure', () => {
  expect(knownVersion('1.99.0')).toMatchObject({ isSure: false });
  expect(knownVersion('1.36.0')).toEqual({ minor: 36, source: '1.36.3', isSure: true });
});

test('a field that a later minor brings is named with it', () => {
  expect(unknownField('KubeletConfiguration', 'memoryReservationPolicy', 35)).toMatch(/from Kubernetes 1\.36 on/);
  expect(mismatches({ memoryReservationPolicy: 'None' }, 'KubeletConfiguration', 36)).toEqual([]);
});
