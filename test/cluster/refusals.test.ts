import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { spkiFingerprint } from '../../src/certificates/fingerprint.value.ts';
import type { ClusterUp } from '../../src/cluster/fleet/view.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { FactError } from '../../src/errors.ts';
import type { Cilium } from '../../src/inventory/network-plugins.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { Secret } from '../../src/shell/secret.ts';
import {
  CA,
  clusterOf,
  cp1,
  cp2,
  factsOf,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  nodeOf,
  nodesOf,
  OTHER_CA,
  podOf,
  w1,
} from '../fakes/cluster.ts';
import { calicoNetwork, ciliumNetwork, noNetwork } from '../fakes/network.ts';

const inventory = inventoryOf();
const live = clusterOf({ nodes: nodesOf(cp1, w1) });
const converged = fleetIn(live, joinedHost(cp1), joinedHost(w1));
const empty = fleetOf(freshHost(cp1), freshHost(w1));
const messages = (...args: Parameters<typeof refusals>) => refusals(...args).map(({ message }) => message);

test('an empty and a converged fleet are accepted', () => {
  expect(messages(inventory, empty)).toEqual([]);
  expect(messages(inventory, converged)).toEqual([]);
});

test('each refusal has a remedy and exit code 7', () => {
  const fleet = fleetIn(live, joinedHost(cp1), joinedHost(cp2, { caFingerprint: OTHER_CA }));
  for (const refused of refusals(inventory, fleet)) {
    expect(refused.exitCode).toBe(7);
    expect(refused.remedy).not.toBe('');
  }
  expect(messages(inventory, fleet)).toEqual([
    'demo: refused: the hosts belong to 2 clusters, by the public keys of their CAs (cp1: sha256:aaaaaaaaaaaa…; cp2: sha256:bbbbbbbbbbbb…)',
  ]);
});

describe('a control plane that would join in the middle of an upgrade', () => {
  const grown = inventoryOf({ hosts: [cp1, cp2, w1] });
  const apiServer = (version: string) =>
    podOf({
      name: 'kube-apiserver-cp1',
      labels: { component: 'kube-apiserver' },
      images: [`registry.k8s.io/kube-apiserver:v${version}`],
    });
  const reasons = (cluster: ClusterUp, facts = {}) =>
    refusals(grown, fleetIn(cluster, joinedHost(cp1, facts), freshHost(cp2), joinedHost(w1)))
      .filter(({ message }) => message.includes('in the middle of an upgrade'))
      .map(({ message, remedy }) => `${message} -> ${remedy ?? ''}`);
  const marker = { cluster: 'demo', action: 'upgrade', job: 'x', stage: 'begun', about: '1.36.3' };

  test('is refused while API servers, and what kubeadm noted, differ', () => {
    expect(reasons(clusterOf({ ...live, version: '1.36.3', pods: [apiServer('1.35.8')] }))).toEqual([
      'cp2: refused: no control plane joins in the middle of an upgrade (1.35.8 on cp1; kubeadm noted 1.36.3) -> finish the upgrade first: `kbuild upgrade` with kubernetes.version 1.36.3; then run the same command again',
    ]);
  });

  test('keeps no command from the cluster that joins none: the upgrade can be finished', () => {
    const cluster = clusterOf({ ...live, version: '1.36.3', pods: [apiServer('1.35.8')] });
    const fleet = fleetIn(cluster, joinedHost(cp1), freshHost(cp2), joinedHost(w1));
    expect(refusals(grown, fleet, undefined, 'joins none')).toEqual([]);
  });

  test('is refused while kubeadm has not ended an upgrade on another one', () => {
    const cluster = clusterOf({ ...live, version: '1.36.3', pods: [apiServer('1.36.3')] });
    expect(reasons(cluster, { marker })).toEqual([
      expect.stringContaining('(an upgrade to 1.36.3 was cut off on cp1) -> finish the upgrade first'),
    ]);
    expect(reasons(cluster)).toEqual([]);
  });
});

