import { expect, test } from 'vitest';
import { missingDownloads, upgradeDownloads } from '../../src/commands/upgrade-plan.ts';
import type { Run } from '../../src/session/run.ts';
import { fleet as fleetOf } from '../fakes/fleet.ts';
import { hosts, inventory } from '../fakes/inventory.ts';

const about = inventory({ kubernetes: { version: '1.37.1' } });
const fleet = fleetOf({ inventory: about });
const hops = [{ from: '1.35.8', version: '1.36.3' }, { version: '1.37.1' }];
const names = new Set(hosts.map(({ name }) => name));

test('one host of each kind is asked, for what every hop needs', () => {
  const asked = upgradeDownloads(about, fleet, hops, names);
  const roles = asked.map(({ host }) => host.role);
  expect(new Set(roles).size).toBe(roles.length);
  const control = asked.find(({ host }) => host.role === 'control-plane')!;
  const of = (kind: string) => control.wanted.filter((one) => one.kind === kind).map(({ what }) => what);
  expect(of('packages')).toEqual(expect.arrayContaining(['Kubernetes 1.36.3', 'Kubernetes 1.37.1']));
  expect(of('image')).toEqual(
    expect.arrayContaining(['registry.k8s.io/kube-apiserver:v1.36.3', 'registry.k8s.io/kube-apiserver:v1.37.1']),
  );
  expect(new Set(of('image')).size).toBe(of('image').length);
  expect(upgradeDownloads(about, fleet, hops, new Set())).toEqual([]);
});

/** What the plan says where every host answers in this way. */
const missing = (answer: (script: string) => Promise<string>) => {
  const on = () => ({ run: ({ script }: { readonly script: string }) => answer(script) });
  const connected = { on, observations: { fleet: () => fleet } };
  return missingDownloads({ connected, inventory: about } as unknown as Run, hops, names);
};

test('what is missing stands in the plan, and what could not be asked for is unknown', async () => {
  const { text, found } = await missing((script) =>
    Promise.resolve(
      [...script.matchAll(/^(?:WANTED=')?(repository|packages|key|image|tags) \S+ (.+?)'?$/gm)]
        .flatMap(([, kind, urls]) =>
          urls!.split(' ').map((url) => `${kind!} ${url} ${url.includes('v1.36.3') ? 'missing' : 'there'}`),
        )
        .join('\n'),
    ),
  );
  expect(text).toMatch(/^Downloads, by one host of each kind\n/);
  expect(text).toContain('✖ cp1: cannot get registry.k8s.io/kube-apiserver:v1.36.3: ');
  const images = found.filter((one) => !one.includes('signing key'));
  expect(images.length).toBeGreaterThan(3);
  expect(images.every((one) => one.includes('1.36.3'))).toBe(true);
  const failed = await missing(() => Promise.reject(new Error('the connection broke')));
  expect(failed.text).toContain('? unknown: ');
});

test('a plan says nothing where everything is there', async () => {
  const none = await missing((script) =>
    Promise.resolve(
      [...script.matchAll(/^(?:WANTED=')?(repository|packages|image|tags) \S+ (.+?)'?$/gm)]
        .flatMap(([, kind, urls]) => urls!.split(' ').map((url) => `${kind!} ${url} there`))
        .join('\n'),
    ),
  );
  expect(none.found.filter((one) => !one.includes('key'))).toEqual([]);
});
