import { expect, test } from 'vitest';
import type { RegistrySettings } from '../../src/inventory/inventory.ts';
import { registryServer, registrySettings } from '../../src/runtime/registries.value.ts';

const settings = (host: string, ...mirrors: readonly string[]): RegistrySettings => ({ host, mirrors });

test.each([
  [
    'its own, wherever they stand',
    [settings('_default', 'https://all'), settings('ghcr.io', 'https://own')],
    'https://own',
  ],
  ['its own also where they have no mirror', [settings('_default', 'https://all'), settings('ghcr.io')], undefined],
  [
    'else those of all others',
    [settings('docker.io', 'https://hub'), settings('_default', 'https://all')],
    'https://all',
  ],
  ['else none', [settings('docker.io', 'https://hub')], undefined],
])('the settings of a registry: %s', (_, registries, mirror) => {
  expect(registrySettings({ registries }, 'ghcr.io')?.mirrors[0]).toBe(mirror);
});

test('Docker Hub’s API has another host name than its images', () => {
  expect(registryServer('docker.io')).toBe('registry-1.docker.io');
  expect(registryServer('ghcr.io')).toBe('ghcr.io');
});