describe('refused', () => {
  test('a cluster of another name', () => {
    const facts = joinedControlPlane({ kubeconfigCluster: { name: 'prod', server: '' } });
    expect(messages(inventory, fleetIn(clusterOf({ name: 'prod' }), [cp1, facts], freshHost(w1)))).toContain(
      'cp1: refused: it belongs to the cluster "prod", this inventory is "demo"',
    );
  });

  test('leftovers without a marker on a control plane', () => {
    const facts = factsOf({ kubernetesTraces: new Set(['/var/lib/etcd/member']) });
    const fleet = fleetOf([cp1, facts], freshHost(w1));
    expect(messages(inventory, fleet)).toContain(
      'cp1: refused: it holds leftovers of a cluster that kbuild does not know (/var/lib/etcd/member)',
    );
    expect(refusals(inventory, fleet)[0]!.remedy).toBe(
      'take cp1 out of the inventory, or, if no cluster needs what is on it, clean it with `kbuild reset --hosts cp1`; it deletes the etcd data in /var/lib/etcd: copy that folder first if a cluster may need it',
    );
  });

  test('the live cluster, if it has another name', () => {
    expect(messages(inventory, { ...converged, cluster: { ...live, name: 'prod' } })).toEqual([
      'demo: refused: the cluster that answers on cp1 is called "prod", this inventory is "demo"',
    ]);
  });

  test('a Kubernetes version older than the live one', () => {
    const older = inventoryOf({ kubernetes: { ...inventory.kubernetes, version: '1.35.8' } });
    const [refused] = refusals(older, converged);
    expect(refused!.message).toBe(
      'demo: refused: kubernetes.version is 1.35.8, the cluster runs 1.36.3, and Kubernetes has no way back',
    );
    expect(refused!.remedy).toBe('set kubernetes.version to 1.36.3, or to a newer version for `kbuild upgrade`');
  });

  test.each([
    ['network.podSubnet', { network: { ...inventory.network, podSubnet: '10.200.0.0/16' } }],
    ['network.serviceSubnet', { network: { ...inventory.network, serviceSubnet: '10.97.0.0/16' } }],
    ['kubernetes.dnsDomain', { kubernetes: { ...inventory.kubernetes, dnsDomain: 'k8s.example' } }],
  ])('another %s than the live one', (setting, over) => {
    expect(messages(inventoryOf(over), converged)).toEqual([expect.stringContaining(`demo: refused: ${setting} is `)]);
  });

  test('another endpoint than the live one, and the command that leads the cluster there', () => {
    const [refused] = refusals(inventoryOf({ endpoint: 'other.example:6443' }), converged);
    expect(refused!.message).toBe(
      'demo: refused: the endpoint is other.example:6443, and the cluster is at k8s.example:6443',
    );
    expect(refused!.remedy).toBe(
      'lead the cluster there: `kbuild move-endpoint other.example:6443`; or set kubernetes.endpoint back to k8s.example:6443',
    );
  });

  test('to remove a network plugin that kbuild installed', () => {
    const none = inventoryOf({ network: noNetwork });
    const flannel = { ...live, owned: ['apps/v1/DaemonSet/kube-flannel/kube-flannel-ds'] };
    const hosts = [joinedHost(cp1), joinedHost(w1)] as const;
    expect(messages(none, fleetIn(flannel, ...hosts))).toEqual([
      'demo: refused: network.plugin is none, the cluster was made with flannel; without it no pod has a network',
    ]);
    expect(messages(inventory, fleetIn(flannel, ...hosts))).toEqual([]);
    expect(messages(none, fleetIn(live, ...hosts))).toEqual([]);
  });

  test('to replace flannel by Calico or back, but not to remove a Calico of the user’s manifests', () => {
    const hosts = [joinedHost(cp1), joinedHost(w1)] as const;
    const installation = { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', metadata: { name: 'default' } };
    const madeWith = (owned: string) => fleetIn({ ...live, owned: [owned] }, ...hosts);
    const flannel = madeWith('apps/v1/DaemonSet/kube-flannel/kube-flannel-ds');
    const calico = madeWith('operator.tigera.io/v1/Installation//default');
    const wants = (plugin: 'calico' | 'none', manifests: readonly object[] = []) =>
      inventoryOf({
        network: plugin === 'calico' ? calicoNetwork() : noNetwork,
        manifests: [{ source: 'calico.yaml', objects: manifests as never }],
      });
    expect(messages(wants('calico'), flannel)).toEqual([
      expect.stringContaining('plugin is calico, the cluster was made with flannel'),
    ]);
    expect(messages(inventory, calico)).toEqual([
      expect.stringContaining('plugin is flannel, the cluster was made with calico'),
    ]);
    expect(messages(wants('none'), calico)).toHaveLength(1);
    expect(messages(wants('none', [installation]), calico)).toEqual([]);
    expect(messages(wants('calico'), calico)).toEqual([]);
  });

  test.each([
    ['calico', 'apps/v1/DaemonSet/kube-flannel/kube-flannel-ds', /flannel; Calico documents .* without its operator$/],
    ['cilium', 'apps/v1/DaemonSet/kube-flannel/kube-flannel-ds', /flannel; Cilium documents .* outside of podSubnet/],
    ['cilium', 'operator.tigera.io/v1/Installation//default', /calico; Cilium documents /],
    ['flannel', 'operator.tigera.io/v1/Installation//default', /calico; flannel documents no change/],
  ] as const)('to make %s of another plugin, with why', (plugin, owned, why) => {
    const fleet = fleetIn({ ...live, owned: [owned] }, joinedHost(cp1), joinedHost(w1));
    const network = { flannel: inventory.network, calico: calicoNetwork(), cilium: ciliumNetwork() }[plugin];
    const [refused] = refusals(inventoryOf({ network }), fleet);
    expect(refused!.message).toMatch(why);
    expect(refused!.remedy).toContain(`a new cluster with ${plugin}`);
  });

  test('a plugin on top of one that kbuild did not install', () => {
    const on = (...cniConfigurations: string[]) =>
      fleetIn(live, joinedHost(cp1), joinedHost(w1, { cniConfigurations }));
    const calico = on('10-calico.conflist');
    expect(messages(inventory, calico)).toEqual([
      'w1: refused: network.plugin is flannel, and its pods are on a network of Calico that kbuild did not install (/etc/cni/net.d/10-calico.conflist)',
    ]);
    expect(messages(inventoryOf({ network: ciliumNetwork() }), on('10-flannel.conflist'))).toHaveLength(1);
    expect(messages(inventoryOf({ network: noNetwork }), calico)).toEqual([]);
    // The plugin's own, with what one before it left; a configuration that comes with a runtime; a host that has not joined.
    expect(messages(inventory, on('05-cilium.conflist', '10-flannel.conflist'))).toEqual([]);
    expect(messages(inventory, on('100-crio-bridge.conflist'))).toEqual([]);
    const fresh = freshHost(w1, { cniConfigurations: ['10-calico.conflist'] });
    expect(messages(inventory, fleetIn(live, joinedHost(cp1), fresh))).toEqual([]);
    // kbuild's own is there: the file is a leftover.
    const flannel = { ...live, owned: ['apps/v1/DaemonSet/kube-flannel/kube-flannel-ds'] };
    expect(messages(inventory, { ...calico, cluster: flannel })).toEqual([]);
  });

  test('nothing about flannel from the user’s own manifests', () => {
    const hosts = [joinedHost(cp1), joinedHost(w1)] as const;
    const key = 'apps/v1/DaemonSet/kube-flannel/kube-flannel-ds';
    const objects = [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace: 'kube-flannel', name: 'kube-flannel-ds' } },
    ];
    const own = inventoryOf({ network: noNetwork, manifests: [{ source: 'kube-flannel.yml', objects }] });
    expect(messages(own, fleetIn({ ...live, owned: [key] }, ...hosts))).toEqual([]);
    const unknown = {
      ...live,
      owned: [],
      get objects(): never {
        throw new FactError('cp1', 'objects0', 'no answer');
      },
    };
    expect(messages(own, fleetIn(unknown, ...hosts))).toEqual([]);
    // The live DaemonSet is still that of kbuild: applying the user's would replace the network of every pod.
    const ofKbuild = { spec: { template: { metadata: { annotations: { 'kbuild.dev/config': 'abc' } } } } };
    const replacing = { ...live, owned: [key], objects: new Map([[key, ofKbuild]]) };
    expect(messages(own, fleetIn(replacing, ...hosts))).toEqual([
      expect.stringContaining('network.plugin is none, the cluster was made with flannel'),
    ]);
  });

  test('a chart of the user’s that brought the network, and is gone', () => {
    const hosts = [joinedHost(cp1), joinedHost(w1)] as const;
    const former = fleetIn({ ...live, owned: ['apps/v1/DaemonSet/kube-system/cilium'] }, ...hosts);
    expect(messages(inventoryOf({ network: noNetwork }), former)).toEqual([
      expect.stringContaining('network.plugin is none, the cluster was made with cilium'),
    ]);
  });

  test('another division of the pod network by Cilium, and two of its minors at once', () => {
    const key = 'apps/v1/DaemonSet/kube-system/cilium';
    const containers = [{ name: 'cilium-agent', image: 'quay.io/cilium/cilium:v1.18.9@sha256:0' }];
    const objects = new Map<string, JsonObject>([
      [key, { spec: { template: { spec: { containers } } } }],
      ['v1/ConfigMap/kube-system/cilium-config', { data: { ipam: 'cluster-pool' } }],
    ]);
    const fleet = fleetIn({ ...live, owned: [key], objects }, joinedHost(cp1), joinedHost(w1));
    const found = (cilium: Partial<Cilium>) => messages(inventoryOf({ network: ciliumNetwork(cilium) }), fleet);
    expect(found({ ipam: 'cluster-pool' })).toEqual([]);
    expect(found({})).toEqual([expect.stringContaining('ipam is kubernetes, the cluster was made with cluster-pool')]);
    expect(found({ ipam: 'cluster-pool', version: '1.20.2' })).toEqual([
      expect.stringContaining('version is 1.20.2, the cluster has 1.18.9'),
    ]);
  });

  test('an adopted CA that is not the cluster’s', () => {
    const adopting = inventoryOf({ kubernetes: { ...inventory.kubernetes, adopt: OTHER_CA } });
    expect(messages(adopting, converged)).toEqual([
      `demo: refused: kubernetes.adopt names CA ${OTHER_CA}, the cluster has ${CA}`,
    ]);
  });

  test('a CA of the inventory that is not the cluster’s', () => {
    const cert = readFileSync(new URL('../fixtures/authority/ca.crt', import.meta.url), 'utf8');
    const mine = inventoryOf({
      certificates: { distribution: 'upload', renewBeforeMs: 30 * 86_400_000, ca: { cert, key: Secret.of('') } },
    });
    expect(messages(mine, converged)).toEqual([
      expect.stringMatching(
        /^demo: refused: certificates\.ca is sha256:\w{12}…, the cluster was made with sha256:a{12}…/,
      ),
    ]);
    expect(messages(mine, empty)).toEqual([]);
  });

  describe('a signer other than the one that the cluster was built with', () => {
    const cert = readFileSync(new URL('../fixtures/authority/ca.crt', import.meta.url), 'utf8');
    const caFingerprint = spkiFingerprint(cert);
    const sign = () => Promise.resolve('');
    const elsewhere = inventoryOf({
      certificates: { distribution: 'copy', renewBeforeMs: 30 * 86_400_000, ca: { cert, sign } },
    });
    const withKey = inventoryOf({
      certificates: { distribution: 'upload', renewBeforeMs: 30 * 86_400_000, ca: { cert, key: Secret.of('') } },
    });
    const traces = [...joinedControlPlane().kubernetesTraces];
    const has = joinedControlPlane({ caFingerprint });
    const lacks = joinedControlPlane({
      caFingerprint,
      kubernetesTraces: new Set(traces.filter((path) => !path.endsWith('ca.key'))),
    });
    const fleet = (facts: typeof has, worker = joinedWorker({ caFingerprint })) =>
      fleetIn({ ...live, caFingerprint }, [cp1, facts], [w1, worker]);

    test('the CA key is on a host, and the inventory names a signing command', () => {
      expect(messages(elsewhere, fleet(lacks))).toEqual([]);
      expect(messages(elsewhere, fleet(has))).toEqual([
        expect.stringMatching(/^cp1: refused: it has the key of the cluster's CA/),
      ]);
    });

    test('the CA key is on no host, and kubeadm has to sign', () => {
      const text = expect.stringMatching(/^cp1: refused: it does not have the key of the cluster's CA/) as string;
      expect(messages(withKey, fleet(has))).toEqual([]);
      expect(messages(withKey, fleet(lacks))).toEqual([text]);
      expect(messages(inventory, fleet(lacks))).toEqual([]);
      expect(messages(inventory, fleet(lacks, factsOf()))).toEqual([text]);
    });
  });

  test('a worker alone in an empty fleet', () => {
    expect(messages(inventory, empty, ['w1'])).toEqual([
      'w1: refused: there is no cluster to join, and --hosts leaves out cp1, which would create it',
    ]);
    expect(messages(inventory, empty, ['cp1'])).toEqual([]);
  });

  test('founding a cluster while a control plane is not observed', () => {
    expect(messages(inventory, fleetOf(freshHost(w1)))).toEqual([
      'demo: refused: no cluster was found, and none can be created: cp1 was not observed, and may hold the cluster',
    ]);
  });

  describe('another control plane', () => {
    const two = inventoryOf({ hosts: [cp1, cp2] });
    const grown = (cluster: Partial<ClusterUp>, endpoint = two.endpoint) =>
      messages({ ...two, endpoint }, fleetIn(clusterOf(cluster), joinedHost(cp1), freshHost(cp2)));
    const made = (controlPlaneEndpoint?: string) => ({
      configuration: { ...clusterOf().configuration, controlPlaneEndpoint },
    });

    test('is accepted if the cluster has an endpoint of its own', () => {
      expect(grown({})).toEqual([]);
    });

    test('of a cluster whose endpoint is a host’s own address', () => {
      expect(grown(made('10.0.0.11:6443'), '10.0.0.11:6443')).toContain(
        "cp2: refused: the cluster's endpoint 10.0.0.11:6443 is the address of cp1, so it cannot get more control planes",
      );
    });

    test.each([
      ['the first one’s SSH', '203.0.113.11', 'cp1'],
      ['the new one', '10.0.0.12', 'cp2'],
    ])('of a cluster whose endpoint is the address of %s', (_, at, owner) => {
      expect(grown(made(`${at}:6443`), `${at}:6443`)).toContain(
        `cp2: refused: the cluster's endpoint ${at}:6443 is the address of ${owner}, so it cannot get more control planes`,
      );
    });

    test('while the cluster has a control plane that the inventory does not name: kbuild cannot check it', () => {
      const nodes = [...clusterOf().nodes, nodeOf({ name: 'cp9', role: 'control-plane' })];
      expect(grown({ nodes })).toEqual([
        'cp2: refused: the inventory does not name cp9, a control plane of the cluster: kbuild cannot tell whether it is healthy',
      ]);
    });

    test('of a cluster without an endpoint, which must move to the inventory’s first', () => {
      expect(grown(made())).toEqual(['demo: refused: the endpoint is k8s.example:6443, and the cluster is at none']);
    });

    test('while etcd has an alarm', () => {
      expect(grown({ alarms: ['NOSPACE on 1'] })).toEqual(['cp2: refused: etcd has an alarm: NOSPACE on 1']);
    });
  });
});

test('refuses an adopted cluster with another etcd folder, because a new manifest would start an empty etcd', () => {
  const configuration = { ...clusterOf().configuration, etcd: { local: { dataDir: '/data/etcd' } } };
  const fleet = fleetIn({ ...live, configuration }, joinedHost(cp1), joinedHost(w1));
  expect(messages(inventory, fleet)).toEqual([
    expect.stringContaining(
      'kubeadm.cluster.etcd.local.dataDir is /var/lib/etcd, the cluster was made with /data/etcd',
    ),
  ]);
  const named = inventoryOf({
    kubeadm: { ...inventory.kubeadm, cluster: { etcd: { local: { dataDir: '/data/etcd' } } } },
  });
  expect(messages(named, fleet)).toEqual([]);
});
