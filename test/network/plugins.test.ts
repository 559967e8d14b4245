import { expect, test } from 'vitest';
import type { BuiltPlugin, UnbuiltPlugin } from '../../src/inventory/network-plugins.ts';
import { cilium } from '../../src/network/cilium.value.ts';
import type { NetworkPlugin } from '../../src/network/plugin.value.ts';
import { networkSteps } from '../../src/network/plugins.step.ts';
import { networkPlugins } from '../../src/network/plugins.value.ts';
import { ciliumNetwork } from '../fakes/network.ts';
import { inventory } from '../fakes/inventory.ts';

// The types say most of it: a directive that suppresses no error does not compile.

test('a list of network plugins that lacks one does not compile', () => {
  const listed = ['flannel', 'calico', 'none'] as const;
  const all: readonly BuiltPlugin[] = listed;
  // @ts-expect-error Calico is missing.
  const partial: { readonly [P in BuiltPlugin]: true } = { flannel: true, none: true };
  const built = networkPlugins.filter(({ isSupported }) => isSupported).map(({ name }) => name);
  expect(built.toSorted()).toEqual([...all].toSorted());
  expect(Object.keys(partial)).not.toContain('calico');
});

test('a plugin without steps cannot be marked as supported', () => {
  const name: UnbuiltPlugin = 'cilium';
  // @ts-expect-error It is supported once it has left UnbuiltPlugin, and then the lists lack it.
  const switchedOn: NetworkPlugin<'cilium'> = { ...cilium, isSupported: true };
  expect(switchedOn.name).toBe(name);
});

test('an inventory with a plugin without steps never becomes a cluster without a network', () => {
  expect(() => networkSteps(inventory({ network: ciliumNetwork() }))).toThrow(
    'kbuild cannot install cilium, and validate refuses it',
  );
});
