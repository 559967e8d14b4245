import { describe, expect, test } from 'vitest';
import { type ClusterView, objectKey } from '../../src/cluster/fleet/view.ts';
import { unwantedObjects, wantedObjects } from '../../src/commands/objects.phases.ts';
import { stamped } from '../../src/engine/objects.ts';
import type { Step } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { flannelObjects } from '../../src/network/flannel.step.ts';
import { networkSteps, userManifests } from '../../src/network/plugins.step.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost } from '../fakes/cluster.ts';
import { flannelNetwork, noNetwork, withNetwork } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = withNetwork(inventoryOf(), flannelNetwork());
const [flannel] = networkSteps(inventory) as [Step<'cluster'>];
const target = (facts: ClusterView, of: Inventory = inventory) => ({
  inventory: of,
  host: cp1,
  facts,
  fleet: fleetIn(facts, joinedHost(cp1)),
});
/** Objects as the API returns them: with what it adds. */
const liveOf = (objects: readonly JsonObject[]) =>
  new Map<string, JsonObject>(
    objects.map((object) => {
      const made = stamped(object);
      const metadata = { ...(made['metadata'] as JsonObject), uid: 'x', resourceVersion: '7' };
      return [objectKey(object), { ...made, metadata, status: { observedGeneration: 1 } }] as const;
    }),
  );
const objects = flannelObjects(inventory);
const installed = clusterOf({ objects: liveOf(objects), owned: objects.map(objectKey) });
const summaries = (changes: readonly { readonly summary: string }[]) => changes.map(({ summary }) => summary);

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
};
const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' }, spec: { cpu: 1 } };
const withManifest = inventoryOf({ manifests: [{ source: '/srv/things.yaml', objects: [thing, crd] }] });

describe('flannel', () => {
  test('is planned before there is a cluster, and applied to an empty one', () => {
    expect(summaries(flannel.diff(target({ state: 'absent' })))).toEqual(['apply flannel v0.28.10 (found none)']);
    expect(summaries(flannel.diff(target(clusterOf())))).toEqual(['apply flannel v0.28.10 (found none)']);
  });

  test('that is there needs nothing, whatever the API added', () => {
    expect(flannel.diff(target(installed))).toEqual([]);
  });

  test('of which something is missing or was edited is applied again', () => {
    const live = new Map(installed.objects);
    live.delete('v1/ServiceAccount/kube-flannel/flannel');
    const config = live.get('v1/ConfigMap/kube-flannel/kube-flannel-cfg')!;
    live.set('v1/ConfigMap/kube-flannel/kube-flannel-cfg', { ...config, data: { 'net-conf.json': '{}' } });
    expect(summaries(flannel.diff(target({ ...installed, objects: live })))).toEqual([
      'apply flannel v0.28.10 (found ServiceAccount flannel missing; ConfigMap kube-flannel-cfg different)',
    ]);
  });

  test('waits for an API that does not answer', () => {
    const [change] = flannel.diff(target({ state: 'down', reason: 'connection refused' }));
    expect(change).toEqual({ summary: 'wait for the API server to answer (connection refused)' });
  });

  test('is applied server-side as kbuild, the record of what it owns first', async () => {
    const { on, sent } = recordingOn();
    await flannel.diff(target(clusterOf({ owned: ['v1/ConfigMap/default/old'] })))[0]!.apply!(on);
    expect(sent).toMatchObject([{ host: 'cp1', kind: 'run', title: 'engine/apply-objects.sh' }]);
    const { script } = sent[0] as { readonly script: string };
    expect(script).toContain('MANAGER=kbuild');
    const first = JSON.parse(/^FIRST='(.*)'$/m.exec(script)![1]!) as { readonly items: readonly JsonObject[] };
    expect(first.items[0]).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'kbuild', namespace: 'kube-system' } });
    const record = (first.items[0]!['data'] as { readonly objects: string }).objects.split('\n');
    expect(record).toContain('v1/ConfigMap/default/old');
    expect(record).toContain('apps/v1/DaemonSet/kube-flannel/kube-flannel-ds');
    expect(first.items).toHaveLength(1 + objects.length);
  });
});

