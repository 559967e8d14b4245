import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { windowsPaths } from '../../src/paths.ts';
import { inventoryOf } from '../fakes/cluster.ts';

/** The manifests that docs/windows.md hands out. They were never run: what is known to be needed must at least stand there. */
const documents = (name: string): readonly unknown[] =>
  parseAllDocuments(readFileSync(new URL(`../../docs/calico-windows/${name}`, import.meta.url), 'utf8')).map(
    (document): unknown => {
      expect(document.errors).toEqual([]);
      return document.toJS() as unknown;
    },
  );
const { podSubnet, serviceSubnet } = inventoryOf().network;

test('Calico: VXLAN without BGP on both systems, for the subnets and folders that kbuild has by default', () => {
  const [installation, , ipam] = documents('installation.yaml');
  expect(installation).toMatchObject({
    apiVersion: 'operator.tigera.io/v1',
    kind: 'Installation',
    spec: {
      serviceCIDRs: [serviceSubnet],
      calicoNetwork: {
        linuxDataplane: 'Iptables',
        windowsDataplane: 'HNS',
        bgp: 'Disabled',
        ipPools: [{ cidr: podSubnet, encapsulation: 'VXLAN' }],
      },
      windowsNodes: { cniBinDir: windowsPaths.cniBin, cniConfigDir: windowsPaths.cniConfig },
    },
  });
  expect(ipam).toMatchObject({ kind: 'IPAMConfig', metadata: { name: 'default' }, spec: { strictAffinity: true } });
});

test('its pods on Windows ask the endpoint, by text as a ConfigMap wants it', () => {
  expect(documents('endpoint.yaml')).toMatchObject([
    {
      kind: 'ConfigMap',
      metadata: { name: 'kubernetes-services-endpoint', namespace: 'tigera-operator' },
      data: { KUBERNETES_SERVICE_PORT: '6443' },
    },
  ]);
});

test('kube-proxy beside it is a process of Windows nodes only, and knows its node', () => {
  const [daemon] = documents('kube-proxy.yaml') as [{ spec: { template: { spec: { containers: unknown[] } } } }];
  expect(daemon).toMatchObject({
    metadata: { namespace: 'kube-system' },
    spec: {
      template: {
        spec: {
          hostNetwork: true,
          nodeSelector: { 'kubernetes.io/os': 'windows' },
          securityContext: { windowsOptions: { hostProcess: true, runAsUserName: String.raw`NT AUTHORITY\SYSTEM` } },
          tolerations: [{ operator: 'Exists' }],
        },
      },
    },
  });
  expect(JSON.stringify(daemon.spec.template.spec.containers)).toContain('"name":"NODE_NAME"');
});

test.each(['installation.yaml', 'endpoint.yaml', 'kube-proxy.yaml'])('%s says that it was not run', (name) => {
  expect(readFileSync(new URL(`../../docs/calico-windows/${name}`, import.meta.url), 'utf8')).toContain('NOT RUN');
});
