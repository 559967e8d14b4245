import { describe, expect, test } from 'vitest';
import { asItRuns } from '../../src/session/with-run.ts';
import { clusterOf, inventoryOf, nodeOf, podOf } from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';

/** The version for which a run works, and what it says, where the inventory names 1.37.1. */
function seen(api: string, kubelets: Readonly<Record<string, string>>) {
  const inventory = inventoryOf({ kubernetes: { ...inventoryOf().kubernetes, version: '1.37.1', minor: '1.37' } });
  const cluster = clusterOf({
    version: api,
    nodes: Object.entries(kubelets).map(([name, version]) =>
      nodeOf({ name, role: name.startsWith('cp') ? 'control-plane' : 'worker', kubeletVersion: version }),
    ),
    pods: [
      podOf({
        name: 'kube-apiserver-cp1',
        node: 'cp1',
        labels: { component: 'kube-apiserver' },
        images: [`registry.k8s.io/kube-apiserver:v${api}`],
      }),
    ],
  });
  const said: string[] = [];
  const { kubernetes } = asItRuns({ err: (text) => said.push(text) }, inventory, fleet({ inventory, cluster }));
  return { version: kubernetes.version, said: said.join('') };
}

describe('a command that does not upgrade', () => {
  test('works for the version that an older cluster runs, and names the way', () =>
    expect(seen('1.36.3', { cp1: 'v1.36.3' })).toEqual({
      version: '1.36.3',
      said: 'the cluster runs Kubernetes 1.36.3, the inventory names 1.37.1: `kbuild upgrade` brings it there\n',
    }));

  test('names the kubelets that an upgrade has not reached yet', () =>
    expect(seen('1.37.1', { cp1: 'v1.37.1', w1: 'v1.36.3' })).toEqual({
      version: '1.37.1',
      said: 'the kubelets of w1 are older than Kubernetes 1.37.1: `kbuild upgrade` brings them there\n',
    }));

  test('says nothing where all is as the inventory wants it, nor of nodes that it does not name or whose version is unknown', () =>
    expect(seen('1.37.1', { cp1: 'v1.37.1', w1: '', other: 'v1.36.3' })).toEqual({ version: '1.37.1', said: '' }));
});