describe('the user’s manifests', () => {
  test('are compared by what was applied: the API spells some values in another way', () => {
    const live = liveOf([thing, crd]);
    live.set(objectKey(thing), { ...live.get(objectKey(thing))!, spec: { cpu: '1' } });
    expect(userManifests.diff(target(clusterOf({ objects: live }), withManifest))).toEqual([]);
    const edited = inventoryOf({
      manifests: [{ source: 'things.yaml', objects: [{ ...thing, spec: { cpu: 2 } }, crd] }],
    });
    expect(summaries(userManifests.diff(target(clusterOf({ objects: live }), edited)))).toEqual([
      'apply things.yaml (found Thing one different)',
    ]);
  });

  test('CRDs come first and are waited for', async () => {
    const { on, sent } = recordingOn();
    await userManifests.diff(target(clusterOf(), withManifest))[0]!.apply!(on);
    const { script } = sent[0] as { readonly script: string };
    expect(script).toContain('CRDS=things.example.com\n');
    expect(/^FIRST=.*$/m.exec(script)![0]).not.toContain('"Thing"');
    expect(/^OBJECTS=.*$/m.exec(script)![0]).toContain('"Thing"');
  });

  describe('with the Job of a Helm hook', () => {
    const early = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'early', namespace: 'shop' } };
    const late = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late', namespace: 'shop' } };
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'migrate', namespace: 'shop', annotations: { 'helm.sh/hook': 'pre-install' } },
      spec: { template: {} },
    };
    const hooked = inventoryOf({ manifests: [{ source: 'chart shop', objects: [early, job, late] }] });
    const ended = (type: string) => {
      const live = liveOf([early, job, late]);
      const status = { conditions: type === '' ? [] : [{ type, status: 'True' }] };
      return live.set(objectKey(job), { ...live.get(objectKey(job))!, status });
    };
    const changesAt = (live: ReturnType<typeof liveOf>, owned = [objectKey(job)]) =>
      userManifests.diff(target(clusterOf({ objects: live, owned }), hooked));
    const scriptsAt = async (live: ReturnType<typeof liveOf>, owned?: string[]): Promise<readonly string[]> => {
      const { on, sent } = recordingOn();
      await changesAt(live, owned)[0]!.apply!(on);
      return sent.map((one) => (one as { readonly script: string }).script);
    };

    test('what follows is applied after the Job has completed', async () => {
      const [before, run, after] = await scriptsAt(new Map());
      expect(/^FIRST=.*$/m.exec(before!)![0]).toContain('"early"');
      expect(/^FIRST=.*$/m.exec(before!)![0]).not.toContain('"kind":"Job"');
      expect(run).toContain("NAMESPACE=shop\nNAME=migrate\nLIMIT=300\nREPLACED=''");
      expect(/^FIRST=.*$/m.exec(after!)![0]).toContain('"late"');
    });

    test('a Job that has completed needs nothing, and is not run again for the sake of others', async () => {
      expect(changesAt(ended('Complete'))).toEqual([]);
      const live = ended('Complete');
      live.delete(objectKey(late));
      expect(await scriptsAt(live)).toHaveLength(2);
    });

    test.each([
      ['Failed', 'failed', 'yes'],
      ['', 'unfinished', "''"],
    ])('a Job with the condition %j is due: %s; deleted before: %s', async (type, word, replaced) => {
      expect(summaries(changesAt(ended(type)))).toEqual([`apply chart shop (found Job migrate ${word})`]);
      expect((await scriptsAt(ended(type)))[1]).toContain(`REPLACED=${replaced}`);
    });

    test('a Job that differs is deleted first: Kubernetes changes none', async () => {
      const live = ended('Complete');
      live.set(objectKey(job), liveOf([{ ...job, spec: { template: { spec: {} } } }]).get(objectKey(job))!);
      expect((await scriptsAt(live))[1]).toContain('REPLACED=yes');
    });

    test('a Job of that name that kbuild did not make is never deleted', async () => {
      const live = ended('Failed');
      live.set(objectKey(job), liveOf([{ ...job, spec: { template: { spec: {} } } }]).get(objectKey(job))!);
      expect((await scriptsAt(live, []))[1]).toContain("REPLACED=''");
    });
  });

  test('an inventory without manifests applies nothing', () => {
    expect(userManifests.diff(target(clusterOf()))).toEqual([]);
  });
});

describe('what the inventory no longer names', () => {
  const owned = [
    ...wantedObjects(withManifest),
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'a' } },
  ].map(objectKey);

  test('is deleted; what may hold objects of others is only let go', async () => {
    const [change] = unwantedObjects.diff(target(clusterOf({ owned })));
    expect(change!.summary).toBe(
      'delete Thing one, Secret s (not in the inventory any more); no longer manage CustomResourceDefinition things.example.com (it may hold objects of others)',
    );
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    const { script } = sent[0] as { readonly script: string };
    const deleted = JSON.parse(/^OBJECTS='(.*)'$/m.exec(script)![1]!) as { readonly items: readonly JsonObject[] };
    expect(deleted.items).toEqual([
      { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'one' } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'a' } },
    ]);
  });

  test('is nothing in a converged cluster, and nothing while it cannot be seen', () => {
    expect(unwantedObjects.diff(target(installed))).toEqual([]);
    expect(unwantedObjects.diff(target({ state: 'absent' }))).toEqual([]);
  });

  test('with the plugin gone, its own namespace goes too', () => {
    const none = inventoryOf({ network: noNetwork });
    expect(summaries(unwantedObjects.diff(target(installed, none)))[0]).toContain('Namespace kube-flannel');
  });

  test('a namespace of the plugin stays while it holds objects of the user’s manifests', () => {
    const users = flannelObjects(inventory).filter(({ kind }) => kind === 'DaemonSet');
    const own = inventoryOf({ network: noNetwork, manifests: [{ source: 'kube-flannel.yml', objects: users }] });
    const [change] = summaries(unwantedObjects.diff(target(installed, own)));
    expect(change).toContain('no longer manage Namespace kube-flannel');
    expect(change).not.toMatch(/delete [^;]*Namespace/);
  });
});

describe('plan --diff', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'a' },
    stringData: { key: 'k1' },
  };
  const scaled = { ...thing, spec: { cpu: 2 } };
  const inventory = inventoryOf({ manifests: [{ source: 'x.yaml', objects: [scaled, secret, crd] }] });
  const previewOf = async (live: readonly JsonObject[]): Promise<string> => {
    const [change] = userManifests.diff(target(clusterOf({ objects: liveOf(live) }), inventory));
    return change!.preview!(recordingOn().on);
  };

  test('shows what changes in an object, and nothing of those that stay', async () => {
    expect(await previewOf([thing, secret, crd])).toMatchInlineSnapshot(`
      "Thing one
            app.kubernetes.io/managed-by: kbuild
        spec:
      -   cpu: 1
      +   cpu: 2"
    `);
  });

  test('shows new objects, and no value of a Secret', async () => {
    const shown = await previewOf([scaled, { ...secret, stringData: { key: 'k0' } }]);
    expect(shown).toContain('CustomResourceDefinition things.example.com (new)\n+ apiVersion: apiextensions.k8s.io/v1');
    expect(shown).toContain('-   key: (hidden, old)\n+   key: (hidden, new)');
    expect(shown).not.toMatch(/k[01]/);
  });
});
